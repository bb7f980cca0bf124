import { afterAll, beforeAll, expect, it } from 'vitest'
import { readLoans } from '../../../src/db/loans/loans.ts'
import { addPeriods, dateIn, daysBetween } from '../../../src/domain/dates.ts'
import { isCustomerRepayment } from '../../../src/domain/loan/entry.ts'
import { replay } from '../../../src/domain/loan/replay.ts'
import { operator } from '../../../src/services/access/caller.ts'
import { growthCsv, MONTHS_SHOWN, readGrowth, WEEKS_SHOWN } from '../../../src/services/portfolio/growth.ts'
import { keepJournal } from '../../support/journal.ts'
import { openRandomBook, type RandomBook } from '../../support/randomBook.ts'

// The growth of a random book beside sums over the replay of each loan.

let book: RandomBook
beforeAll(async () => {
  book = await openRandomBook(Number(process.env.MKOPO_SEED ?? 12))
  await keepJournal(book.service.deps)
})
afterAll(() => book?.end())

const caller = operator(1, 'test')

async function loansOf() {
  const { deps } = book.service
  const { rows } = await deps.db.pool.query<{ id: bigint }>('SELECT id FROM loan WHERE organization_id = 1')
  const keys = rows.map(({ id }) => ({ organizationId: 1, ref: { id }, zone: deps.config.zone }))
  return (await readLoans(deps.db, keys)).map((loan) => loan!)
}

/** Adds amounts by a name. */
function sums(pairs: readonly (readonly [name: string, amount: bigint])[]): Record<string, bigint> {
  const all: Record<string, bigint> = {}
  for (const [name, amount] of pairs) all[name] = (all[name] ?? 0n) + amount
  return Object.fromEntries(Object.entries(all).filter(([, amount]) => amount !== 0n))
}

it('has by month what was disbursed and collected, and out by the journal', async () => {
  const { deps } = book.service
  const { months, asOf } = await readGrowth(deps, caller)
  const loans = await loansOf()
  const named = (currency: string, day: string) => `${currency} ${day.slice(0, 7)}`
  const lent = loans.map(({ terms }) => [named(terms.currency.code, terms.disbursedOn), terms.principal] as const)
  const paid = loans.flatMap(({ terms, entries }) =>
    entries
      .filter(({ type, reversedAt }) => isCustomerRepayment(type) && reversedAt === null)
      .map(({ valueDate, amount }) => [named(terms.currency.code, valueDate), amount] as const),
  )
  const nameOf = ({ currency, month }: { currency: string; month: string }) => `${currency} ${month}`
  expect(sums(months.map((one) => [nameOf(one), one.disbursed]))).toEqual(sums(lent))
  expect(sums(months.map((one) => [nameOf(one), one.collected]))).toEqual(sums(paid))
  const last = months.filter(({ month }) => month === asOf.slice(0, 7))
  const out = loans.map(({ terms, entries }) => {
    const state = replay(terms, entries, deps.now(1))
    return [terms.currency.code, state.chargedOffOn === null ? state.outstanding.principal : 0n] as const
  })
  expect(sums(last.map(({ currency, outstanding }) => [currency, outstanding]))).toEqual(sums(out))
  expect(months.length % MONTHS_SHOWN).toBe(0)
})

it('has by week what each loan still owes of its instalments, restructured ones too', async () => {
  const { deps } = book.service
  const { forecast, asOf } = await readGrowth(deps, caller)
  const loans = await loansOf()
  const due = loans.flatMap(({ terms, entries }) =>
    replay(terms, entries, deps.now(1))
      .periods.filter(({ dueDate }) => dueDate >= asOf && daysBetween(asOf, dueDate) < WEEKS_SHOWN * 7)
      .map(({ dueDate, owed }) => {
        const week = Math.floor(daysBetween(asOf, dueDate) / 7)
        return [`${terms.currency.code} ${addPeriods(asOf, week * 7, 'days')}`, owed] as const
      }),
  )
  expect(sums(forecast.map(({ currency, from, amount }) => [`${currency} ${from}`, amount]))).toEqual(sums(due))
  expect(Object.keys(sums(due)).length).toBeGreaterThan(2)
})

it('has by month of disbursement what became of the loans', async () => {
  const { deps } = book.service
  const { cohorts } = await readGrowth(deps, caller)
  const loans = await loansOf()
  const now = deps.now(1)
  const states = loans.map(({ terms, entries }) => ({ terms, state: replay(terms, entries, now) }))
  const named = ({ terms }: (typeof states)[number]) => `${terms.currency.code} ${terms.disbursedOn.slice(0, 7)}`
  const nameOf = ({ currency, month }: { currency: string; month: string }) => `${currency} ${month}`
  expect(sums(cohorts.map((one) => [nameOf(one), one.principal]))).toEqual(
    sums(states.map((one) => [named(one), one.terms.principal])),
  )
  expect(sums(cohorts.map((one) => [nameOf(one), one.paid]))).toEqual(
    sums(states.map((one) => [named(one), one.state.totalPaid])),
  )
  expect(sums(cohorts.map((one) => [nameOf(one), one.outstanding]))).toEqual(
    sums(states.map((one) => [named(one), one.state.outstanding.principal])),
  )
  expect(dateIn(deps.config.zone, now)).toBe((await readGrowth(deps, caller)).asOf)
})

it('is written as files, each with a row for each month, cohort and week', async () => {
  const growth = await readGrowth(book.service.deps, caller)
  const linesOf = (text: string) => text.trim().split('\n').length - 1
  expect(linesOf(growthCsv(growth, 'months'))).toBe(growth.months.length)
  expect(linesOf(growthCsv(growth, 'cohorts'))).toBe(growth.cohorts.length)
  expect(linesOf(growthCsv(growth, 'forecast'))).toBe(growth.forecast.length)
})
