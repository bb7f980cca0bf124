import { dateIn, dayAfter, type Instant, type LocalDate, startOfDay } from '../dates.ts'
import { byValueDate, type Entry, type EntryType, movesMoney } from '../loan/entry.ts'
import type { Fold, Replayable } from '../loan/fold.ts'
import { NONE, noPortions, type Portions } from '../loan/portions.ts'
import { foldOf, lastDaysAt, unreversedInOrder } from '../loan/replay.ts'
import type { LoanTerms } from '../loan/terms/terms.ts'
import { sum } from '../money.ts'

/** What the terms of a loan make owed, without an entry: at the disbursement, and by late penalties, and by interest that runs on. */
export const TERMS_LINES = [
  'Disbursement',
  'Scheduled Interest',
  'Scheduled Fees',
  'Late Penalty',
  'Interest After Due',
] as const

/** The types of the lines of a statement: entries of the loan, and what its terms make owed. */
export type LineType = (typeof TERMS_LINES)[number] | EntryType

/** One line of what has happened to a loan. Amounts in minor units. */
export interface LoanLine {
  /** The value date. */
  readonly date: LocalDate
  readonly type: LineType
  /** The entry of the line; null where the terms of the loan make the line. */
  readonly entry: Entry | null
  /** Of an entry: as it was posted. */
  readonly amount: bigint
  /** The parts of the amount that moved the components of the debt; all 0 for a reversed entry. */
  readonly portions: Readonly<Portions>
  /** The part of the amount that is, or was taken from, the overpayment. */
  readonly overpayment: bigint
  /** What the line adds to the balance; negative for what it takes from it. */
  readonly change: bigint
  /** What is owed after the line, less what is overpaid: negative where the lender owes the customer. */
  readonly balance: bigint
}

/** Returns whether a line is an entry that was reversed: it is shown, and has no effect. */
export const isReversed = ({ entry }: Pick<LoanLine, 'entry'>): boolean => entry !== null && entry.reversedAt !== null

/**
 * Returns the moment as of which the end of a day is shown: the end of the day, or now while the day is not over.
 */
export const endOfDay = (day: LocalDate, zone: string, now: Instant): Instant =>
  Math.min(now, startOfDay(dayAfter(day), zone) - 1)

/**
 * Returns what has happened to a loan up to a moment, in the order of a replay: the disbursement with the interest and
 * the fees of the schedule, each entry that counts by then, and the penalties of each day. Reversed entries stand at
 * their place and change nothing. The waiver of an early settlement stands before the money of its day (contract 10.11).
 */
export function linesOf(terms: LoanTerms, entries: readonly Entry[], asOf: Instant): LoanLine[] {
  const last = dateIn(terms.zone, asOf)
  const counting = entries.filter(({ valueDate }) => valueDate <= last)
  const writer = new LineWriter(
    terms,
    counting.filter(({ reversedAt }) => reversedAt !== null),
  )
  const fold = foldOf(terms, unreversedInOrder(counting), lastDaysAt(terms, asOf), {
    begun: (fold) => writer.begin(fold),
    entry: (fold, entry, { portions, overpayment }) => {
      writer.addReversedBefore(entry)
      writer.add(fold, { entry: entry as Entry, portions, overpayment })
    },
    penalties: (fold, day) => writer.raise(fold, { day, type: 'Late Penalty', component: 'penalty' }),
    interest: (fold, day) => writer.raise(fold, { day, type: 'Interest After Due', component: 'interest' }),
  })
  return writer.end(fold)
}

/** What a day has raised, of one component. */
interface RaisedOn {
  readonly day: LocalDate
  readonly type: LineType
  readonly component: 'penalty' | 'interest'
}

/** Writes the lines of a loan while its entries are applied. */
class LineWriter {
  private readonly lines: Omit<LoanLine, 'balance'>[] = []
  private readonly terms: LoanTerms
  /** Reversed entries that have no line yet, in the order of a replay. */
  private readonly reversed: Entry[]
  private balance = 0n

  constructor(terms: LoanTerms, reversed: readonly Entry[]) {
    this.terms = terms
    this.reversed = reversed.toSorted(byValueDate)
  }

