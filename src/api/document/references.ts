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
