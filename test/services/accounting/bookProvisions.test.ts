import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { BUILT_IN_ROLES } from '../../../src/domain/access/permissions.ts'
import { DEFAULT_CHART } from '../../../src/domain/accounting/chart.ts'
import type { Provision } from '../../../src/domain/accounting/provisions.ts'
import { operator } from '../../../src/services/access/caller.ts'
import { bookProvisions, readBookedProvisions } from '../../../src/services/accounting/bookProvisions.ts'
import { setChart } from '../../../src/services/accounting/charts.ts'
import { closePeriod } from '../../../src/services/accounting/closePeriod.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { startKeeper, startSequencer } from '../../support/jobs.ts'
import { keepJournal } from '../../support/journal.ts'
import { opsOn } from '../../support/ops.ts'
import { quiet } from '../../support/quiet.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'

// Provisions are booked as differences from the allowance of their day (contract 9.5).

const caller = operator(1, 'test')
const policy = { name: 'par', version: 1 }

let service: TestService
let jobs: { stop(): Promise<void> }[]
beforeAll(async () => {
  service = await startService()
  jobs = start()
  service.clock.set(FIRST_DAY)
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  await service.post('/v1/loans', { body: { customerId: 'asha', productId: 3, principal: 6_000 } })
})
afterAll(async () => {
  await stop()
  await service.close()
})
afterEach(async () => {
  await keepJournal(service.deps)
  const { json } = await opsOn(service)('book check --json')
  expect(json.differences).toEqual([])
})

const start = () => [startSequencer(service.deps, quiet), startKeeper(service.deps, quiet)]
const stop = async () => {
  for (const job of jobs) await job.stop()
}

/** Provisions in TZS, by product; major units. */
const of = (amounts: Readonly<Record<number, number>>): Provision[] =>
  Object.entries(amounts).map(([id, amount]) => ({
    productId: id === '0' ? null : Number(id),
    currency: 'TZS',
    amount: BigInt(amount * 100),
  }))

const book = async (
  asOf: string,
  provisions: readonly Provision[],
  changeMs = service.deps.journalPatience.changeMs,
) => {
  const deps = { ...service.deps, journalPatience: { ...service.deps.journalPatience, changeMs } }
  const { postings } = await bookProvisions(deps, caller, { asOf, policy, provisions })
  return postings.map(({ currency, productId, ...amounts }) => [
    `${currency} ${productId ?? 'none'}`,
    ...[amounts.provision, amounts.bookedBefore, amounts.difference].map((amount) => Number(amount) / 100),
  ])
}
const bookedAsOf = async (day: string) =>
  (await readBookedProvisions(service.deps, 1, day)).map(({ productId, amount }) => [productId, Number(amount) / 100])

const readPostings = async (more = '') =>
  (
    await service.deps.db.pool.query(
      `SELECT id, loan_id, product_id, value_date, booked_on, provision_expense::int / 100 AS expense,
         loan_loss_allowance::int / 100 AS allowance FROM posting WHERE kind = 'provision' ${more} ORDER BY id`,
    )
  ).rows

