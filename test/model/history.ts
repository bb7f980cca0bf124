import type { Day } from './calendar.ts'
import { type Debt, owedOf, type Part, type Row, rowsOf, rowsOfInstalment } from './debt.ts'

// The outcome of a history of transactions: computed from the start, row by row, at each call.

export const KINDS = [
  'Repayment',
  'Recovery Repayment',
  'Waive Interest',
  'Refund',
  'Credit Balance Refund',
  'Charge-off',
  'Write-off',
] as const

export type Kind = (typeof KINDS)[number]

/** A transaction. */
export interface Happened {
  /** The id that the service chose. */
  id: string
  readonly kind: Kind
  readonly day: Day
  /**
   * The place among the transactions of the day: the number of the posting, or the place of the transaction that it
   * replaced.
   */
  readonly place: number
  readonly number: number
  /** Cents, as of the posting. */
  amount: bigint
  readonly token: string | undefined
  readonly note: string | undefined
  readonly postedAt: number
  reversed: boolean
  /** The instant of the reversal. */
  reversedAt?: number
}

/** The effect of a transaction at its place. */
export interface Effect {
  amount: bigint
  readonly parts: Record<Part, bigint>
  overpayment: bigint
  /** The part of the amount for which there was no money or interest. */
  missing: bigint
}

export interface Outcome {
  readonly rows: Row[]
  readonly dueDays: Day[]
  overpaid: bigint
  chargedOffOn: Day | null
  writtenOffOn: Day | null
  /** The day from which nothing is owed. */
  clearSince: Day | null
  /** The same, by instalment. */
  readonly clear: (Day | null)[]
  readonly effects: Map<Happened, Effect>
}

export const total = (rows: readonly Row[], of: (row: Row) => bigint): bigint =>
  rows.reduce((sum, row) => sum + of(row), 0n)

export function outcomeOf(debt: Debt, history: readonly Happened[], now: number): Outcome {
  const outcome: Outcome = {
    rows: rowsOf(debt),
    dueDays: [...debt.dueDays],
    overpaid: 0n,
    chargedOffOn: null,
    writtenOffOn: null,
    clearSince: null,
    clear: debt.dueDays.map(() => null),
    effects: new Map(),
  }
  const inOrder = history
    .filter(({ reversed }) => !reversed)
    .sort((a, b) => a.day.localeCompare(b.day) || a.place - b.place || a.number - b.number)
  const lastDue = debt.dueDays.at(-1)!
  const dueBy = inOrder.filter((one) => one.day <= lastDue)
  // A charge-off or write-off of the last day, posted after the due time, includes the penalty.
  const isLate = (one: Happened) =>
    one.day === lastDue && one.postedAt >= debt.dueAt && (one.kind === 'Charge-off' || one.kind === 'Write-off')
  const hasPenalty = now >= debt.dueAt && (dueBy.some(isLate) ? isUnpaid(debt, dueBy, isLate) : true)
  let raised = false
  const raise = () => {
    if (raised || !hasPenalty || total(outcome.rows, owedOf) === 0n) return
    raised = true
    const row = outcome.rows.find(
      ({ instalment, part }) => instalment === debt.dueDays.length - 1 && part === 'penalty',
    )!
    row.due += debt.penalty
    if (debt.penalty > 0n) outcome.clear[row.instalment] = null
  }
  for (const one of dueBy) {
    if (isLate(one)) raise()
    happen(outcome, one)
  }
  raise()
  for (const one of inOrder) if (one.day > lastDue) happen(outcome, one)
  return outcome
}

/** Returns whether the transactions up to the last day, without a late write-off, leave anything unpaid. */
function isUnpaid(debt: Debt, dueBy: readonly Happened[], isLate: (one: Happened) => boolean): boolean {
  const writtenOff = dueBy.findIndex((one) => one.kind === 'Write-off' && isLate(one))
  const before = writtenOff < 0 ? dueBy : dueBy.slice(0, writtenOff)
  return total(outcomeOf(debt, before, 0).rows, owedOf) > 0n
}

