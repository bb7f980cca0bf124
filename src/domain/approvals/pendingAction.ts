import type { Instant, LocalDate } from '../dates.ts'
import { invariant, notFound } from '../errors.ts'
import { type Entry, type EntryType, isCharge } from '../loan/entry.ts'
import { adjust, type Decision, type Loan, type Posting, post, reverse, type Saving } from '../loan/loan.ts'
import type { LoanState } from '../loan/replay.ts'
import {
  type RestructureRequest,
  type RestructureTerms,
  restructureLoan,
  reverseRestructure,
} from '../loan/restructure/restructureLoan.ts'
import type { Decimal } from '../money.ts'
import { fromStoredRestructure, type StoredRestructure, toStoredRestructure } from './storedRestructure.ts'

/** The kinds of actions on a loan that may wait for a second ADMIN (contract 14.9). */
const LOAN_ACTION_KINDS = [
  'reverse',
  'reverse-charge',
  'adjust',
  'write-off',
  'waive-interest',
  'restructure',
  'reverse-restructure',
] as const
/** The kinds of actions on a payment that may wait. */
const PAYMENT_ACTION_KINDS = ['reverse-allocations', 'return-payment'] as const

export const ACTION_KINDS = [...LOAN_ACTION_KINDS, ...PAYMENT_ACTION_KINDS] as const
export type ActionKind = (typeof ACTION_KINDS)[number]
type PaymentActionKind = (typeof PAYMENT_ACTION_KINDS)[number]
export type LoanActionKind = Exclude<ActionKind, PaymentActionKind>

/** Returns whether an action of a kind is on a payment, and not on a loan. */
export const isOnPayment = (kind: ActionKind): kind is PaymentActionKind => includes(PAYMENT_ACTION_KINDS, kind)

const includes = (kinds: readonly string[], kind: string) => kinds.includes(kind)

/** The states of a pending action. All but the first are final. */
export const ACTION_STATES = ['pending', 'approved', 'rejected', 'withdrawn'] as const
export type ActionState = (typeof ACTION_STATES)[number]

/** A request to take a transaction out of a loan. */
interface Reversal {
  readonly kind: 'reverse' | 'reverse-charge' | 'reverse-restructure'
  readonly transactionId: bigint
  readonly note: string | null
}

/** A request to correct a transaction. */
interface AdjustmentRequest {
  readonly kind: 'adjust'
  readonly transactionId: bigint
  readonly amount: Decimal
  /** Undefined: the original's. */
  readonly valueDate: LocalDate | undefined
  readonly note: string | null
}

/** A request to write off a loan or to waive interest. */
interface Loss {
  readonly kind: 'write-off' | 'waive-interest'
  readonly posting: Pick<Posting, 'amount' | 'valueDate' | 'token' | 'note'>
}

/** A request to restructure a loan, with what it is decided by. */
interface Restructuring {
  readonly kind: 'restructure'
  readonly request: RestructureRequest
  readonly terms: RestructureTerms
}

/** A request on a loan that may wait for a second ADMIN. */
export type LoanActionRequest = Reversal | AdjustmentRequest | Loss | Restructuring

/** A request to take money of a payment from its loans again. */
interface AllocationsReversal {
  readonly kind: 'reverse-allocations'
  /** The repayments. */
  readonly transactionIds: readonly bigint[]
  readonly note: string | null
}

/** A request to note that money of a payment was paid back to the payer. */
interface PaymentReturn {
  readonly kind: 'return-payment'
  readonly amount: Decimal
  readonly note: string
}

/** A request on a payment that may wait for a second ADMIN. */
export type PaymentActionRequest = AllocationsReversal | PaymentReturn

/** A request that may wait for a second ADMIN. */
export type ActionRequest = LoanActionRequest | PaymentActionRequest

const KIND_OF: Readonly<Partial<Record<EntryType, Loss['kind']>>> = {
  'Write-off': 'write-off',
  'Waive Interest': 'waive-interest',
}

const TYPE_OF = { 'write-off': 'Write-off', 'waive-interest': 'Waive Interest' } as const

/** Returns the request that a posting is; undefined for a type that never waits. */
export function lossOf({ type, amount, valueDate, token, note }: Posting): Loss | undefined {
  const kind = KIND_OF[type]
  return kind && { kind, posting: { amount, valueDate, token, note } }
}

/** Returns the id of the transaction that a request reverses or adjusts; null where it posts a new one. */
export const transactionOf = (request: ActionRequest): bigint | null =>
  'transactionId' in request ? request.transactionId : null

/**
 * Decides what a request does to a loan.
 * @throws LendingError `not_found`, `invalid_argument`, `failed_precondition`
 */
export function decideAction(loan: Loan, request: LoanActionRequest, now: number): Saving {
  switch (request.kind) {
    case 'reverse':
      return { save: reverse(loan, request.transactionId, now, request.note) }
    case 'reverse-charge':
      if (!loan.entries.some(({ id, type }) => id === request.transactionId && isCharge(type)))
        throw notFound('no charge of this loan has that id')
      return { save: reverse(loan, request.transactionId, now, request.note) }
    case 'adjust':
      return { save: adjust(loan, request.transactionId, request, now) }
    case 'restructure':
      return inOrder(restructureLoan(loan, request.request, request.terms, now))
    case 'reverse-restructure':
      return inOrder(reverseRestructure(loan, request.transactionId, now, request.note))
    default:
      return { save: post(loan, { ...request.posting, type: TYPE_OF[request.kind] }, now) }
  }
}