describe('bookProvisions', () => {
  it('posts the provisions of each product, and the same again posts nothing', async () => {
    const provisions = of({ 0: 40, 3: 60.5 })
    expect(await book('2026-01-31', provisions)).toEqual([
      ['TZS none', 40, 0, 40],
      ['TZS 3', 60.5, 0, 60.5],
    ])
    expect(await book('2026-01-31', provisions)).toEqual([])
    expect(await bookedAsOf('2026-01-31')).toEqual([
      [null, 40],
      [3, 60.5],
    ])
    expect(await bookedAsOf('2026-01-30')).toEqual([])
    expect(await readPostings()).toMatchObject([
      { loan_id: null, product_id: 0, value_date: '2026-01-31', booked_on: '2026-01-31', expense: 40, allowance: -40 },
      { loan_id: null, product_id: 3 },
    ])
  })

  it('posts what is more and what is less, and takes what is no provision any more to 0', async () => {
    service.clock.set('2026-02-10')
    expect(await book('2026-02-10', of({ 3: 50, 4: 10 }))).toEqual([
      ['TZS none', 0, 40, -40],
      ['TZS 3', 50, 60.5, -10.5],
      ['TZS 4', 10, 0, 10],
    ])
    expect(await bookedAsOf('2026-02-10')).toEqual([
      [3, 50],
      [4, 10],
    ])
    expect(await bookedAsOf('2026-01-31')).toEqual([
      [null, 40],
      [3, 60.5],
    ])
  })

  it('of an older day counts what is booked up to that day, and of a day to come is refused', async () => {
    expect(await book('2026-02-05', of({ 0: 40, 3: 61.5 }))).toEqual([['TZS 3', 61.5, 60.5, 1]])
    expect(await bookedAsOf('2026-02-10')).toEqual([
      [3, 51],
      [4, 10],
    ])
    await expect(book('2026-02-11', [])).rejects.toMatchObject({
      code: 'invalid_argument',
      faults: [{ role: 'asOf', wording: 'must not be after 2026-02-10, today' }],
    })
  })

  it('of a closed month books on the first open day, late', async () => {
    await drain(sweepJob(service.deps))
    await closePeriod(service.deps, caller, '2026-01')
    expect(await book('2026-01-31', of({ 0: 40, 3: 70 }))).toEqual([['TZS 3', 70, 60.5, 9.5]])
    expect((await readPostings()).at(-1)).toMatchObject({ value_date: '2026-01-31', booked_on: '2026-02-01' })
    const { body } = await service.get('/v1/accounting/journal?from=2026-02-01&to=2026-02-01', {
      token: service.tokens.operator,
    })
    expect(body.items).toMatchObject([
      {
        ...{ kind: 'provision', late: true, loanId: null, transactionId: null },
        lines: [
          { account: '5300', debit: 9.5, credit: 0 },
          { account: '1300', debit: 0, credit: 9.5 },
        ],
      },
    ])
  })

  it('posts two bookings that come at once one after the other', async () => {
    const asked = [of({ 3: 100 }), of({ 3: 100 })]
    const answers = await Promise.all(asked.map((provisions) => book('2026-02-10', provisions)))
    expect(answers.flat().filter(([product]) => product === 'TZS 3')).toHaveLength(1)
    expect(await bookedAsOf('2026-02-10')).toEqual([[3, 100]])
  })

  it('is told as an event, and is in the audit trail with the policy', async () => {
    const { operator: token } = service.tokens
    const { body } = await service.get('/v1/events?types=accounting.provisions_booked&rows=1', { token })
    expect(body.items).toMatchObject([
      { type: 'accounting.provisions_booked', data: { accounting: { provisionsAsOf: '2026-01-31' } } },
    ])
    const trail = await service.get('/v1/audit-trail?entity=accounting%20provisions&rows=1', { token })
    expect(trail.body.items).toMatchObject([
      {
        action: 'book',
        entityId: '2026-02-10',
        after: { asOf: '2026-02-10', policy, provisions: [{ amount: 10_000 }] },
      },
    ])
  })

  it('is unavailable while the journal does not come to it, and posts once when it does', async () => {
    await stop()
    await keepJournal(service.deps)
    await expect(book('2026-02-10', of({ 3: 110 }), 100)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await bookedOf('2026-02-10')).toEqual(100)
    await keepJournal(service.deps)
    expect(await bookedAsOf('2026-02-10')).toEqual([[3, 110]])
    jobs = start()
    expect(await book('2026-02-10', of({ 3: 110 }))).toEqual([])
  })

  it('posts once where the keeper is killed between the postings and their commit', async () => {
    await stop()
    await keepJournal(service.deps)
    await expect(book('2026-02-10', of({ 3: 120 }), 50)).rejects.toMatchObject({ code: 'unavailable' })
    const { pool } = service.owner
    const blocker = await pool.connect()
    await blocker.query('BEGIN; LOCK TABLE posting_day IN SHARE MODE')
    const kept = keepJournal(service.deps).then(
      () => 'kept',
      () => 'killed',
    )
    const killed = async () => {
      const { rows } = await pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity JOIN pg_locks USING (pid)
         WHERE datname = current_database() AND relation = 'posting_day'::regclass AND NOT granted`,
      )
      return rows.length > 0
    }
    for (let look = 0; look < 1_000 && !(await killed()); look++) await pause(10)
    expect(await kept).toBe('killed')
    await blocker.query('ROLLBACK')
    blocker.release()
    expect(await bookedOf('2026-02-10')).toEqual(110)
    await keepJournal(service.deps)
    expect(await bookedOf('2026-02-10')).toEqual(120)
    jobs = start()
  })

  it('is refused for all but an ADMIN', async () => {
    const user = { ...caller, permissions: BUILT_IN_ROLES.USER }
    const asked = { asOf: '2026-02-10', policy, provisions: [] }
    await expect(bookProvisions(service.deps, user, asked)).rejects.toMatchObject({ code: 'permission_denied' })
  })
})

describe('the chart of accounts', () => {
  const { accounts, slots, method } = DEFAULT_CHART

  it('moves the balance of the allowance to another account', async () => {
    const account = { code: '2310', name: 'Allowance', type: 'liability' as const }
    const request = { accounts: [...accounts, account], slots: { ...slots, loan_loss_allowance: '2310' }, method }
    await setChart(service.deps, caller, request)
    await book('2026-02-10', of({ 3: 130 }))
    const { body } = await service.get('/v1/accounting/trial-balance', { token: service.tokens.operator })
    const listed = body.accounts as unknown as { code: string; balance: number }[]
    const balanceOf = (code: string) => listed.find((one) => one.code === code)?.balance
    expect([balanceOf('5300'), balanceOf('2310'), balanceOf('1300')]).toEqual([130, 130, 0])
  })

  it('cannot leave out the slots of provisions once some are booked', async () => {
    const { provision_expense: _, ...without } = slots
    const kept = [...accounts, { code: '2310', name: 'Allowance', type: 'liability' as const }]
    await expect(setChart(service.deps, caller, { accounts: kept, slots: without, method })).rejects.toMatchObject({
      code: 'failed_precondition',
      faults: [{ role: 'slots.provision_expense' }],
    })
  })
})

/** The allowance of product 3, as far as the journal is. */
async function bookedOf(day: string): Promise<number> {
  const { rows } = await service.deps.db.pool.query(
    `SELECT sum(credit - debit)::int / 100 AS booked FROM posting_day
     WHERE slot = 'loan_loss_allowance' AND value_date <= $1 AND product_id = 3`,
    [day],
  )
  return rows[0]!.booked
}
