import type { LocalDate } from '../dates.ts'
import type { Decimal } from '../money.ts'
import type { ActionKind, ActionRequest } from './pendingAction.ts'

/** A request as the database keeps it, as JSON: numbers that may be large are texts. */
export interface StoredRequest {
  readonly transactionId?: string
  readonly amount?: { readonly units: string; readonly scale: number } | null
  readonly valueDate?: LocalDate | null
  readonly token?: string | null
  readonly note: string | null
}

const toDecimal = (amount: Decimal | null) => amount && { units: String(amount.units), scale: amount.scale }

/** Returns what is kept of a request. */
export function toStoredRequest(request: ActionRequest): StoredRequest {
  if ('posting' in request) {
    const { amount, valueDate = null, token, note } = request.posting
    return { amount: toDecimal(amount), valueDate, token, note }
  }
  const transactionId = String(request.transactionId)
  if (request.kind !== 'adjust') return { transactionId, note: request.note }
  const { amount, valueDate = null, note } = request
  return { transactionId, amount: toDecimal(amount), valueDate, note }
}

/** Returns a request from what is kept of it. */
export function fromStoredRequest(kind: ActionKind, stored: StoredRequest): ActionRequest {
  const { note, token = null } = stored
  const amount = stored.amount ? { units: BigInt(stored.amount.units), scale: stored.amount.scale } : null
  const valueDate = stored.valueDate ?? undefined
  const transactionId = BigInt(stored.transactionId ?? 0)
  switch (kind) {
    case 'reverse':
    case 'reverse-charge':
      return { kind, transactionId, note }
    case 'adjust':
      return { kind, transactionId, amount: amount ?? { units: 0n, scale: 0 }, valueDate, note }
    default:
      return { kind, posting: { amount, valueDate, token, note } }
  }
}

/** Returns the text by which a request that is sent again is recognised: the request without its note. */
export const subjectOf = (kind: ActionKind, { note: _, ...request }: StoredRequest): string =>
  `${kind} ${JSON.stringify(request)}`
