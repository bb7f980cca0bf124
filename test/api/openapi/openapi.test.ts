import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { authStyle } from '../../../src/api/auth/index.ts'
import type { Document as SharedDocument } from '../../../src/api/openapi/share.ts'
import { inPlace, referencesIn, resolved, shareParts } from '../../../src/api/openapi/share.ts'
import { partnerStyle } from '../../../src/api/partner/index.ts'
import { recordStyle } from '../../../src/api/record/index.ts'
import type { Style, StyleApp } from '../../../src/api/style.ts'
import { everyExample, faultsBy, operationsOf, shownIn } from '../../support/document.ts'
import { needsQuery, prefilledOf } from '../../support/prefilled.ts'
import type { Document as StyleDocument } from '../../support/wire.ts'
import { toyApp } from '../toy.ts'

interface Operation {
  readonly responses: Record<
    string,
    { description: string; content?: Record<string, { examples?: Record<string, unknown> }> }
  >
  readonly requestBody?: { required: boolean; content: Record<string, { schema: unknown }> }
  readonly parameters?: readonly { name: string; schema: object }[]
  readonly security?: unknown
}

interface Document {
  readonly openapi: string
  readonly servers: readonly { url: string }[]
  readonly security: unknown
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: {
    schemas: Record<string, { properties: Record<string, unknown>; required: string[] }>
    securitySchemes: object
  }
}

let app: FastifyInstance
beforeAll(async () => {
  app = await toyApp({ BASE_URL: 'https://api.lender.example' })
})
afterAll(() => app.close())

const get = (url: string, host = 'api.lender.example') => app.inject({ url, headers: { host } })
const documentOf = async (host?: string): Promise<Document> => (await get('/openapi.json', host)).json()

describe('/openapi.json', () => {
  test('is OpenAPI 3.1 with the style’s public URL, and paths as the caller knows them', async () => {
    const document = await documentOf()
    expect(document.openapi).toBe('3.1.0')
    expect(document.servers[0]).toEqual({ url: 'https://api.lender.example' })
    expect(document.security).toEqual([{ bearer: [] }])
    expect(JSON.stringify(document)).not.toContain('/~')
    expect(Object.keys(document.paths)).toContain('/v1/loans/{id}/repayments')
    expect(
      Object.keys(document.paths).filter((path) => path.startsWith('/docs') || path.startsWith('/openapi')),
    ).toEqual([])
  })

  test('has that style’s routes and components only', async () => {
    const [partner, record, auth] = await Promise.all([
      documentOf(),
      documentOf('records.localhost'),
      documentOf('auth.localhost'),
    ])
    expect(Object.keys(partner.paths)).not.toContain('/v1/borrowers')
    expect(Object.keys(record.paths).sort()).toEqual(['/health/live', '/health/ready', '/v1/borrowers', '/v1/loans'])
    expect(Object.keys(record.components.schemas)).toEqual(['BookStates', 'Failure', 'FieldFault', 'Health'])
    expect(Object.keys(auth.components.securitySchemes)).toEqual(['bearer', 'basic'])
    expect(record.components.schemas.Failure).toMatchObject({
      required: ['success', 'code', 'message'],
      properties: { success: { type: 'boolean' } },
    })
  })

  test('every operation describes its answers, and each refusal has an example in the words of the style', async () => {
    for (const host of ['api.lender.example', 'records.localhost', 'auth.localhost'])
      for (const operation of Object.values(inPlace(await documentOf(host)).paths).flatMap((path) =>
        Object.values(path),
      )) {
        expect(Object.keys(operation.responses)).toContain('200')
        expect(Object.keys(operation.responses)).toContain('500')
        for (const [status, { description, content }] of Object.entries(operation.responses)) {
          expect(description).not.toBe('Default Response')
          const { examples = {} } = content?.['application/json'] ?? {}
          if (Number(status) >= 400) expect(Object.keys(examples)).not.toEqual([])
          for (const [code, example] of Object.entries(examples))
            expect(example).toMatchObject({ value: host.startsWith('records') ? { success: false, code } : { code } })
        }
      }
  })

  test('the refusals of an operation follow from what it takes, and from what it names', async () => {
    const { paths } = inPlace(await documentOf())
    const codes = Object.values(paths['/v1/loans/{id}/repayments']!.post!.responses).flatMap(({ content }) =>
      Object.keys(content?.['application/json']?.examples ?? {}),
    )
    expect(codes.sort()).toEqual(
      [
        ...['aborted', 'failed_precondition', 'internal', 'invalid_argument', 'not_found', 'payload_too_large'],
        'permission_denied',
        ...['resource_exhausted', 'unauthenticated', 'unavailable', 'unsupported_media_type'],
      ].sort(),
    )
    expect(paths['/health/live']!.get!.security).toEqual([])
  })

  test('a schema has its plain name, and plain types', async () => {
    const { components, paths } = inPlace(await documentOf())
    expect(Object.keys(components.schemas).sort()).toEqual(
      ['BookStates', 'Failure', 'FieldFault', 'Health', 'PostRepaymentRequest', 'Remark', 'Repayment'].sort(),
    )
    expect(components.schemas.PostRepaymentRequest).toMatchObject({
      required: ['transactionAmount'],
      additionalProperties: false,
      properties: {
        transactionAmount: { type: 'number', format: 'double' },
        transactionDate: { type: 'string', format: 'date' },
      },
    })
    expect(components.schemas.Repayment).toMatchObject({
      additionalProperties: true,
      properties: { amount: { type: 'number', format: 'double' } },
    })
    expect(paths['/v1/customers']!.get!.parameters).toMatchObject([
      { name: 'page', in: 'query', required: false, schema: { type: 'integer', minimum: 1 } },
      { name: 'rows', in: 'query', required: false, schema: { type: 'integer', maximum: 100, default: 100 } },
      { name: 'after', in: 'query', required: false, schema: { type: 'string' } },
    ])
  })

  test('operations of a tag are in the order that the style names, and others after them', async () => {
    const add = (routes: StyleApp, operationId: string) =>
      routes.get(
        `/v1/${operationId}`,
        { config: { needs: 'signed in' }, schema: { tags: ['loans'], operationId } },
        () => ({}),
      )
    const style: Style = {
      ...partnerStyle,
      registry: z.registry(),
      tags: [{ name: 'loans', description: 'Loans.' }],
      order: ['third', 'first'],
      routes: (routes) => {
        for (const operationId of ['first', 'second', 'third', 'fourth']) add(routes, operationId)
      },
    }
    const ordered = await toyApp({}, { styles: [style] })
    const document = (await ordered.inject({ url: '/openapi.json', headers: { host: 'api.localhost' } })).json()
    await ordered.close()
    expect(Object.keys(document.paths).filter((path) => path.startsWith('/v1/'))).toEqual([
      ...['/v1/third', '/v1/first', '/v1/second', '/v1/fourth'],
    ])
  })

  test('a body that may be left out is not required', async () => {
    const { paths } = await documentOf()
    expect(paths['/v1/loans/{id}/close']!.post!.requestBody).toMatchObject({
      required: false,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Remark' } } },
    })
    expect(paths['/v1/loans/{id}/repayments']!.post!.requestBody?.required).toBe(true)
    expect(JSON.stringify(paths)).not.toContain('x-optional-body')
  })

  test('every reference leads somewhere', async () => {
    for (const host of ['api.lender.example', 'records.localhost', 'auth.localhost']) {
      const document = await documentOf(host)
      for (const $ref of referencesIn(document)) expect(resolved(document, { $ref })).toBeTypeOf('object')
    }
  })
})

