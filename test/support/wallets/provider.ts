import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { AdapterName } from '../../../src/domain/payments/adapters.ts'
import { type Reply, sendOnce } from '../load.ts'
import type { Told } from './plan.ts'

/** What a provider does until its message is answered by 200. */
interface Habit {
  /** How long it waits for an answer. */
  readonly withinMs: number
  /** Whether it sends the message again after another answer; one that was not answered it sends again in any case. */
  readonly repeatsRefused: boolean
  /** Returns its pause after so many tries. */
  readonly pauseAfter: (tries: number) => number
}

/**
 * MTN waits 2 seconds, and repeats 20 times after a second, 30 times after two minutes, and then once an hour. The pauses are held at
 * 20, 200 and 500 milliseconds: their order and numbers are what is tried.
 */
export const MTN_BLOCKS = { short: 20, long: 50 } as const
const MTN: Habit = {
  withinMs: 2_000,
  repeatsRefused: true,
  pauseAfter: (tries) => (tries <= MTN_BLOCKS.short ? 20 : tries <= MTN_BLOCKS.long ? 200 : 500),
}

const USUAL: Habit = { withinMs: 8_000, repeatsRefused: true, pauseAfter: () => 100 }

/** Daraja takes an error as the answer: only the statement tells of that payment. */
const DARAJA: Habit = { ...USUAL, repeatsRefused: false }

const HABITS: Partial<Readonly<Record<AdapterName, Habit>>> = { mtn_collection: MTN, daraja_c2b: DARAJA }

/** How the sending of a message ended. */
export interface Sending {
  readonly isAcknowledged: boolean
  readonly tries: number
}

/** Counts of all tries. */
export interface Tries {
  all: number
  /** Without an answer: the connection was cut, or the time was over. */
  cut: number
  late: number
  /** Answered by 503, also where no instance listened. */
  refused: number
}

/** The providers, who send messages to the instances of a service by what stands before these. */
export class Providers {
  readonly tries: Tries = { all: 0, cut: 0, late: 0, refused: 0 }
  /** The receipts of messages that a try may have left with the service, though no try was acknowledged. */
  readonly unsure = new Set<string>()
  readonly #agent = new Agent({ keepAlive: true })
  readonly #origins: () => readonly string[]
  #turn = 0

  constructor(origins: () => readonly string[]) {
    this.#origins = origins
  }

  close(): void {
    this.#agent.destroy()
  }

  /**
   * Sends a message as often as its provider would. @param onTry is told of each try, from 1, when it begins
   * @throws Error for an answer that is neither 200 nor 503
   */
  async deliver(told: Told, onTry: (tries: number) => void = () => undefined): Promise<Sending> {
    const { adapter } = told.moved.wallet
    const { withinMs, repeatsRefused, pauseAfter } = HABITS[adapter] ?? USUAL
    let isUnsure = false
    for (let tries = 1; ; tries++) {
      onTry(tries)
      const { status, error, body } = await this.#send(told, withinMs)
      if (status === 200) return { isAcknowledged: true, tries }
      if (status === undefined) {
        isUnsure = true
        this.tries[error === 'ETIMEDOUT' ? 'late' : 'cut']++
      } else if (status === 503) this.tries.refused++
      else throw new Error(`a message of ${adapter} was answered ${status}: ${body}`)
      if (status === 503 && !repeatsRefused) {
        if (isUnsure) this.unsure.add(told.moved.receipt)
        return { isAcknowledged: false, tries }
      }
      await pause(pauseAfter(tries))
    }
  }

  /** Sends a message to one instance, or to the other where nothing listens at the first; 503 where nothing listens at all. */
  async #send({ moved, method, text }: Told, withinMs: number): Promise<Reply> {
    this.tries.all++
    const origins = this.#origins()
    const first = this.#turn++
    for (const index of origins.keys()) {
      const url = `${origins[(first + index) % origins.length]}${moved.wallet.path}`
      const headers = { 'content-type': text.startsWith('<') ? 'application/xml' : 'application/json' }
      const reply = await sendOnce(this.#agent, url, { method, headers, body: text, withinMs })
      if (reply.error !== 'ECONNREFUSED') return reply
    }
    return { status: 503, body: 'nothing listens' }
  }
}
