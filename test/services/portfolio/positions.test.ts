import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readLoans } from '../../../src/db/loans/loans.ts'
import type { StoredLoan } from '../../../src/db/loans/storedLoan.ts'
import { inSnapshot } from '../../../src/db/postgres/transaction.ts'
import { dateIn } from '../../../src/domain/dates.ts'
import type { DelinquencyPolicy } from '../../../src/domain/delinquency/policy.ts'
import { PRESETS } from '../../../src/domain/delinquency/policy.ts'
import { provisionOf } from '../../../src/domain/delinquency/position.ts'
import { type Cell, Cells, monthOf, sumsOf } from '../../../src/domain/portfolio/cells.ts'
import { rollRatesOf } from '../../../src/domain/portfolio/rolls.ts'
import { readCells, readRolls } from '../../../src/services/portfolio/positions.ts'
import { type NaiveDay, naiveDays } from '../../support/naivePositions.ts'
import { openRandomBook, type RandomBook } from '../../support/randomBook.ts'

// The portfolio of a random book, on any day, beside a count of each loan day by day.

let book: RandomBook
beforeAll(async () => {
  book = await openRandomBook(Number(process.env.MKOPO_SEED ?? 11))
})
afterAll(() => book?.end())

const [par, cbk] = PRESETS.map(({ policy }) => policy) as [DelinquencyPolicy, DelinquencyPolicy]
const POLICIES: readonly (readonly [string, DelinquencyPolicy])[] = [
  ['par', par],
  ['cbk', cbk],
  ['cbk from the first arrears', { ...cbk, countFrom: 'first_arrears' }],
  ['par with days of cure', { ...par, cureDays: 12 }],
  ['cbk with a material amount', { ...cbk, materiality: { amount: 900_00n, percentOfPrincipal: 5_000_000n } }],
  [
    'par from the first arrears with days of cure and a material share',
    {
      ...par,
      ...{ countFrom: 'first_arrears', cureDays: 5, materiality: { amount: null, percentOfPrincipal: 3_000_000n } },
    },
  ],
]
const DAYS = [
  '2026-01-30',
  '2026-01-31',
  '2026-02-14',
  '2026-03-01',
  '2026-03-20',
  '2026-04-09',
  '2026-04-29',
  '2026-04-30',
]

async function loansOf({ service }: RandomBook): Promise<StoredLoan[]> {
  const { rows } = await service.deps.db.pool.query<{ id: bigint }>('SELECT id FROM loan WHERE organization_id = 1')
  const { zone } = service.deps.config
  const keys = rows.map(({ id }) => ({ organizationId: 1, ref: { id }, zone }))
  return (await readLoans(service.deps.db, keys)).map((loan) => loan!)
}

const askedOf = ({ service: { deps } }: RandomBook, policy: DelinquencyPolicy, days: readonly string[]) => ({
  ...{ organizationId: 1, policy, days, knownAt: undefined, now: deps.now(1) },
  today: dateIn(deps.config.zone, deps.now(1)),
})

/** Returns the position that a naive day comes to; undefined where nothing is owed. */
const positionOf = (policy: DelinquencyPolicy, { index, days, principal, isChargedOff }: NaiveDay) =>
  index === null
    ? undefined
    : { index, daysPastDue: days, principal, provision: provisionOf(policy, { index, principal, isChargedOff }) }

describe.each(POLICIES)('the portfolio by %s', (_, policy) => {
  it('is on each day the sum of its loans, counted day by day', async () => {
    const { deps } = book.service
    const loans = await loansOf(book)
    const expected = new Map(DAYS.map((day) => [day, new Cells()]))
    for (const loan of loans)
      for (const naive of naiveDays(loan, policy, deps.now(1))) {
        const position = positionOf(policy, naive)
        const { productId, terms } = loan
        const key = {
          ...{ productId, currency: terms.currency.code, month: monthOf(terms.disbursedOn), isRestructured: false },
        }
        if (position) expected.get(naive.day)?.add({ ...key, index: position.index, ...sumsOf(position) })
      }
    const together = await inSnapshot(deps.db, (snapshot) => readCells(deps, snapshot, askedOf(book, policy, DAYS)))
    for (const day of DAYS) {
      const alone = await inSnapshot(deps.db, (snapshot) => readCells(deps, snapshot, askedOf(book, policy, [day])))
      const cells: readonly Cell[] = expected.get(day)!.list()
      expect(alone.get(day), day).toEqual(cells)
      expect(together.get(day), day).toEqual(cells)
    }
    expect(expected.get('2026-04-30')!.list().length).toBeGreaterThan(5)
  })

  it('moves from any day to a later one as its loans do, and each row sums to its opening', async () => {
    const { deps } = book.service
    const naive = (await loansOf(book)).map((loan) => ({ loan, days: naiveDays(loan, policy, deps.now(1)) }))
    for (const [from, to] of [
      ['2026-01-31', '2026-02-28'],
      ['2026-02-14', '2026-04-30'],
      ['2026-04-29', '2026-04-30'],
    ] as const) {
      const rolls = await inSnapshot(deps.db, (snapshot) =>
        readRolls(deps, snapshot, askedOf(book, policy, [from, to])),
      )
      for (const { currency, from: rows, lent, reopened } of rollRatesOf(rolls, policy)) {
        for (const row of [...rows, lent, reopened]) {
          const parts = [...row.to, row.closed, row.writtenOff]
          expect(parts.reduce((sum, { loans }) => sum + loans, 0)).toBe(row.loans)
          expect(parts.reduce((sum, { principal }) => sum + principal, 0n)).toBe(row.principal)
        }
        for (const [opening, row] of rows.entries())
          for (const [closing, cell] of row.to.entries()) {
            const moved = naive.filter(({ loan, days }) => {
              const [first, last] = [from, to].map((day) => days.find((one) => one.day === day)?.index)
              return loan.terms.currency.code === currency && first === opening && last === closing
            })
            expect(cell.loans, `${from} ${to} ${opening} ${closing}`).toBe(moved.length)
            const principal = moved.map(({ days }) => days.find(({ day }) => day === from)!.principal)
            expect(cell.principal).toBe(principal.reduce((sum, amount) => sum + amount, 0n))
          }
      }
    }
  })
})