describe('an example that is told within another one', () => {
  const schema = (example: unknown, properties: object = {}) => ({ type: 'object', properties, examples: [example] })
  const to = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const examplesLeft = (schemas: object) => {
    const content = { 'application/json': { schema: to('Whole') } }
    const paths = { '/v1/whole': { get: { responses: { 200: { description: 'Done.', content } } } } }
    const shared = shareParts({ paths, components: { schemas } } as unknown as SharedDocument)
    const left = Object.entries<{ examples?: unknown }>(shared.components.schemas)
    return left.filter(([, { examples }]) => examples).map(([name]) => name)
  }

  test('is left out of a schema to which only that one refers, at any depth', () => {
    const whole = { part: { pieces: [{ a: 1 }] } }
    const schemas = {
      Whole: schema(whole, { part: to('Part') }),
      Part: schema(whole.part, { pieces: { type: 'array', items: to('Piece') } }),
      Piece: schema({ a: 1 }),
    }
    expect(examplesLeft(schemas)).toEqual(['Whole'])
  })

  test('stays where its value is another one, or its schema is not of the other', () => {
    const schemas = {
      Whole: schema({ part: { a: 2 }, other: { b: 1 } }, { part: to('Part') }),
      Part: schema({ a: 1 }),
      Other: schema({ b: 1 }),
    }
    expect(examplesLeft(schemas)).toEqual(['Whole', 'Part', 'Other'])
  })

  test('stays where an operation refers to its schema', () => {
    expect(examplesLeft({ List: schema({ items: [{}] }, { items: to('Whole') }), Whole: schema({}) })).toEqual([
      'List',
      'Whole',
    ])
  })
})

/** The bytes that the document of a style may have: a tool that reads documents, such as a model, pays for each. */
const LARGEST = 900_000

/** The operations that answer 204, by their host. */
const WITHOUT_CONTENT: Readonly<Record<string, readonly string[]>> = {
  'auth.localhost': ['POST /v1/auth/authorize'],
  'api.localhost': [
    'DELETE /v1/webhook-endpoints/{id}',
    'DELETE /v1/roles/{name}',
    'POST /v1/accounts/{id}/reset-second-factor',
  ],
}

