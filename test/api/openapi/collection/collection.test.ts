import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentOf, operationsOf } from '../../../support/document.ts'
import { keptBeside, sweepAndSeal } from '../../../support/journal.ts'
import { REFUSED, UNKNOWN } from '../../../support/prefilled.ts'
import { startService, type TestService } from '../../../support/service.ts'
import { fictionalStatement, statementPdf } from '../../../support/statementPdf.ts'
import { form } from '../../../support/upload.ts'
import type { Document } from '../../../support/wire.ts'
import { toyApp } from '../../toy.ts'
import { readHttpFile, runHttpFile } from './httpFile.ts'
import { itemsOf, postmanFile, runPostman } from './postmanFile.ts'
import type { Answered, Sent } from './sent.ts'

// The requests of a document as files: a person imports one, and sends one request after the other.

/** The greatest id of a record system, which no floating-point number is. */
const GREATEST = '9223372036854775807'

/** The ids that a person chooses on a book where those of the examples are taken. */
const OWN_IDS: Readonly<Record<string, string>> = {
  ...{ customerExternalId: 'wallet-255700000077', loanExternalId: 'order-2026-0077', receipt: 'SKL7XA9K77' },
  ...{ borrowerId: GREATEST, loanId: GREATEST, repaymentId: GREATEST },
}

