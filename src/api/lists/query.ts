import { z } from 'zod'
import { LONGEST_DETAIL } from '../../domain/customer/customer.ts'
import {
  dateIn,
  dayAfter,
  FIRST_DATE,
  type Instant,
  isCalendarDate,
  LAST_DATE,
  type LocalDate,
  startOfDay,
} from '../../domain/dates.ts'
import type { Deps } from '../../services/deps.ts'
import { LONGEST_CURSOR, type Range } from '../../services/paging.ts'
import { LARGEST_INT32, LARGEST_INT64 } from '../../toolbox/integers.ts'
import { textPattern } from '../openapi/answers.ts'
import {
  type Bounds,
  codec,
  INT64_MIN,
  localDate,
  Refused,
  readId,
  readInteger,
  shown,
  text,
  withoutUndefined,
} from '../wire.ts'

/**
 * The number of a resource, as a filter of a list.
 * @param other the filter that takes the externalId instead
 */
export const queryId = (other: string) =>
  codec<bigint>(
    (value) => {
      const id = typeof value === 'string' ? readId(value) : null
      return id ?? new Refused(`must be the number that the service answered as id; ${other} takes your own id`)
    },
    { type: 'string', pattern: '^[1-9][0-9]{0,18}$', examples: ['1'] },
  )

/** A whole number in a query. */
export function queryInt({ min, max }: Required<Bounds<number>>, meta: Record<string, unknown> = {}) {
  return codec<number>(
    (value) => {
      const read =
        typeof value === 'string' ? readInteger(value, BigInt(min), BigInt(max)) : new Refused('must be a whole number')
      return read instanceof Refused ? read : Number(read)
    },
    { type: 'integer', format: 'int32', minimum: min, maximum: max, ...meta },
  )
}

/** An int64 in a query, exact to the last digit. */
export const queryInt64 = ({ min = INT64_MIN, max = LARGEST_INT64 }: Bounds<bigint> = {}) =>
  codec<bigint>(
    (value) => (typeof value === 'string' ? readInteger(value, min, max) : new Refused('must be a whole number')),
    withoutUndefined({ type: 'integer', format: 'int64', minimum: shown(min), maximum: shown(max) }),
  )

/** True or false in a query. */
export const queryBoolean = codec<boolean>(
  (value) => (value === 'true' || value === 'false' ? value === 'true' : new Refused('must be true or false')),
  { type: 'boolean' },
)

const oneOf = (words: readonly string[]) => `(${words.map((word) => word.replaceAll(/[().*]/g, '\\$&')).join('|')})`

/**
 * One or several words of a vocabulary in a query, separated by commas.
 * @param words no word has a comma
 */
export const queryWords = <Word extends string>(words: readonly Word[]) =>
  codec<readonly Word[]>(
    (value) => {
      const given = typeof value === 'string' ? value.split(',') : []
      const read = words.filter((word) => given.includes(word))
      return given.length > 0 && given.every((one) => (words as readonly string[]).includes(one))
        ? read
        : new Refused(`must be one or several of ${words.join(', ')}, separated by commas`)
    },
    { type: 'string', pattern: `^${oneOf(words)}(,${oneOf(words)})*$` },
  )

/** A phone number in a query; a plus at its start that no client has escaped arrives as a space. */
export const queryPhone = codec<string>(
  (value) => {
    const read = text({ max: LONGEST_DETAIL.phone }).safeParse(
      typeof value === 'string' ? value.replace(/^ /, '+') : value,
    )
    return read.success ? read.data : new Refused(read.error.issues[0]!.message)
  },
  { type: 'string', minLength: 1, maxLength: LONGEST_DETAIL.phone, pattern: textPattern({}) },
)

/** A day of the lender's calendar, or an instant. */
export type DayOrInstant = { readonly day: LocalDate } | { readonly instant: Instant }

/** RFC 3339; a plus that no client has escaped arrives as a space. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+ -]\d{2}:\d{2})$/i

/** An instant in a query, RFC 3339, or a day of the lender's calendar. */
export const queryInstant = codec<DayOrInstant>(
  (value) => {
    if (typeof value !== 'string') return new Refused('must be a string')
    const day = localDate.safeParse(value)
    if (day.success) return { day: day.data }
    // Date.parse moves a 30 February to March.
    const isInstant = INSTANT.test(value) && isCalendarDate(value.slice(0, 10))
    const instant = isInstant ? Date.parse(value.replace(' ', '+')) : Number.NaN
    if (Number.isNaN(instant))
      return new Refused('must be an instant such as 2026-11-20T14:30:00+03:00, or a date such as 2026-11-20')
    const isInRange = instant >= Date.parse(FIRST_DATE) && instant < Date.parse(dayAfter(LAST_DATE))
    return isInRange ? { instant } : new Refused(`must be between ${FIRST_DATE} and ${LAST_DATE}`)
  },
  {
    type: 'string',
    pattern:
      '^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2}))?$',
  },
)

/** Returns the first instant of a bound: of a day, its start in the lender's zone. */
export const startOfBound = (bound: DayOrInstant | undefined, zone: string): Instant | undefined =>
  bound && ('day' in bound ? startOfDay(bound.day, zone) : bound.instant)

/** Returns the instant before which a bound ends: a day is included, an instant is not. */
export const endOfBound = (bound: DayOrInstant | undefined, zone: string): Instant | undefined =>
  bound && ('day' in bound ? startOfDay(dayAfter(bound.day), zone) : bound.instant)

/** Returns the instants of a disbursement between two days, both included. */
export const disbursedBetween = (from: LocalDate | undefined, to: LocalDate | undefined, zone: string) => ({
  disbursedFrom: from === undefined ? undefined : startOfDay(from, zone),
  disbursedBefore: to === undefined ? undefined : startOfDay(dayAfter(to), zone),
})

const MOST_ROWS = 100

/**
 * The part of a list (contract 1.10, 15): a page, or the rows after a cursor; a list with filters extends them. A value
 * out of range is refused, not clamped.
 */
export const listQuery = z.strictObject({
  // The default is set in the metadata: zod leaves out the default of a codec, whose input differs from its output.
  page: queryInt(
    { min: 1, max: LARGEST_INT32 },
    { description: 'The number of the page, from 1. Default: 1, unless the list goes on by a cursor.' },
  ).optional(),
  rows: queryInt(
    { min: 1, max: MOST_ROWS },
    { description: 'Items in the answer at most.', default: MOST_ROWS },
  ).default(MOST_ROWS),
  after: text({ max: LONGEST_CURSOR }).optional().meta({
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'The `next` of an earlier answer: gives the items after it. Not together with `page`.',
  }),
})

/** The parameter for the changes since an instant, of a list that can give its items in the order of their change. */
export const changedSince = (things: string) =>
  queryInstant
    .optional()
    .describe(
      `Only the ${things} that were made or changed from this instant on, in the order of their last change; a date stands for its first instant. Go on by the cursor, not by pages.`,
    )

/** Returns the part of a list that a query asks for. */
export const rangeOf = ({ page, rows, after }: z.infer<typeof listQuery>): Range => ({ page, rows, after })

/** Returns an instant; of a day the last one, of today the present one of an organization. */
export function lastInstantOf(
  asked: DayOrInstant,
  { config: { zone }, now }: Pick<Deps, 'config' | 'now'>,
  organizationId: number,
): Instant {
  if ('instant' in asked) return asked.instant
  const at = now(organizationId)
  return asked.day === dateIn(zone, at) ? at : startOfDay(dayAfter(asked.day), zone) - 1
}
