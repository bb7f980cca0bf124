import type { Style } from '../style.ts'

/** A header of an answer, in a document. */
interface Header {
  readonly description: string
  readonly required?: boolean
  readonly schema: object
}

/** An answer of an operation in a document, as far as its headers follow from it. */
export interface DocumentedAnswer {
  description?: string
  headers?: Record<string, object>
  readonly content?: Readonly<Record<string, { readonly examples?: object }>>
}

/** The facts of an operation that decide which headers its answers have. */
export interface Answering {
  /** The operation is limited in its rate. */
  readonly limited: boolean
  /** The operation takes an Idempotency-Key. */
  readonly takesKey: boolean
  /** The operation takes a dedupe token whose transaction may have another content. */
  readonly takesToken: boolean
}

const text = { type: 'string' } as const
const number = { type: 'integer', format: 'int32', minimum: 0 } as const

const EVERY: Readonly<Record<string, Header>> = {
  'X-Request-Id': {
    description: 'The id of the request: the one that you sent, or a new one. Quote it when you ask about an answer.',
    required: true,
    schema: text,
  },
}

const RATES: Readonly<Record<string, Header>> = {
  'RateLimit-Limit': {
    description:
      'Requests that may be sent in a window: of the account or of the address, whichever has fewer left. This header and the three below are absent where the operator of the service has set no limit.',
    schema: number,
  },
  'RateLimit-Remaining': { description: 'Requests that are left in this window.', schema: number },
  'RateLimit-Reset': { description: 'Seconds until the window ends.', schema: number },
  'RateLimit-Policy': {
    description: 'The limit, and the length of its window in seconds, such as `60000;w=60`.',
    schema: text,
  },
}

const MODE: Readonly<Record<string, Header>> = {
  'X-Mkopo-Mode': { description: '`test` in an answer to a test organization; otherwise absent.', schema: text },
}

const REPLAYED: Readonly<Record<string, Header>> = {
  'Idempotency-Replayed': {
    description: '`true` where the request repeats an earlier one and nothing was posted; otherwise absent.',
    schema: text,
  },
}

const MISMATCHED: Readonly<Record<string, Header>> = {
  'Idempotency-Mismatch': {
    description:
      'The members of the request, separated by commas, in which it differs from the transaction that its `idempotencyKey` found, such as `transactionAmount`; `type` where that is of another type. Nothing was posted. Otherwise absent.',
    schema: text,
  },
}

const AGAIN: Readonly<Record<string, Header>> = {
  'Retry-After': { description: 'Seconds after which the request may be sent again.', schema: number },
}

const CHALLENGE: Readonly<Record<string, Header>> = {
  'WWW-Authenticate': { description: 'The way to authenticate: `Bearer`, or `Basic` for a token.', schema: text },
}

/** Codes of refusals that may say when to come back. */
const LATER = ['aborted', 'resource_exhausted', 'unavailable']

/** Returns the headers that a style has on every answer, each with its constant value. */
const ownHeaders = ({ headers = {} }: Style): Readonly<Record<string, Header>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()),
      { description: `The version of the style: \`${value}\`.`, required: true, schema: text },
    ]),
  )

/** Returns every header of the answers of a style, by name: the header components of its document. */
export const headerComponents = (style: Style): Readonly<Record<string, Header>> => ({
  ...EVERY,
  ...ownHeaders(style),
  ...RATES,
  ...MODE,
  ...REPLAYED,
  ...MISMATCHED,
  ...AGAIN,
  ...CHALLENGE,
})

/** Adds to an answer of an operation the headers that it carries, as references to the components. */
export function addHeaders(style: Style, operation: Answering, status: string, answer: DocumentedAnswer): void {
  const codes = Object.values(answer.content ?? {}).flatMap(({ examples = {} }) => Object.keys(examples))
  const carried = {
    ...EVERY,
    ...ownHeaders(style),
    ...(operation.limited && { ...RATES, ...MODE }),
    ...(operation.takesKey && status.startsWith('2') && REPLAYED),
    ...(operation.takesToken && status === '200' && MISMATCHED),
    ...(status === '401' && CHALLENGE),
    ...(Number(status) >= 400 && codes.some((code) => LATER.includes(code)) && AGAIN),
  }
  const references = Object.keys(carried).map((name) => [name, { $ref: `#/components/headers/${name}` }])
  answer.headers = Object.fromEntries(references)
}
