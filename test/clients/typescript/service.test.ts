import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMkopo, type Mkopo, MkopoError } from '../../../clients/typescript/src/index.ts'
import { type LossyProxy, startLossyProxy } from '../../../clients/typescript/try/lossyProxy.ts'
import { DEMO_OPERATOR, DEMO_PARTNER } from '../../../src/services/organizations/seedDemo.ts'
import { freePort } from '../../support/freePort.ts'
import { startKeeper, startSequencer } from '../../support/jobs.ts'
import { quiet } from '../../support/quiet.ts'
import { randomFrom } from '../../support/random.ts'
import { blocksOf } from '../../support/readmeBlocks.ts'
import { startService, type TestService } from '../../support/service.ts'
import { smallStatement } from '../../support/statementPdf.ts'
import { allOf, failureOf } from './fake.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** The greatest id but one; an example takes the greatest. */
const GREAT = 9_223_372_036_854_775_806n
const MOST_ATTEMPTS = 200
const below = randomFrom(1)
const drawn = () => below(1_000) / 1_000

let service: TestService
let jobs: { stop(): Promise<void> }[]
let proxy: LossyProxy
let urls: { readonly baseUrl: string; readonly recordsUrl: string }
let mkopo: Mkopo
let operator: Mkopo

beforeAll(async () => {
  // No setting names 127.0.0.1, which is the partner style then, and the host of tokens.
  service = await startService({ RECORDS_URL: 'http://localhost', WEBHOOKS_TO_PRIVATE: 'true' })
  await service.app.listen({ port: 0, host: '127.0.0.1' })
  jobs = [startSequencer(service.deps, quiet), startKeeper(service.deps, quiet)]
  proxy = await startLossyProxy(Number(new URL(service.app.listeningOrigin).port), drawn)
  urls = { baseUrl: `http://127.0.0.1:${proxy.port}`, recordsUrl: `http://localhost:${proxy.port}` }
  mkopo = createMkopo({ ...urls, ...DEMO_PARTNER })
  operator = createMkopo({ ...urls, ...DEMO_OPERATOR })
})
afterAll(async () => {
  for (const job of jobs) await job.stop()
  await proxy.close()
  await service.close()
})

describe('the client with a service', () => {
  it('lends, takes a repayment once, and reads it back', async () => {
    const customer = await mkopo.createCustomer({ externalId: 'asha' })
    const loan = await mkopo.createLoan({ customerId: 'asha', productId: 1, principal: 9_999_999.97 })
    const call = { idempotencyKey: 'order-1' }
    const paid = await mkopo.postRepayment(loan.id, { transactionAmount: 987_654.32 }, call)
    expect(await mkopo.postRepayment(loan.id, { transactionAmount: 987_654.32 }, call)).toEqual(paid)
    const read = await mkopo.getLoan(loan.id)
    expect([read.customerId, read.totalPaid]).toEqual([customer.id, 987_654.32])
    expect(read.repaymentHistory.map(({ id }) => id)).toEqual([paid.id])
    const other = await failureOf(mkopo.postRepayment(loan.id, { transactionAmount: 1 }, call))
    expect(other).toMatchObject({ code: 'invalid_argument', details: [{ field: 'Idempotency-Key' }], mayBeDone: false })
  })

  it('says what was refused, in both styles', async () => {
    const error = await failureOf(mkopo.createLoan({ customerId: 'asha', productId: 1, principal: 0.001 }))
    expect(error).toBeInstanceOf(MkopoError)
    expect(error).toMatchObject({
      code: 'invalid_argument',
      status: 400,
      requestId: expect.stringMatching(/^[\w-]{36}$/),
    })
    expect(await failureOf(mkopo.records.getLoan(5n))).toMatchObject({ code: 'not_found', status: 404 })
    expect(await failureOf(mkopo.listAuditTrail())).toMatchObject({ code: 'permission_denied', status: 403 })
  })

  it('takes and gives ids of the record style that no double holds', async () => {
    const { records } = mkopo
    const borrower = { id: GREAT, business_name: 'Asha', phone: '1', address: 'a', type: 't', region: 'r' }
    expect((await records.createBorrower(borrower)).item).toMatchObject(borrower)
    const dates = { released_date: '2026-01-31', due_date: '2026-03-02' }
    const terms = { borrower_id: GREAT, loan_id: GREAT, principal_amount: 1_000, ...dates }
    await records.createLoan({ ...terms, duration: 30, duration_period: 'Days' })
    const paid = { repayment_id: GREAT, loan_id: GREAT, amount: 0.01, collection_date: '2026-01-31' }
    await records.postRepayment(paid)
    expect((await records.getRepayment(GREAT)).item).toMatchObject(paid)
    const { items, total } = await records.listLoans({ borrower_id: GREAT })
    expect([items.map(({ loan_id }) => loan_id), total]).toEqual([[GREAT], 1n])
  })

  it('sends a file, reads a text, and deletes', async () => {
    await mkopo.createCustomer({ externalId: 'boosted' })
    const statement = new Blob([new Uint8Array(await smallStatement('2025-10-01', '2026-01-31'))], {
      type: 'application/pdf',
    })
    const boost = await mkopo.boostCreditLimit('boosted', { statement, fullName: 'Asha Mwangi' })
    expect(boost.externalId).toBe('boosted')
    expect(await operator.getJournalCsv({ period: '2026-01' })).toMatch(/^\uFEFFposting,sequence,/)
    const endpoint = await operator.createWebhookEndpoint({ url: 'http://127.0.0.1:9/hook' })
    expect(await operator.deleteWebhookEndpoint(endpoint.id)).toBeUndefined()
    expect((await mkopo.auth.authenticate()).email).toBe(DEMO_PARTNER.email)
  })

  it('posts each of 300 repayments once, where a third of all requests and answers are lost', async () => {
    const { id } = await mkopo.createLoan({ customerId: 'asha', productId: 3, principal: 1_000_000 })
    proxy.lose({ requests: 0.1, answers: 0.2 })
    const clock = { now: () => Date.now(), sleep: async () => undefined }
    const hurried = createMkopo({ ...urls, ...DEMO_PARTNER, clock, retries: MOST_ATTEMPTS })
    try {
      for (let tens = 0; tens < 30; tens++) {
        const amounts = Array.from({ length: 10 }, (_, one) => tens * 10 + one + 1)
        await Promise.all(amounts.map((transactionAmount) => hurried.postRepayment(id, { transactionAmount })))
      }
      const listed = await allOf(hurried.listRepayments(id, { rows: 7 }))
      expect(listed.map(({ amount }) => amount).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 300 }, (_, index) => index + 1),
      )
    } finally {
      proxy.lose({ requests: 0, answers: 0 })
    }
    expect(Math.min(proxy.counts.lostRequests, proxy.counts.lostAnswers)).toBeGreaterThan(30)
  })

  it('follows every event once, through losses', async () => {
    proxy.lose({ requests: 0.1, answers: 0.2 })
    const controller = new AbortController()
    const sequences: number[] = []
    try {
      let stored: string | undefined
      // Every reader takes a few events and stops, as after a crash; the next one goes on.
      while (sequences.length < 300) {
        let taken = 0
        for await (const { event, cursor } of mkopo.events.follow(stored, { rows: 50, signal: controller.signal })) {
          sequences.push(Number(event.data.sequence))
          stored = cursor
          if (++taken === 61 || sequences.length === 300) break
        }
      }
    } finally {
      proxy.lose({ requests: 0, answers: 0 })
    }
    expect(sequences).toEqual(Array.from({ length: 300 }, (_, index) => index + 1))
  })
})

