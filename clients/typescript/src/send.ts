import { type Answer, attempt, type Prepared, prepare } from './attempt.ts'
import { type Clock, pauseMs } from './clock.ts'
import { isPassing, MkopoError } from './errors.ts'
import { parseJson } from './json.ts'
import type { Call, Operation } from './operation.ts'
import { mismatchOf, refusalOf, unexpected } from './refusal.ts'
import type { Tokens } from './tokens.ts'

/** The parts with which requests are sent. */
export interface Sending {
  readonly fetch: typeof fetch
  readonly clock: Clock
  /** Attempts after the first one, of a call that does not say otherwise. */
  readonly retries: number
  readonly timeoutMs: number
}

/** Where and as whom requests are sent: by tokens, or under a header that stays the same. */
export interface Target {
  readonly url: string
  readonly tokens?: Tokens
  readonly authorization?: string
}

/** How an attempt ended. */
type Outcome = { readonly value: unknown } | Failed

interface Failed {
  readonly error: MkopoError
  /** The service may have carried out what this attempt asked for. */
  readonly unsure: boolean
}

/** The longest `Retry-After` that a call with a bounded number of attempts waits for. */
const LONGEST_WAIT_S = 60
const SECOND_MS = 1_000

/**
 * Sends a request until it has an answer: again after a lost answer, 429, 503 and `aborted`, with the same key, where that
 * cannot carry it out twice.
 * @throws MkopoError; TypeError for what cannot be sent; the reason of the signal of the call
 */
export async function send(sending: Sending, target: Target, operation: Operation, call: Call = {}): Promise<unknown> {
  const key = operation.keyed ? (call.idempotencyKey ?? crypto.randomUUID()) : undefined
  const request = prepare(target.url, operation, call, key)
  const { retries = sending.retries, signal } = call
  let unsure = false
  let renewed = false
  for (let failures = 0; ; ) {
    const token = target.tokens && (await tokenOf(target.tokens, signal, (error) => told(error, unsure, key)))
    const authorization = token === undefined ? target.authorization : `Bearer ${token}`
    const outcome = await attemptOnce(sending, operation, { request, authorization, call })
    if ('value' in outcome) return outcome.value
    const { error } = outcome
    if (error.status === 401 && !renewed && token !== undefined && target.tokens?.drop(token)) {
      renewed = true
      continue
    }
    // An earlier attempt has deleted it, and its answer was lost.
    if (unsure && operation.method === 'DELETE' && error.status === 404) return undefined
    unsure = isPassing(error) ? unsure || outcome.unsure : unsure && !saysNotDone(operation, error)
    const { retryAfter = 0 } = error
    const isTooLong = retryAfter > LONGEST_WAIT_S && Number.isFinite(retries)
    if (failures >= retries || isTooLong || !mayRepeat(operation, error)) throw told(error, unsure, key)
    await sending.clock.sleep(retryAfter * SECOND_MS + pauseMs(failures), signal)
    failures++
  }
}

/** The parts of one attempt. */
interface Attempt {
  readonly request: Prepared
  readonly authorization: string | undefined
  readonly call: Call
}

async function attemptOnce(sending: Sending, operation: Operation, { request, ...one }: Attempt): Promise<Outcome> {
  const { timeoutMs = sending.timeoutMs, signal } = one.call
  const { authorization } = one
  // A long poll is answered after its wait.
  const waitMs = Number((operation.query as { wait?: number } | undefined)?.wait ?? 0) * SECOND_MS
  const options = { fetch: sending.fetch, authorization, timeoutMs: timeoutMs + waitMs, signal }
  const changes = operation.method !== 'GET'
  let answer: Answer
  try {
    answer = await attempt(request, options)
  } catch (cause) {
    signal?.throwIfAborted()
    const message = `no answer from ${new URL(request.url).host}: ${(cause as Error).message}`
    return { error: new MkopoError(message, { code: 'unreachable', cause }), unsure: changes && wasSent(cause) }
  }
  const { status } = answer
  const mismatch = one.call.acceptMismatch ? undefined : mismatchOf(answer)
  if (mismatch) return { error: mismatch, unsure: false }
  if (status >= 200 && status <= 299) return readAnswer(answer, operation)
  const error = refusalOf(answer)
  return { error, unsure: changes && (status >= 500 || error.code === 'aborted') }
}

/** Returns what an answer says. A text where JSON is expected comes from another server, such as a proxy. */
function readAnswer(answer: Answer, { method, shape, text, lines }: Operation): Outcome {
  if (text) return { value: answer.text }
  if (answer.status === 204) return { value: undefined }
  try {
    if (lines)
      return {
        value: answer.text
          .trimEnd()
          .split('\n')
          .map((line) => parseJson(line, shape)),
      }
    return { value: parseJson(answer.text, shape) }
  } catch (cause) {
    return { error: unexpected(answer, cause), unsure: method !== 'GET' }
  }
}

/** Returns a token. Where `signal` comes first, its reason is thrown. */
async function tokenOf(
  tokens: Tokens,
  signal: AbortSignal | undefined,
  told: (error: MkopoError) => MkopoError,
): Promise<string> {
  signal?.throwIfAborted()
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal?.reason)
  })
  signal?.addEventListener('abort', abort)
  try {
    return await Promise.race([tokens.get(), aborted])
  } catch (error) {
    throw error instanceof MkopoError ? told(error) : error
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

/** Returns whether an operation may be sent again after an error. A refusal for too many requests comes before the work. */
function mayRepeat({ method, keyed, lines }: Operation, error: MkopoError): boolean {
  if (error.status === 429) return true
  const { code, status } = error
  const isLost = code === 'unreachable' || (code === 'unexpected_answer' && status < 300)
  // A gateway says by 502 and 504 that the service behind it gave no answer.
  const isWorthIt = isLost || code === 'aborted' || [502, 503, 504].includes(status)
  return isWorthIt && (keyed === true || lines === true || method !== 'POST')
}

/**
 * Returns whether a refusal says that no earlier attempt was carried out either: under the key, that one would be answered
 * again. The service looks at the token and the role before it looks for the key.
 */
const saysNotDone = ({ keyed }: Operation, { code, status }: MkopoError): boolean =>
  keyed === true && code !== 'unexpected_answer' && status !== 401 && status !== 403

/** Codes of Node for connections that never were. */
const NEVER_SENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

const wasSent = (error: unknown): boolean =>
  !NEVER_SENT.test(String((error as { cause?: { code?: unknown } } | null)?.cause?.code))

/** Returns an error with what is known of the whole call. */
function told(error: MkopoError, mayBeDone: boolean, idempotencyKey: string | undefined): MkopoError {
  return new MkopoError(error.message, { ...error, cause: error.cause, mayBeDone, idempotencyKey })
}
