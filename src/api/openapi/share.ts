import { isDeepStrictEqual } from 'node:util'
import type { SwaggerTransformObject } from '@fastify/swagger'

/** A document of OpenAPI 3.1, as far as this module changes it. */
export type Document = ReturnType<SwaggerTransformObject> & {
  components: { schemas: Record<string, object>; headers?: object }
  tags?: readonly { readonly name: string }[]
}

type Part = Readonly<Record<string, unknown>>
type Components = Record<string, Part>

interface Answer extends Part {
  readonly content?: Readonly<Record<string, { readonly schema?: Part; readonly examples?: Components }>>
}

interface Operation extends Part {
  readonly parameters?: readonly Part[]
  readonly responses: Readonly<Record<string, Answer>>
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

/** The length of a reference in JSON: a part that is not longer stays in its place. */
const REFERENCE_LENGTH = 60

/**
 * Moves the answers, parameters and examples that the document has more than once to its components, and puts references in
 * their places. Leaves out an example that is told within another one. The document means the same, at half of its length.
 */
export function shareParts(complete: Document): Document {
  const document = withoutInnerExamples(complete)
  const paths = (document.paths ?? {}) as unknown as Paths
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const answers = operations.flatMap(({ responses }) => Object.values(responses))
  const given = operations.flatMap((operation) => operation.parameters ?? [])
  const taken = new Set(Object.keys(document.components.schemas))
  const responses = new Shared('responses', answers, nameOfAnswer, taken)
  const parameters = new Shared('parameters', given, ({ name }) => inPascalCase(String(name)), taken)
  const shared = mapValues(paths, (methods) =>
    mapValues(methods, (operation) => ({
      ...operation,
      ...(operation.parameters && { parameters: operation.parameters.map((one) => parameters.place(one)) }),
      responses: mapValues(operation.responses, (answer) => responses.place(answer)),
    })),
  )
  const examples = sharedExamples(
    [...Object.values(responses.components), ...answers.filter(responses.isSingle)],
    taken,
  )
  const whole = {
    ...document.components,
    responses: examples.replaceIn(responses.components) as Components,
    parameters: parameters.components,
    examples: examples.components,
  }
  // A document has no empty lists of components.
  const components = Object.fromEntries(Object.entries(whole).filter(([, parts]) => Object.keys(parts).length > 0))
  return { ...document, components, paths: examples.replaceIn(shared) } as unknown as Document
}

/** A schema of the components, as far as its example is concerned. */
interface Shown {
  readonly examples?: readonly [unknown]
}

/**
 * Returns a document without the examples of schemas that only other schemas refer to, where the example of one of these has the
 * same value within.
 */
function withoutInnerExamples(document: Document): Document {
  const { components, ...operations } = document
  const { schemas, ...parts } = components
  const named = (name: string) => `#/components/schemas/${name}`
  const ofOperations = referencesIn([operations, parts])
  const shown = Object.entries<Shown>(schemas as Record<string, Shown>).filter(([, { examples }]) => examples)
  const outer = shown.map(([name, schema]) => ({ name, examples: schema.examples, inner: referencesIn(schema) }))
  const isInner = (name: string, [example]: readonly [unknown]) =>
    !ofOperations.has(named(name)) &&
    outer.some((one) => one.name !== name && one.inner.has(named(name)) && has(one.examples, example))
  const inner = new Set(shown.filter(([name, { examples }]) => isInner(name, examples!)).map(([name]) => name))
  const left = Object.entries(schemas).map(([name, schema]) => {
    const { examples: _, ...others } = schema as Shown
    return [name, inner.has(name) ? others : schema]
  })
  return { ...document, components: { ...components, schemas: Object.fromEntries(left) } } as Document
}

/** Returns whether a value of JSON is another one, or has it as a member at any depth. */
const has = (whole: unknown, part: unknown): boolean =>
  isDeepStrictEqual(whole, part) ||
  (typeof whole === 'object' && whole !== null && Object.values(whole).some((member) => has(member, part)))

const mapValues = <T, U>(parts: Readonly<Record<string, T>>, change: (part: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, change(part)]))

/**
 * The parts of one kind, which become components where there are several of the same content. No two components have one
 * name, whatever their kinds: generators of clients make a type of each.
 */
class Shared {
  readonly components: Components = {}
  readonly #kind: string
  readonly #counts = new Map<string, number>()
  readonly #names = new Map<string, string>()
  readonly #nameOf: (part: Part) => string
  readonly #taken: Set<string>

  /** @param taken the names of all components; it gets those of the parts that are shared */
  constructor(kind: string, parts: readonly Part[], nameOf: (part: Part) => string, taken: Set<string>) {
    this.#kind = kind
    this.#nameOf = nameOf
    this.#taken = taken
    for (const part of parts) {
      const text = JSON.stringify(part)
      this.#counts.set(text, (this.#counts.get(text) ?? 0) + 1)
    }
  }

