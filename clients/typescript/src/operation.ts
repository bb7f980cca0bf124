/**
 * The places of int64 in an answer: `1` for an int64, an object for an object that has some below. A list has the shape
 * of its items.
 */
export type Shape = 1 | { readonly [member: string]: Shape }

/** A request, as the generated functions describe it. */
export interface Operation {
  readonly method: string
  readonly path: string | (() => string)
  readonly query?: object | undefined
  readonly body?: unknown
  /** The body is sent as `multipart/form-data`. */
  readonly form?: true
  /** The body is a list, sent as lines of JSON, each of which is carried out once; the answer is a list, too. */
  readonly lines?: true
  /** The answer is no JSON. */
  readonly text?: true
  /** The service takes an `Idempotency-Key` and carries the request out once. */
  readonly keyed?: true
  /** Signed by e-mail and password, or not at all; by a token when left out. */
  readonly signed?: 'basic' | 'none'
  /** Where the answer has an int64; left out where it has none. */
  readonly shape?: Shape
}

/** Options of one call. */
export interface Call {
  /**
   * The key under which the service carries a POST out once. Each call takes a new one when it is left out. Store your own
   * beside your order before you call: another process can then continue a call whose outcome is not known.
   */
  readonly idempotencyKey?: string
  /** Returns the transaction that a token was used for before, also where its content is another one. */
  readonly acceptMismatch?: boolean
  /** Ends the call. A POST that was under way may have been carried out. */
  readonly signal?: AbortSignal
  /** Milliseconds that one attempt may take. */
  readonly timeoutMs?: number
  /** Attempts after the first one. */
  readonly retries?: number
  /** More headers, such as `x-request-id`, or `x-user-id` of the record style. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An answer that has a part of a list. */
export interface Part<Item> {
  readonly items: readonly Item[]
  readonly next?: string | undefined
}

/** The promise of the part of a list that was asked for; `for await` gives the items of it and of all that follow. */
export type Listed<Page> = Promise<Page> & AsyncIterable<Page extends Part<infer Item> ? Item : never>

/** Sends the requests of one style. */
export interface Sender {
  send<Answer>(operation: Operation, call?: Call): Promise<Answer>
  list<Page>(operation: Operation, call?: Call): Listed<Page>
}

/**
 * Returns a function that writes a path, with its parameters escaped.
 * @throws TypeError (the function) for a parameter that would make it the path of something else
 */
export const at =
  (steps: TemplateStringsArray, ...values: readonly unknown[]) =>
  () =>
    String.raw(steps, ...values.map(step))

function step(value: unknown): string {
  const text = String(value ?? '')
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`an id in a path must not be ${text === '' ? 'empty' : `"${text}"`}`)
  return encodeURIComponent(text)
}
