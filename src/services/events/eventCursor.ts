import { type FaultRole, failedPrecondition, invalidArgument } from '../../domain/errors.ts'

/** A position in the feed of events: after an event, which it knows again by the beginning of its hash. */
export interface EventCursor {
  /** The number of the event; 0 before the first. */
  readonly sequence: bigint
  /** The first digits of its hash; empty before the first event. */
  readonly mark: string
}

const MARK_DIGITS = 12

/** Returns the position after an event. */
export const afterEvent = ({ sequence, hash }: { sequence: bigint; hash: Uint8Array }): EventCursor => ({
  sequence,
  mark: Buffer.from(hash).toString('hex').slice(0, MARK_DIGITS),
})

/** The position before the first event. */
export const BEGINNING: EventCursor = { sequence: 0n, mark: '' }

/** Writes a position as a text that no client has to understand. */
export const encodeEventCursor = ({ sequence, mark }: EventCursor): string =>
  Buffer.from(`events.${sequence}.${mark}`).toString('base64url')

/** Reads a position from its text; undefined for any other text. */
export function decodeEventCursor(text: string): EventCursor | undefined {
  const decoded = Buffer.from(text, 'base64url').toString('latin1')
  const [, sequence, mark = ''] = /^events\.(0|[1-9]\d{0,17})\.([0-9a-f]{12})?$/.exec(decoded) ?? []
  if (sequence === undefined || (sequence === '0') !== (mark === '')) return undefined
  return { sequence: BigInt(sequence), mark }
}

/** @throws LendingError `invalid_argument` for a text that is no cursor of the feed */
export function requireEventCursor(field: FaultRole, text: string): EventCursor {
  const cursor = decodeEventCursor(text)
  if (!cursor) throw invalidArgument(field, 'must be the next of an answer of the list of events')
  return cursor
}

/**
 * Checks that the event before a position is the one that the position was made after. Where the book was restored to an
 * earlier moment, the numbers after that moment were given again, to other events.
 * @param event the event with the number of the cursor
 * @throws LendingError `failed_precondition`
 */
export function requireSameEvent(
  field: FaultRole,
  cursor: EventCursor,
  event: { sequence: bigint; hash: Uint8Array } | undefined,
): void {
  if (cursor.sequence === 0n || (event && afterEvent(event).mark === cursor.mark)) return
  throw failedPrecondition(
    `${field}: is of an event that this book does not have: the book was restored to an earlier moment, its chain began again, or the cursor is of another lender; read the lists again, and then follow the events from a new cursor`,
  )
}