describe('the README and the examples', () => {
  const environment = () => ({
    ...process.env,
    MKOPO_URL: urls.baseUrl,
    MKOPO_RECORDS_URL: urls.recordsUrl,
    MKOPO_PASSWORD: DEMO_PARTNER.password,
    COPY_MS: '1000',
  })
  const resolve = ['--import', join(ROOT, 'test/support/resolveClient.ts')]
  const run = (file: string) => promisify(execFile)(process.execPath, [...resolve, file], { env: environment() })

  it('do the main job in 20 lines', async () => {
    const [, main] = blocksOf('clients/typescript/README.md')
    const lines = main!.text.split('\n').filter((line) => line.trim() !== '')
    expect(lines.length).toBeLessThanOrEqual(20)
    const folder = await mkdtemp(join(tmpdir(), 'mkopo-client-readme-'))
    try {
      const { baseUrl } = urls
      const source = main!.text.replaceAll('http://127.0.0.1:3000', baseUrl)
      await writeFile(join(folder, 'main.ts'), source)
      const { stdout } = await run(join(folder, 'main.ts'))
      expect(stdout).toMatch(/^100000 TZS are still owed\n(.*\n)*repayment\.posted \d+ [\w-]+\n$/)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('compile', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mkopo-client-compile-'))
    try {
      const blocks = blocksOf('clients/typescript/README.md').filter(({ language }) => language === 'ts')
      for (const [index, { text }] of blocks.entries()) await writeFile(join(folder, `block${index}.ts`), text)
      const paths = { '@mkopo/client': [join(ROOT, 'clients/typescript/src/index.ts')] }
      const types = { typeRoots: [join(ROOT, 'node_modules/@types')], types: ['node'] }
      const compilerOptions = { ...types, paths, noEmit: true, skipLibCheck: true }
      const project = join(folder, 'tsconfig.json')
      await writeFile(
        project,
        JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: ['*.ts'] }),
      )
      await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
      const tsc = promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project])
      expect([blocks.length, await tsc.catch(({ stdout }) => stdout)]).toEqual([2, { stdout: '', stderr: '' }])
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('run, and again', async () => {
    const example = (name: string) => run(join(ROOT, `clients/typescript/examples/${name}.ts`))
    const { stdout } = await example('main-job')
    expect(stdout).toMatch(/^posted 25000\.5 as transaction \d+\nposted: 25000\.5\n84999\.5 TZS are still owed\n$/)
    expect((await example('main-job')).stdout).toBe(stdout)
    expect((await example('copy-the-book')).stdout).toMatch(/^copied \d+ loans\n/)
    const id = '9223372036854775807'
    expect((await example('record-system')).stdout).toBe(`loan ${id} of 9999999.97: repayment ${id} of 987654.32\n`)
  })

  it('receive a webhook', async () => {
    const port = await freePort()
    const { id, secret } = await operator.createWebhookEndpoint({ url: `http://127.0.0.1:${port}/hook` })
    const file = join(ROOT, 'clients/typescript/examples/webhook-receiver.ts')
    const env = { ...environment(), PORT: String(port), WEBHOOK_SECRETS: secret }
    // The receiver has the time of the machine on which the service runs: that which the test holds.
    const time = ['--import', `data:text/javascript,Date.now=()=>${service.clock.machineNow()}`]
    const child = spawn(process.execPath, [...resolve, ...time, file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
      expect((await lines.next()).value).toBe(`listens on ${port}`)
      expect(await operator.testWebhookEndpoint(id)).toMatchObject({ status: 204 })
      expect((await lines.next()).value).toMatch(/ webhook\.test$/)
      const unsigned = await fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST', body: '{}' })
      expect(unsigned.status).toBe(401)
    } finally {
      child.kill()
      await operator.deleteWebhookEndpoint(id)
    }
  })
})
