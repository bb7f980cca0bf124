import { LARGEST_INT32, LARGEST_INT64 } from '../../toolbox/integers.ts'
/** A position in a walk through a list: what was given already. Places are the numbers that the walk is ordered by. */
export interface Cursor {
  /** The list and its order: a cursor of one order is no position in another. */
  readonly order: string
  /** Every row up to this place was given, or will never be there. */
  readonly floor: bigint
  /** The places above the floor that were given already, ascending. */
  readonly given: readonly bigint[]
  /**
   * When the floor can rise to `last`: every transaction that drew a place up to `last` has a number below `before`, so
   * once all of those have ended, nothing more can appear there. Null where nothing is given above the floor.
   */
  readonly pending: { readonly last: bigint; readonly before: bigint } | null
}

/**
 * The transactions at the moment of a statement: every one below `endedBelow` has ended, and none from `nextId` on has
 * begun. A transaction between the two may be under way, also one above all that a snapshot of Postgres names.
 */
export interface Moment {
  readonly endedBelow: bigint
  readonly nextId: bigint
}

/** Places above the floor that a cursor can hold; with more, the walk waits until a transaction has ended. */
export const MOST_GIVEN = 500

/** Characters of a cursor at most. */
export const LONGEST_CURSOR = 8_000

/** Returns the position before the first row. */
export const startOf = (order: string, floor = 0n): Cursor => ({ order, floor, given: [], pending: null })

/** Returns the position after a row of a list whose rows are seen in their order; undefined where there is no row. */
export const cursorAt = (order: string, place: bigint | number | undefined): Cursor | undefined =>
  place === undefined ? undefined : startOf(order, BigInt(place))

/**
 * Returns the position after more rows were given.
 * @param places of the rows, ascending, and the place up to which all rows were read; all there are when left out
 * @param settled every row of the list up to this place is committed, or will never be there
 */
export function advance(
  cursor: Cursor,
  { places, readTo }: { readonly places: readonly bigint[]; readonly readTo?: bigint | undefined },
  moment: Moment,
  settled: bigint,
): Cursor {
  const { pending } = cursor
  const bound = max(settled, pending && hasEnded(pending.before, moment) ? pending.last : 0n)
  const floor = max(cursor.floor, readTo !== undefined && readTo < bound ? readTo : bound)
  const given = [...cursor.given, ...places].filter((place) => place > floor).toSorted((a, b) => (a < b ? -1 : 1))
  const highest = given.at(-1)
  if (highest === undefined) return { order: cursor.order, floor, given, pending: null }
  const waits = pending !== null && pending.last > floor && !hasEnded(pending.before, moment)
  return { order: cursor.order, floor, given, pending: waits ? pending : { last: highest, before: moment.nextId } }
}

/**
 * Returns whether every transaction below a number has ended. A number that was not given out yet is of another cluster,
 * from which this book was restored: nothing is under way there.
 */
export const hasEnded = (before: bigint, { endedBelow, nextId }: Moment): boolean =>
  before <= endedBelow || before > nextId

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** Writes a cursor as a text that no client has to understand. */
export function encodeCursor({ order, floor, given, pending }: Cursor): string {
  const steps = given.map((place, index) => place - (given[index - 1] ?? floor))
  const numbers = [floor, ...(pending ? [pending.last - floor, pending.before, ...steps] : [])]
  return Buffer.from([order, ...numbers.map((number) => number.toString(36))].join('.')).toString('base64url')
}

/** Reads a cursor of an order; undefined for a text that is none. */
export function decodeCursor(text: string, expected: string): Cursor | undefined {
  if (text.length > LONGEST_CURSOR || !/^[\w-]+$/.test(text)) return undefined
  const [order = '', ...parts] = Buffer.from(text, 'base64url').toString('latin1').split('.')
  if (order !== expected || !parts.every((part) => /^[0-9a-z]{1,13}$/.test(part))) return undefined
  const [floor, last, before, ...steps] = parts.map(fromBase36)
  if (
    floor === undefined ||
    [floor, last, before, ...steps].some((number) => number !== undefined && number > LARGEST_INT64)
  )
    return undefined
  if (last === undefined || before === undefined) return last === undefined ? startOf(order, floor) : undefined
  const given: bigint[] = []
  for (const step of steps) given.push((given.at(-1) ?? floor) + step)
  const isAscending = steps.every((step) => step > 0n) && steps.length > 0 && steps.length <= MOST_GIVEN
  if (!isAscending || given.at(-1)! > LARGEST_INT64) return undefined
  return { order, floor, given, pending: { last: floor + last, before } }
}

const fromBase36 = (digits: string): bigint =>
  [...digits].reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n)

/** A page of a list: which, and how long. */
export interface Page {
  /** From 1. */
  readonly page: number
  readonly rows: number
}

/** The items of a page, and the number of items on all pages. */
export interface Listed<T> {
  readonly items: readonly T[]
  readonly total: number
}

/** A step of a walk through a list: the rows after a cursor, or from the beginning. */
export interface Step {
  readonly cursor: Cursor | undefined
  readonly rows: number
}

/** The part of a list that is read. */
export type Position = Page | Step

/** A part of a list of an organization's, as it is asked for. */
export interface Asked<Filter> {
  readonly organizationId: number
  readonly filter: Filter
  readonly position: Position
}

/** The items that were read: of a page with the number of items on all pages, and the cursor after the last of them. */
export interface Found<T> {
  readonly items: readonly T[]
  readonly total?: number | undefined
  readonly next: Cursor | undefined
}

/** The part of a list that Prisma reads for a page. */
export const sliceOf = ({ page, rows }: Page): { skip: number; take: number } => ({
  skip: Math.min((page - 1) * rows, LARGEST_INT32),
  take: rows,
})
