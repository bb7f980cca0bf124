import pg from 'pg'
import type { Mac } from '../audit/mac.ts'
import type { Stamping } from '../audit/stamp.ts'
import type { PersonBox, Sealing } from '../customers/personBox.ts'

type PoolCallback = Parameters<pg.Pool['connect']>[0] & object
/** An error, or a connection with the function that gives it back. */
type Answer = Parameters<PoolCallback>
/** Takes the answer to a caller who waits for a connection. */
type Take = (answer: Answer) => void

const itIsGone = () => Object.assign(new Error('the database is known to be gone'), { code: 'EHOSTUNREACH' })

/**
 * Gives each caller the connection that is there first: the one opened for the caller, or one that another gives back
 * meanwhile. On a machine at load, opening one takes seconds. Opens none while the server is known to be gone: trying
 * would take the time in which to say so.
 */
export class GatedPool extends pg.Pool implements Stamping, Sealing {
  gone = false
  stampMac: Mac | undefined
  people: PersonBox | undefined
  /** The callers without a connection, in the order in which they came. No `#` name: a pool behind a Proxy would not have it. */
  private readonly waiting = new Set<Take>()

  constructor(config: pg.PoolConfig) {
    super(config)
    // The event comes before the connection is idle, or goes to a caller that waits because the pool is full.
    this.on('release', () => {
      if (this.waiting.size > 0) process.nextTick(() => this.passOn())
    })
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: PoolCallback): void
  override connect(callback?: PoolCallback): Promise<pg.PoolClient> | undefined {
    if (!callback)
      return new Promise((resolve, reject) =>
        this.connect((error, client) => (error ? reject(error) : resolve(client!))),
      )
    if (this.gone) {
      process.nextTick(callback, itIsGone(), undefined, () => undefined)
      return undefined
    }
    const { promise, resolve: own } = Promise.withResolvers<Answer>()
    // By the promise, the callback runs in the context of its caller, and not of the one who gives the connection back.
    void promise.then((answer) => callback(...answer))
    this.waiting.add(own)
    super.connect((...answer) => this.answer(this.waiting.has(own) ? own : undefined, answer))
    return undefined
  }

  private passOn(): void {
    if (this.waiting.size > 0 && this.idleCount > 0) super.connect((...answer) => this.answer(undefined, answer))
  }

  /** Answers the caller for whom it was asked, or the first one that waits; an error goes to its own caller alone. */
  private answer(own: Take | undefined, answer: Answer): void {
    const [error, , release] = answer
    const [first] = this.waiting
    const take = own ?? (error ? undefined : first)
    if (take) {
      this.waiting.delete(take)
      take(answer)
    } else if (!error) release()
  }
}
