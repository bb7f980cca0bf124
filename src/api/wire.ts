import { z } from 'zod'
import { FIRST_DATE, fromRfc3339, isCalendarDate, LAST_DATE } from '../domain/dates.ts'
import { type Decimal, parseDecimal } from '../domain/money.ts'
import { hasInvisible } from '../domain/visibleText.ts'
import { LARGEST_INT64 } from '../toolbox/integers.ts'
import { JsonNumber } from './body/json.ts'
import { EMAIL_OR_EMPTY, NEW_EXTERNAL_ID, textPattern } from './openapi/answers.ts'

/** A codec returns this instead of a value that it refuses. */
export class Refused {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

const IS_MISSING = new Refused('is required')
/** The refusal of `null`, which stands for a value that is left out: a codec sees it only where a value is needed. */
const IS_NULL = new Refused('must not be null')

export const INT64_MIN = -LARGEST_INT64 - 1n

/** Makes a schema that reads a wire value with `read`, and shows `meta` in the document. */
export function codec<T>(read: (value: unknown) => T | Refused, meta: Record<string, unknown>) {
  return z
    .unknown()
    .transform((value, context): T => {
      const result = value === undefined ? IS_MISSING : value === null ? IS_NULL : read(value)
      if (!(result instanceof Refused)) return result
      context.issues.push({ code: 'custom', message: result.message, input: value })
      return z.NEVER
    })
    .meta(meta)
}

/** Reads the source text of a JSON number; a text in quotes is refused, however numeric it looks. */
function numberSource(value: unknown): string | Refused {
  if (value instanceof JsonNumber) return value.source
  return new Refused(typeof value === 'string' ? 'must be a number, not a string' : 'must be a number')
}

/**
 * Reads the source text of a whole JSON number; a fraction of zeros is dropped, since common serializers write 1 as
 * `1.0` (contract 1.7).
 */
function integerSource(value: unknown): string | Refused {
  const source = numberSource(value)
  return source instanceof Refused ? source : source.replace(/\.0+$/, '')
}

const DOUBLE = { type: 'number', format: 'double' } as const

/** A JSON number as an exact decimal (100.10 has scale 1), for anything that is not an amount: a quantity, a rate. */
export const decimal = codec<Decimal>((value) => {
  const source = numberSource(value)
  if (source instanceof Refused) return source
  return parseDecimal(source) ?? new Refused('is too large, or has too many digits')
}, DOUBLE)

const AMOUNT = {
  ...DOUBLE,
  description: 'An amount in the currency of the loan, with no more decimals than the currency has.',
  maximum: 999_999_999_999.99,
  examples: [1500],
}

/**
 * An amount of money as an exact decimal. Its currency is not known here: the domain checks sign, decimals and bounds.
 */
export const amount = decimal.meta({ ...AMOUNT, exclusiveMinimum: 0 })

/** An amount of money that may be 0. */
export const amountOrZero = decimal.meta({ ...AMOUNT, minimum: 0 })

/** Bounds of a whole number, both inclusive. */
export interface Bounds<T> {
  readonly min?: T
  readonly max?: T
}

export function readInteger(source: string, min: bigint, max: bigint): bigint | Refused {
  if (!/^-?\d+$/.test(source)) return new Refused('must be a whole number, written in digits')
  // A megabyte of digits is not worth converting; it is out of range either way.
  const value = source.length <= 20 ? BigInt(source) : source.startsWith('-') ? INT64_MIN - 1n : LARGEST_INT64 + 1n
  if (value < min) return new Refused(`must be at least ${min}`)
  return value > max ? new Refused(`must be at most ${max}`) : value
}

/**
 * An int64 in a JSON body, exact to the last digit: a number, or a string of digits, since JavaScript has no other
 * exact number above 2^53 (contract 1.4).
 */
export function int64({ min = INT64_MIN, max = LARGEST_INT64 }: Bounds<bigint> = {}) {
  return codec<bigint>(
    (value) => {
      const source = typeof value === 'string' && /^-?\d+$/.test(value) ? value : integerSource(value)
      return source instanceof Refused ? source : readInteger(source, min, max)
    },
    withoutUndefined({ type: 'integer', format: 'int64', minimum: shown(min), maximum: shown(max) }),
  )
}

/** A whole number in a JSON body, small enough for a `number`. */
export function smallInt({ min, max }: Required<Bounds<number>>) {
  return codec<number>(
    (value) => {
      const source = integerSource(value)
      if (source instanceof Refused) return source
      const read = readInteger(source, BigInt(min), BigInt(max))
      return read instanceof Refused ? read : Number(read)
    },
    { type: 'integer', format: 'int32', minimum: min, maximum: max },
  )
}

/** Reads the number of a resource from a text, an int64 above 0; null for a text that cannot be one. */
export function readId(text: string): bigint | null {
  if (!/^[1-9]\d{0,18}$/.test(text)) return null
  const id = BigInt(text)
  return id <= LARGEST_INT64 ? id : null
}

/**
 * A numeric id in a path. A text that cannot be an id is null, and the service answers `not_found`: an id is never
 * malformed.
 */
export const idParam = codec<bigint | null>((value) => (typeof value === 'string' ? readId(value) : null), {
  type: 'string',
  pattern: '^[0-9]+$',
  description: 'The number that the service answered as `id`.',
  examples: ['1'],
})

/** The number of a loan in a query or a body, where a text that cannot be one is refused. */
export const loanNumber = codec<bigint>(
  (value) => (typeof value === 'string' ? readId(value) : null) ?? new Refused('must be the number of a loan'),
  { type: 'string', pattern: '^[1-9][0-9]{0,18}$', examples: ['1'] },
)

const CONTROL = /\p{Cc}/u
const CONTROL_BUT_LINES = /[^\P{Cc}\t\n\r]/u

/** Length of a text in characters, and whether it may have lines. */
export interface TextRules {
  readonly max: number
  /** 0 allows an empty text and one of spaces only. Default 1. */
  readonly min?: 0 | 1
  /** Allows line breaks and tabs. */
  readonly lines?: boolean
}

function readText(value: unknown, { min = 1, max, lines = false }: TextRules): string | Refused {
  if (typeof value !== 'string') return new Refused('must be a string')
  // Counts a character outside the Basic Multilingual Plane once; `length` counts it twice.
  const tooLong = value.length > max && (value.length > 2 * max || [...value].length > max)
  if (tooLong) return new Refused(`must be at most ${max} characters long`)
  if (!value.isWellFormed()) return new Refused('must be valid Unicode (half of a surrogate pair is not)')
  if ((lines ? CONTROL_BUT_LINES : CONTROL).test(value)) return new Refused('must not contain control characters')
  if (min > 0 && value.trim() === '') return new Refused(value === '' ? 'must not be empty' : 'must not be only spaces')
  return value
}

/** A bounded text without control characters and, by default, not of spaces only; kept as it was sent. */
export const text = (rules: TextRules) =>
  codec<string>((value) => readText(value, rules), {
    type: 'string',
    ...(rules.min !== 0 && { minLength: 1 }),
    maxLength: rules.max,
    pattern: textPattern(rules),
  })

/** An e-mail address as HTML's e-mail field takes it, with a domain that has a dot. */
const isEmail = (given: string): boolean => z.regexes.html5Email.test(given) && /@[^@]*\./.test(given)

/** An e-mail address, or an empty text where none is known (contract 5). */
export const emailOrEmpty = ({ max }: Pick<TextRules, 'max'>) =>
  codec<string>(
    (value) => {
      const read = readText(value, { max, min: 0 })
      if (read instanceof Refused || read === '' || isEmail(read)) return read
      return new Refused('must be an e-mail address such as asha@example.com, or empty where none is known')
    },
    {
      type: 'string',
      maxLength: max,
      pattern: EMAIL_OR_EMPTY,
      description: 'An e-mail address, or an empty text where none is known.',
      examples: ['asha@example.com'],
    },
  )

const EXTERNAL_ID: TextRules = { max: 100 }

/** The partner's own id of a customer or a loan. */
export const externalId = text(EXTERNAL_ID).meta({
  description: 'Your own id, 1 to 100 characters.',
  examples: ['CUST-0001'],
})

/**
 * The partner's own id of a new resource. In a path, `.` and `..` are steps that clients and proxies resolve before
 * they send it, escaped or not: a resource with such an id could never be read.
 */
export const newExternalId = codec<string>(
  (value) => {
    const read = readText(value, EXTERNAL_ID)
    if (read instanceof Refused) return read
    if (read === '.' || read === '..') return new Refused('must not be . or .., which no path can name')
    if (hasInvisible(read))
      return new Refused('must not contain invisible characters, or characters that turn the text around')
    return read
  },
  {
    type: 'string',
    minLength: 1,
    maxLength: EXTERNAL_ID.max,
    pattern: NEW_EXTERNAL_ID,
    description: 'Your own id, 1 to 100 characters; not `.` or `..`.',
    examples: ['CUST-0001'],
  },
)

/** The partner's own id in a path. A text that cannot be an id is null, and the service answers `not_found`. */
export const externalIdParam = codec<string | null>(
  (value) => {
    const read = readText(value, EXTERNAL_ID)
    return read instanceof Refused ? null : read
  },
  { type: 'string', description: 'Your own id.', examples: ['CUST-0001'] },
)

/** A free remark, up to 1,000 characters; may be empty and have lines. */
export const note = text({ min: 0, max: 1000, lines: true }).meta({ examples: ['Paid at the counter'] })

/** A date of the calendar, `YYYY-MM-DD`, from 1900 to 2999. */
export const localDate = codec<string>(
  (value) => {
    if (typeof value !== 'string') return new Refused('must be a string')
    if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return new Refused('must be a date written YYYY-MM-DD')
    if (!isCalendarDate(value)) return new Refused('is not a date on the calendar')
    return value < FIRST_DATE || value > LAST_DATE
      ? new Refused(`must be between ${FIRST_DATE} and ${LAST_DATE}`)
      : value
  },
  { type: 'string', format: 'date', examples: ['2026-11-20'] },
)

/** An instant in a body, RFC 3339. */
export const moment = codec<number>(
  (value) => {
    const read = typeof value === 'string' ? fromRfc3339(value) : undefined
    return read ?? new Refused('must be an instant such as 2026-02-10T09:29:40+03:00')
  },
  { type: 'string', format: 'date-time', examples: ['2026-02-10T09:29:40+03:00'] },
)

/** In answers: an exact instant, RFC 3339 with the tenant's offset. */
export const instant = z.string().meta({ format: 'date-time', examples: ['2026-11-20T14:30:00.000+03:00'] })

/** In answers: an amount in the loan's currency. */
export const money = z.number().meta({ description: 'An amount in the currency of the loan.', examples: [1500] })

/** Returns a bound for the document, which cannot hold one beyond 2^53 exactly: there the format states it. */
export const shown = (bound: bigint) => (Number.isSafeInteger(Number(bound)) ? Number(bound) : undefined)

export const withoutUndefined = (meta: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(meta).filter(([, value]) => value !== undefined))