function happen(outcome: Outcome, one: Happened): void {
  const effect = {
    amount: one.amount,
    parts: { penalty: 0n, interest: 0n, principal: 0n },
    overpayment: 0n,
    missing: 0n,
  }
  outcome.effects.set(one, effect)
  if (one.kind === 'Repayment' || one.kind === 'Recovery Repayment') receive(outcome, effect)
  if (one.kind === 'Waive Interest') waive(outcome, effect)
  if (one.kind === 'Refund' || one.kind === 'Credit Balance Refund') giveBack(outcome, effect, one)
  if (one.kind === 'Charge-off' || one.kind === 'Write-off') mark(outcome, effect, one)
  noteWhatIsClear(outcome, one.day)
}

/** Moves up to `most` of `room` into a column of the row, and into the effect. @returns the rest of `most` */
function move(
  row: Row,
  column: 'paid' | 'waived' | 'writtenOff' | 'recovered',
  most: bigint,
  room: bigint,
  effect: Effect,
) {
  const moved = most < room ? most : room
  row[column] += moved
  effect.parts[row.part] += moved
  return most - moved
}

/** Pays what is owed, then what was written off; the rest is overpayment. */
function receive(outcome: Outcome, effect: Effect): void {
  let rest = effect.amount
  for (const row of outcome.rows) rest = move(row, 'paid', rest, owedOf(row), effect)
  for (const row of outcome.rows) rest = move(row, 'recovered', rest, row.writtenOff - row.recovered, effect)
  effect.overpayment = rest
  outcome.overpaid += rest
}

function waive(outcome: Outcome, effect: Effect): void {
  let rest = effect.amount
  for (const row of outcome.rows) if (row.part === 'interest') rest = move(row, 'waived', rest, owedOf(row), effect)
  effect.missing = rest
}

/**
 * Pays back from the overpayment; a refund then from what was paid, last row first; the rest is principal owed again.
 */
function giveBack(outcome: Outcome, effect: Effect, one: Happened): void {
  effect.overpayment = effect.amount < outcome.overpaid ? effect.amount : outcome.overpaid
  outcome.overpaid -= effect.overpayment
  let rest = effect.amount - effect.overpayment
  if (one.kind === 'Refund')
    for (const row of outcome.rows.toReversed()) {
      const taken = rest < row.paid ? rest : row.paid
      row.paid -= taken
      effect.parts[row.part] += taken
      rest -= taken
    }
  effect.missing = rest
  if (rest > 0n) {
    let instalment = outcome.dueDays.findIndex((day) => day >= one.day)
    if (instalment < 0) {
      instalment = outcome.dueDays.push(one.day) - 1
      outcome.clear.push(null)
      outcome.rows.push(...rowsOfInstalment(instalment, { interest: 0n, principal: 0n }))
    }
    outcome.rows.find((row) => row.instalment === instalment && row.part === 'principal')!.due += rest
    effect.parts.principal += rest
  }
}

/** Marks all that is owed: charged off it is still owed, written off it is not. Marks nothing where nothing is owed. */
function mark(outcome: Outcome, effect: Effect, one: Happened): void {
  const owed = total(outcome.rows, owedOf)
  effect.amount = 0n
  if (owed === 0n || (one.kind === 'Charge-off' && outcome.chargedOffOn !== null)) return
  effect.amount = owed
  for (const row of outcome.rows) {
    effect.parts[row.part] += owedOf(row)
    if (one.kind === 'Write-off') row.writtenOff += owedOf(row)
  }
  if (one.kind === 'Charge-off') outcome.chargedOffOn = one.day
  else outcome.writtenOffOn = one.day
}

function noteWhatIsClear(outcome: Outcome, day: Day): void {
  const since = (before: Day | null, rows: Row[]) => (total(rows, owedOf) > 0n ? null : (before ?? day))
  outcome.clearSince = since(outcome.clearSince, outcome.rows)
  for (const instalment of outcome.dueDays.keys())
    outcome.clear[instalment] = since(
      outcome.clear[instalment] ?? null,
      outcome.rows.filter((row) => row.instalment === instalment),
    )
}
