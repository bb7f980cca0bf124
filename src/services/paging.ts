import type { Found, Position } from '../db/queries/cursor.ts'
import { decodeCursor, encodeCursor } from '../db/queries/cursor.ts'
import { invalidArgument, LendingError } from '../domain/errors.ts'

export type { Listed, Page } from '../db/queries/cursor.ts'
export { LONGEST_CURSOR } from '../db/queries/cursor.ts'

/** The part of a list that a client asks for: a page, the first one when left out, or the rows after a cursor. */
export interface Range {
  readonly rows: number
  readonly page?: number | undefined
  /** The `next` of an earlier answer. */
  readonly after?: string | undefined
}

/** The items of a part of a list. */
export interface Ranged<T> {
  readonly items: readonly T[]
  /** The number of items on all pages; of a page only. */
  readonly total?: number
  /** The cursor after the last item; absent where there is no item, or where the order of the page is no walk. */
  readonly next?: string
}

/** The orders of a list: that of its pages, and that of the last changes, where the list can be asked for those. */
export interface Orders {
  readonly arrival: string
  readonly change?: string
}

/** Seconds after which a walk that has to wait for an open transaction is worth trying again. */
const HELD_UP_SECONDS = 2

/**
 * Returns the position that a range names in a list.
 * @param updatedSince the instant since which changes are asked for; they have no pages
 * @throws LendingError `invalid_argument` for a cursor of another list, and for a page together with a cursor
 */
export function positionOf({ rows, page, after }: Range, orders: Orders, updatedSince?: number): Position {
  if (page !== undefined && after !== undefined)
    throw invalidArgument('page', 'cannot be given together with after: leave one of the two out')
  if (page !== undefined && updatedSince !== undefined)
    throw invalidArgument('page', (nameOf) => `cannot be given together with ${nameOf('updatedSince')}: go on by after`)
  const order = updatedSince === undefined ? orders.arrival : (orders.change ?? orders.arrival)
  if (after !== undefined) return { cursor: cursorOf(after, order), rows }
  return updatedSince === undefined ? { page: page ?? 1, rows } : { cursor: undefined, rows }
}

function cursorOf(after: string, order: string) {
  const cursor = decodeCursor(after, order)
  if (!cursor)
    throw invalidArgument(
      'after',
      (nameOf) => `must be the next of an answer of this list, with the same ${nameOf('updatedSince')} or without it`,
    )
  return cursor
}

/**
 * Returns what was found, with its cursor as a text.
 * @throws LendingError `unavailable` where a walk has to wait until a transaction has ended
 */
export function rangedOf<T>(found: Found<T> | undefined): Ranged<T> {
  if (!found)
    throw new LendingError(
      'unavailable',
      'a change of the book has been open for long, and the list cannot go on before it has ended; try again',
      [],
      HELD_UP_SECONDS,
    )
  const { items, total, next } = found
  return { items, ...(total !== undefined && { total }), ...(next && { next: encodeCursor(next) }) }
}
