import { isUtf8 } from 'node:buffer'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { invalidArgument, LendingError } from '../../domain/errors.ts'
import { KEY_HEADER } from '../../services/access/idempotency.ts'
import { createGate, type GateBounds } from '../../toolbox/gate.ts'
import { count } from '../openapi/answers.ts'
import type { Explained, StyleApp } from '../style.ts'
import { InvalidRequest, parseJson } from './json.ts'
import { enterUntilClosed } from './upload.ts'
import { validatorCompiler } from './validation.ts'

// Bodies of many lines, each a JSON object that is done on its own, and their answers: a line for each, in their order.

export const LINES_TYPE = 'application/x-ndjson'

/** The most lines of a body, its most bytes, and the most characters of a line. */
export const MOST_LINES = 10_000
const MOST_BYTES = 8 * 1024 * 1024
const LONGEST_LINE = 4_096

/** Lines of a body that are worked at together: enough to share statements, and no more than another caller's requests. */
const TOGETHER = 32

/** The places of bodies that are sent or worked at: of all clients, of one organization and of one account. None waits. */
export const LINES_PLACES: GateBounds = {
  atOnce: 8,
  ofGroup: 4,
  ofMember: 2,
  refusal: 'too many files of lines are being worked at; send this one again when another is done',
  againSeconds: 5,
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body has many lines, each with a dedupe token: the request takes no Idempotency-Key. */
    takesLines?: true
  }
}

/** Makes the routes of the scope take lines of JSON and nothing else. The scope is its own: elsewhere only one object is a body. */
export function acceptLines(app: StyleApp): void {
  const places = createGate(LINES_PLACES)
  app.addHook('preParsing', async (request, reply) => {
    if (request.headers[KEY_HEADER.toLowerCase()] !== undefined)
      throw invalidArgument('idempotencyKey', 'cannot be given here: each line has a key of its own')
    if (!/^application\/x-ndjson\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
      throw new LendingError('unsupported_media_type', `the content type must be ${LINES_TYPE}, in UTF-8`)
    enterUntilClosed(request, reply, places)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(LINES_TYPE, { parseAs: 'buffer', bodyLimit: MOST_BYTES }, async (_: unknown, body: Buffer) =>
    linesOf(body),
  )
  // The schema of a body is that of a line, which `answerLines` checks.
  app.setValidatorCompiler((route) =>
    route.httpPart === 'body' ? (value) => ({ value }) : validatorCompiler(route as never),
  )
}

/** The members that the answer to a line has in every style, besides those of the request that the line is. */
export const lineMembers = {
  line: count.describe('The number of the line in the body, from 1.'),
  status: z
    .int()
    .meta({ minimum: 200, maximum: 599 })
    .describe('The HTTP status that a request for the line alone would have had.'),
  replayed: z.boolean().optional().describe('True where the line was done before, else absent.'),
  code: z.string().optional().describe('Of a refusal.'),
  message: z.string().optional().describe('Of a refusal: what is wrong, in words for people.'),
  details: z
    .array(z.unknown().meta({ $ref: '#/components/schemas/FieldFault' }))
    .optional()
    .describe('Of a refusal: the members at fault, if any.'),
}

/** What a document says of a body of lines that is refused as a whole. */
export const LINES_REFUSED: Explained = {
  payload_too_large: ['The body is over its limit.', 'the body is larger than is accepted here'],
  unsupported_media_type: [
    'The content type is not accepted here.',
    `the content type must be ${LINES_TYPE}, in UTF-8`,
  ],
}

/** Describes the answer to a body of lines, for the OpenAPI document. */
export const linesAnswer = <Schema extends z.ZodType>(line: Schema) => ({
  description: 'A line of JSON for each line of the body.',
  content: { [LINES_TYPE]: { schema: line } },
})

/** A line of a body: its number, from 1, and its text. */
interface Line {
  readonly line: number
  readonly text: string
}

/** Returns the lines of a body that are not empty. @throws InvalidRequest for a body without one, with too many, or not in UTF-8 */
function linesOf(body: Buffer): Line[] {
  if (!isUtf8(body)) throw new InvalidRequest('the body is not valid UTF-8')
  const lines = body
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((text, index) => ({ line: index + 1, text }))
    .filter(({ text }) => text.trim() !== '')
  if (lines.length === 0) throw new InvalidRequest('the body has no lines: each line is a JSON object')
  if (lines.length > MOST_LINES)
    throw new InvalidRequest(`the body has ${lines.length} lines, and at most ${MOST_LINES} are taken: divide it`)
  return lines
}

/**
 * Answers each line of a body with a line: its number, its status, and what a request for it alone would have answered. A line that
 * is refused stops no other. Lines that are not begun when the caller hangs up are not done.
 * @param schema of a line
 * @param run does what a line asks for, and returns the members of its answer
 */
export function answerLines<Schema extends z.ZodType>(
  request: FastifyRequest,
  reply: FastifyReply,
  schema: Schema,
  run: (value: z.output<Schema>) => Promise<object>,
): FastifyReply {
  const check = validatorCompiler({ schema, httpPart: 'body', method: 'POST', url: request.url })
  const answer = async ({ line, text }: Line): Promise<string> => {
    try {
      if (text.length > LONGEST_LINE) throw new InvalidRequest(`the line has more than ${LONGEST_LINE} characters`)
      const given = parseJson(text, 'the line')
      if (typeof given !== 'object' || given === null || Array.isArray(given))
        throw new InvalidRequest('the line must be a JSON object')
      const { value, error } = check(given) as { value: z.output<Schema>; error?: Error }
      if (error) throw error
      return `${JSON.stringify({ line, status: 200, ...(await run(value)) })}\n`
    } catch (error) {
      const { status, body } = request.server.answerTo(error, request)
      return `${JSON.stringify({ line, status, ...body })}\n`
    }
  }
  const answers = Readable.from(inOrder(request.body as Line[], answer), { objectMode: false })
  return reply.type(`${LINES_TYPE}; charset=utf-8`).send(answers)
}

/** Does work on items, several at a time, and yields the results in the order of the items. */
async function* inOrder<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const begun: Promise<Result>[] = []
  for (const item of items) {
    begun.push(work(item))
    if (begun.length >= TOGETHER) yield await begun.shift()!
  }
  for (const result of begun) yield await result
}
