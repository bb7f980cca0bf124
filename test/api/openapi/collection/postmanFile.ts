import { runInNewContext } from 'node:vm'
import { z } from 'zod'
import type { Answered, Sent } from './sent.ts'

// As much of the published format 2.1 as the service writes, and no member besides: `item`, `request`, `url`, `variable`.

const texts = z.strictObject({ key: z.string().min(1), value: z.string(), type: z.literal('string') })

const auth = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('noauth') }),
  z.strictObject({ type: z.literal('basic'), basic: z.array(texts).length(2) }),
  z.strictObject({ type: z.literal('bearer'), bearer: z.array(texts).length(1) }),
])

const described = { description: z.string() }

const field = z.discriminatedUnion('type', [
  z.strictObject({ key: z.string(), type: z.literal('text'), value: z.string(), ...described }),
  z.strictObject({ key: z.string(), type: z.literal('file'), src: z.null(), ...described }),
])

const body = z.discriminatedUnion('mode', [
  z.strictObject({
    mode: z.literal('raw'),
    raw: z.string(),
    options: z.strictObject({ raw: z.strictObject({ language: z.literal('json') }) }),
  }),
  z.strictObject({ mode: z.literal('formdata'), formdata: z.array(field) }),
])

const url = z.strictObject({
  raw: z.string(),
  host: z.array(z.string()).length(1),
  path: z.array(z.string().min(1)),
  query: z
    .array(z.strictObject({ key: z.string(), value: z.string(), ...described, disabled: z.literal(true).optional() }))
    .optional(),
})

const item = z.strictObject({
  name: z.string().min(1),
  request: z.strictObject({
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    header: z.array(z.strictObject({ key: z.string(), value: z.string() })),
    url,
    ...described,
    auth: auth.optional(),
    body: body.optional(),
  }),
  response: z.tuple([]),
  event: z
    .array(
      z.strictObject({
        listen: z.literal('test'),
        script: z.strictObject({ type: z.literal('text/javascript'), exec: z.array(z.string()) }),
      }),
    )
    .optional(),
})

const folder = z.strictObject({ name: z.string().min(1), ...described, item: z.array(item).min(1) })

/** A collection of Postman 2.1, as the service writes it. */
export const postmanFile = z.strictObject({
  info: z.strictObject({
    name: z.string(),
    ...described,
    version: z.string(),
    schema: z.literal('https://schema.getpostman.com/json/collection/v2.1.0/collection.json'),
  }),
  auth,
  variable: z.array(texts.extend(described)),
  item: z.array(z.union([folder, item])),
})

type PostmanFile = z.infer<typeof postmanFile>
type Item = z.infer<typeof item>

/** Returns the items of a collection in order, without their folders. */
export const itemsOf = ({ item: items }: PostmanFile): readonly Item[] =>
  items.flatMap((one) => ('item' in one ? one.item : [one]))

/** Sends the requests of a collection in order, and runs the script of each with its answer, as Postman does. */
export async function runPostman(
  file: PostmanFile,
  send: (sent: Sent) => Promise<Answered>,
  statement: Buffer,
): Promise<void> {
  const variables = new Map(file.variable.map(({ key, value }) => [key, value]))
  const fill = (text: string): string =>
    text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => variables.get(name) ?? whole)
  for (const one of itemsOf(file)) {
    const { request } = one
    const { status, text } = await send({
      name: one.name,
      method: request.method,
      url: fill(request.url.raw),
      headers: {
        ...Object.fromEntries(request.header.map(({ key, value }) => [key.toLowerCase(), fill(value)])),
        ...authorization(request.auth ?? file.auth, fill),
      },
      ...(request.body?.mode === 'raw' && { raw: fill(request.body.raw) }),
      ...(request.body?.mode === 'formdata' && {
        parts: request.body.formdata.map(
          (one) => [one.key, one.type === 'file' ? statement : fill(one.value)] as const,
        ),
      }),
    })
    for (const { script } of one.event ?? []) {
      const pm = {
        response: { code: status, json: () => JSON.parse(text) },
        collectionVariables: { set: (name: string, value: unknown) => variables.set(name, String(value)) },
      }
      runInNewContext(script.exec.join('\n'), { pm })
    }
  }
}

type Auth = z.infer<typeof auth>

function authorization(asked: Auth, fill: (text: string) => string): Record<string, string> {
  if (asked.type === 'noauth') return {}
  if (asked.type === 'bearer') return { authorization: `Bearer ${fill(asked.bearer[0]!.value)}` }
  const [username, password] = asked.basic.map(({ value }) => fill(value))
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
}
