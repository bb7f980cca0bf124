import { distance } from 'fastest-levenshtein'
import type { FastifySchemaCompiler } from 'fastify'
import { z } from 'zod'
import type { Config } from '../../app/config.ts'
import { LendingError, type NamedFault } from '../../domain/errors.ts'
import { InvalidRequest, JsonNumber, type RequestFault } from './json.ts'

const MOST_FAULTS = 20
const LONGEST_NAME = 100

/**
 * Fields that a strict object has and the body lacks, by zod's list of unknown keys: the candidates for a misspelt
 * name.
 */
const knownFields = new WeakMap<readonly string[], readonly string[]>()

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

/** Builds the message of a zod issue; a schema's own message takes precedence. */
const inWords: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'unrecognized_keys') {
    const shape = (issue.inst as z.ZodObject | undefined)?._zod.def.shape ?? {}
    const given = issue.input as object
    knownFields.set(
      issue.keys,
      Object.keys(shape).filter((name) => !Object.hasOwn(given, name)),
    )
    return 'is not a known field'
  }
  if (issue.input === undefined) return 'is required'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${KINDS[issue.expected] ?? `of type ${issue.expected}`}`
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`
    case 'too_small':
    case 'too_big':
      return outOfBounds(issue)
    case 'invalid_format':
      return `must be a valid ${issue.format}`
    case 'invalid_union':
      return 'has none of the accepted forms'
    default:
      return 'is not valid'
  }
}

function outOfBounds(
  issue: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall> | z.core.$ZodRawIssue<z.core.$ZodIssueTooBig>,
) {
  const small = issue.code === 'too_small'
  const bound = small ? issue.minimum : issue.maximum
  if (issue.origin === 'string')
    return small && bound === 1 ? 'must not be empty' : `must be ${atLeast(small)} ${bound} characters long`
  if (issue.origin === 'array') return `must have ${atLeast(small)} ${bound} ${bound === 1 ? 'item' : 'items'}`
  if (issue.inclusive === false) return `must be ${small ? 'greater' : 'less'} than ${bound}`
  return `must be ${atLeast(small)} ${bound}`
}

const atLeast = (small: boolean) => (small ? 'at least' : 'at most')

/** The faults of a body that is no object, of one shape or of several. */
const OF_NO_OBJECT: readonly string[] = ['invalid_type', 'invalid_union']

/**
 * Checks one part of a request with its zod schema; the handler gets the parsed value. A refusal lists the fields at
 * fault, unknown fields first: a misspelt name explains more than the field that is missing.
 */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart, method }) =>
  (data: unknown) => {
    // Fastify passes null when there is no body.
    const given = httpPart === 'body' ? (data ?? undefined) : data
    const input = httpPart === 'body' ? withoutNulls(schema, given, method === 'PUT') : given
    if (httpPart === 'querystring') {
      const repeated = Object.entries(input as object).filter(([, value]) => Array.isArray(value))
      if (repeated.length > 0)
        return { error: refusal(repeated.map(([field]) => ({ field, message: 'must be given only once' }))) }
    }
    const shape = shapeOf(schema, input)
    if (!(shape instanceof z.ZodType)) return { error: refusal(shape) }
    const parsed = shape.safeParse(input, { error: inWords })
    if (parsed.success) return { value: parsed.data }
    const { issues } = parsed.error
    if (httpPart === 'body' && issues.some(({ path, code }) => path.length === 0 && OF_NO_OBJECT.includes(code)))
      return { error: new InvalidRequest('the body must be a JSON object') }
    return { error: refusal(faultsOf(issues, input, httpPart === 'querystring')) }
  }

function refusal(faults: readonly RequestFault[]) {
  return new InvalidRequest(faults[0]?.message ?? 'the request is not valid', faults.slice(0, MOST_FAULTS))
}

