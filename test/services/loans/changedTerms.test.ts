import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { readEarlierTerms } from '../../../src/db/loans/earlierTerms.ts'
import type { StoredLoan } from '../../../src/db/loans/storedLoan.ts'
import { addPeriods } from '../../../src/domain/dates.ts'
import { changeTerms } from '../../../src/domain/loan/terms/changeTerms.ts'
import type { LoanTerms } from '../../../src/domain/loan/terms/terms.ts'
import { parseDecimal } from '../../../src/domain/money.ts'
import type { ExtendedBody } from '../../../src/domain/recordStyle/loanRecord.ts'
import { agree } from '../../../src/domain/recordStyle/recordLoan.ts'
import { operator } from '../../../src/services/access/caller.ts'
import { journalJob } from '../../../src/services/accounting/keeper.ts'
import { checkBook } from '../../../src/services/book/bookCheck.ts'
import { getDelinquency } from '../../../src/services/delinquency/loanDelinquency.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { changeLoan } from '../../../src/services/loans/changes/changeLoan.ts'
import { saveModifiedTerms } from '../../../src/services/loans/changes/modifiedTerms.ts'
import { getLoan } from '../../../src/services/loans/loans.ts'
import { createRecordLoan } from '../../../src/services/loans/recordLoans.ts'
import { postRecordRepayment } from '../../../src/services/loans/recordRepayments.ts'
import { DEMO_OPERATOR } from '../../../src/services/organizations/seedDemo.ts'
import { portfolioJob } from '../../../src/services/portfolio/keepDays.ts'
import { readPortfolio } from '../../../src/services/portfolio/portfolio.ts'
import { anExtendedLoan } from '../../support/recordBodies.ts'
import { openRecordBook } from '../../support/recordBook.ts'
import { sweep } from '../../support/sweep.ts'

// A change of terms may add lines to the schedule of a loan, and remove some. No operation of the service asks for that yet: the
// test asks the path of each change, as an operation would.

const { service, nextId } = await openRecordBook()
const { deps } = service
const caller = operator(1, 'test')
afterAll(() => service.close())

/** Random histories of a loan. */
const RUNS = 10

