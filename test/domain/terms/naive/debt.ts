import type { Instalment } from '../../../../src/domain/schedule/schedule.ts'
import { type Day, dayOf } from './calendar.ts'

// What is owed, cell by cell: a cell is one part of one instalment. Written from the contract, on purpose without the
// code of the service.

export const PARTS = ['penalty', 'fees', 'interest', 'principal'] as const
export type Part = (typeof PARTS)[number]

/** The columns of a cell, minor units. */
export const COLUMNS = ['due', 'paid', 'waived', 'writtenOff', 'recovered'] as const
export type Cell = Record<(typeof COLUMNS)[number], bigint>

/** An instalment, and what has become of it. */
export interface Row {
  dueDay: Day
  readonly cells: Readonly<Record<Part, Cell>>
  /** The number of its own penalties that were raised. */
  raised: number
  /** The day from which nothing of it is owed. */
  clearSince: Day | null
}

/** A loan on its way through the days. */
export interface Debt {
  readonly rows: Row[]
  overpaid: bigint
  /** The number of penalties that were raised, single charges not among them. */
  raised: number
  /** The interest that was raised after the last due date. */
  afterDue: bigint
  chargedOffOn: Day | null
  writtenOffOn: Day | null
  /** The day from which nothing is owed. */
  clearSince: Day | null
  /** The last due date that a restructure has made; null: that of the schedule as it was lent. */
  lastDue: Day | null
  /** What each payment did, in their order. */
  readonly received: Effect[]
}

/** What a transaction did at its place. */
export interface Effect {
  /** By part; of a charge-off or write-off what was owed, of a settlement waiver the interest that was forgiven. */
  readonly parts: Record<Part, bigint>
  /** Of a payment what exceeded the debt, of money paid back what came out of the overpayment. */
  overpayment: bigint
}

const cell = (due: bigint): Cell => ({ due, paid: 0n, waived: 0n, writtenOff: 0n, recovered: 0n })

export const rowOf = (dueDay: Day, due: Partial<Record<Part, bigint>>): Row => {
  const { penalty = 0n, fees = 0n, interest = 0n, principal = 0n } = due
  const cells = { penalty: cell(penalty), fees: cell(fees), interest: cell(interest), principal: cell(principal) }
  return { dueDay, cells, raised: 0, clearSince: null }
}

export const debtOf = (schedule: readonly Instalment[]): Debt => ({
  rows: schedule.map(({ dueDate, fees, interest, principal }) => rowOf(dayOf(dueDate), { fees, interest, principal })),
  overpaid: 0n,
  raised: 0,
  afterDue: 0n,
  chargedOffOn: null,
  writtenOffOn: null,
  clearSince: null,
  lastDue: null,
  received: [],
})

/** Returns a debt to which other things can happen. */
export const copyOf = (debt: Debt): Debt => structuredClone(debt)

export const owedIn = ({ due, paid, waived, writtenOff }: Cell): bigint => due - paid - waived - writtenOff

/** Returns what is owed of an instalment. */
export const owedOf = ({ cells }: Row): bigint => PARTS.reduce((sum, part) => sum + owedIn(cells[part]), 0n)

export const owed = ({ rows }: Debt): bigint => rows.reduce((sum, row) => sum + owedOf(row), 0n)

/** Returns the sum of a column over the instalments. */
export const total = ({ rows }: Debt, part: Part, column: keyof Cell): bigint =>
  rows.reduce((sum, { cells }) => sum + cells[part][column], 0n)

/** Returns the instalment due on a day or next after it; a new one after the last, where there is none. */
export function rowDueFrom({ rows }: Debt, day: Day): Row {
  const known = rows.find(({ dueDay }) => dueDay >= day)
  if (known) return known
  const row = rowOf(day, {})
  rows.push(row)
  return row
}

/** Notes on which day the loan, and each instalment, became clear; a cell that is owed again takes the note away. */
export function noteWhatIsClear(debt: Debt, day: Day): void {
  const since = (before: Day | null, rest: bigint) => (rest > 0n ? null : (before ?? day))
  debt.clearSince = since(debt.clearSince, owed(debt))
  for (const row of debt.rows) row.clearSince = since(row.clearSince, owedOf(row))
}

export const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Divides and rounds half to even; both at least 0. */
export function divided(amount: bigint, by: bigint): bigint {
  const whole = amount / by
  const twice = (amount % by) * 2n
  return twice > by || (twice === by && whole % 2n === 1n) ? whole + 1n : whole
}

/** Returns the share of an amount; the rate is in millionths of a percent. */
export const share = (amount: bigint, rate: bigint): bigint => divided(amount * rate, 100_000_000n)