/** Returns decisions that are saved together. @param decisions at least one, in the order in which they are saved */
function inOrder(decisions: readonly Decision[]): Saving {
  const save = decisions.at(-1)
  invariant(save, 'a restructure and its reversal decide something')
  return { save, first: decisions.slice(0, -1) }
}

/**
 * Returns the amount of decisions, in minor units of the loan: what is posted or what is reversed, whichever is larger; of a
 * restructure and its reversal what is outstanding before it. Of a reversed transaction it counts also what the transaction is
 * worth now, where that follows from the loan.
 */
export function amountOf({ save, first = [] }: Saving): bigint {
  const all = [...first, save]
  if (all.some(({ posted, reversed }) => (posted ?? reversed)?.type === 'Restructure'))
    return all[0]!.before.totalOutstanding
  const { posted, reversed, before } = save
  const outcomes = 'outcomes' in before ? (before as LoanState).outcomes : undefined
  const amounts = [posted?.amount, reversed?.amount, reversed && outcomes?.get(reversed.ordinal)?.amount]
  return amounts.reduce<bigint>((most, one) => (one != null && one > most ? one : most), 0n)
}

/** Returns the sum of the interest waivers among entries that were posted at some instants and not reversed, in minor units. */
export const waivedOf = (
  entries: readonly Pick<Entry, 'type' | 'amount' | 'postedAt' | 'reversedAt'>[],
  isPostedThen: (at: Instant) => boolean,
): bigint =>
  entries
    .filter((one) => one.type === 'Waive Interest' && one.reversedAt === null && isPostedThen(one.postedAt))
    .reduce((sum, { amount }) => sum + amount, 0n)

/** The amount of an organization above which actions wait, in minor units of its currency; `always` of a caller who only proposes. */
export type ApprovalLimit = { readonly approvalAbove: bigint; readonly currency: string } | 'always'

/** Returns whether an action of an amount waits; one in another currency than the organization's always does. */
export const mustWait = (limit: ApprovalLimit, amount: bigint, currency: string): boolean =>
  limit === 'always' || currency !== limit.currency || amount > limit.approvalAbove

/** A request as the database keeps it, as JSON: numbers that may be large are texts. */
export interface StoredRequest {
  readonly transactionId?: string
  /** The repayments of a payment. */
  readonly transactionIds?: readonly string[]
  readonly amount?: { readonly units: string; readonly scale: number } | null
  readonly valueDate?: LocalDate | null
  readonly token?: string | null
  readonly note: string | null
  /** Of a restructure: the whole request, as JSON. */
  readonly restructure?: StoredRestructure
}

const toDecimal = (amount: Decimal | null) => amount && { units: String(amount.units), scale: amount.scale }

/** Returns what is kept of a request. */
export function toStoredRequest(request: ActionRequest): StoredRequest {
  if ('posting' in request) {
    const { amount, valueDate = null, token, note } = request.posting
    return { amount: toDecimal(amount), valueDate, token, note }
  }
  if (request.kind === 'restructure') {
    const { effectiveDate = null, note } = request.request
    return { valueDate: effectiveDate, note, restructure: toStoredRestructure(request.request, request.terms) }
  }
  if (request.kind === 'reverse-allocations')
    return { transactionIds: request.transactionIds.map(String), note: request.note }
  if (request.kind === 'return-payment') return { amount: toDecimal(request.amount), note: request.note }
  const transactionId = String(request.transactionId)
  if (request.kind !== 'adjust') return { transactionId, note: request.note }
  const { amount, valueDate = null, note } = request
  return { transactionId, amount: toDecimal(amount), valueDate, note }
}

const fromDecimal = (amount: StoredRequest['amount']) =>
  amount ? { units: BigInt(amount.units), scale: amount.scale } : null

const NOTHING: Decimal = { units: 0n, scale: 0 }

/** Returns a request on a payment from what is kept of it. */
export function fromStoredPaymentRequest(kind: PaymentActionKind, stored: StoredRequest): PaymentActionRequest {
  const { transactionIds = [], amount, note } = stored
  if (kind === 'return-payment') return { kind, amount: fromDecimal(amount) ?? NOTHING, note: note ?? '' }
  return { kind, transactionIds: transactionIds.map(BigInt), note }
}

/** Returns a request on a loan from what is kept of it. */
export function fromStoredRequest(kind: LoanActionKind, stored: StoredRequest): LoanActionRequest {
  const { note, token = null } = stored
  const amount = fromDecimal(stored.amount)
  const valueDate = stored.valueDate ?? undefined
  const transactionId = BigInt(stored.transactionId ?? 0)
  switch (kind) {
    case 'reverse':
    case 'reverse-charge':
    case 'reverse-restructure':
      return { kind, transactionId, note }
    case 'restructure':
      return { kind, ...fromStoredRestructure(stored.restructure, { effectiveDate: valueDate, note }) }
    case 'adjust':
      return { kind, transactionId, amount: amount ?? NOTHING, valueDate, note }
    default:
      return { kind, posting: { amount, valueDate, token, note } }
  }
}

/** Returns the text by which a request that is sent again is recognised: the request without its note. */
export const subjectOf = (kind: ActionKind, { note: _, ...request }: StoredRequest): string =>
  `${kind} ${JSON.stringify(request)}`
