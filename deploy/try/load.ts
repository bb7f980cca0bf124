import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { example } from '../../test/support/compose.ts'

// Callers that post repayments through the proxy as an integrator should: each has a token of its own, and is sent again
// with it until it is acknowledged.

const PASSWORD = 'a-long-password'
const ACCOUNT = 'partner@ziwa.example'
const LOANS = 20
const PRINCIPAL = 500_000
const CALLERS = 8
/** A request each, so that the load is what a machine with two cores bears beside everything else. */
const EVERY_MS = 80
const AGAIN_AFTER_MS = 200

const [address = '', port = ''] = example.PUBLIC_ADDRESS!.split(':')

export interface Answer {
  /** 0: there was none. */
  readonly status: number
  readonly text: string
}

/** Sends one request through the proxy; never rejects. */
function send(
  url: string,
  {
    method = 'GET',
    headers = {},
    body,
    agent,
  }: { method?: string; headers?: Record<string, string>; body?: unknown; agent?: Agent },
): Promise<Answer> {
  const { host, pathname, search } = new URL(url)
  const json = body === undefined ? undefined : JSON.stringify(body)
  return new Promise((resolve) => {
    const lost = () => resolve({ status: 0, text: '' })
    const sent = request(
      {
        host: address,
        port,
        method,
        path: `${pathname}${search}`,
        headers: {
          host,
          ...headers,
          ...(json === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(json)) }),
        },
        timeout: 90_000,
        ...(agent === undefined ? {} : { agent }),
      },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => {
          text += chunk
        })
        answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text }))
        answer.once('error', lost)
      },
    )
    sent.once('error', lost)
    sent.once('timeout', () => sent.destroy())
    sent.end(json)
  })
}

/** What a load has seen. */
export interface Seen {
  /** The tokens of the repayments that were acknowledged. */
  readonly acknowledged: ReadonlySet<string>
  /** Answers other than 200, by status; 0 is none. */
  readonly refused: ReadonlyMap<number, number>
  /** The longest time, in milliseconds, that one repayment took with all its tries. */
  readonly slowestMs: number
}

export interface Load {
  /** Ends the load once each repayment that was sent is acknowledged. */
  stop(): Promise<Seen>
}

/** Signs in and lends once: to be called again after a fresh book. @returns what the callers need */
export async function prepareLoans(): Promise<{ token: string; loans: readonly string[] }> {
  const basic = Buffer.from(`${ACCOUNT}:${PASSWORD}`).toString('base64')
  const signed = await send(`${example.AUTH_URL}/v1/auth/token`, { headers: { authorization: `Basic ${basic}` } })
  const { token } = JSON.parse(signed.text) as { token: string }
  const run = randomBytes(4).toString('hex')
  const headers = { authorization: `Bearer ${token}` }
  const loans = Array.from({ length: LOANS }, (_, index) => `try-${run}-${index}`)
  for (const loan of loans) {
    await send(`${example.BASE_URL}/v1/customers`, { method: 'POST', headers, body: { externalId: loan } })
    const body = { customerId: loan, productId: 1, principal: PRINCIPAL, externalId: loan }
    const { status, text } = await send(`${example.BASE_URL}/v1/loans`, { method: 'POST', headers, body })
    if (status >= 300 || status === 0) throw new Error(`no loan was made: ${status} ${text}`)
  }
  return { token, loans }
}

/** Begins a load on loans of `prepareLoans`. */
export function beginLoad({ token, loans }: { token: string; loans: readonly string[] }): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS })
  const headers = { authorization: `Bearer ${token}` }
  const run = randomBytes(4).toString('hex')
  const acknowledged = new Set<string>()
  const refused = new Map<number, number>()
  let [going, slowestMs, next] = [true, 0, 0]

  async function post(id: string, loan: string): Promise<void> {
    const began = performance.now()
    const body = { transactionAmount: 1, idempotencyKey: id }
    for (;;) {
      const { status } = await send(`${example.BASE_URL}/v1/loans/external/${loan}/repayments`, {
        method: 'POST',
        headers,
        body,
        agent,
      })
      if (status === 200 || status === 201) break
      refused.set(status, (refused.get(status) ?? 0) + 1)
      if (status >= 400 && status < 500 && status !== 408 && status !== 429)
        throw new Error(`a repayment was refused with ${status}`)
      await pause(AGAIN_AFTER_MS)
    }
    acknowledged.add(id)
    slowestMs = Math.max(slowestMs, performance.now() - began)
  }
  async function call(): Promise<void> {
    while (going) {
      const number = next++
      await post(`try-${run}-${number}`, loans[number % loans.length]!)
      await pause(EVERY_MS)
    }
  }
  const calls = Promise.all(Array.from({ length: CALLERS }, call))
  calls.catch(() => undefined)
  return {
    async stop() {
      going = false
      await calls
      agent.destroy()
      return { acknowledged, refused, slowestMs }
    },
  }
}

/** Says what was refused, such as `503 × 12, none × 3`. */
export const refusedIn = ({ refused }: Seen): string =>
  [...refused].map(([status, times]) => `${status === 0 ? 'no answer' : status} × ${times}`).join(', ') ||
  'nothing refused'
