import { setTimeout as pause } from 'node:timers/promises'
import { HttpConnection } from '../httpConnection.ts'

/** Honest callers of another organization: each has a loan and an address of its own. */
export interface Honest {
  readonly port: number
  readonly token: string
  readonly loans: readonly string[]
  /** Loans that are only read, so that they stay as they are. */
  readonly quiet: readonly string[]
}

/** What honest callers met. */
export interface Met {
  readonly sent: number
  /** Answers other than 200, and connections that were lost. */
  readonly refused: readonly string[]
  readonly p50: number
  readonly p99: number
  /** Readings of health: how many were not 200, and the longest in milliseconds. */
  readonly unhealthy: number
  readonly healthMs: number
}

/** Milliseconds between two requests of a caller, and between two of health. */
const EVERY_MS = 50
const HEALTH_EVERY_MS = 200

let runs = 0

/** Has each caller post a repayment, and read a loan, in turn, at times that do not depend on the answers. */
export async function work({ port, token, loans, quiet }: Honest, milliseconds: number): Promise<Met> {
  const run = ++runs
  const began = performance.now()
  const times: number[] = []
  const refused: string[] = []
  const call = async (loan: string, caller: number) => {
    const connection = new HttpConnection(port, `127.0.1.${caller + 1}`)
    const head = (method: string, path: string) =>
      `${method} ${path} HTTP/1.1\r\nhost: api.localhost\r\nauthorization: Bearer ${token}\r\n`
    const offset = (caller / loans.length) * EVERY_MS
    for (let number = 0; ; number++) {
      const due = began + offset + number * EVERY_MS
      if (due - began > milliseconds) break
      await pause(Math.max(0, due - performance.now()))
      const body = `{"transactionAmount": 0.01, "idempotencyKey": "${run}-${caller}-${number}"}`
      const asked =
        number % 2 === 0
          ? `${head('POST', `/v1/loans/${loan}/repayments`)}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
          : `${head('GET', `/v1/loans/${quiet[caller]}`)}\r\n`
      try {
        const answer = await connection.send(asked)
        times.push(performance.now() - due)
        if (answer.status !== 200) refused.push(`${answer.status} ${answer.body.slice(0, 200)}`)
      } catch (error) {
        refused.push(String(error))
        break
      }
    }
    connection.close()
  }
  const health = watchHealth(port, began + milliseconds)
  await Promise.all(loans.map(call))
  times.sort((one, other) => one - other)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN
  return { sent: times.length, refused, p50: at(0.5), p99: at(0.99), ...(await health) }
}

async function watchHealth(port: number, until: number): Promise<Pick<Met, 'unhealthy' | 'healthMs'>> {
  let unhealthy = 0
  let healthMs = 0
  while (performance.now() < until) {
    const asked = performance.now()
    const connection = new HttpConnection(port)
    const answer = await connection.send('GET /health/ready HTTP/1.1\r\nhost: api.localhost\r\n\r\n').catch(() => null)
    connection.close()
    if (answer?.status !== 200) unhealthy++
    healthMs = Math.max(healthMs, performance.now() - asked)
    await pause(HEALTH_EVERY_MS)
  }
  return { unhealthy, healthMs }
}
