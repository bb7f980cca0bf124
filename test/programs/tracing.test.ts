import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tracingWanted } from '../../src/app/config.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { startProcess, tokenFrom } from '../support/process.ts'

interface Span {
  readonly name: string
  readonly traceId: string
  readonly attributes: { readonly key: string; readonly value: Record<string, unknown> }[]
}

/** OTLP, as it comes. */
interface Traces {
  readonly resourceSpans?: { readonly scopeSpans: { readonly spans: Span[] }[] }[]
}

let database: FreshDatabase
let collector: Server
let received = ''
const spans: Span[] = []
const paths = new Set<string>()
beforeAll(async () => {
  database = await freshDatabase()
  collector = createServer((request, response) => {
    paths.add(String(request.url))
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      received += body
      const { resourceSpans = [] }: Traces = JSON.parse(body)
      for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans)
      response.end('{}')
    })
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  collector.close()
  await database.drop()
})

describe('tracing', () => {
  it.each([
    [{}, false],
    [{ OTEL_SERVICE_NAME: 'mkopo' }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, true],
    [{ OTEL_TRACES_EXPORTER: 'console' }, true],
    [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, false],
    [{ OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, false],
  ])('with %j it is wanted: %s', (env, wanted) => expect(tracingWanted(env)).toBe(wanted))

  it.each(['1', '2'])(
    'in %s processes: a span for each request, by its route, and one for each of its statements; without what was sent',
    async (processes) => {
      spans.length = 0
      const address = collector.address()
      const service = await startProcess({
        DATABASE_URL: database.serviceUrl,
        KEY_ENCRYPTION_SECRET: 'a secret of the tests',
        WEB_CONCURRENCY: processes,
        STOP_GRACE_MS: '1500',
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${typeof address === 'object' && address?.port}`,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_BSP_SCHEDULE_DELAY: '60000',
        OTEL_SERVICE_NAME: 'mkopo-in-a-test',
      })
      const headers = { authorization: `Bearer ${await tokenFrom(service.origin)}` }
      await fetch(`${service.origin}/v1/customers/external/0712345678?secret=hunter2`, { headers })
      const listed = await fetch(`${service.origin}/v1/customers?externalId=0712345678`, { headers })
      expect(listed.status).toBe(200)
      for (const path of ['', '/validate', '/other', '%zz'])
        await fetch(`${service.origin}/in/secret-of-a-channel${path}`, {
          method: 'POST',
          body: 'a message of a provider',
        })
      await fetch(`${service.origin}/health/live`)
      service.child.kill('SIGTERM')
      expect(await service.ended).toBe(0)

      expect([...paths]).toEqual(['/v1/traces'])
      const named = spans.find(({ name }) => name === 'GET /v1/customers/external/:externalId')
      expect(named?.attributes).toContainEqual({ key: 'mkopo.style', value: { stringValue: 'partner' } })
      // What a request needs of its account may have been read for another one: the rows of a list never are.
      const list = spans.find(({ name }) => name === 'GET /v1/customers')
      const ofTrace = spans.filter(({ traceId }) => traceId === list?.traceId).map(({ name }) => name)
      expect(ofTrace.filter((name) => name.startsWith('pg.query')).length).toBeGreaterThan(0)
      expect(spans.filter(({ name }) => name.includes('health'))).toEqual([])
      expect(received).toContain('mkopo-in-a-test')
      for (const secret of [
        'secret-of-a-channel',
        'message of a',
        '0712345678',
        'hunter2',
        'partner-secret',
        'eyJ',
        headers.authorization.slice(-20),
      ])
        expect(received, secret).not.toContain(secret)
    },
  )
})
