import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drain } from '../../src/services/jobs/job.ts'
import { sweepJob } from '../../src/services/loans/sweep.ts'
import { opsOn } from '../support/ops.ts'
import { FIRST_DAY, startService, type TestService } from '../support/service.ts'

let service: TestService
let ops: ReturnType<typeof opsOn>
let loan: string
beforeAll(async () => {
  service = await startService()
  ops = opsOn(service)
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  loan = await lend(3)
  await repay(loan, 4_000, { idempotencyKey: 'a' })
  await repay(loan, 20_000, { idempotencyKey: 'b' })
})
afterAll(() => service.close())

const lend = async (productId: number): Promise<string> =>
  (await service.post('/v1/loans', { body: { customerId: 'asha', productId, principal: 60_000 } })).body.id
const act = async (id: string, path: string, body: object, token = service.tokens.partner) => {
  const answer = await service.post(`/v1/loans/${id}/${path}`, { body, token })
  expect(answer.status).toBe(200)
  return answer.body
}
const repay = (id: string, transactionAmount: number, rest: object = {}) =>
  act(id, 'repayments', { transactionAmount, ...rest })
const sql = (text: string, values: unknown[] = []) => service.owner.pool.query(text, values)

/** Every kind of thing that can happen to a loan. */
async function liveThroughEverything(): Promise<void> {
  const operator = service.tokens.operator
  const [paid, over, refunded, waived, charged, written, adjusted, reversed, penalized] = await Promise.all(
    [1, 1, 3, 3, 3, 3, 3, 3, 2].map(lend),
  )
  await repay(paid!, 66_000)
  await repay(over!, 70_000)
  await act(over!, 'repayments/credit-balance-refund', { transactionAmount: 1_500 })
  await repay(refunded!, 13_000)
  await act(refunded!, 'repayments/refund', { transactionAmount: 700 })
  await act(waived!, 'repayments/waive-interest', { transactionAmount: 5_000 })
  await act(charged!, 'repayments/charge-off', {})
  await act(charged!, 'repayments/recover', { transactionAmount: 900 })
  await act(written!, 'write-off', {}, operator)
  await act(written!, 'repayments/recover', { transactionAmount: 1_200 })
  const { id: original } = await repay(adjusted!, 3_000)
  await act(adjusted!, `repayments/${original}/adjust`, { transactionAmount: 2_000 }, operator)
  const { id: wrong } = await repay(reversed!, 13_000)
  await act(reversed!, 'repayments/refund', { transactionAmount: 500 })
  await act(reversed!, `repayments/${wrong}/reverse`, {}, operator)
  await repay(penalized!, 100)
}

