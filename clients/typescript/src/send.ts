import { attempt, type Prepared, prepare } from './attempt.ts'
import { type Clock, pauseMs } from './clock.ts'
import { isPassing, MkopoError } from './errors.ts'
import { parseJson } from './json.ts'
import type { Call, Operation } from './operation.ts'
import { refusalOf } from './refusal.ts'
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
  /** The request, or an earlier attempt of it, may have been carried out. */
  readonly unsure: boolean
}

/** The longest time that a call with a bounded number of attempts waits for the next one. */
const LONGEST_WAIT_MS = 65_000
const SECOND_MS = 1_000

/**
 * Sends a request until it has an answer: again after a lost answer, 429, 503 and `aborted`, with the same key, where that
 * cannot carry it out twice.
 * @throws MkopoError; TypeError for a body that JSON cannot hold; the reason of the signal of the call
 */
export async function send(sending: Sending, target: Target, operation: Operation, call: Call = {}): Promise<unknown> {
  const key = operation.keyed ? (call.idempotencyKey ?? crypto.randomUUID()) : undefined
  const request = prepare(target.url, operation, call, key)
  const { retries = sending.retries, signal } = call
  let unsure = false
  let refused = false
  for (let failures = 0; ; ) {
    const token = target.tokens && (await tokenOf(target.tokens, { unsure, key, signal }))
    const authorization = token === undefined ? target.authorization : `Bearer ${token}`
    const outcome = await attemptOnce(sending, operation, signedWith(request, authorization), call)
    if ('value' in outcome) return outcome.value
    const { error } = outcome
    if (error.status === 401 && !refused && token !== undefined && target.tokens?.drop(token)) {
      refused = true
      continue
    }
    // The first attempt has deleted it, and its answer was lost.
    if (unsure && operation.method === 'DELETE' && error.status === 404) return undefined
    unsure = isPassing(error) ? unsure || outcome.unsure : unsure && !operation.keyed
    const waitMs = (error.retryAfter ?? 0) * SECOND_MS + pauseMs(failures)
    failures++
    const isTooLong = waitMs > LONGEST_WAIT_MS && Number.isFinite(retries)
    if (failures > retries || isTooLong || !mayRepeat(operation, error)) throw told(error, unsure, key)
    await sending.clock.sleep(waitMs, signal)
  }
}

async function attemptOnce(sending: Sending, operation: Operation, request: Prepared, call: Call): Promise<Outcome> {
  const { timeoutMs = sending.timeoutMs, signal } = call
  const changes = operation.method !== 'GET'
  try {
    // A long poll is answered after its wait.
    const waitMs = Number((operation.query as { wait?: number } | undefined)?.wait ?? 0) * SECOND_MS
    const answer = await attempt(sending.fetch, request, timeoutMs + waitMs, signal)
    if (answer.status < 200 || answer.status > 299) {
      const error = refusalOf(answer)
      return { error, unsure: changes && (error.status >= 500 || error.code === 'aborted') }
    }
    const isJson = /^application\/json\b/.test(answer.headers.get('content-type') ?? '')
    return { value: isJson ? parseJson(answer.text, operation.shape) : answer.text || undefined }
  } catch (cause) {
    signal?.throwIfAborted()
    const message = `no answer from ${new URL(request.url).host}: ${(cause as Error).message}`
    return { error: new MkopoError(message, { code: 'unreachable', cause }), unsure: changes && wasSent(cause) }
  }
}

/** Returns a token; sooner, the reason of the signal is thrown. */
async function tokenOf(
  tokens: Tokens,
  { unsure, key, signal }: { unsure: boolean; key: string | undefined; signal: AbortSignal | undefined },
): Promise<string> {
  signal?.throwIfAborted()
  const { promise: aborted, end } = whenAborted(signal)
  try {
    return await Promise.race([tokens.get(), aborted])
  } catch (error) {
    throw error instanceof MkopoError ? told(error, unsure, key) : error
  } finally {
    end()
  }
}

function whenAborted(signal: AbortSignal | undefined): { promise: Promise<never>; end: () => void } {
  let abort = () => {}
  const promise = new Promise<never>((_, reject) => {
    abort = () => reject(signal?.reason)
  })
  signal?.addEventListener('abort', abort)
  return { promise, end: () => signal?.removeEventListener('abort', abort) }
}

const signedWith = (request: Prepared, authorization: string | undefined): Prepared =>
  authorization === undefined ? request : { ...request, headers: { ...request.headers, authorization } }

/** Statuses with which a gateway says that the service behind it gave no answer. */
const OF_GATEWAYS = [502, 504]

/** Returns whether an operation may be sent again after an error. A refusal for too many requests comes before the work. */
function mayRepeat({ method, keyed }: Operation, { code, status }: MkopoError): boolean {
  if (status === 429) return true
  const passing = code === 'unreachable' || code === 'aborted' || status === 503 || OF_GATEWAYS.includes(status)
  return passing && (keyed === true || method !== 'POST')
}

/** Codes of Node for connections that never were. */
const NEVER_SENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

const wasSent = (error: unknown): boolean =>
  !NEVER_SENT.test(String((error as { cause?: { code?: unknown } } | null)?.cause?.code))

/** Returns an error with what is known of the whole call. */
function told(error: MkopoError, mayBeDone: boolean, idempotencyKey: string | undefined): MkopoError {
  return new MkopoError(error.message, { ...error, mayBeDone, idempotencyKey })
}
