import type { FastifyInstance } from 'fastify'
import { readDocuments, type StyleName } from '../../clients/typescript/generate/documents.ts'
import type { Mkopo } from '../../clients/typescript/src/index.ts'
import { writeJson } from '../../clients/typescript/src/json.ts'
import type { Config } from '../../src/app/config.ts'
import { writeJson as writeBody } from './recordIds.ts'
import type { Call } from './service.ts'

/** Why a request is not sent by the client. */
export type Reason =
  | 'another host'
  | 'no operation'
  | 'a query that the operation does not take'
  | 'a path that the client refuses'
  | 'a token that is no header'
  | 'a header of its own'
  | 'a body that the operation does not take'
  | 'a body that is no JSON of the client'

/** An operation of a document, as far as a request is matched with it. */
interface Known {
  readonly style: StyleName
  readonly id: string
  readonly method: string
  readonly path: RegExp
  readonly takesQuery: boolean
  readonly body: 'json' | 'form' | undefined
}

let known: Promise<readonly Known[]> | undefined

async function readOperations(): Promise<readonly Known[]> {
  const documents = await readDocuments()
  return Object.entries(documents).flatMap(([style, { paths }]) =>
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): Known => {
        const { parameters = [], requestBody } = operation as typeof operation & {
          readonly requestBody?: { readonly content: object }
        }
        const types = Object.keys(requestBody?.content ?? {})
        return {
          style: style as StyleName,
          id: operation.operationId,
          method: method.toUpperCase(),
          path: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '([^/]*)')}$`),
          takesQuery: parameters.some((parameter) => parameter.in === 'query'),
          body: types.length === 0 ? undefined : types.includes('application/json') ? 'json' : 'form',
        }
      }),
    ),
  )
}

/** A request of a test. */
export interface Asked {
  readonly app: FastifyInstance
  readonly config: Config
  readonly method: string
  readonly path: string
  readonly call: Call
  readonly token: string
}

/** A call of the client that sends a request of a test. */
export interface Planned {
  readonly style: StyleName
  readonly headers: Record<string, string>
  run(mkopo: Mkopo, options: object): Promise<unknown>
}

/** Returns the call of the client that sends a request, or why there is none. */
export async function planCall({ config, method, path, call, token }: Asked): Promise<Planned | Reason> {
  known ??= readOperations()
  const operations = await known
  const style = styleOf(config, call.host)
  if (style === undefined) return 'another host'
  const [route = '', ...queries] = path.split('?')
  const query = new URLSearchParams(queries.join('?'))
  const operation = operations.find((one) => one.style === style && one.method === method && one.path.test(route))
  if (operation === undefined) return 'no operation'
  const given = [...query.keys()]
  if (given.length > 0 && (!operation.takesQuery || new Set(given).size < given.length))
    return 'a query that the operation does not take'
  const parameters = decoded(operation.path.exec(route)!.slice(1))
  if (parameters === undefined) return 'a path that the client refuses'
  if (!/^[\w.~+/=-]+$/.test(token)) return 'a token that is no header'
  const { 'content-type': type, ...headers } = Object.fromEntries(
    Object.entries(call.headers ?? {})
      .map(([name, value]): [string, string] => [name.toLowerCase(), value])
      .filter(([name]) => name !== 'idempotency-key'),
  ) as Record<string, string> & { 'content-type'?: string }
  const isForm = operation.body === 'form'
  if (
    ['authorization', 'host', 'content-encoding', 'content-length'].some((name) => name in headers) ||
    (type && !isForm)
  )
    return 'a header of its own'
  const body = isForm ? await formIn(call, type) : jsonIn(call)
  if (body === NONE) return 'a body that is no JSON of the client'
  if (body !== undefined && operation.body === undefined) return 'a body that the operation does not take'
  const taken = [
    ...parameters,
    ...(operation.body ? [body] : []),
    ...(operation.takesQuery ? [Object.fromEntries(query)] : []),
  ]
  const run = (mkopo: Mkopo, options: object) => {
    const owner = { partner: mkopo, record: mkopo.records, auth: mkopo.auth }[style]
    return (owner as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>)[operation.id]!(
      ...taken,
      options,
    )
  }
  return { style, headers, run }
}

function styleOf(config: Config, host = new URL(config.baseUrl).host): StyleName | undefined {
  const hosts = { partner: config.baseUrl, record: config.recordsUrl, auth: config.authUrl }
  const [style] = Object.entries(hosts).find(([, url]) => new URL(url).host === host) ?? []
  return style as StyleName | undefined
}

/** Returns the parameters of a path; undefined where the client would not send them. */
function decoded(parameters: readonly string[]): string[] | undefined {
  try {
    const texts = parameters.map((parameter) => decodeURIComponent(parameter))
    return texts.some((text) => /^\.{0,2}$/.test(text) || !text.isWellFormed()) ? undefined : texts
  } catch {
    return undefined
  }
}

const NONE = Symbol('no body that the client can send')

/** Returns a body of JSON as the client takes it, with a bigint for each whole number that a double would round. */
function jsonIn({ body, raw }: Call): unknown {
  if (raw === undefined) return body === undefined || writeBody(body) === undefined ? body : asTaken(writeBody(body))
  return typeof raw === 'string' ? asTaken(raw) : NONE
}

function asTaken(text: string): unknown {
  try {
    const value = JSON.parse(text, (_, inner, context?: { source?: string }) => exact(inner, context?.source))
    const plain = text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1')
    // A text that the client would write in another way, such as 1.0 or a member that is given twice, is a test of its own.
    return writeJson(value) === plain ? value : NONE
  } catch {
    return NONE
  }
}

const exact = (value: unknown, source = ''): unknown =>
  typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value

/** Returns a form as the client takes it: an object of its parts. */
async function formIn({ raw, body }: Call, type: string | undefined): Promise<unknown> {
  if (raw === undefined || body !== undefined || type === undefined) return NONE
  const form = await new Response(new Uint8Array(Buffer.from(raw)), { headers: { 'content-type': type } })
    .formData()
    .catch(() => undefined)
  const parts = [...(form ?? [])]
  const isTwice = new Set(parts.map(([name]) => name)).size < parts.length
  return form === undefined || isTwice ? NONE : Object.fromEntries(parts)
}
