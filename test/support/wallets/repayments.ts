import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { sendOnce } from '../load.ts'
import { decimalOf, type PlanOptions } from './plan.ts'

/** A repayment that was posted directly and acknowledged. Amount in cents. */
export interface Repaid {
  /** The externalId of the loan. */
  readonly loan: string
  readonly amount: bigint
}

/** Where and by whom loans are repaid directly. */
export interface RepayOptions extends Pick<PlanOptions, 'loans' | 'below'> {
  readonly origins: () => readonly string[]
  readonly token: string
  /** What the keys of these repayments begin with. */
  readonly name: string
}

const CALLERS = 2
/** The pause of a caller between two repayments, and before the same one again. */
const EVERY_MS = 40
const LARGEST = 10_000
/** Answers after which the same is sent again: it was too much at once, or the service was stopped or overtaken. */
const AGAIN: readonly (number | undefined)[] = [undefined, 409, 429, 503]

/** Repays loans directly, a few a second, each with a key by which it is sent again until it is acknowledged. */
export function repayBeside({ origins, token, name, loans, below }: RepayOptions): { stop(): Promise<Repaid[]> } {
  const agent = new Agent({ keepAlive: true })
  const repaid: Repaid[] = []
  let isOver = false
  let number = 0
  const caller = async () => {
    while (!isOver) {
      const one = { loan: loans[below(loans.length)]!, amount: BigInt(1 + below(LARGEST)) }
      const key = `${name}-${number++}`
      const body = JSON.stringify({ transactionAmount: Number(decimalOf(one.amount)), idempotencyKey: key })
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      for (let tries = 0; ; tries++) {
        const all = origins()
        const url = `${all[(number + tries) % all.length]}/v1/loans/external/${one.loan}/repayments`
        const { status, body: text } = await sendOnce(agent, url, { method: 'POST', headers, body })
        if (status === 200) break
        if (!AGAIN.includes(status)) throw new Error(`a repayment was answered ${status}: ${text}`)
        await pause(EVERY_MS)
      }
      repaid.push(one)
      await pause(EVERY_MS)
    }
  }
  const callers = Promise.all(Array.from({ length: CALLERS }, caller))
  // A failure is thrown by `stop`, and not before.
  callers.catch(() => undefined)
  return {
    async stop() {
      isOver = true
      await callers
      agent.destroy()
      return repaid
    },
  }
}
