import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SLOTS, type Slot } from '../../../src/domain/journal/slots.ts'
import { headOf } from '../../../src/services/events/eventList.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { journalCaughtUp } from '../../../src/services/journal/caughtUp.ts'
import { LOANS_A_ROUND } from '../../../src/services/journal/walkLoans.ts'
import { DEMO_OPERATOR } from '../../../src/services/lenders/seedDemo.ts'
import { asBookOfBefore } from '../../support/bookOfBefore.ts'
import { keepJournal } from '../../support/journal.ts'
import { opsOn } from '../../support/ops.ts'
import { startService, type TestService } from '../../support/service.ts'

// A book that is older than its journal is opened: each loan by one posting against opening_equity (contract 9.1).

let service: TestService
let token: string
beforeAll(async () => {
  service = await startService()
  service.damages('balances are taken off rows of the trail by SQL')
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  token = service.tokens.operator
})
afterAll(() => service.close())

const at = async (day: string) => {
  service.clock.set(day)
  token = await service.deps.signIn.issueToken(DEMO_OPERATOR.email, DEMO_OPERATOR.password, '127.0.0.1')
}

async function send(path: string, body: object): Promise<string> {
  const answer = await service.post<{ id: string }>(path, { token, body })
  expect(answer.status).toBe(200)
  return answer.body.id
}
const lend = () => send('/v1/loans', { customerId: 'asha', productId: 1, principal: 6_000 })
const pay = (loan: string, transactionAmount: number, transactionDate?: string) =>
  send(`/v1/loans/${loan}/repayments`, { transactionAmount, transactionDate })

/** Requires that `book check` finds nothing but the rows of the trail that were made those of before. */
async function requireWhole(checked: TestService): Promise<void> {
  const { json } = await opsOn(checked)('book check --json')
  const differences = json.differences as { readonly of: string }[]
  expect(differences.filter(({ of }) => !of.startsWith('audit_entry'))).toEqual([])
}

async function postingsOf(loan: string) {
  const { rows } = await service.deps.db.pool.query('SELECT * FROM posting WHERE loan_id = $1 ORDER BY id', [loan])
  return rows.map((row) => ({
    kind: row.kind,
    on: row.booked_on,
    ...(Object.fromEntries(
      SLOTS.flatMap((slot) => (row[slot] === null ? [] : [[slot, Number(row[slot]) / 100]])),
    ) as Partial<Record<Slot, number>>),
  }))
}

describe('a book of before', () => {
  it('is opened loan by loan, before its later changes are posted', async () => {
    const quiet = await lend()
    const paid = await lend()
    await pay(paid, 700)
    const closed = await lend()
    await pay(closed, 6_600)
    const more = await Promise.all(Array.from({ length: LOANS_A_ROUND + 10 }, lend))
    await drain(sequencerJob(service.deps))
    const opened = await headOf(service.deps, 1)
    await asBookOfBefore(service)
    await at('2026-02-14')
    await pay(paid, 1_000)
    await pay(quiet, 50, '2026-01-31')
    const late = await lend()
    await requireWhole(service)
    await keepJournal(service.deps)
    await requireWhole(service)
    expect(await postingsOf(quiet)).toEqual([
      { kind: 'opening', on: '2026-02-01', loan_portfolio: 6_000, opening_equity: -6_000 },
      // The months before the journal are closed: what belongs to them is booked after the opening.
      { kind: 'repayment', on: '2026-02-01', cash: 50, interest_income: -50 },
    ])
    expect(await postingsOf(paid)).toEqual([
      { kind: 'opening', on: '2026-02-01', loan_portfolio: 5_900, opening_equity: -5_900 },
      { kind: 'repayment', on: '2026-02-14', cash: 1_000, loan_portfolio: -1_000 },
    ])
    expect(await postingsOf(late)).toEqual([
      { kind: 'disbursement', on: '2026-02-14', cash: -6_000, loan_portfolio: 6_000 },
    ])
    for (const loan of more) expect(await postingsOf(loan)).toHaveLength(1)
    expect(await journalCaughtUp(service.deps, 1)).toMatchObject({ walk: null, openFrom: '2026-02-01' })
    const { rows } = await service.deps.db.pool.query(`SELECT DISTINCT sequence FROM posting WHERE change_id IS NULL`)
    expect(rows).toEqual([{ sequence: opened }])
  })

  it('that was paid off has an opening without an amount, and is reopened by a reversal like every other loan', async () => {
    const loan = await lend()
    const repayment = await pay(loan, 6_600)
    await asBookOfBefore(service)
    await keepJournal(service.deps)
    await requireWhole(service)
    expect(await postingsOf(loan)).toEqual([{ kind: 'opening', on: '2026-02-14' }])
    await send(`/v1/loans/${loan}/repayments/${repayment}/reverse`, {})
    await keepJournal(service.deps)
    expect((await postingsOf(loan)).at(-1)).toEqual({
      ...{ kind: 'reversal', on: '2026-02-14', cash: -6_600, loan_portfolio: 6_000, interest_income: 600 },
    })
  })

  it('without a loan has an open journal from the beginning', async () => {
    const empty: TestService = await startService()
    await asBookOfBefore(empty)
    await keepJournal(empty.deps)
    await requireWhole(empty)
    expect(await journalCaughtUp(empty.deps, 1)).toMatchObject({ walk: null, openFrom: null })
    await empty.close()
  })
})
