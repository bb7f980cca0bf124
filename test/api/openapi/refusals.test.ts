import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_AUDITOR } from '../../../src/services/organizations/seedDemo.ts'
import { operationsOf, shownIn } from '../../support/document.ts'
import { queryOf } from '../../support/prefilled.ts'
import { type Call, startService, type TestService } from '../../support/service.ts'
import { showing } from '../../support/upload.ts'
import type { Document, Operation } from '../../support/wire.ts'

let service: TestService
beforeAll(async () => {
  // Nothing is on the book, so that every example is about something that is not there.
  service = await startService()
})
afterAll(() => service.close())

interface Ask extends Call {
  readonly query?: string
  readonly anonymous?: true
}

const isOf = (code: string) => (body: unknown) => (body as { code: string }).code === code

describe.each(['api.localhost', 'records.localhost'])('a refusal is what the document of %s shows', (host) => {
  let document: Document
  beforeAll(async () => {
    document = (await service.get<Document>('/openapi.json', { host })).body
  })

  /** Every operation that can refuse with a code, asked in some way, with what is shown of that. */
  async function askedEach(code: string, ask: (name: string, operation: Operation) => Ask | undefined) {
    const asked: { name: string; answered: unknown; shown: unknown }[] = []
    for (const [name, operation] of operationsOf(document)) {
      const media = Object.values(operation.responses).flatMap(({ content }) => Object.values(content ?? {}))
      const shown = media.flatMap((one) => shownIn(document, one)).find(isOf(code))
      const call = ask(name, operation)
      if (!name.includes('/v1/') || shown === undefined || call === undefined) continue
      asked.push({ name, answered: await send(name, call), shown })
    }
    expect(asked.length).toBeGreaterThan(2)
    expect(asked.map(({ name, answered }) => ({ name, body: answered }))).toEqual(
      asked.map(({ name, shown }) => ({ name, body: shown })),
    )
  }

  async function send(name: string, { query = '', anonymous, ...call }: Ask): Promise<unknown> {
    const [method = '', path] = name.split(' ')
    const verb = method.toLowerCase() as 'get' | 'post' | 'put'
    const url = `${path?.replace(/\{\w+\}/g, '404404')}${query}`
    if (anonymous) return (await service.app.inject({ method: verb, url, headers: { host } })).json()
    return (await service[verb](url, { host, ...call })).body
  }

  const mediaOf = ({ requestBody }: Operation) => Object.entries(requestBody?.content ?? {})[0]

  const exampleFor = (operation: Operation): Call => {
    const [type, media] = mediaOf(operation) ?? []
    if (media === undefined) return {}
    return type === 'application/json' ? { body: shownIn(document, media)[0] } : showing(Buffer.from('%PDF-1.7'))
  }

  it('400 invalid_argument: an empty body, an unknown field, a page that is none', async () => {
    await askedEach('invalid_argument', (_, operation) => {
      const [type, media] = mediaOf(operation) ?? []
      if (media === undefined) return { query: '?page=0' }
      if (type !== 'application/json') return undefined
      const { $ref = '' } = media.schema as { $ref?: string }
      const { required = [], oneOf } = (document.components.schemas[$ref.split('/').at(-1)!] ?? {}) as {
        required?: string[]
        oneOf?: object
      }
      return { body: oneOf || required.length > 0 ? {} : { remark: '' } }
    })
  })

  it('401 unauthenticated: no token', async () => {
    await askedEach('unauthenticated', () => ({ anonymous: true }))
  })

  it('403 permission_denied: what the role may not do, and another organization’s id', async () => {
    const elsewhere = host === 'records.localhost' ? { headers: { 'x-user-id': '2' } } : {}
    const { email, password } = DEMO_AUDITOR
    const auditor = await service.deps.signIn.issueToken(email, password, '127.0.0.1')
    await askedEach('permission_denied', (_, operation) => ({
      ...exampleFor(operation),
      query: queryOf(operation),
      ...('x-required-role' in operation || 'headers' in elsewhere ? {} : { token: auditor }),
      ...elsewhere,
    }))
  })

  it('404 not_found: nothing has that id', async () => {
    const token = service.tokens.operator
    await askedEach('not_found', (_, operation) => ({ ...exampleFor(operation), query: queryOf(operation), token }))
  })

  it('413 payload_too_large, 415 unsupported_media_type', async () => {
    const type = (value: string) => ({ headers: { 'content-type': value } })
    await askedEach('unsupported_media_type', () => ({ raw: 'x', ...type('text/plain') }))
    await askedEach('payload_too_large', (_, operation) =>
      mediaOf(operation)?.[0] === 'application/json' ? { raw: ' '.repeat(1024 * 1024 + 1) } : undefined,
    )
  })
})
