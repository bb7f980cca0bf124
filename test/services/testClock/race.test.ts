import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isWaiting, onLoan, waitForSecond } from '../../../src/services/approvals/waiting.ts'
import { checkBook } from '../../../src/services/book/bookCheck.ts'
import { type Importer, importFile } from '../../../src/services/book/bookImport.ts'
import { postTransaction } from '../../../src/services/loans/transactions.ts'
import { advanceTestClock, resetTestOrganization } from '../../../src/services/testClock/advance.ts'
import { openTestClocks } from '../../../src/services/testClock/testClocks.ts'
import { keepJournal } from '../../support/journal.ts'
import { opsOn } from '../../support/ops.ts'
import { SANDBOX, type Sandbox, sandboxOf, sandboxOperator } from '../../support/sandbox.ts'
import { startService, type TestService } from '../../support/service.ts'

// Two instances: on both of them repayments arrive while the clock of their organization is advanced (contract 12).

const LOANS = 6
const AT_ONCE = 4
const DAYS = 40

let instances: [TestService, TestService]
let sandbox: Sandbox
let live: string
beforeAll(async () => {
  const service = await startService()
  instances = [service, await service.another()]
  sandbox = await sandboxOf(service)
  for (let index = 0; index < LOANS; index++) await sandbox.lend(`asha-${index}`, 2)
  await service.post('/v1/customers', { body: { externalId: 'live' } })
  const body = { customerId: 'live', productId: 2, principal: 100_000 }
  live = (await service.post<{ id: string }>('/v1/loans', { body })).body.id
})
afterAll(() => instances[0].close())

const isOver = { is: false }

/** Posts repayments on an instance, one after the other, until the clock has arrived. @returns the tokens that were posted */
async function repay(instance: TestService, name: string, loan: () => string, token: string | undefined) {
  const posted: string[] = []
  for (let index = 0; !isOver.is; index++) {
    const body = { transactionAmount: 1, idempotencyKey: `${name}-${index}` }
    const answer = await instance.post(`/v1/loans/${loan()}/repayments`, { ...(token && { token }), body })
    expect(answer.status, answer.text).toBe(200)
    posted.push(body.idempotencyKey)
  }
  return posted
}

it('keeps each loan in the order of time, and leaves live organizations alone', async () => {
  const [one, other] = instances
  const start = one.clock.now()
  let next = 0
  const nextOfTest = () => `external/loan-asha-${next++ % LOANS}`
  const repaying = [one, other].flatMap((instance, place) => [
    ...Array.from({ length: AT_ONCE }, (_, index) => repay(instance, `t${place}-${index}`, nextOfTest, sandbox.token)),
    repay(instance, `l${place}`, () => live, undefined),
  ])
  const advanced = await advanceTestClock(one.deps, sandboxOperator, { days: DAYS }).finally(() => (isOver.is = true))
  const posted = (await Promise.all(repaying)).flat().toSorted()
  expect(advanced.events.get('loan.overdue')).toBe(LOANS)

  const { rows } = await one.owner.pool.query<{ token: string; isLive: boolean }>(
    `SELECT token, organization_id = 1 AS "isLive" FROM loan_entry WHERE token IS NOT NULL ORDER BY token`,
  )
  expect(rows.map(({ token }) => token).toSorted()).toEqual(posted)
  const backwards = await one.owner.pool.query(
    `SELECT entity_id, id FROM (
       SELECT id, entity_id, at, lag(at) OVER (PARTITION BY organization_id, entity_id ORDER BY id) AS at_before
       FROM audit_entry WHERE entity = 'loan') AS trail
     WHERE at < at_before`,
  )
  expect(backwards.rows).toEqual([])
  const moments = await one.owner.pool.query<{ organization_id: number; first: number; last: number; moments: number }>(
    `SELECT organization_id, min(posted_at) AS first, max(posted_at) AS last, count(DISTINCT posted_at)::int AS moments
     FROM loan_entry GROUP BY 1 ORDER BY 1`,
  )
  const [ofLive, ofTest] = moments.rows
  expect([ofLive!.organization_id, ofTest!.organization_id]).toEqual([1, SANDBOX])
  for (const { first } of [ofLive!, ofTest!]) expect(first).toBeGreaterThan(start)
  expect(ofLive!.last).toBeLessThanOrEqual(one.clock.now())
  expect(ofTest!.last).toBeLessThanOrEqual(advanced.to)
  expect(ofTest!.moments).toBeGreaterThan(2)
  expect((await one.get(`/v1/loans/${live}`)).body).toMatchObject({ daysOverdue: 0 })
  await keepJournal(one.deps)
  expect((await checkBook(one.deps)).differences).toEqual([])
})