/** A row changed outside the service, the finding of the check, and the statement that restores it. */
const BROKEN: readonly (readonly [string, string, RegExp, string])[] = [
  ...[
    ['principal_outstanding', 'principal_outstanding + 1', /principal_outstanding is 4200001, and replay says 4200000/],
    ['total_paid', '0', /total_paid is 0, and replay says 2400000/],
    ['total_overpaid', '5', /total_overpaid is 5/],
    ['total_overdue', '5', /total_overdue is 5/],
    ['status', "'Overpaid'", /status is Overpaid, and replay says Active/],
    ['next_due_on', 'NULL', /next_due_on is empty, and replay says 2026-03-31/],
    ['overdue_since', "'2026-01-02'", /overdue_since is 2026-01-02, and replay says empty/],
    ['closed_on', "'2026-01-02'", /closed_on is 2026-01-02/],
    ['next_change_at', "'2030-01-01Z'", /next_change_at is 2030-01-01T00:00:00.000Z, and replay says 2026-03-31T21/],
    [
      'carried_forward',
      "overlay(carried_forward PLACING '2026-01-30' FROM 3)",
      /carried_forward is 1;2026-01-30,.*, and replay says 1;2026/,
    ],
    ['entry_count', '7', /entry_count is 7, and there are 2 entries/],
    ['number_of_repayments', '5', /6 instalments, and 5 were agreed/],
    ['due_on', "'2026-07-30'", /the last instalment is due on 2026-07-31, and the loan on 2026-07-30/],
    ['principal', '6000001', /the schedule's principal sums to 6000000, and the loan's is 6000001/],
  ].map(
    ([column, value, message]) =>
      [
        `loan.${column}`,
        `UPDATE loan SET ${column} = ${value} WHERE id = $1`,
        message as RegExp,
        `UPDATE loan SET ${column} = before.${column} FROM before WHERE loan.id = $1`,
      ] as const,
  ),
  [
    'an entry is gone',
    'DELETE FROM loan_entry WHERE loan_id = $1 AND ordinal = 1',
    /the entries are not numbered 1, 2, 3/,
    'INSERT INTO loan_entry OVERRIDING SYSTEM VALUE SELECT * FROM before_entry WHERE loan_id = $1 AND ordinal = 1',
  ],
  [
    'an amount was changed',
    'UPDATE loan_entry SET amount = amount + 1 WHERE loan_id = $1 AND ordinal = 2',
    /total_paid is 2400000, and replay says 2400001/,
    'UPDATE loan_entry SET amount = amount - 1 WHERE loan_id = $1 AND ordinal = 2',
  ],
  [
    'an entry is dated before disbursement',
    "UPDATE loan_entry SET value_date = '2025-12-31' WHERE loan_id = $1 AND ordinal = 2",
    /is dated before disbursement/,
    "UPDATE loan_entry SET value_date = '2026-01-31' WHERE loan_id = $1 AND ordinal = 2",
  ],
  [
    'an entry replaces one that stands',
    'UPDATE loan_entry SET replaces = (SELECT min(id) FROM loan_entry WHERE loan_id = $1) WHERE loan_id = $1 AND ordinal = 2',
    /replaces \d+, which is no reversed entry/,
    'UPDATE loan_entry SET replaces = NULL WHERE loan_id = $1 AND ordinal = 2',
  ],
  [
    'an instalment was moved',
    "UPDATE loan_period SET due_date = '2026-01-01' WHERE loan_id = $1 AND period = 4",
    /an instalment is due before the one before it/,
    "UPDATE loan_period SET due_date = '2026-05-31' WHERE loan_id = $1 AND period = 4",
  ],
]

describe('what differs is named, and the exit code is 1', () => {
  beforeAll(async () => {
    await sql(`CREATE TABLE before AS SELECT * FROM loan WHERE id = ${loan}`)
    await sql(`CREATE TABLE before_entry AS SELECT * FROM loan_entry WHERE loan_id = ${loan}`)
  })

  it.each(BROKEN)('%s', async (_, spoil, message, mend) => {
    await sql(spoil, [loan])
    const { code, out } = await ops('book check')
    await sql(mend, [loan])
    expect(code).toBe(1)
    const named = out.split('\n').filter((line) => line.startsWith(`loan ${loan} (organization 1): `))
    expect(named.join('\n')).toMatch(message)
    expect((await ops('book check')).code).toBe(0)
  })

  it('a loan that cannot be replayed, by its number; all others are checked', async () => {
    await sql('CREATE TABLE lost AS SELECT * FROM loan_period WHERE loan_id = $1', [loan])
    await sql('DELETE FROM loan_period WHERE loan_id = $1', [loan])
    const { code, json } = await ops('book check --json')
    await sql('INSERT INTO loan_period SELECT * FROM lost')
    expect(code).toBe(1)
    const [first, ...others] = json.differences as { of: string; message: string }[]
    expect(first).toMatchObject({ of: `loan ${loan}`, message: 'cannot be replayed: a loan has a schedule' })
    expect(new Set(others.map(({ of }) => of))).toEqual(new Set(['totals TZS']))
  })

  it('a customer who was lent money after the closure', async () => {
    await sql("UPDATE customer SET status = 'Closed', closed_on = '2026-01-30' WHERE external_id = 'asha'")
    const { code, json } = await ops('book check --json')
    await sql("UPDATE customer SET status = 'Active', closed_on = NULL WHERE external_id = 'asha'")
    expect(code).toBe(1)
    expect(json.differences).toEqual([
      {
        organizationId: 1,
        of: expect.stringMatching(/^customer /),
        message: 'is Closed since 2026-01-30, and got 1 loans after it',
      },
      {
        organizationId: 1,
        of: expect.stringMatching(/^customer /),
        message: 'is Closed, and the trail says Active',
      },
    ])
  })
})