  /** Returns whether a part stays where it is. */
  readonly isSingle = (part: Part): boolean => {
    const text = JSON.stringify(part)
    return (this.#counts.get(text) ?? 0) < 2 || text.length <= REFERENCE_LENGTH
  }

  /** Returns what to put into the place of a part: a reference to its component, or the part. */
  place(part: Part): Part {
    if (this.isSingle(part)) return part
    const text = JSON.stringify(part)
    const name = this.#names.get(text) ?? this.#takeName(this.#nameOf(part))
    this.#names.set(text, name)
    this.components[name] = part
    return { $ref: `#/components/${this.#kind}/${name}` }
  }

  /** Takes a name that no component has: the name, or the name with a number after it. */
  #takeName(name: string): string {
    let free = name
    for (let number = 2; this.#taken.has(free); number++) free = `${name}${number}`
    this.#taken.add(free)
    return free
  }
}

/** Makes the examples of answers that are the same to components. */
function sharedExamples(answers: readonly Answer[], taken: Set<string>) {
  const named = answers.flatMap(({ content = {} }) =>
    Object.values(content).flatMap(({ examples = {} }) => Object.entries(examples)),
  )
  const names = new Map(named.map(([name, example]) => [JSON.stringify(example), name]))
  const nameOf = (example: Part) => `${inPascalCase(names.get(JSON.stringify(example)) ?? '')}Example`
  const parts = named.map(([, example]) => example)
  const shared = new Shared('examples', parts, nameOf, taken)
  const replaceIn = (value: unknown) =>
    mapObjects(value, (node) =>
      'schema' in node && 'examples' in node
        ? { ...node, examples: mapValues(node.examples as Components, (example) => shared.place(example)) }
        : node,
    )
  return { components: shared.components, replaceIn }
}

/** Returns the name of an answer: of a refusal by its codes, of another by its schema. */
function nameOfAnswer({ content = {} }: Answer): string {
  const [{ schema = {}, examples = {} } = {}] = Object.values(content)
  const schemaName = String(schema.$ref ?? 'Other')
    .split('/')
    .at(-1)!
  if (schemaName !== 'Failure') return `${schemaName}Answer`
  return inPascalCase(Object.keys(examples).join(' or '))
}

const inPascalCase = (text: string): string =>
  text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9]?)/g, (_, letter: string) => letter.toUpperCase())

// References of a document (`$ref`): to follow them, to change them, and to put in their place what they name.

type Node = Readonly<Record<string, unknown>>

/** The kinds of components that an operation refers to instead of having them in place. */
const PARTS = ['responses', 'parameters', 'examples'] as const

/** A document, as far as references are concerned. */
interface Referring {
  readonly components: object
  readonly paths?: object | undefined
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns a copy of a value of JSON in which `change` has replaced each object; members of the result are copied, too. */
export function mapObjects(value: unknown, change: (node: Node) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapObjects(item, change))
  if (!isNode(value)) return value
  const changed = change(value)
  if (!isNode(changed)) return changed
  const members = Object.entries(changed).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [name, mapObjects(member, change)]))
}

/** Returns every reference of a value of JSON, such as `#/components/schemas/Loan`. */
export function referencesIn(value: unknown): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) for (const item of part) visit(item)
    if (!isNode(part)) return
    if (typeof part.$ref === 'string') found.add(part.$ref)
    for (const member of Object.values(part)) visit(member)
  }
  visit(value)
  return found
}

/**
 * Returns what a part of a document is: the component that it refers to, or the part.
 * @throws Error for a reference that leads nowhere
 */
export function resolved(document: Referring, part: unknown): unknown {
  if (!isNode(part) || typeof part.$ref !== 'string') return part
  const [, ...names] = part.$ref.split('/')
  let found: unknown = document
  for (const name of names) found = isNode(found) ? found[name] : undefined
  if (found === undefined) throw new Error(`${part.$ref} leads nowhere`)
  return resolved(document, found)
}

/**
 * Returns a document whose operations have their responses, parameters and examples in place, without those components.
 * Schemas and headers stay references.
 */
export function inPlace<T extends Referring>(document: T): T {
  const prefixes = PARTS.map((kind) => `#/components/${kind}/`)
  const isShared = ({ $ref }: Node) => typeof $ref === 'string' && prefixes.some((prefix) => $ref.startsWith(prefix))
  const paths = mapObjects(document.paths, (node) => (isShared(node) ? resolved(document, node) : node))
  const components = Object.entries(document.components).filter(
    ([kind]) => !(PARTS as readonly string[]).includes(kind),
  )
  return { ...document, paths, components: Object.fromEntries(components) }
}
