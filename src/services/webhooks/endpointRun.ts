import type { LeasedEndpoint, NewAttempt, Progress, ProgressToSave } from '../../db/webhooks/leases.ts'
import { eventIdOf, type ToldEvent } from '../events/toldEvent.ts'
import { ANSWER_WITHIN_MS, type Posted, type Poster } from './poster.ts'
import type { Item, Queue } from './queue.ts'
import { concludeAttempt, giveUp } from './sending.ts'
import { signedHeaders } from './signing.ts'

/** The largest body (contract 8). */
export const MOST_BODY_BYTES = 20_000
/** How long a lease holds; a process that was killed lets others wait for so long. */
export const LEASE_MS = 30_000

/** What a run needs of its process. */
export interface RunTools {
  readonly now: () => number
  readonly random: () => number
  readonly poster: Poster
  /** Writes an event in the words of the endpoint's style. */
  readonly render: (event: ToldEvent) => object
  /** Reads one event again; undefined where there is no such event. */
  readonly readEvent: (sequence: bigint) => Promise<ToldEvent | undefined>
  /** Returns the secrets that sign at a moment. */
  readonly secrets: (at: number) => readonly string[]
  /** Returns how many attempts may be under way at once. */
  readonly share: () => number
  /** Hears of each attempt that has ended. */
  readonly attempted: (attempt: NewAttempt) => void
  /** Hears that the endpoint backs off, is disabled, or is active again. */
  readonly becameState: (progress: Omit<Progress, 'position'>) => void
  /** Hears that nothing is under way any more. */
  readonly quiet: () => void
}

/** An event that no attempt can deliver, and why. */
interface Hopeless {
  readonly hopeless: string
}

/** An endpoint that this process sends to, as long as it holds the lease. */
export class EndpointRun {
  readonly endpoint: LeasedEndpoint
  readonly queue: Queue
  readonly #tools: RunTools
  #progress: Omit<Progress, 'position'>
  #saved: { readonly progress: Omit<Progress, 'position'>; readonly position: bigint }
  #attempts: NewAttempt[] = []
  #leasedUntil: number
  #lastUsedAt: number
  readonly openedAt: number
  #isFinished = false
  #isDropped = false

  constructor(endpoint: LeasedEndpoint, queue: Queue, tools: RunTools, leasedUntil: number) {
    const { state, stateReason, failures, step, nextAttemptAt, position } = endpoint
    this.endpoint = endpoint
    this.queue = queue
    this.#tools = tools
    this.#progress = { state, stateReason, failures, step, nextAttemptAt }
    this.#saved = { progress: this.#progress, position }
    this.#leasedUntil = leasedUntil
    this.openedAt = tools.now()
    this.#lastUsedAt = this.openedAt
  }

  /** Sends what may be sent now. */
  pump(): void {
    for (let at = this.#tools.now(); this.#mayBegin(at); at = this.#tools.now()) {
      const item = this.#next(at)
      if (item === undefined) return
      this.#send(item, this.#progress.state !== 'active').catch(() => {
        this.queue.giveBack(item)
        this.drop()
      })
    }
  }

  /** Returns when the next attempt may begin; infinite where the endpoint is disabled. */
  opensAt(): number {
    return this.#progress.state === 'disabled' ? Number.POSITIVE_INFINITY : (this.#progress.nextAttemptAt ?? 0)
  }

  /** Returns whether something has to be saved. */
  hasChanged(): boolean {
    const { progress, position } = this.#saved
    const isMoved = this.queue.position() !== position || this.#progress !== progress
    return isMoved || this.#attempts.length > 0 || this.queue.hasChanges()
  }

  /** Returns what has to be saved, from the last call on. */
  toSave(): Omit<ProgressToSave, 'holder' | 'leasedUntil' | 'now'> {
    const { organizationId, id, version } = this.endpoint
    const [position, attempts] = [this.queue.position(), this.#attempts]
    this.#saved = { progress: this.#progress, position }
    this.#attempts = []
    return { organizationId, id, version, ...this.#progress, position, attempts, ...this.queue.changes() }
  }

  /** Returns when something was last sent or answered. */
  lastUsedAt(): number {
    return this.#lastUsedAt
  }

  leasedUntil(): number {
    return this.#leasedUntil
  }

  /** Hears of the end of the lease: no attempt begins that could end after it. */
  renewed(until: number): void {
    this.#leasedUntil = until
  }

  /** Sends no more; what is under way ends, and counts. */
  finish(): void {
    this.#isFinished = true
  }

  isFinished(): boolean {
    return this.#isFinished
  }

  /** Sends no more; what is under way ends, and is forgotten. */
  drop(): void {
    this.#isDropped = true
  }

  isDropped(): boolean {
    return this.#isDropped
  }

  #mayBegin(at: number): boolean {
    if (this.#isDropped || this.#isFinished) return false
    return at >= this.opensAt() && at + ANSWER_WITHIN_MS <= this.#leasedUntil
  }

  /** Returns whether an attempt that begins now ends before the lease, and is still wanted. */
  #mayStillSend(): boolean {
    return !this.#isDropped && !this.#isFinished && this.#tools.now() + ANSWER_WITHIN_MS <= this.#leasedUntil
  }

  #next(at: number): Item | undefined {
    const underWay = this.queue.underWay()
    if (this.#progress.state === 'active') return underWay < this.#tools.share() ? this.queue.take(at) : undefined
    return underWay === 0 ? this.queue.takeProbe(this.#progress.step) : undefined
  }

  async #send(item: Item, isProbe: boolean): Promise<void> {
    const { now, random, attempted, becameState, quiet } = this.#tools
    const at = now()
    const posted = await this.#post(item, at)
    if (posted === undefined) this.#isDropped = true
    if (posted === undefined || posted === 'late' || this.#isDropped) this.queue.giveBack(item)
    else {
      const made = { item, at, now: now(), random: random(), isProbe }
      const { attempt, progress } =
        'hopeless' in posted
          ? giveUp(this.queue, this.#progress, { ...made, reason: posted.hopeless })
          : concludeAttempt(this.queue, this.#progress, { ...made, posted })
      const isOther = progress.state !== this.#progress.state
      this.#progress = progress
      this.#attempts.push(attempt)
      this.#lastUsedAt = now()
      attempted(attempt)
      if (isOther) becameState(progress)
      this.pump()
    }
    if (this.queue.underWay() === 0) quiet()
  }

  /**
   * Sends an event; returns the answer, or why nothing was sent; `late` where reading it took so long that the attempt
   * could end after the lease, and undefined where it cannot be read now.
   */
  async #post(item: Item, at: number): Promise<Posted | Hopeless | 'late' | undefined> {
    const { readEvent, render, secrets, poster } = this.#tools
    try {
      item.event ??= await readEvent(item.sequence)
    } catch {
      return undefined
    }
    if (!this.#mayStillSend()) return 'late'
    if (item.event === undefined) return { hopeless: 'there is no such event any more' }
    let body: string
    try {
      body = JSON.stringify(render(item.event))
    } catch {
      return { status: null, ms: 0, text: '', error: 'the event could not be written', retryAfterMs: undefined }
    }
    if (Buffer.byteLength(body) > MOST_BODY_BYTES) return { hopeless: `the event has over ${MOST_BODY_BYTES} bytes` }
    const headers = signedHeaders(secrets(at), { id: eventIdOf(item.event), at, body })
    return poster.post({ url: this.endpoint.url, headers, body })
  }
}
