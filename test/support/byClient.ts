import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StyleName } from '../../clients/typescript/generate/documents.ts'
import { createMkopo, MkopoError } from '../../clients/typescript/src/index.ts'
import { writeJson } from '../../clients/typescript/src/json.ts'
import { type Asked, planCall } from './clientPlan.ts'
import { injectFetch, type RawAnswer } from './injectFetch.ts'
import { readJson } from './recordIds.ts'
import type { Answer } from './service.ts'

/** The file that gets what was sent by the client and what was not, where tests are to use the client. */
export const COUNTS = process.env.MKOPO_TESTS_BY_CLIENT

const MOST_ATTEMPTS = 5
const PAUSE_MS = 4_000

/** Adds a line to the counts. Vitest ends a process without a moment to write them together. */
const count = (what: string) => appendFileSync(COUNTS!, `${what}\n`)

/** Sends a request of a test by the client. @returns undefined where the client cannot send it, which is counted */
export async function sendByClient<Body>(asked: Asked): Promise<Answer<Body> | undefined> {
  const planned = await planCall(asked)
  if (typeof planned === 'string') {
    count(`plain HTTP: ${planned}`)
    return undefined
  }
  count('by the client')
  let raw: RawAnswer | undefined
  const { config, token, call } = asked
  const fetch = injectFetch(asked.app, (answer) => {
    raw = answer
  })
  const mkopo = createMkopo({ ...config, token, fetch, retries: 0 })
  const [, key] = Object.entries(call.headers ?? {}).find(([name]) => name.toLowerCase() === 'idempotency-key') ?? []
  const options = { ...(key !== undefined && { idempotencyKey: key }), headers: planned.headers, acceptMismatch: true }
  for (let attempts = 1; ; attempts++) {
    const outcome = await planned
      .run(mkopo, options)
      .then((value) => ({ value }))
      .catch((error: unknown) => ({ error }))
    if (raw === undefined) throw 'error' in outcome ? outcome.error : new Error('the client sent nothing')
    // A test that sends thousands at once, each under a key of its own, is more than a busy machine takes in time.
    const isAgain = raw.status === 503 && attempts < MOST_ATTEMPTS
    if (!isAgain) return answerOf<Body>(outcome, raw, planned.style)
    count('sent again after 503')
    await sleep(Math.random() * PAUSE_MS * attempts)
  }
}

/** Puts what the client gives into the form in which tests read an answer. */
function answerOf<Body>(
  outcome: { readonly value: unknown } | { readonly error: unknown },
  { status, text, headers }: RawAnswer,
  style: StyleName,
): Answer<Body> {
  if ('error' in outcome) {
    const { error } = outcome
    if (!(error instanceof MkopoError)) throw error
    const { code, message, details } = error
    const body = {
      ...(style === 'record' && { success: false }),
      code,
      message,
      ...(details.length > 0 && { details }),
    }
    if (error.status !== status || error.requestId !== headers['x-request-id'])
      throw new Error(`the error has ${error.status} and ${error.requestId}, the answer ${status}`)
    return { status, headers, body: body as Body, text: JSON.stringify(body) }
  }
  const { value } = outcome
  if (value === undefined) return { status, headers, body: undefined as Body, text: '' }
  if (typeof value === 'string') return { status, headers, body: value as Body, text: value }
  const written = writeJson(value)
  if (written === text) return { status, headers, body: readJson(written) as Body, text: written }
  // The price of a product of a record system may have any number of digits, of which a double holds 15.
  if (!/\d[\d.]{16,}|\.\d*0\b/.test(text)) throw new Error(`the client read ${text} as ${written}`)
  count('an answer with a decimal that no double holds')
  return { status, headers, body: readJson(written) as Body, text }
}