describe('a book in order', () => {
  it('exit code 0, whatever happened to its loans and whether or not the sweep has been there', async () => {
    await liveThroughEverything()
    for (const day of [FIRST_DAY, '2026-02-28T09:30:00+03:00', '2026-03-01', '2026-09-01']) {
      service.clock.set(day)
      const before = await ops('book check --json')
      expect(before.json).toMatchObject({ found: 0, differences: [], loans: 10, stopped: false })
      expect(before.code).toBe(0)
      await drain(sweepJob(service.deps))
      expect((await ops('book check --json')).json).toMatchObject({ found: 0, waitingForSweep: 0 })
    }
  })

  it('reports how much it read, by organization and currency', async () => {
    const { out, code } = await ops('book check')
    expect(code).toBe(0)
    expect(out).toMatch(/ORGANIZATION +CURRENCY +LOANS +ENTRIES +PRINCIPAL/)
    expect(out).toMatch(
      /10 loans and \d+ entries replayed, \d+ loans a second, 0 postings and 0 seals checked: nothing differs\.\n$/,
    )
    expect(out).toMatch(/\nProven:\n( {2}- [^\n]+\n){8}Not proven:\n {2}- that the end of the chain/)
    expect((await ops('book check --json')).json).toMatchObject({ proven: { length: 8 }, notProven: { length: 5 } })
    expect((await ops('book check -o 9 --json')).json).toMatchObject({ loans: 0, found: 0 })
  })

  it('exit code 1 where it was stopped before the end', async () => {
    const { code, json } = await ops('book check --json', { stopping: AbortSignal.abort() })
    expect({ code, stopped: json.stopped, proven: json.proven }).toEqual({ code: 1, stopped: true, proven: [] })
  })
})

describe('what is no fault', () => {
  it('a Closed customer whose loan was opened again: by late money, or a reversal', async () => {
    for (const [index, again] of (['late', 'reversed'] as const).entries()) {
      const externalId = `closed-${again}`
      await service.post('/v1/customers', { body: { externalId } })
      const application = { customerId: externalId, productId: 1, principal: 60_000 }
      const { id } = (await service.post('/v1/loans', { body: application })).body
      const { id: paid } = await repay(id, 66_000)
      expect((await service.post(`/v1/customers/external/${externalId}/close`, { body: {} })).status).toBe(200)
      if (index === 0) await repay(id, 5)
      else await act(id, `repayments/${paid}/reverse`, {}, service.tokens.operator)
      const { code, json } = await ops('book check --json')
      expect({ code, differences: json.differences }).toEqual({ code: 0, differences: [] })
    }
  })
})

describe('the close of the service of a test', () => {
  it('fails where the book differs, unless the test says that it damages the book', async () => {
    for (const isSaid of [false, true]) {
      const damaged = await startService()
      await damaged.post('/v1/customers', { body: { externalId: 'asha' } })
      await damaged.owner.pool.query(`UPDATE customer SET status = 'Pending' WHERE external_id = 'asha'`)
      if (isSaid) damaged.damages('the status is not what the trail says')
      const closing = damaged.close()
      if (isSaid) await closing
      else await expect(closing).rejects.toThrow(/customer \d+ .*: is Pending, and the trail says Active/)
      // In either case nothing of it stays.
      expect(damaged.deps).toBeUndefined()
    }
  })
})