/** A loan of so many lines, and what happens to it. */
const anyHistory = fc.record({
  lines: fc.integer({ min: 1, max: 12 }),
  changes: fc.array(
    fc.record({
      /** After the change before. */
      days: fc.integer({ min: 1, max: 70 }),
      lines: fc.integer({ min: 1, max: 12 }),
      principal: fc.integer({ min: 800, max: 3_000 }),
      isRepaid: fc.boolean(),
      isSealed: fc.boolean(),
      isSwept: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  ),
})

/** A history that each run of the test has: lines are added, and then more are removed. */
const ADDED_AND_REMOVED = {
  lines: 2,
  changes: [7, 1].map((lines) => ({
    lines,
    days: 40,
    principal: 1_500,
    isRepaid: true,
    isSealed: true,
    isSwept: true,
  })),
}

/** The day of the test: no run goes back behind the one before. */
let today = '2026-01-31'

const passDays = (days: number) => {
  today = addPeriods(today, days, 'days')
  service.clock.set(today)
}

const { loan_id: _, borrower_id: __, ...extendedTerms } = anExtendedLoan

/** The terms of `anExtendedLoan` as the sources of their JSON. */
const SOURCES = Object.fromEntries(
  Object.entries(extendedTerms).map(([name, value]) => [name, JSON.stringify(value)]),
) as Record<keyof ExtendedBody, string>

/** Lends a loan of so many lines on the day of the test. Tokens would expire in the years that pass. */
async function lend(lines: number): Promise<bigint> {
  const id = BigInt(nextId())
  const ofDay = { loan_released_date: JSON.stringify(today), loan_num_of_repayments: String(lines) }
  const extended = { ...SOURCES, ...ofDay }
  await createRecordLoan(deps, caller, { id, borrowerId: 1n, request: { extended } })
  return id
}

async function repay(id: bigint): Promise<void> {
  const amount = parseDecimal('40.5')!
  const record = { method: null, collectedBy: null }
  const repayment = { id: BigInt(nextId()), amount, collectedOn: today, description: null, record }
  await postRecordRepayment(deps, caller, id, repayment)
}

/** Returns the terms that a record system would have agreed with other numbers. */
function agreedWith({ terms, record }: StoredLoan, lines: number, principal: number) {
  const { currency, zone, disbursedAt } = terms
  const extended = {
    ...record!.extended!,
    loan_num_of_repayments: String(lines),
    loan_principal_amount: String(principal),
  }
  return agree({ extended }, currency, zone, disbursedAt)
}

/** Changes the terms of a loan on the path of every change. @returns the terms that were decided */
async function restructure(id: bigint, { lines, principal }: { lines: number; principal: number }) {
  let decided: LoanTerms | undefined
  const change = { author: caller, ref: { id }, alongside: [saveModifiedTerms] }
  await changeLoan(deps, change, (loan, now) => {
    const { terms, record } = agreedWith(loan, lines, principal)
    decided = terms
    return { save: changeTerms(loan, { terms, record, customerId: loan.customerId }, now) }
  })
  return decided!
}

const read = async (id: bigint) => (await getLoan(deps, caller, { id })).loan

/** What was answered before a change: the terms, the arrears of the loan, and the portfolio. */
async function answers(id: bigint) {
  const loan = await read(id)
  const { spans } = await getDelinquency(deps, caller, { id: loan.id }, {})
  const { cells } = await readPortfolio(deps, caller, {})
  return { version: loan.version, terms: loan.terms, spans, cells, day: today, at: service.clock.now() }
}

it('a change of terms that adds and removes lines reads back, and each day before it has the lines of then', async () => {
  const seen = { added: 0, removed: 0 }
  await fc.assert(
    fc.asyncProperty(anyHistory, async ({ lines, changes }) => {
      passDays(1)
      const id = await lend(lines)
      const recorded: Awaited<ReturnType<typeof answers>>[] = []
      for (const { days, isRepaid, isSealed, isSwept, ...asked } of changes) {
        passDays(days)
        if (isRepaid) await repay(id)
        if (isSwept) await sweep(deps)
        if (isSealed) await drain(sequencerJob(deps))
        recorded.push(await answers(id))
        const before = recorded.at(-1)!.terms
        if (asked.lines > before.schedule.length) seen.added++
        if (asked.lines < before.schedule.length) seen.removed++
        const decided = await restructure(id, asked)
        expect(decided.schedule).toHaveLength(asked.lines)
        expect((await read(id)).terms).toEqual(decided)
      }
      await expectAsThen(id, recorded)
      await expectSound()
    }),
    { numRuns: RUNS, examples: [[ADDED_AND_REMOVED]] },
  )
  expect(seen.added).toBeGreaterThan(0)
  expect(seen.removed).toBeGreaterThan(0)
})

/** Asks again for what was answered before each change. */
async function expectAsThen(id: bigint, recorded: readonly Awaited<ReturnType<typeof answers>>[]): Promise<void> {
  const kept = (await readEarlierTerms(deps.db, 1, [id], 0)).get(id) ?? []
  const now = await read(id)
  for (const { version, terms, spans, cells, day, at } of recorded) {
    const next = kept.find((one) => one.version >= version)
    expect({ ...now.terms, ...next?.terms }).toEqual(terms)
    const late = await getDelinquency(deps, caller, { id: now.id }, { knownAt: at })
    expect(late.spans).toEqual(spans)
    const portfolio = await readPortfolio(deps, caller, { knownAt: at, asOf: day })
    expect(portfolio.cells).toEqual(cells)
  }
}

/** Lets all jobs do what there is, and checks the book with its seal and its journal. */
async function expectSound(): Promise<void> {
  await sweep(deps)
  await drain(portfolioJob(deps))
  await drain(sequencerJob(deps))
  await drain(journalJob(deps))
  const { differences, unsealed } = await checkBook(deps)
  expect(differences).toEqual([])
  expect(unsealed).toBe(0)
}

it('an event tells the number of lines that the loan had after its change', async () => {
  passDays(1)
  const id = await lend(4)
  await restructure(id, { lines: 7, principal: 1_300 })
  await restructure(id, { lines: 2, principal: 1_300 })
  await drain(sequencerJob(deps))
  const token = await deps.signIn.issueToken(DEMO_OPERATOR.email, DEMO_OPERATOR.password, '127.0.0.1')
  const { body } = await service.get<{
    items: { type: string; data: { loan: { numberOfRepayments: number } } }[]
  }>(`/v1/events?loanId=${id}`, { token })
  const told = body.items.map(({ type, data }) => [type, data.loan.numberOfRepayments])
  expect(told).toEqual([
    ['loan.disbursed', 4],
    ['loan.restated', 7],
    ['loan.restated', 2],
  ])
})

it('a line that a change removed, put back past the service, is found by the seal; so is one that is gone', async () => {
  passDays(1)
  const id = await lend(6)
  await restructure(id, { lines: 3, principal: 1_200 })
  await drain(sequencerJob(deps))
  const { pool } = service.owner
  const { rows } = await pool.query<{ id: bigint }>(
    `SELECT id FROM audit_entry WHERE entity = 'loan' AND entity_id = '${id}' AND action = 'update'`,
  )
  const found = async () =>
    (await checkBook(deps)).differences
      .map(({ of, message }) => `${of}: ${message}`)
      .filter((one) => /period/.test(one))
  await pool.query(`INSERT INTO loan_period SELECT organization_id, loan_id, 4, from_date, due_date, 0, 0, 0
    FROM loan_period WHERE loan_id = ${id} AND period = 3`)
  expect(await found()).toEqual([`loan_period ${id}/4: is not among the rows that change ${rows[0]!.id} sealed`])
  await pool.query(`DELETE FROM loan_period WHERE loan_id = ${id} AND period = 4`)
  const lost = await pool.query<{ line: string }>(`
    DELETE FROM loan_period WHERE loan_id = ${id} AND period = 3 RETURNING row_to_json(loan_period)::text AS line`)
  expect(await found()).toEqual([`loan_period ${id}/3: is not there, and change ${rows[0]!.id} sealed it`])
  await pool.query('INSERT INTO loan_period SELECT * FROM json_populate_record(null::loan_period, $1::json)', [
    lost.rows[0]!.line,
  ])
  await expectSound()
})
