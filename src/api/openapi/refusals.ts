import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { Config } from '../../app/config.ts'
import { type Permission, withoutPermission } from '../../domain/access/permissions.ts'
import { type ErrorCode, notFound } from '../../domain/errors.ts'
import { ONLY_READS } from '../../services/access/caller.ts'
import { validatorCompiler } from '../body/validation.ts'
import { STATUSES, toFailure } from '../http/failure.ts'
import { type Explained, type Failure, hintOf, type Style } from '../style.ts'
import { openText } from './answers.ts'

/** The words of contract 2, where neither the style nor the route has its own. */
const EXPLAINED: Required<Explained> = {
  invalid_argument: ['A field is missing, mistyped, unknown or out of range.', 'the body must be a JSON object'],
  unauthenticated: [
    'No token, or one that is malformed, expired or revoked.',
    'the header Authorization: Bearer <token> is missing',
  ],
  permission_denied: ['The caller does not have the permission.', withoutPermission('organization.manage')],
  not_found: ['No such resource for this organization.', 'no {thing} has that {id}'],
  method_not_allowed: [
    'The path is there, the method is not; see Allow.',
    'the path does not take PATCH; it takes GET',
  ],
  already_exists: ['The externalId is already taken.', 'a {thing} with that externalId exists already'],
  failed_precondition: [
    'The state of the resource does not allow it.',
    'the loan is Closed (written off): a repayment needs a loan that is Active, Closed (obligations met) or Overpaid; this one takes a recovery',
  ],
  aborted: ['Lost a race; try again.', 'another request with this Idempotency-Key is being answered; try again'],
  payload_too_large: ['The body is over its limit.', 'the body is larger than is accepted here'],
  unsupported_media_type: [
    'The content type is not accepted here.',
    'the content type must be application/json, in UTF-8',
  ],
  resource_exhausted: [
    'Too many requests; see Retry-After.',
    'more than 60000 requests a minute from this account; try again in 12 s',
  ],
  internal: [
    'An error on our side.',
    'an error on our side; please quote the request id 1f0c1d5e-6d0b-4e0e-9a58-0d7f6d1c2b3a',
  ],
  unavailable: [
    'The database cannot be reached or takes no changes; see Retry-After.',
    'the database cannot be reached or takes no changes; try again',
  ],
}

/** The parts of a route that its refusals follow from. */
interface Refusing {
  readonly path: string
  readonly schema: FastifySchema
  readonly codes: ReadonlySet<ErrorCode>
  readonly explained?: Explained | undefined
  /** The permission that the operation needs; undefined: a caller is refused who only reads. */
  readonly permission?: Permission | undefined
  readonly config: Config
}

/** Returns who is refused, by the permission that an operation needs. */
const refusedCaller = ({ permission }: Pick<Refusing, 'permission'>): Explained => {
  const [when] = EXPLAINED.permission_denied
  return { permission_denied: [when, permission ? withoutPermission(permission) : ONLY_READS] }
}

/** Returns the codes of refusals, each with its status and when it is answered: a table for the document. */
export function tableOfCodes(style: Style): string {
  const explained = { ...EXPLAINED, ...style.explained }
  const rows = (Object.keys(EXPLAINED) as ErrorCode[]).map(
    (code) => `| \`${code}\` | ${STATUSES[code]} | ${explained[code][0]} |`,
  )
  return ['| `code` | Status | When |', '|---|---|---|', ...rows].join('\n')
}

/** Returns the document's schemas of a refusal, in the style's shape: the refusal, and one field at fault. */
export function failureSchemas(style: Style): Record<string, object> {
  const body = style.failureBody({ code: 'internal', message: '' })
  const own = Object.keys(body).filter((name) => name !== 'code' && name !== 'message')
  return {
    Failure: {
      type: 'object',
      description: 'A refusal. Codes are stable; messages are for people.',
      required: [...own, 'code', 'message'],
      properties: {
        ...Object.fromEntries(own.map((name) => [name, { type: 'boolean', description: 'Always false.' }])),
        code: openText('What kind of refusal it is', Object.keys(EXPLAINED)),
        message: { type: 'string', description: 'What is wrong, and what would be right, in English.' },
        details: {
          type: 'array',
          description: 'The fields at fault, if any.',
          items: { $ref: '#/components/schemas/FieldFault' },
        },
      },
      additionalProperties: true,
    },
    FieldFault: {
      type: 'object',
      required: ['field', 'message'],
      properties: {
        field: { type: 'string', description: 'The name of the field, such as `products[0].price`.' },
        message: { type: 'string', description: 'What is wrong with it.' },
      },
      additionalProperties: true,
    },
  }
}

/**
 * Returns the document's responses for the codes that a route can refuse with, by status, each code with an example.
 */
export function refusalResponses(style: Style, route: Refusing): Record<number, object> {
  const explained = { ...EXPLAINED, ...refusedCaller(route), ...style.explained, ...route.explained }
  const known = (Object.keys(EXPLAINED) as ErrorCode[]).filter((code) => route.codes.has(code))
  const byStatus = Map.groupBy(known, (code) => STATUSES[code])
  const shown = (code: ErrorCode) => style.failureBody(exampleOf(style, route, code, explained[code][1]))
  return Object.fromEntries(
    [...byStatus].map(([status, several]) => [
      status,
      {
        description: several.map((code) => `\`${code}\`: ${explained[code][0]}`).join(' '),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Failure' },
            examples: Object.fromEntries(several.map((code) => [code, { value: shown(code) }])),
          },
        },
      },
    ]),
  )
}

function exampleOf(style: Style, { path, schema, config }: Refusing, code: ErrorCode, message: string): Failure {
  const mistake = code === 'invalid_argument' ? mistakeOf(schema) : undefined
  const hint = hintOf(style, config, path)
  const context = { faultNames: style.faultNames, requestId: '', unavailable: () => false, hint }
  if (mistake) return toFailure(mistake, context)
  const [, things = 'resource'] = /^\/v1\/([a-z-]+)s\b/.exec(path) ?? []
  const [, id = 'id'] = /[:{](\w+)/.exec(path) ?? []
  const text = message.replace('{thing}', things.replace('-', ' ')).replace('{id}', id)
  // The general message is about the thing of the path, and gets its hint; a route's own message may be about a part of
  // it.
  return message === EXPLAINED.not_found[1] ? toFailure(notFound(text, things), context) : { code, message: text }
}

/** Returns the error for an empty body, for a body with an unknown field, or for a page that does not exist. */
function mistakeOf({ body, querystring }: FastifySchema): unknown {
  const mistakes = [
    [body, {}, 'body'],
    [body, { remark: '' }, 'body'],
    [querystring, { page: '0' }, 'querystring'],
  ] as const
  for (const [schema, sent, httpPart] of mistakes) {
    if (!(schema instanceof z.ZodType)) continue
    const { error } = validatorCompiler({ schema, method: '', url: '', httpPart })(sent) as { error?: Error }
    if (error) return error
  }
  return undefined
}
