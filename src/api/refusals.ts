import type { ErrorCode } from '../domain/errors.ts'
import type { Failure } from './failure.ts'
import type { Style } from './style.ts'

/** When each code is answered (contract 2), and what such an answer says. */
const EXPLAINED: Readonly<Record<ErrorCode, readonly [when: string, example: string]>> = {
  invalid_argument: ['A field is missing, mistyped, unknown or out of range.', 'must be greater than 0'],
  unauthenticated: ['No token, or one that is malformed, expired or revoked.', 'the token is missing'],
  permission_denied: ['The role may not do this.', 'only an ADMIN may do this'],
  not_found: ['No such resource for this organization.', 'no loan has that id'],
  already_exists: ['The id is already taken.', 'that id is already taken'],
  failed_precondition: [
    'The state of the resource does not allow it.',
    'the loan is Closed (written off): a repayment needs a loan that is Active, Closed (obligations met) or Overpaid; this one takes a recovery',
  ],
  aborted: ['Lost a race; try again.', 'the same request is still running; try again'],
  payload_too_large: ['The body is over its limit.', 'the body is larger than is accepted here'],
  unsupported_media_type: [
    'The content type is not accepted here.',
    'the content type must be application/json, in UTF-8',
  ],
  resource_exhausted: ['Too many requests; see Retry-After.', 'too many requests; try again later'],
  internal: [
    'An error on our side.',
    'an error on our side; please quote the request id 1f0c1d5e-6d0b-4e0e-9a58-0d7f6d1c2b3a',
  ],
  unavailable: ['The database cannot be reached; see Retry-After.', 'the database cannot be reached; try again'],
}

/** The document's schema of a refusal, in the style's own shape. */
export function failureSchema(style: Style): object {
  const own = Object.keys(style.failureBody(exampleOf(style, 'internal'))).filter(
    (key) => key !== 'code' && key !== 'message',
  )
  return {
    type: 'object',
    description: 'A refusal. Codes are stable; messages are for people.',
    required: [...own, 'code', 'message'],
    properties: {
      ...Object.fromEntries(
        own.map((key) => [
          key,
          { const: (style.failureBody(exampleOf(style, 'internal')) as Record<string, unknown>)[key] },
        ]),
      ),
      code: { type: 'string', enum: Object.keys(EXPLAINED) },
      message: { type: 'string' },
      details: {
        type: 'array',
        description: 'The fields at fault, if any.',
        items: {
          type: 'object',
          required: ['field', 'message'],
          properties: { field: { type: 'string' }, message: { type: 'string' } },
        },
      },
    },
  }
}

/** The document's responses for the codes that an operation can refuse with, by status, each code with an example. */
export function refusalResponses(style: Style, codes: ReadonlySet<ErrorCode>): Record<number, object> {
  const known = (Object.keys(EXPLAINED) as ErrorCode[]).filter((code) => codes.has(code))
  const byStatus = Map.groupBy(known, (code) => style.statuses[code])
  return Object.fromEntries(
    [...byStatus].map(([status, several]) => [
      status,
      {
        description: several.map((code) => `\`${code}\`: ${EXPLAINED[code][0]}`).join(' '),
        ...(status === 429 || status === 503
          ? { headers: { 'Retry-After': { type: 'integer', description: 'Seconds.' } } }
          : {}),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Failure' },
            examples: Object.fromEntries(
              several.map((code) => [code, { value: style.failureBody(exampleOf(style, code)) }]),
            ),
          },
        },
      },
    ]),
  )
}

function exampleOf(style: Style, code: ErrorCode): Failure {
  const message = EXPLAINED[code][1]
  if (code !== 'invalid_argument') return { code, message }
  const field = style.fieldNames.amount ?? 'amount'
  return { code, message: `${field}: ${message}`, details: [{ field, message }] }
}
