import { setImmediate as turn } from 'node:timers/promises'
import { readEarlierTerms } from '../../db/loans/earlierTerms.ts'
import { type PortfolioAsked, type PortfolioLoan, preparePortfolio, readMoving } from '../../db/portfolio/positions.ts'
import { sumStill, sumStillRolls } from '../../db/portfolio/stillLoans.ts'
import type { Snapshot } from '../../db/postgres/transaction.ts'
import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { DelinquencyPolicy } from '../../domain/delinquency/policy.ts'
import { knownThen, momentOf, type NoPosition, type Position, positionsOn } from '../../domain/delinquency/position.ts'
import { termsCanChange, termsKnownAt } from '../../domain/loan/terms/versions.ts'
import { type Cell, Cells, cellKeyOf, sumsOf } from '../../domain/portfolio/cells.ts'
import { type Roll, rollOf } from '../../domain/portfolio/rolls.ts'
import type { Deps } from '../deps.ts'

/** Milliseconds for which loans are replayed before requests get their turn. */
const SLICE_MS = 5

/** The time zone, and what ends a walk early: it then throws. */
export type WalkDeps = Pick<Deps, 'config'> & { readonly stopping?: AbortSignal }

/** Calls `visit` with each loan whose columns do not say its positions on the days, and with these. */
async function walk(
  { config: { zone }, stopping }: WalkDeps,
  snapshot: Snapshot,
  asked: PortfolioAsked,
  visit: (loan: PortfolioLoan, positions: readonly (Position | NoPosition)[]) => void,
): Promise<void> {
  const { days, knownAt, now, policy } = asked
  const moments = days.map((day) => momentOf(day, knownAt ?? now, zone))
  let began = performance.now()
  for await (const found of readMoving(snapshot, zone, asked)) {
    stopping?.throwIfAborted()
    const loans = knownAt === undefined ? found : await withTermsThen(snapshot, found, knownAt)
    for (const loan of loans) {
      if (performance.now() - began > SLICE_MS) {
        await turn()
        began = performance.now()
      }
      const entries = knownAt === undefined ? loan.entries : knownThen(loan.entries, knownAt)
      const known = { ...loan, entries }
      visit(known, positionsOf(known, policy, moments))
    }
  }
}

/** Returns the positions of a loan. @throws Error that names the loan, where its rows are damaged */
function positionsOf(loan: PortfolioLoan, policy: DelinquencyPolicy, moments: readonly Instant[]) {
  try {
    return positionsOn(loan, policy, moments)
  } catch (error) {
    throw new Error(`loan ${loan.id} cannot be replayed; run \`book check\``, { cause: error })
  }
}

/** Returns loans with the terms that were known at an instant. */
export async function withTermsThen<Loan extends PortfolioLoan>(
  snapshot: Snapshot,
  loans: readonly Loan[],
  knownAt: Instant,
): Promise<Loan[]> {
  const changeable = loans.filter(termsCanChange)
  if (changeable.length === 0) return [...loans]
  const { organizationId } = changeable[0]!
  const ids = changeable.map(({ id }) => id)
  const histories = await readEarlierTerms({ pool: snapshot }, organizationId, ids, knownAt)
  return loans.map((loan) => ({ ...loan, terms: termsKnownAt(loan.terms, histories.get(loan.id) ?? [], knownAt) }))
}

/** Reads the cells of a portfolio on each of the days, as one moment of the database has them. */
export async function readCells(
  deps: WalkDeps,
  snapshot: Snapshot,
  asked: PortfolioAsked,
): Promise<ReadonlyMap<LocalDate, readonly Cell[]>> {
  const days = new Map<LocalDate, Cells>()
  await preparePortfolio(snapshot)
  for (const day of asked.days) days.set(day, new Cells())
  for (const { day, cell } of await sumStill(snapshot, asked)) days.get(day)!.add(cell)
  await walk(deps, snapshot, asked, (loan, positions) => {
    for (const [place, position] of positions.entries()) {
      const day = asked.days[place]!
      if (typeof position !== 'string')
        days.get(day)!.add({ ...cellKeyOf(loan, day), index: position.index, ...sumsOf(position) })
    }
  })
  return new Map([...days].map(([day, cells]) => [day, cells.list()]))
}

/** Reads how loans moved between the buckets from the first of two days to the last. */
export async function readRolls(deps: WalkDeps, snapshot: Snapshot, asked: PortfolioAsked): Promise<Roll[]> {
  const rolls = new Map<string, Roll>()
  const add = (roll: Roll) => {
    const key = `${roll.currency} ${roll.opening} ${roll.closing}`
    const { loans = 0, principal = 0n } = rolls.get(key) ?? {}
    rolls.set(key, { ...roll, loans: loans + roll.loans, principal: principal + roll.principal })
  }
  await preparePortfolio(snapshot)
  for (const roll of await sumStillRolls(snapshot, asked)) add(roll)
  await walk(deps, snapshot, asked, ({ terms }, [first, last]) => {
    const roll = rollOf(terms.currency.code, first!, last!)
    if (roll) add(roll)
  })
  return [...rolls.values()]
}
