import { Agent, request } from 'node:http'
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { expect } from 'vitest'
import type { Queries } from '../../src/db/queries/statement.ts'
import { requireSoundDatabase } from './soundBook.ts'

/** What became of one request. */
export interface Sent {
  /** The status; undefined when no answer came. */
  readonly status: number | undefined
  /** Why no answer came: `ECONNREFUSED` was never accepted, `ECONNRESET` was. */
  readonly error?: string
  /** Where no answer came: whether it was sent on a connection that had served another request before. */
  readonly isOnKept?: boolean
  readonly body: string
  readonly ms: number
  /** When it was sent, on this process's clock. */
  readonly at: number
  readonly token: string
}

/** Repayments on loans in turn, one after the other on each of some kept connections, until it is stopped. */
export interface Load {
  readonly sent: readonly Sent[]
  stop(): Promise<void>
}

export interface LoadOptions {
  readonly origin: string
  readonly authorization: string
  readonly loans: readonly string[]
  readonly connections: number
  /** False: a new connection for each request. */
  readonly keepAlive?: boolean
  /** What its tokens begin with; `load` when left out. */
  readonly name?: string
  /** Pause of a connection after an answer other than 200. */
  readonly pauseMs?: number
  /** Pause of a connection after every other answer: what is tried has to meet requests, and needs no machine that is full. */
  readonly everyMs?: number
}

export function startLoad({
  origin,
  authorization,
  loans,
  connections,
  keepAlive = true,
  pauseMs = 20,
  everyMs = 0,
  name = 'load',
}: LoadOptions): Load {
  const agent = new Agent({ keepAlive, maxSockets: connections })
  const sent: Sent[] = []
  let stopped = false
  let number = 0

  async function run(): Promise<void> {
    while (!stopped) {
      const token = `${name}-${number++}`
      const loan = loans[number % loans.length]
      const body = JSON.stringify({ transactionAmount: 1, idempotencyKey: token })
      const outcome = await post(agent, `${origin}/v1/loans/${loan}/repayments`, authorization, body)
      sent.push({ ...outcome, token })
      if (outcome.error === 'ECONNREFUSED') return
      if (outcome.status !== 200) await pause(pauseMs)
      else if (everyMs > 0) await pause(everyMs)
    }
  }

  const runs = Array.from({ length: connections }, run)
  return {
    sent,
    async stop() {
      stopped = true
      await Promise.all(runs)
      agent.destroy()
    },
  }
}

async function post(
  agent: Agent,
  url: string,
  authorization: string,
  body: string,
): Promise<Reply & Pick<Sent, 'at' | 'ms'>> {
  const at = performance.now()
  const headers = { authorization, 'content-type': 'application/json' }
  const send = () => sendOnce(agent, url, { method: 'POST', headers, body })
  let reply = await send()
  // A kept connection that is quiet may just be being closed: as every client, this one sends again what is reset on one.
  while (reply.error === 'ECONNRESET' && reply.isOnKept) {
    reply = await send()
    // Then the first was read, and got no answer.
    if (reply.isReplayed) reply = { status: undefined, body: '', error: 'ECONNRESET' }
  }
  return { ...reply, at, ms: performance.now() - at }
}

/** What came of one request, as in `Sent`. */
export interface Reply extends Pick<Sent, 'status' | 'body' | 'error' | 'isOnKept'> {
  /** Whether it was answered as one that had come before. */
  readonly isReplayed?: boolean
}

/** A request as it is sent. */
interface ToSend {
  readonly method: 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** How long its answer is waited for, in milliseconds: then the error is `ETIMEDOUT`. For ever when left out. */
  readonly withinMs?: number
}

/** Sends a request, once. */
export function sendOnce(agent: Agent, url: string, { method, headers, body, withinMs = 0 }: ToSend): Promise<Reply> {
  return new Promise((resolve) => {
    const length = { 'content-length': Buffer.byteLength(body) }
    const sending = request(url, { agent, method, headers: { ...headers, ...length } }, (response) => {
      let text = ''
      response.on('data', (chunk) => (text += chunk))
      const isReplayed = response.headers['idempotency-replayed'] === 'true'
      response.on('end', () => resolve({ status: response.statusCode, body: text, isReplayed }))
      response.on('error', (error) => resolve({ status: undefined, body: text, error: codeOf(error) }))
    })
    sending.setTimeout(withinMs, () => sending.destroy(Object.assign(new Error('too late'), { code: 'ETIMEDOUT' })))
    sending.on('error', (error) =>
      resolve({ status: undefined, body: '', error: codeOf(error), isOnKept: sending.reusedSocket }),
    )
    sending.end(body)
  })
}

const codeOf = (error: NodeJS.ErrnoException): string => error.code ?? error.message

/** Waits until so many requests of a load were answered: how long that takes is of the machine. */
export const answeredBy = ({ sent }: Load, count: number) =>
  expect.poll(() => sent.filter(({ status }) => status === 200).length, { interval: 20 }).toBeGreaterThanOrEqual(count)

/** Waits until a load has found the service gone. */
export const foundGone = ({ sent }: Load) =>
  expect.poll(() => sent.some(({ error }) => error === 'ECONNREFUSED'), { interval: 20 }).toBe(true)

export type Outcome = Pick<Sent, 'status' | 'error' | 'token'>

/** The statuses, and why there was none. */
export const outcomes = (sent: readonly Outcome[]) =>
  [...new Set(sent.map(({ status, error }) => String(status ?? error)))].sort()

/** What was answered 200 is on the book, once; and nothing else but what was accepted and got no answer. */
export async function expectExact(
  { pool }: Queries,
  sent: readonly Outcome[],
  loans: readonly string[],
): Promise<void> {
  const { rows } = await pool.query('SELECT token FROM loan_entry WHERE loan_id = ANY($1)', [loans])
  const book: string[] = rows.map(({ token }) => token)
  const tokens = (wanted: (one: Outcome) => boolean) => new Set(sent.filter(wanted).map(({ token }) => token))
  const acknowledged = tokens(({ status }) => status === 200)
  const unanswered = tokens(({ status, error }) => status === undefined && error !== 'ECONNREFUSED')
  expect(book.length).toBe(new Set(book).size)
  expect(book.filter((token) => !unanswered.has(token)).sort()).toEqual([...acknowledged].sort())
}

/**
 * What was answered 200 is on the book once, also where others were answered 503: of those it is open whether they are,
 * and none of them is there twice. No other status was answered, and some requests were served before and after. At last
 * `book check` finds nothing.
 */
export async function expectBook(url: string, sent: readonly Sent[], loans: readonly string[]): Promise<void> {
  expect(outcomes(sent)).toEqual(['200', '503'])
  const isServed = ({ status }: Sent) => status === 200
  expect([sent.at(0), sent.at(-1)].map((one) => one && isServed(one))).toEqual([true, true])
  const client = new pg.Client(url)
  client.on('error', () => undefined)
  await client.connect()
  const open = sent.map((one) => (isServed(one) ? one : { ...one, status: undefined }))
  await expectExact({ pool: Object.assign(client, { stampMac: undefined, people: undefined }) }, open, loans)
  await client.end()
  await requireSoundDatabase(url)
}