function faultsOf(issues: readonly z.core.$ZodIssue[], input: unknown, inQuery: boolean): RequestFault[] {
  const unknown: RequestFault[] = []
  const others: RequestFault[] = []
  for (const issue of issues) {
    if (unknown.length + others.length >= 2 * MOST_FAULTS) break
    const number = numberOnTheWay(input, issue)
    if (number !== undefined) {
      const fault = { field: fieldAt(number), message: 'must be an object' }
      if (!others.some(({ field }) => field === fault.field)) others.push(fault)
      continue
    }
    if (issue.code !== 'unrecognized_keys') {
      others.push({ field: fieldAt(issue.path), message: issue.message })
      continue
    }
    const known = knownFields.get(issue.keys) ?? []
    for (const key of issue.keys.slice(0, MOST_FAULTS)) {
      const field = fieldAt([...issue.path, key.slice(0, LONGEST_NAME)])
      const message = inQuery ? unknownParameter(key, known) : unknownField(key, known, issue.message)
      unknown.push({ field, message, isUnknown: true })
    }
  }
  return [...unknown, ...others]
}

function unknownField(name: string, known: readonly string[], message: string): string {
  const meant = nearest(name, known)
  const isToken = meant !== TOKEN && TOKEN_NAMES.has(plainName(name.slice(0, LONGEST_NAME)))
  if (isToken && known.includes(TOKEN)) return `${message}; the dedupe token is ${TOKEN}`
  if (plainName(name) === plainName(TOKEN) && meant === undefined)
    return `${message} here; to retry safely, send the header Idempotency-Key`
  return meant === undefined ? message : `${message}; did you mean ${meant}?`
}

function unknownParameter(name: string, known: readonly string[]): string {
  const meant = nearest(name, known)
  const takes = known.length === 0 ? 'none is taken here' : `those left are ${known.join(', ')}`
  return `is not a known parameter; ${meant === undefined ? takes : `did you mean ${meant}?`}`
}

/** The dedupe token of a repayment, and other services' names for it: such a field must not become a second payment. */
const TOKEN = 'idempotencyKey'
const TOKEN_NAMES = new Set(
  [
    TOKEN,
    'idempotencyToken',
    'dedupeToken',
    'dedupeKey',
    'dedupeId',
    'deduplicationId',
    'deduplicationKey',
    'reference',
    'ref',
    'referenceId',
    'referenceNumber',
    'clientReference',
    'externalReference',
    'externalId',
    'transactionReference',
    'transactionRef',
    'transactionId',
    'externalTransactionId',
    'transId',
    'txId',
    'txRef',
    'paymentReference',
    'paymentId',
    'paymentRef',
    'receipt',
    'receiptNumber',
    'receiptNo',
    'requestId',
    'token',
  ].map(plainName),
)

/** Returns the path of a number where an object is expected; zod takes a `JsonNumber` for an object. */
function numberOnTheWay(input: unknown, { code, path }: z.core.$ZodIssue): readonly PropertyKey[] | undefined {
  let value = input
  for (let depth = 0; depth < path.length + (code === 'unrecognized_keys' ? 1 : 0); depth++) {
    if (value instanceof JsonNumber) return path.slice(0, depth)
    value = (value as Record<PropertyKey, unknown> | undefined)?.[path[depth]!]
  }
  return undefined
}