  /** Adds the disbursement: the principal, and the interest and the fees of the schedule. */
  begin({ totals: { due } }: Fold): void {
    const ofTerms = [
      ['Disbursement', 'principal'],
      ['Scheduled Interest', 'interest'],
      ['Scheduled Fees', 'fees'],
    ] as const
    for (const [type, component] of ofTerms) {
      const amount = due[component]
      if (amount === 0n && type !== 'Disbursement') continue
      this.balance += amount
      const portions = { ...noPortions(), [component]: amount }
      this.push({ date: this.terms.disbursedOn, type, entry: null, amount, portions, change: amount })
    }
  }

  /** Adds an entry that was applied. */
  add(fold: Fold, { entry, ...effect }: Pick<LoanLine, 'portions' | 'overpayment'> & { readonly entry: Entry }): void {
    const { valueDate: date, type, amount } = entry
    this.push({ date, type, entry, amount, ...effect, change: this.changeTo(fold) })
  }

  /** Adds what a day raised: penalties after the entries of the day, interest before them. */
  raise(fold: Fold, { day, type, component }: RaisedOn): void {
    const isBefore = ({ valueDate }: Entry) => (component === 'interest' ? valueDate < day : valueDate <= day)
    while (this.reversed[0] && isBefore(this.reversed[0])) this.addReversed()
    const amount = this.changeTo(fold)
    this.push({
      date: day,
      type,
      entry: null,
      amount,
      portions: { ...noPortions(), [component]: amount },
      change: amount,
    })
  }

  addReversedBefore(entry: Replayable): void {
    while (this.reversed[0] && byValueDate(this.reversed[0], entry) < 0) this.addReversed()
  }

  /** Returns the lines. @param fold the fold at its end, which has what a settlement made of the money before it */
  end({ received }: Fold): LoanLine[] {
    while (this.reversed.length > 0) this.addReversed()
    const outcomes = new Map(received.map(({ ordinal, outcome }) => [ordinal, outcome]))
    let balance = 0n
    return waiversFirst(this.lines).map((line) => {
      balance += line.change
      const { portions, overpayment } = (!isReversed(line) && outcomes.get(line.entry?.ordinal ?? 0)) || line
      return { ...line, portions, overpayment, balance }
    })
  }

  private addReversed(): void {
    const entry = this.reversed.shift()!
    const { valueDate: date, type, amount } = entry
    this.push({ date, type, entry, amount, portions: NONE, change: 0n })
  }

  /** Returns what the balance has changed by since the last line, and takes the new one over. */
  private changeTo({ owed, overpaid }: Fold): bigint {
    const before = this.balance
    this.balance = owed - overpaid
    return this.balance - before
  }

  private push(line: Omit<LoanLine, 'balance' | 'overpayment'> & { readonly overpayment?: bigint }): void {
    this.lines.push({ overpayment: 0n, ...line })
  }
}

/** Returns lines with each waiver that waives something before the first line of its day in which money moved. */
function waiversFirst<Line extends Omit<LoanLine, 'balance'>>(lines: readonly Line[]): Line[] {
  const ordered: Line[] = []
  for (const line of lines) {
    const isWaiver = line.type === 'Settlement Waiver' && line.change !== 0n
    const money = isWaiver
      ? ordered.findIndex(({ date, entry }) => date === line.date && entry !== null && movesMoney(entry.type))
      : -1
    ordered.splice(money === -1 ? ordered.length : money, 0, line)
  }
  return ordered
}

/** The lines of a period, and the balances before and after them. Amounts in minor units. */
export interface LinesOfPeriod {
  readonly opening: bigint
  readonly lines: readonly LoanLine[]
  /** The sum of what raised the balance. */
  readonly charged: bigint
  /** The sum of what lowered the balance. */
  readonly credited: bigint
  readonly closing: bigint
}

/** Returns the lines from a day on, of lines that end with the last day of the period. */
export function linesFrom(all: readonly LoanLine[], from: LocalDate): LinesOfPeriod {
  const first = all.findIndex(({ date }) => date >= from)
  const lines = first === -1 ? [] : all.slice(first)
  const before = first === -1 ? all.at(-1) : all[first - 1]
  const opening = before?.balance ?? 0n
  const changes = lines.map(({ change }) => change)
  return {
    opening,
    lines,
    charged: sum(changes.filter((change) => change > 0n)),
    credited: -sum(changes.filter((change) => change < 0n)),
    closing: lines.at(-1)?.balance ?? opening,
  }
}
