import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { buildApp } from '../src/app/app.ts'
import { readConfig } from '../src/app/config.ts'
import { openService } from '../src/app/service.ts'
import { startEmbedded } from '../src/db/embedded/embedded.ts'
import { DEMO_PARTNER } from '../src/services/organizations/seedDemo.ts'
import { fictionalStatement, statementPdf } from '../test/support/statementPdf.ts'
import { showing } from '../test/support/upload.ts'

// What credit costs, beside the plainest read there is, in one run: `node bench/credit.ts`. In process, one request at a
// time, on an embedded database of its own.

const DAY_MS = 86_400_000
const ROUNDS = 300
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined }

const directory = await mkdtemp(join(tmpdir(), 'mkopo-bench-credit-'))
const server = await startEmbedded({ directory, log: silent })
let now = Date.parse('2025-07-01T12:00:00+03:00')
const config = readConfig({ KEY_ENCRYPTION_SECRET: 'a secret of the bench', SEED_DEMO: 'true', LOG_LEVEL: 'silent' })
const deps = await openService({ config, databaseUrl: server.url, now: () => now })
const app = await buildApp(deps)

try {
  const token = async () => deps.signIn.issueToken(DEMO_PARTNER.email, DEMO_PARTNER.password, '127.0.0.1')
  let headers = { authorization: `Bearer ${await token()}` }
  const send = (method: 'GET' | 'POST', url: string, rest: InjectOptions = {}) =>
    app.inject({ method, url, ...rest, headers: { host: 'api.localhost', ...headers, ...rest.headers } })
  const post = async (url: string, payload: object) => {
    const answer = await send('POST', url, { payload })
    if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.body}`)
    return answer.json()
  }

  // One customer with 24 loans of six instalments, repaid month by month; and a hundred borrowers with six each.
  const borrow = async (customerId: string, loans: number) => {
    await post('/v1/customers', { externalId: customerId })
    for (let count = 0; count < loans; count++) {
      const loan = await post('/v1/loans', { customerId, productId: 3, principal: 60_000 })
      for (let month = 0; month < 6; month++)
        await post(`/v1/loans/${loan.id}/repayments`, { transactionAmount: loan.totalOutstanding / 6 })
    }
  }
  await borrow('much', 24)
  await borrow('little', 2)
  for (let count = 0; count < 100; count++) await borrow(`borrower-${count}`, 6)
  now += 360 * DAY_MS
  headers = { authorization: `Bearer ${await token()}` }

  const { id } = (await send('GET', '/v1/customers/external/borrower-7')).json()
  const records = { headers: { host: 'records.localhost' } }
  await report('a plain customer read', () => send('GET', '/v1/customers/external/much'))
  await report('a scorecard, 2 loans of 6 instalments', () => send('GET', '/v1/credit-scorecard/little'))
  await report('a scorecard, 24 loans of 6 instalments', () => send('GET', '/v1/credit-scorecard/much'))
  await report('one borrower of the record style, 6 loans', () => send('GET', `/v1/borrowers/${id}`, records))
  await report('100 borrowers of the record style, 600 loans', () => send('GET', '/v1/borrowers?rows=100', records), 20)

  const to = new Date(now - 2 * DAY_MS).toISOString().slice(0, 10)
  const from = new Date(now - 182 * DAY_MS).toISOString().slice(0, 10)
  for (const layout of ['mpesa', 'airtel', 'yas', 'bank'] as const) {
    const call = showing(await statementPdf(fictionalStatement({ layout, from, to })))
    const { raw: payload, headers: type } = call
    const boost = () => send('POST', '/v1/credit-scorecard/much/boost', { payload, headers: type })
    await report(`a boost by half a year of ${layout}, ${Math.round(payload.length / 1024)} KiB`, boost, 7)
  }
} finally {
  await app.close()
  deps.statements.close()
  await deps.db.close()
  await server.stop()
  await rm(directory, { recursive: true, force: true })
}

async function report(what: string, call: () => Promise<LightMyRequestResponse>, rounds = ROUNDS): Promise<void> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const started = performance.now()
    const { statusCode, body } = await call()
    times.push(performance.now() - started)
    if (statusCode !== 200) throw new Error(`${what}: ${body}`)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(2)
  console.log(`${what.padEnd(56)} median ${at(0.5).padStart(9)} ms   p95 ${at(0.95).padStart(9)} ms`)
}
