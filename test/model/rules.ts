import { type Day, dayAt } from './calendar.ts'
import { type Debt, owedOf } from './debt.ts'
import { type Happened, type Kind, type Outcome, outcomeOf, total } from './history.ts'

// The rules of postings, and the order of their refusals (contract 4.4, and the choices that it leaves open).

/** A loan in the model. */
export interface ModelLoan {
  readonly debt: Debt
  readonly history: Happened[]
}

/** An amount as it is sent: cents, or one with too many decimals for the currency. */
export type SentAmount = bigint | 'too fine'

export interface PostRequest {
  readonly kind: Kind
  /** Null of a charge-off or write-off. */
  readonly amount: SentAmount | null
  readonly day: Day | undefined
  readonly token?: string | undefined
  readonly note?: string | undefined
}

export interface AdjustRequest {
  readonly amount: SentAmount
  readonly day: Day | undefined
  readonly note: string | undefined
}

export type Refusal = 'invalid_argument' | 'failed_precondition'

/** The expected result: a refusal, or the transaction that is answered (already in the history). */
export type Verdict = { readonly refused: Refusal } | { readonly answered: Happened }

const WRONG_ARGUMENT = { refused: 'invalid_argument' } as const
const WRONG_STATE = { refused: 'failed_precondition' } as const

export type Status = 'Active' | 'Closed (obligations met)' | 'Closed (written off)' | 'Overpaid'

export function statusOf(outcome: Outcome): Status {
  if (outcome.overpaid > 0n) return 'Overpaid'
  if (total(outcome.rows, owedOf) > 0n) return 'Active'
  return outcome.writtenOffOn === null ? 'Closed (obligations met)' : 'Closed (written off)'
}

export function takes(outcome: Outcome, kind: Kind): boolean {
  const chargedOff = outcome.chargedOffOn !== null
  switch (statusOf(outcome)) {
    case 'Active':
      if (kind === 'Recovery Repayment') return chargedOff
      if (kind === 'Charge-off') return !chargedOff
      return kind !== 'Credit Balance Refund'
    case 'Closed (obligations met)':
      return kind === 'Repayment'
    case 'Closed (written off)':
      return kind === 'Recovery Repayment'
    case 'Overpaid':
      return kind === 'Repayment' || kind === 'Refund' || kind === 'Credit Balance Refund'
  }
}

function isOverLimit(outcome: Outcome, kind: Kind, amount: bigint): boolean {
  const { rows, overpaid } = outcome
  const status = statusOf(outcome)
  if (kind === 'Waive Interest') return amount > total(rows, (row) => (row.part === 'interest' ? owedOf(row) : 0n))
  if (kind === 'Credit Balance Refund') return amount > overpaid
  if (kind === 'Refund') return amount > (status === 'Overpaid' ? overpaid : total(rows, (row) => row.paid))
  if (kind === 'Recovery Repayment' && status === 'Closed (written off)')
    return amount > total(rows, (row) => row.writtenOff - row.recovered)
  return false
}

export function post(loan: ModelLoan, request: PostRequest, now: number): Verdict {
  const seen = request.token === undefined ? undefined : loan.history.find(({ token }) => token === request.token)
  if (seen) return { answered: seen }
  const amount = request.amount ?? 1n
  if (amount === 'too fine' || amount <= 0n) return WRONG_ARGUMENT
  const day = request.day ?? dayAt(now)
  if (!isInRange(loan, day, now)) return WRONG_ARGUMENT
  const number = loan.history.length + 1
  const { kind, token, note } = request
  const happened = { id: '', kind, day, place: number, number, amount, token, note, postedAt: now, reversed: false }
  return append(loan, happened, loan.history, now)
}

export function adjust(loan: ModelLoan, original: Happened, request: AdjustRequest, now: number): Verdict {
  if (original.reversed || original.kind === 'Charge-off' || original.kind === 'Write-off') return WRONG_STATE
  if (request.amount === 'too fine' || request.amount < 0n) return WRONG_ARGUMENT
  const day = request.day ?? original.day
  if (!isInRange(loan, day, now)) return WRONG_ARGUMENT
  if (request.amount === 0n) return reverse(original, now)
  const number = loan.history.length + 1
  const replacement = {
    ...original,
    id: '',
    day,
    place: day === original.day ? original.place : number,
    number,
    amount: request.amount,
    token: undefined,
    note: request.note ?? original.note,
    postedAt: now,
  }
  const without = loan.history.map((one) => (one === original ? { ...one, reversed: true } : one))
  const verdict = append(loan, replacement, without, now)
  if ('answered' in verdict) markReversed(original, now)
  return verdict
}

function markReversed(original: Happened, now: number): void {
  original.reversed = true
  original.reversedAt = now
}

export function reverse(original: Happened, now: number): Verdict {
  if (original.reversed) return WRONG_STATE
  markReversed(original, now)
  return { answered: original }
}

const isInRange = ({ debt }: ModelLoan, day: Day, now: number): boolean => day >= debt.disbursedOn && day <= dayAt(now)

/** Adds a transaction to the history where the existing transactions allow it. */
function append(loan: ModelLoan, one: Happened, existing: readonly Happened[], now: number): Verdict {
  const before = outcomeOf(loan.debt, existing, now)
  if (!takes(before, one.kind)) return WRONG_STATE
  if (one.kind === 'Write-off' && existing.some((other) => !other.reversed && other.day > one.day)) return WRONG_STATE
  if (statusOf(before) === 'Closed (written off)' && one.day < before.writtenOffOn!) return WRONG_ARGUMENT
  if (isOverLimit(before, one.kind, one.amount)) return WRONG_STATE
  const { effects } = outcomeOf(loan.debt, [...existing, one], now)
  const effect = effects.get(one)!
  if (effect.missing > 0n || effect.amount === 0n) return WRONG_STATE
  // Money cannot be paid out twice: the money of later payouts must remain.
  const isShort = (other: Happened) => (effects.get(other)?.missing ?? 0n) > (before.effects.get(other)?.missing ?? 0n)
  if ((one.kind === 'Refund' || one.kind === 'Credit Balance Refund') && existing.some(isShort)) return WRONG_STATE
  one.amount = effect.amount
  loan.history.push(one)
  return { answered: one }
}