describe.each([
  { style: 'auth', host: 'auth.localhost:3000', added: [] },
  { style: 'partner', host: 'api.localhost:3000', added: ['GET {{authUrl}}/v1/auth/token'] },
  { style: 'record', host: 'records.localhost:3000', added: ['GET {{authUrl}}/v1/auth/token'] },
] as const)('the requests of the $style style', ({ style, host, added }) => {
  let service: TestService
  let document: Document
  let statement: Buffer
  beforeAll(async () => {
    service = await startService()
    service.clock.set('2026-02-20')
    document = await documentOf(service, host)
    statement = await statementPdf(fictionalStatement({ from: '2025-12-01', to: '2026-01-31' }))
  })
  afterAll(() => service.close())

  const download = async (path: string) => {
    const { status, text, headers } = await service.get(path, { host, headers: { authorization: '' } })
    expect(status).toBe(200)
    return { text, type: headers['content-type'], disposition: headers['content-disposition'] }
  }
  const postman = async () => postmanFile.parse(JSON.parse((await download('/docs/postman.json')).text))
  const httpFile = async () => readHttpFile((await download('/docs/requests.http')).text)

  let isChanged = true

  /** Sends a request to the service, for which 127.0.0.1:3000 stands. */
  async function send(one: Sent): Promise<Answered> {
    if (isChanged) await sweepAndSeal(service.deps)
    isChanged = one.method !== 'GET'
    expect(one.url).toMatch(/^http:\/\/127\.0\.0\.1:3000\//)
    const content = one.parts ? form(one.parts) : { raw: one.raw, headers: {} }
    const answering = service.app.inject({
      method: one.method as 'GET',
      url: one.url.slice('http://127.0.0.1:3000'.length),
      headers: { ...one.headers, ...content.headers },
      ...(content.raw !== undefined && { payload: content.raw }),
    })
    // These wait until the journal has caught up, which nothing else keeps here.
    const isOfBooks = /accounting|portfolio/.test(one.url)
    const { statusCode, body } = await (isOfBooks ? keptBeside(service.deps, answering) : answering)
    return { status: statusCode, text: body }
  }

  /** Returns the operation of the document that a request without its variables is for. */
  const operationOf = (method: string, url: string) => {
    const path = url.replace(/^\{\{\w+\}\}/, '').replace(/\?.*/, '')
    const matches = operationsOf(document).filter(([name]) => {
      const pattern = name.replace(/\{\w+\}/g, '(?:\\{\\{[^}]+\\}\\}|(?!external)[\\w-]+)')
      return new RegExp(`^${pattern}$`).test(`${method} ${path}`)
    })
    return matches.length === 1 ? matches[0]![0] : matches.map(([name]) => name)
  }

  it('are files to download, with a name for each style', async () => {
    expect(await download('/docs/postman.json')).toMatchObject({
      type: 'application/json; charset=utf-8',
      disposition: `attachment; filename="mkopo-${style}.postman_collection.json"`,
    })
    expect(await download('/docs/requests.http')).toMatchObject({
      type: 'text/plain; charset=utf-8',
      disposition: `attachment; filename="mkopo-${style}.http"`,
    })
  })

  it('have each operation once, under a name of its own, after the one that signs in', async () => {
    const all = operationsOf(document).map(([name]) => name)
    const items = itemsOf(await postman())
    expect(items[0]!.request.url.raw).toBe('{{authUrl}}/v1/auth/token')
    const ofItems = items.map(({ request: { method, url } }) => operationOf(method, url.raw))
    expect(ofItems.slice(added.length).sort()).toEqual(all.toSorted())
    expect(new Set(items.map(({ name }) => name)).size).toBe(items.length)
    const { regions } = await httpFile()
    expect(regions.map(({ lines: [first = ''] }) => operationOf(...(first.split(' ') as [string, string])))).toEqual(
      ofItems,
    )
    const ids = operationsOf(document).map(([, { operationId }]) => operationId)
    expect(regions.map(({ name }) => name).sort()).toEqual([...(added.length > 0 ? ['signIn'] : []), ...ids].sort())
  })

  it('have their queries, folders and addresses agree', async () => {
    const { item, variable } = await postman()
    const tags = new Set(
      operationsOf(document).map(([, operation]) => (operation as { tags?: readonly string[] }).tags?.[0]),
    )
    expect(item.filter((one) => 'item' in one).map(({ name }) => name)).toEqual([...tags])
    for (const { request } of itemsOf({ item } as never)) {
      const { raw, host: [base] = [], path, query = [] } = request.url
      const sent = query.filter(({ disabled }) => !disabled).map(({ key, value }) => `${key}=${value}`)
      expect(raw).toBe(`${base}/${path.join('/')}${sent.length > 0 ? `?${sent.join('&')}` : ''}`)
    }
    const used = new Set([...JSON.stringify(item).matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name!))
    const known = variable.map(({ key }) => key)
    expect([...used].filter((name) => !known.includes(name))).toEqual([])
    expect(known.filter((name) => !used.has(name) && name !== 'url' && name !== 'token')).toEqual([])
  })

  it('succeed, sent in order from the collection, and again from the HTTP file with ids of its own', async () => {
    const file = await postman()
    const names = itemsOf(file).map(({ request: { method, url } }) => String(operationOf(method, url.raw)))
    const refused = operationsOf(document).filter(([, { operationId }]) => operationId in { ...REFUSED, ...UNKNOWN })
    const isRefused = new Set(refused.map(([name]) => name))
    const expected = names.map((name) => [name, isRefused.has(name) ? 'refused' : 'done'])
    const texts: string[] = []
    const play = async (run: (keep: typeof send) => Promise<void>) => {
      const played: unknown[] = []
      await run(async (one) => {
        const answer = await send(one)
        texts.push(answer.text)
        const outcome = [404, 409].includes(answer.status) ? 'refused' : answer.status < 300 ? 'done' : answer.text
        played.push([names[played.length], outcome])
        return answer
      })
      return played
    }
    expect(await play((keep) => runPostman(file, keep, statement))).toEqual(expected)
    const { variables, regions } = await httpFile()
    for (const [name, value] of Object.entries(OWN_IDS)) if (variables.has(name)) variables.set(name, value)
    expect(await play((keep) => runHttpFile({ variables, regions }, keep, statement))).toEqual(expected)
    if (style === 'record') expect(texts.filter((text) => text.includes(`"loan_id":${GREATEST}`)).length).toBe(17)
  })

  it('are linked at the top of the page of the reference', async () => {
    const { text } = await service.get('/docs/static/theme/sign-in.js', { host })
    const [, downloads = ''] = /^const DOWNLOADS = (.*)$/m.exec(text) ?? []
    expect(JSON.parse(downloads)).toEqual([
      { path: '/docs/postman.json', name: `mkopo-${style}.postman_collection.json`, label: expect.any(String) },
      { path: '/docs/requests.http', name: `mkopo-${style}.http`, label: expect.any(String) },
    ])
  })
})

describe('the requests of a service on the internet', () => {
  it('name its public URLs, and no account', async () => {
    const urls = { AUTH_URL: 'https://auth.lender.example', RECORDS_URL: 'https://records.lender.example' }
    const app = await toyApp({ ...urls, BASE_URL: 'https://api.lender.example', SEED_DEMO: 'false' })
    const get = async (url: string) => (await app.inject({ url, headers: { host: 'api.lender.example' } })).body
    const file = postmanFile.parse(JSON.parse(await get('/docs/postman.json')))
    expect(Object.fromEntries(file.variable.map(({ key, value }) => [key, value]))).toMatchObject({
      ...{ authUrl: 'https://auth.lender.example', url: 'https://api.lender.example', email: '', password: '' },
    })
    expect(itemsOf(file).flatMap(({ request }) => request.header.filter(({ key }) => key === 'Host'))).toEqual([])
    const { variables, regions } = readHttpFile(await get('/docs/requests.http'))
    expect(Object.fromEntries(variables)).toMatchObject({ url: 'https://api.lender.example', email: '', password: '' })
    expect(regions.flatMap(({ lines }) => lines.filter((line) => line.startsWith('Host:')))).toEqual([])
    await app.close()
  })
})