it('decides again what was decided by the moment of before', async () => {
  const [one, other] = instances
  // What this instance knows of the clock is out of date from the next line on.
  await one.deps.testClocks.refresh(SANDBOX)
  const { to } = await advanceTestClock(other.deps, sandboxOperator, { days: 5 })
  expect(one.deps.now(SANDBOX)).toBeLessThan(to)
  const amount = { units: 1n, scale: 0 }
  const posting = { type: 'Repayment' as const, amount, valueDate: undefined, token: 'late', note: null }
  const posted = await postTransaction(one.deps, sandboxOperator, { externalId: 'loan-asha-0' }, posting)
  if (isWaiting(posted)) throw new Error('a repayment waits for nobody')
  const { entry } = posted
  expect(entry.postedAt).toBe(to)
})

it('advances once at a time', async () => {
  const [one, other] = instances
  const both = await Promise.all([
    advanceTestClock(one.deps, sandboxOperator, { days: 10 }),
    advanceTestClock(other.deps, sandboxOperator, { days: 10 }),
  ])
  const [first, second] = both.toSorted((a, b) => a.from - b.from)
  expect(second!.from).toBe(first!.to)
})

it('is not put back by a reading of the clocks that began before it was advanced, and ends after', async () => {
  const [one, other] = instances
  const { pool } = one.deps.db
  const [read, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let isHeld = false
  const slow = async (statement: { name?: string }, ...rest: unknown[]) => {
    const answer = await (pool.query as (...all: unknown[]) => Promise<unknown>)(statement, ...rest)
    if (!isHeld || statement.name !== 'list-test-clocks') return answer
    read.resolve()
    await held.promise
    return answer
  }
  const from = new Proxy(pool, { get: (target, name) => (name === 'query' ? slow : Reflect.get(target, name)) })
  const clocks = await openTestClocks({ ...one.deps.db, pool: from }, Date.now)
  isHeld = true
  const reading = clocks.refreshAll()
  await read.promise
  const { to } = await advanceTestClock(other.deps, sandboxOperator, { days: 3 })
  await clocks.refresh(SANDBOX)
  expect(clocks.now(SANDBOX)).toBe(to)
  held.resolve()
  await reading
  expect(clocks.now(SANDBOX)).toBe(to)
})

it('is checked by the clock that the database has, where this instance does not know yet that it was moved', async () => {
  const [one, other] = instances
  await one.deps.testClocks.refresh(SANDBOX)
  await sandbox.lend('checked', 2)
  const { to } = await advanceTestClock(other.deps, sandboxOperator, { days: 40 })
  expect(one.deps.now(SANDBOX)).toBeLessThan(to)
  expect((await checkBook(one.deps)).differences).toEqual([])
})

it('is emptied while repayments and new loans arrive, on both instances', async () => {
  isOver.is = false
  const [one, other] = instances
  const lend = async (instance: TestService, index: number) => {
    const { token } = sandbox
    const statuses: number[] = []
    for (let count = 0; !isOver.is; count++) {
      const externalId = `new-${index}-${count}`
      statuses.push((await instance.post('/v1/customers', { token, body: { externalId } })).status)
      const body = { customerId: externalId, productId: 1, principal: 100_000 }
      statuses.push((await instance.post('/v1/loans', { token, body })).status)
      statuses.push(
        (await instance.post('/v1/loans/external/loan-asha-1/repayments', { token, body: { transactionAmount: 1 } }))
          .status,
      )
    }
    return statuses
  }
  const lending = [one, other].map(lend)
  const reset = async () => {
    for (let tries = 0; ; tries++)
      try {
        return await resetTestOrganization(other.deps, sandboxOperator)
      } catch (error) {
        if (tries === 20 || (error as { code?: unknown }).code !== 'aborted') throw error
      }
  }
  await reset().finally(() => (isOver.is = true))
  const statuses = (await Promise.all(lending)).flat()
  // A customer or a loan that was there when the request began may be gone when it comes to it.
  expect(statuses.filter((status) => ![200, 404, 409, 503].includes(status))).toEqual([])
  await keepJournal(one.deps)
  expect((await checkBook(one.deps)).differences).toEqual([])
})

it('lets no action wait on a loan that a reset has deleted since it was read', async () => {
  const [one] = instances
  const body = { externalId: 'soon-gone' }
  const { token } = sandbox
  await one.post('/v1/customers', { token, body })
  const made = await one.post<{ id: string }>('/v1/loans', {
    token,
    body: { customerId: body.externalId, productId: 1, principal: 100_000 },
  })
  const ref = { id: BigInt(made.body.id) }
  const loan = (await one.deps.loanBatches.readLoan({ organizationId: SANDBOX, ref, zone: one.deps.config.zone }))!
  await resetTestOrganization(one.deps, sandboxOperator)
  const request = { kind: 'reverse' as const, transactionId: 1n, note: null }
  await expect(waitForSecond(one.deps, sandboxOperator, onLoan(loan), { request, amount: 1n })).rejects.toMatchObject({
    code: 'not_found',
  })
  expect((await one.owner.pool.query('SELECT FROM pending_action')).rowCount).toBe(0)
})

describe('an import into a test organization', () => {
  it('is decided by the clock of the database, where this instance does not know yet that the organization was emptied', async () => {
    const [one, other] = instances
    await advanceTestClock(one.deps, sandboxOperator, { days: 90 })
    const { now } = await resetTestOrganization(other.deps, sandboxOperator)
    expect(one.deps.now(SANDBOX)).toBeGreaterThan(now + 80 * 86_400_000)
    const folder = await mkdtemp(join(tmpdir(), 'mkopo-race-'))
    const [customers, loans] = [join(folder, 'customers.ndjson'), join(folder, 'loans.ndjson')]
    await writeFile(customers, '{"externalId": "early", "activationDate": "2025-11-01"}\n')
    const loan = { customerId: 'early', externalId: 'loan-early', productId: 3, principal: 60_000 }
    await writeFile(loans, `${JSON.stringify({ ...loan, disbursedAt: '2025-12-20T09:30:00+03:00' })}\n`)
    const files = ['--customers', customers, '--loans', loans]
    const { code, err } = await opsOn(one)(['book', 'import', '-o', String(SANDBOX), ...files, '--yes', '--json'])
    await rm(folder, { recursive: true })
    expect([code, err]).toEqual([0, ''])
    expect((await checkBook(one.deps)).differences).toEqual([])
  })

  it('is decided again where the clock was moved since', async () => {
    const [one, other] = instances
    const moments: number[] = []
    const importer: Importer<string> = {
      keyOf: (value) => value,
      async decide() {
        moments.push(one.deps.now(SANDBOX))
        if (moments.length === 1) await advanceTestClock(other.deps, sandboxOperator, { days: 1 })
        return { save: async () => ['imported'] }
      },
    }
    async function* lines() {
      yield { number: 1, raw: {}, read: () => 'a line' }
    }
    const file = {
      kind: 'customers',
      digest: 'a'.repeat(64),
      lines: lines(),
      report: { write: async () => 0 },
    } as const
    const run = { organizationId: SANDBOX, stopping: new AbortController().signal, onProgress: () => undefined }
    expect(await importFile(one.deps, file, importer, run)).toMatchObject({ mark: { imported: 1 }, finished: true })
    expect(moments).toEqual([expect.any(Number), other.deps.now(SANDBOX)])
  })
})
