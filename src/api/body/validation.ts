import { distance } from 'fastest-levenshtein'
import type { FastifySchemaCompiler } from 'fastify'
import { z } from 'zod'
import { InvalidRequest, type RequestFault } from './invalidRequest.ts'
import { JsonNumber } from './json.ts'
import { shapeOf, withoutNulls } from './shapes.ts'

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
    if (httpPart === 'body' && issues.some(({ path, code }) => path.length === 0 && code === 'invalid_type'))
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