describe('examples in the documents of the styles', () => {
  let real: FastifyInstance
  beforeAll(async () => {
    real = await toyApp({}, { styles: [authStyle, partnerStyle, recordStyle] })
  })
  afterAll(() => real.close())

  describe.each(['auth.localhost', 'api.localhost', 'records.localhost'])('%s', (host) => {
    let document: StyleDocument
    beforeAll(async () => {
      document = (await real.inject({ url: '/openapi.json', headers: { host } })).json()
    })

    test('and the parts that operations share are in the document once, whatever refers to them', () => {
      const answers = Object.values(document.paths).flatMap((methods) =>
        Object.values(methods).flatMap(({ responses, parameters = [] }) => [
          ...Object.values(responses),
          ...parameters,
        ]),
      )
      const inOperations = answers.filter((part) => !('$ref' in part)).map((part) => JSON.stringify(part))
      expect(inOperations.filter((text, place) => text.length > 60 && inOperations.indexOf(text) < place)).toEqual([])
      const whole = inPlace(document) as unknown as SharedDocument
      expect(referencesIn(whole.paths)).not.toContain('#/components/responses/Unauthenticated')
      expect(shareParts(whole)).toEqual(document)
      expect(Buffer.byteLength(JSON.stringify(document))).toBeLessThan(LARGEST)
    })

    test('are in place or referred to, as is all else: every reference leads somewhere', () => {
      const references = referencesIn(document)
      expect(references.size).toBeGreaterThan(20)
      for (const $ref of references) expect([$ref, resolved(document, { $ref })]).toEqual([$ref, expect.any(Object)])
    })

    test('every body has one, and every answer but one without content', () => {
      const without = operationsOf(document).flatMap(([name, { requestBody, responses }]) =>
        Object.entries({ body: requestBody, ...responses })
          .filter(([, part]) =>
            Object.values(part?.content ?? {}).some((media) => shownIn(document, media).length === 0),
          )
          .map(([what]) => `${name}: ${what}`),
      )
      expect(without).toEqual([])
      const silent = operationsOf(document).filter(([, { responses }]) => responses['200']?.content === undefined)
      expect(silent.map(([name]) => name)).toEqual(WITHOUT_CONTENT[host] ?? [])
    })

    test('fill in every parameter of a path, and no filter', () => {
      for (const { name, path, operation } of prefilledOf(document)) {
        expect([name, path]).toEqual([name, expect.not.stringMatching(/undefined|CUST-0001/)])
        const query = needsQuery(operation) ? expect.any(String) : expect.not.stringContaining('?')
        expect([name, path]).toEqual([name, query])
      }
    })

    test('each matches its schema', () => {
      const fault = faultsBy(document)
      const examples = everyExample(document)
      expect(fault({ $ref: '#/components/schemas/Failure' }, { code: 'unknown' })).toBeDefined()
      expect(examples.flatMap(([schema, example]) => fault(schema, example) ?? [])).toEqual([])
    })
  })
})

describe('/docs', () => {
  test.each(['/docs', '/docs/'])('%s is a page whose assets are all served here', async (page) => {
    const response = await get(page)
    expect(response.headers['content-type']).toMatch(/^text\/html/)
    const links = [...response.payload.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link = '']) => link)
    expect(links.length).toBeGreaterThan(5)
    for (const link of links) {
      const url = new URL(link, `https://api.lender.example${page}`)
      expect(url.origin).toBe('https://api.lender.example')
      expect((await get(url.pathname)).statusCode).toBe(200)
    }
    const inline = [...response.payload.matchAll(/<script(?![^>]*src=)|<style|\son\w+=/g)]
    expect(inline).toEqual([])
  })

  test('loads nothing from elsewhere, and may not', async () => {
    const css = (await get('/docs/static/swagger-ui.css')).payload
    expect(css).not.toMatch(/@import|url\(["']?(https?:)?\/\//)
    const start = (await get('/docs/static/swagger-initializer.js')).payload
    expect(start.replace(/^\s*\/\/.*$/gm, '')).not.toMatch(/https?:/)
    expect((await get('/docs/')).headers['content-security-policy']).toContain("default-src 'self';")
  })

  test('shows the document of its own style', async () => {
    for (const host of ['api.lender.example', 'records.localhost']) {
      const { servers, ...shown } = (await get('/docs/json', host)).json()
      const { servers: others, ...document } = await documentOf(host)
      expect(shown).toEqual(document)
      expect(servers).toEqual(others.toReversed())
    }
  })

  test('a redirect does not reveal the inside prefix', async () => {
    expect((await get('/docs/static/index.html')).headers.location).toBe('/docs/')
  })

  test('an asset that is not there is 404 in our shape', async () => {
    const response = await get('/docs/static/none.js')
    expect(response.statusCode).toBe(404)
    expect(response.json()).toEqual({ code: 'not_found', message: 'no such path: GET /docs/static/none.js' })
  })
})