/** Returns a path as text: `['products', 0, 'stock_id']` → `products[0].stock_id`. */
const fieldAt = (path: readonly PropertyKey[]) =>
  path.map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i > 0 ? '.' : ''}${String(part)}`)).join('')

/**
 * Returns the known name that an unknown one resembles: the same but for case and underscores, or a few letters away.
 */
function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined
  const plain = plainName(name)
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(plain.length / 3)) + 1
  for (const candidate of known) {
    const apart = distance(plain, plainName(candidate))
    // Two letters of a name of two or three make another name, not a misspelt one.
    if (apart < bestDistance && apart < candidate.length / 2) {
      best = candidate
      bestDistance = apart
    }
  }
  return best
}

function plainName(name: string): string {
  return name.replace(/[_\s-]/g, '').toLowerCase()
}

/** Returns the schema that a body is meant for, or the faults of a body that mixes two. */
type ChooseShape = (body: object) => z.ZodType | readonly NamedFault[]

const choosers = new WeakMap<z.ZodType, ChooseShape>()

const cleared = new WeakMap<z.ZodType, unknown>()

/**
 * Makes the schema of a body that has one of two shapes. Faults refer to the shape that is meant; a plain union would
 * only report that the body has none of its forms.
 */
export function eitherOf<A extends z.ZodType, B extends z.ZodType>(shapes: readonly [A, B], choose: ChooseShape) {
  const union = z.union(shapes)
  choosers.set(union, choose)
  return union
}

/**
 * Makes a field of a PUT that may be left out, and that `null` clears (contract 1.7).
 * @param empty the value that `null` stands for; undefined: `null` is the same as leaving the field out
 */
export function clearable<T extends z.ZodType>(schema: T, empty?: z.input<T>): z.ZodOptional<T> {
  const field = schema.optional()
  cleared.set(field, empty)
  return field
}

/**
 * Gives `null` its meaning in a body (contract 1.7): an optional field is left out; in a PUT, a field that may be
 * cleared is cleared; a field whose schema is nullable gets it. Many serializers send `null` for a value that they do not have.
 */
function withoutNulls(schema: z.ZodType, body: unknown, isPut: boolean): unknown {
  if (typeof body !== 'object' || body === null || !Object.values(body).includes(null)) return body
  const shape = shapeOf(schema, body)
  const object = shape instanceof z.ZodOptional ? shape.unwrap() : shape
  if (!(object instanceof z.ZodObject)) return body
  const entries = Object.entries(body).flatMap(([name, value]): [string, unknown][] => {
    const field = object.shape[name]
    if (value !== null || !(field instanceof z.ZodOptional)) return [[name, value]]
    if (field.unwrap() instanceof z.ZodNullable) return [[name, value]]
    if (!isPut) return []
    if (!cleared.has(field)) return [[name, value]]
    const empty = cleared.get(field)
    return empty === undefined ? [] : [[name, empty]]
  })
  return Object.fromEntries(entries)
}

/** Returns the schema for a body: the schema itself, unless it stands for several shapes. */
function shapeOf(schema: z.ZodType, body: unknown): z.ZodType | readonly NamedFault[] {
  const choose = choosers.get(schema)
  return choose === undefined || typeof body !== 'object' || body === null ? schema : choose(body)
}

/** Returns the advice that an error's message lacks: what would be right. Undefined where there is none. */
export type Hint = (error: unknown, route: string, config: Config) => string | undefined

/** Fields that only the bodies of one style have: a body with one of them was meant for that style. */
const FIELDS_OF = {
  partner: ['customerId', 'productId', 'principal', 'externalId', 'transactionAmount', 'transactionDate'],
  record: [
    'business_name',
    'borrower_id',
    'loan_id',
    'repayment_id',
    'principal_amount',
    'collection_date',
    'loan_principal_amount',
    'loan_interest',
    'loan_num_of_repayments',
  ],
} as const

/** Returns a hint that names the URL for a body of the other style. */
const bodyOf =
  (style: keyof typeof FIELDS_OF): Hint =>
  (error, _route, config) => {
    if (!(error instanceof InvalidRequest)) return undefined
    const theirs: readonly string[] = FIELDS_OF[style]
    const isTheirs = error.details.some(({ field, isUnknown }) => isUnknown === true && theirs.includes(field))
    const url = style === 'partner' ? config.baseUrl : config.recordsUrl
    return isTheirs ? `this is a body of the ${style} style, which is served at ${url}` : undefined
  }

/** Hints how to read a resource by its externalId, on a path that takes the service's number. */
const externalIdPath: Hint = (error, route) => {
  const [, things] = /^\/v1\/(loans|customers)\/[:{]id\b/.exec(route) ?? []
  const isMissing = error instanceof LendingError && error.code === 'not_found' && `${error.missing}s` === things
  return isMissing ? `an externalId is asked for as /v1/${things}/external/{externalId}` : undefined
}

export const partnerHints: readonly Hint[] = [bodyOf('record'), externalIdPath]

export const recordHints: readonly Hint[] = [bodyOf('partner')]
