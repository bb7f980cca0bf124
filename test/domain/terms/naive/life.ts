import { runOn } from './afterDue.ts'
import { type Day, dayAt, dayOf, sameTime } from './calendar.ts'
import { copyOf, type Debt, debtOf, type Effect, owed } from './debt.ts'
import type { NaiveLoan, Transaction } from './loan.ts'
import { raise } from './penalties.ts'
import { isSettled, type NaiveQuote, quoteOn } from './settlement.ts'
import { happen } from './transactions.ts'

// The life of a loan, day by day from disbursement: the interest of a day after the last due date, the transactions of the day,
// then its penalties.

/** A loan at a moment. */
export interface Life {
  readonly debt: Debt
  /** By ordinal of the transaction; a reversed one has none. */
  readonly effects: Map<number, Effect>
  /** The first day whose transactions settle the loan, of which no waiver says so nor was reversed; null: none. */
  unwaivedDay: Day | null
  /** What settles the loan on the last day, whose penalties are left out: what is paid on the day keeps them away. */
  quote: NaiveQuote
}

/** @param atEndOf given the debt at the end of each day; of the last day, at the moment */
export function lifeOf(
  loan: NaiveLoan,
  transactions: readonly Transaction[],
  asOf: number,
  atEndOf?: (day: Day, debt: Debt) => void,
): Life {
  const byDay = Map.groupBy(transactions, ({ valueDate }) => dayOf(valueDate))
  const debt = debtOf(loan.schedule)
  const life: Life = { debt, effects: new Map(), unwaivedDay: null, quote: quoteOn(loan, debt, loan.disbursedOn) }
  const today = dayAt(asOf)
  for (let day = loan.disbursedOn; day <= today; day++) {
    const ofDay = byDay.get(day)
    runOn(loan, debt, day)
    if (ofDay || day === today) liveDay(loan, life, ofDay ?? [], { day, asOf })
    else raise(loan, debt, debt, day)
    atEndOf?.(day, debt)
  }
  return life
}

/** A day, and the moment that decides whether the instant of its penalties has passed. */
interface LivedDay {
  readonly day: Day
  readonly asOf: number
}

function liveDay(loan: NaiveLoan, life: Life, ofDay: readonly Transaction[], { day, asOf }: LivedDay): void {
  const { debt, effects } = life
  const inOrder = ofDay
    .filter(({ reversedAt }) => reversedAt === null)
    .toSorted((a, b) => a.place - b.place || a.ordinal - b.ordinal)
  const instant = sameTime(day, loan.disbursedAt)
  const hasPassed = asOf >= instant
  const isMark = (one: Transaction) => hasPassed && comesAfter(one, instant)
  const [withoutPenalties, basis] = inOrder.some(isMark)
    ? withoutPenaltiesOf(loan, debt, inOrder, day, isMark)
    : [debt, debt]
  /** The instalments that have had their penalties of the day. */
  let raised = 0
  for (const one of inOrder) {
    // A mark that finds nothing owed marks nothing: it has no penalty before it.
    if (raised === 0 && isMark(one) && owed(debt) > 0n) {
      raise(loan, debt, basis, day)
      raised = debt.rows.length
    }
    effects.set(one.ordinal, happen(loan, debt, one, day))
  }
  // A waiver that was reversed is not posted again for its day.
  const isBarred = ofDay.some(({ type, reversedAt }) => type === 'Settlement Waiver' && reversedAt !== null)
  life.quote = quoteOn(loan, withoutPenalties, day, isBarred)
  if (inOrder.length > 0 && !isBarred && isSettled(loan, debt, day)) life.unwaivedDay ??= day
  if (hasPassed) raise(loan, debt, basis, day, raised)
}

/** Returns whether a transaction comes after the occurrences of its day: what it marks has their penalties. */
const comesAfter = (one: Transaction, instant: number): boolean =>
  (one.type === 'Charge-off' || one.type === 'Write-off' || isOfRestructure(one)) && one.postedAt >= instant

/** Returns whether a transaction is a restructure, or was posted with one. */
const isOfRestructure = ({ restructure }: Transaction): boolean => restructure !== null && restructure !== undefined

/**
 * Returns what the transactions of a day make of a debt without its penalties: all of them, and those before a write-off
 * that comes after the penalties.
 */
function withoutPenaltiesOf(
  loan: NaiveLoan,
  debt: Debt,
  inOrder: readonly Transaction[],
  day: Day,
  isMark: (one: Transaction) => boolean,
): [all: Debt, beforeWriteOff: Debt] {
  const all = copyOf(debt)
  let beforeWriteOff: Debt | undefined
  for (const one of inOrder) {
    if ((one.type === 'Write-off' || isOfRestructure(one)) && isMark(one)) beforeWriteOff ??= copyOf(all)
    happen(loan, all, one, day)
  }
  return [all, beforeWriteOff ?? all]
}
