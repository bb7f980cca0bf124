import { prefilledOf } from '../prefilled.ts'
import { form, type Part } from '../upload.ts'
import type { Document, Operation } from '../wire.ts'
import { anyText, inAscii, mutatedJson, oneOf, type Random, written } from './mutate.ts'
import { type Sent, withBytes, withHeaders, withQuery, withStep } from './request.ts'

/** An operation of a document, with what a valid request of it has. */
export interface Target {
  readonly name: string
  readonly host: string
  readonly method: string
  /** With the names of its parameters: `/v1/loans/{id}`. */
  readonly template: string
  /** As the reference fills it in. */
  readonly filled: string
  readonly queryNames: readonly string[]
  readonly body: unknown
  readonly isUpload: boolean
}

const namesIn = (operation: Operation, place: string): string[] =>
  ((operation.parameters ?? []) as readonly { in: string; name: string }[])
    .filter((one) => one.in === place)
    .map(({ name }) => name)

/** Returns the operations of a document. */
export const targetsOf = (document: Document, host: string): Target[] =>
  prefilledOf(document).map(({ name, method, path, body, isUpload, operation }) => ({
    name: `${host} ${name}`,
    host,
    method,
    template: name.slice(name.indexOf(' ') + 1),
    filled: path,
    queryNames: namesIn(operation, 'query'),
    body,
    isUpload,
  }))

/** What requests of the public port are made of, besides the operations. */
export interface PublicPort {
  readonly port: number
  readonly targets: readonly Target[]
  /** Ids that the book has, of loans, customers, transactions and others. */
  readonly ids: readonly string[]
  readonly credentials: readonly string[]
}

/** Returns a request of an operation with something of it changed. */
export function publicRequest(random: Random, { port, targets, ids, credentials }: PublicPort): Sent {
  const { name, host, method, template, filled, queryNames, body, isUpload } = oneOf(random, targets)
  const [, query = ''] = filled.split('?')
  const anyId = () => (random(4) === 0 ? anyText(random) : oneOf(random, ids))
  const named = template.replace(/\{\w+\}/g, () => written(random, anyId()))
  let path = random(3) === 0 ? filled : `${named}${query && `?${query}`}`
  if (random(3) === 0) path = withQuery(random, path, queryNames)
  if (random(25) === 0) path = withStep(random, path)
  // A long poll would hold the run up.
  path = path.replace(/([?&]wait=)[^&]*/g, '$10')
  const content = contentOf(random, body, isUpload)
  const headers = {
    host,
    ...(random(40) > 0 && { authorization: oneOf(random, credentials) }),
    ...content.headers,
  }
  const sentBy = random(50) === 0 ? oneOf(random, ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']) : method
  return {
    name,
    port,
    method: sentBy,
    path: sentBy === 'HEAD' ? inAscii(path) : path,
    headers: random(6) === 0 ? withHeaders(random, headers) : headers,
    body: content.body && random(12) === 0 ? withBytes(random, content.body) : content.body,
  }
}

function contentOf(
  random: Random,
  body: unknown,
  isUpload: boolean,
): Pick<Sent, 'body'> & { headers: Record<string, string> } {
  if (body === undefined && random(15) > 0) return { body: undefined, headers: {} }
  if (!isUpload) {
    const json = mutatedJson(random, body ?? {}, oneOf(random, [0, 60, 120, 250]))
    return { body: Buffer.from(json), headers: { 'content-type': 'application/json' } }
  }
  const parts = Object.entries((body ?? {}) as Record<string, string>).map(([name, value]): Part => {
    if (random(4) === 0) return [random(4) === 0 ? 'x' : name, anyText(random)]
    return name === 'statement' ? [name, Buffer.from('%PDF-1.7\n%%EOF')] : [name, String(value)]
  })
  const { raw, headers } = form(random(10) === 0 ? [...parts, ...parts] : parts)
  return { body: raw, headers }
}
