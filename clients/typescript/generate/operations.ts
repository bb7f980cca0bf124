import type { ClientBuilder, ClientGeneratorsBuilder, GeneratorVerbOptions } from 'orval'
import { LINES_TYPE, type Operation, type StyleName } from './documents.ts'
import type { Shapes } from './shapes.ts'

const INDENT = '  '

/**
 * Returns the part of the generator that writes the functions: one object per style, with a member for each operation,
 * which hands a description of the request to the client.
 */
export function operationsOf(style: StyleName, shapes: Shapes): ClientGeneratorsBuilder {
  const writeOne: ClientBuilder = (verb) => ({
    implementation: `${INDENT}${verb.operationName}: ${functionOf(verb, shapes)},\n`,
    docComment: commentOf(verb.originalOperation as unknown as Operation),
    imports: [verb.body, verb.response, ...verb.params].flatMap(({ imports }) => imports),
  })
  return {
    client: writeOne,
    dependencies: () => [],
    title: (title) => title,
    header: ({ verbOptions }) => {
      const hasLists = Object.values(verbOptions).some((verb) => isList(verb.originalOperation as unknown as Operation))
      const taken = hasLists ? '{ send, list }' : '{ send }'
      return `${shapes.source}\n/** The operations of the ${style} style. */\nexport const ${style}Operations = (${taken}: Sender) => ({\n`
    },
    footer: () => '})\n',
  }
}

/** Returns an operation as a function in TypeScript. */
function functionOf(verb: GeneratorVerbOptions, shapes: Shapes): string {
  const operation = verb.originalOperation as unknown as Operation
  const { params, body, queryParams, response } = verb
  const isLines = body.contentType === LINES_TYPE
  const page = isList(operation)
  const one = [...new Set(response.definition.success.split(' | '))].join(' | ')
  const answer = isLines ? `${one}[]` : one
  const taken = [
    ...params.map(({ name, definition }) => definition || `${name}: string`),
    ...(body.definition
      ? [`body${body.isOptional ? '?' : ''}: ${isLines ? `readonly ${body.definition}[]` : body.definition}`]
      : []),
    ...(queryParams ? [`query${queryParams.isOptional ? '?' : ''}: ${queryParams.schema.name}`] : []),
    'call?: Call',
  ]
  const [route, isPlain] = routeOf(verb.pathRoute)
  const shape = shapes.constantOf(operation)
  const request = [
    `method: '${verb.verb.toUpperCase()}'`,
    `path: ${isPlain ? `'${route}'` : `at\`${route}\``}`,
    ...(body.definition ? ['body'] : []),
    ...(body.contentType === 'multipart/form-data' ? ['form: true'] : []),
    ...(isLines ? ['lines: true'] : isText(operation) ? ['text: true'] : []),
    ...(queryParams ? ['query'] : []),
    ...(takesKey(operation) ? ['keyed: true'] : []),
    ...signedBy(operation),
    ...(shape === undefined ? [] : [`shape: ${shape}`]),
  ].join(', ')
  const [type, by] = page ? [`Listed<${answer}>`, 'list'] : [`Promise<${answer}>`, 'send']
  return `(${taken.join(', ')}): ${type} =>\n${INDENT.repeat(2)}${by}<${answer}>({ ${request} }, call)`
}

/** Returns the path with the names of the parameters, and whether it has none. */
const routeOf = (path: string): [route: string, isPlain: boolean] => [
  path.replaceAll(/\{(\w+)\}/g, `\${$1}`),
  !path.includes('{'),
]

/** Returns whether an operation answers a part of a list that goes on by a cursor. */
const isList = ({ parameters = [] }: Operation): boolean =>
  parameters.some((parameter) => parameter.in === 'query' && parameter.name === 'after')

/** Returns whether an operation answers something else than JSON. */
const isText = ({ responses }: Operation): boolean =>
  Object.keys(responses['200']?.content ?? {}).some((type) => type !== 'application/json')

/** Returns whether an operation takes an `Idempotency-Key`, so that the client can repeat it. */
const takesKey = ({ parameters = [] }: Operation): boolean =>
  parameters.some((parameter) => parameter.in === 'header' && parameter.name === 'Idempotency-Key')

/** Returns the member that says how a request is signed, where that is by no token. */
function signedBy({ security }: Operation): string[] {
  if (security === undefined) return []
  return [`signed: '${security.some((scheme) => 'basic' in scheme) ? 'basic' : 'none'}'`]
}

/** Returns what an operation does as a comment. The reference of the service has the rest. */
const commentOf = ({ summary }: Operation): string => `${INDENT}/** ${summary}. */\n`
