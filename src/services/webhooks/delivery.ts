import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { isUnavailable } from '../../db/postgres/errors.ts'
import {
  type EventStyle,
  type LeasedEndpoint,
  leaseEndpoints,
  listHeld,
  listParked,
  saveProgress,
} from '../../db/webhooks/leases.ts'
import { wantedTypes } from '../../domain/webhooks/webhooks.ts'
import type { Deps } from '../deps.ts'
import { type EventDeps, readEventsAfter } from '../events/eventList.ts'
import type { ToldEvent } from '../events/toldEvent.ts'
import { type Job, SERVICE } from '../jobs/job.ts'
import { getOrganization, type Organization } from '../organizations/organizations.ts'
import { createTrimmer, type TrimAttempts } from './attempts.ts'
import { EndpointRun, LEASE_MS, type RunTools } from './endpointRun.ts'
import { Queue } from './queue.ts'
import { secretsOf } from './signing.ts'

/** Endpoints to which a process sends at once. */
const MOST_RUNS = 64
/** Attempts under way at once, of a process and of one endpoint. */
const MOST_AT_ONCE = 128
const MOST_AT_ONE_ENDPOINT = 32
/** Events that are read in one round for one endpoint. */
const READ_AT_ONCE = 128
/** How long the lease of an endpoint without events is kept, so that its parked events are not read again for each event. */
const KEEP_IDLE_MS = 10_000
/**
 * How long the lease of an endpoint that backs off is kept: a process that knows what was taken does not send it again.
 * What is far ahead is not worth its memory.
 */
const KEEP_BACKED_OFF_MS = 600_000
/** How long an endpoint that could not be tended is left alone. */
const ASIDE_MS = 5_000
/** How long an endpoint is sent to while others may wait for its place. */
const TURN_MS = 30_000
/** How long a stop waits for what is under way; what has no answer by then is sent again. */
const STOP_WITHIN_MS = 5_000

/** Writes an event in the words of a style. */
export type Render = Readonly<Record<EventStyle, (event: ToldEvent, organization: Organization) => object>>

/** Options of the delivery. */
export interface DeliveryOptions {
  readonly render: Render
  readonly log: { warn(context: object, message: string): void; error(context: object, message: string): void }
  /** From 0 to 1, without 1; Math.random when left out. */
  readonly random?: () => number
}

type DeliveryDeps = EventDeps & Pick<Deps, 'organizations' | 'listener' | 'webhookPoster'>

/**
 * Sends events to the endpoints that this process has leased, round by round. It uses one connection to the database at a
 * time.
 */
export class Delivery {
  readonly #deps: DeliveryDeps
  readonly #options: DeliveryOptions
  readonly #holder = randomUUID()
  readonly #runs = new Map<string, EndpointRun>()
  /** Endpoints that could not be tended, and until when they are left alone: they must not hold up the others. */
  readonly #setAside = new Map<string, Pick<LeasedEndpoint, 'organizationId' | 'id'> & { readonly until: number }>()
  readonly #alone = oneAtATime()
  readonly #trim: TrimAttempts
  readonly #quiet = waitersOf(() => [...this.#runs.values()].every(({ queue }) => queue.underWay() === 0))

  constructor(deps: DeliveryDeps, options: DeliveryOptions) {
    this.#deps = deps
    this.#options = options
    this.#trim = createTrimmer(deps.db)
  }

  /**
   * Saves what was done, leases endpoints that have something to be sent, and begins to send it.
   * @returns whether there is more to read at once, or else something is being sent or has to be saved
   */
  async round(): Promise<'more' | 'busy' | 'idle'> {
    await this.#dropChanged()
    this.#endTurns()
    const isMore = await this.#each(
      [...this.#runs.values()],
      ({ endpoint }) => endpoint,
      (run) => this.#tend(run),
    )
    if ((await this.#leaseMore()) || isMore) return 'more'
    const isBusy = [...this.#runs.values()].some((run) => run.queue.underWay() > 0 || run.hasChanged())
    return isBusy ? 'busy' : 'idle'
  }

  /** Waits until nothing is under way. */
  quiet(): Promise<void> {
    return this.#quiet.wait()
  }

  /** Sends no more, saves what was done, and gives the leases back. */
  async stop(): Promise<void> {
    for (const run of this.#runs.values()) run.finish()
    await Promise.race([this.quiet(), pause(STOP_WITHIN_MS, undefined, { ref: false })])
    const failures: unknown[] = []
    for (const run of this.#runs.values())
      if (!run.isDropped()) await this.#save(run, null).catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }

  /** Drops the runs of endpoints that an operator has changed or deleted; they are opened again as they are now. */
  async #dropChanged(): Promise<void> {
    if (this.#runs.size === 0) return
    const held = await this.#alone(() => listHeld(this.#deps.db, this.#holder)).catch((error: unknown) => {
      // A fail-over may have lost changes: what is in memory may be ahead of the book.
      for (const run of this.#runs.values()) run.drop()
      throw error
    })
    const versions = new Map(held.map((endpoint) => [nameOf(endpoint), endpoint.version]))
    for (const [name, run] of this.#runs) if (versions.get(name) !== run.endpoint.version) run.drop()
  }

  /** Ends the turns of the endpoints that were sent to for longest, where every place is taken: others may wait. */
  #endTurns(): void {
    if (this.#runs.size < MOST_RUNS) return
    const now = this.#deps.machineNow()
    for (const run of this.#runs.values()) if (now - run.openedAt >= TURN_MS) run.finish()
  }

  /** Leases endpoints that have something to be sent. @returns whether there is more to read at once */
  async #leaseMore(): Promise<boolean> {
    const [at, most] = [this.#deps.machineNow(), MOST_RUNS - this.#runs.size]
    if (most <= 0) return false
    const until = at + LEASE_MS
    for (const [name, aside] of this.#setAside) if (aside.until <= at) this.#setAside.delete(name)
    const except = [...[...this.#runs.values()].map(({ endpoint }) => endpoint), ...this.#setAside.values()]
    const asked = { holder: this.#holder, now: at, until, most, except }
    const leased = await this.#alone(() => leaseEndpoints(this.#deps.db, asked))
    const identity = (endpoint: LeasedEndpoint) => endpoint
    return this.#each(leased, identity, async (endpoint) => this.#tend(await this.#open(endpoint, until)))
  }

  /** Works on one endpoint after the other; one that fails keeps no other from its turn. @returns whether any said so */
  async #each<T>(
    all: readonly T[],
    endpointOf: (one: T) => LeasedEndpoint,
    work: (one: T) => Promise<boolean>,
  ): Promise<boolean> {
    let isAny = false
    for (const one of all)
      try {
        if (await work(one)) isAny = true
      } catch (error) {
        const { organizationId, id } = endpointOf(one)
        const name = nameOf({ organizationId, id })
        this.#setAside.set(name, { organizationId, id, until: this.#deps.machineNow() + ASIDE_MS })
        this.#runs.get(name)?.drop()
        if (isUnavailable(error)) throw error
        const context = { err: error, organization: organizationId, endpoint: String(id) }
        this.#options.log.error(context, 'a webhook endpoint could not be tended; it will be tried again')
      }
    return isAny
  }

  async #open(endpoint: LeasedEndpoint, until: number): Promise<EndpointRun> {
    const organization = await this.#alone(() => getOrganization(this.#deps, endpoint))
    const parked = await this.#alone(() => listParked(this.#deps.db, endpoint))
    const tools = this.#toolsOf(endpoint, organization)
    const run = new EndpointRun(endpoint, new Queue(endpoint.position, parked), tools, until)
    this.#runs.set(nameOf(endpoint), run)
    return run
  }

  #toolsOf(endpoint: LeasedEndpoint, organization: Organization): RunTools {
    const { machineNow: now, webhookPoster: poster, config, listener } = this.#deps
    const { render, log, random = Math.random } = this.#options
    return {
      now,
      random,
      poster,
      quiet: this.#quiet.look,
      render: (event) => render[endpoint.style](event, organization),
      secrets: secretsOf(config, endpoint),
      share: () => Math.min(MOST_AT_ONE_ENDPOINT, Math.max(1, Math.floor(MOST_AT_ONCE / this.#runs.size))),
      attempted: ({ state }) => listener.webhookAttempted(state === 'waiting' ? 'failed' : state),
      becameState: ({ state, stateReason: reason }) =>
        log.warn(
          { organization: endpoint.organizationId, endpoint: String(endpoint.id), reason },
          `a webhook endpoint is ${state.replace('_', ' ')}`,
        ),
      readEvent: async (sequence) => {
        const asked = { after: sequence - 1n, most: 1, view: asTold }
        const { events } = await this.#alone(() => readEventsAfter(this.#deps, endpoint.organizationId, asked))
        return events.find((event) => event.sequence === sequence)
      },
    }
  }

  /** Saves and sends what one endpoint has. @returns whether there is more to read at once */
  async #tend(run: EndpointRun): Promise<boolean> {
    const { endpoint, queue } = run
    const now = this.#deps.machineNow()
    const isOver = run.isFinished() || isIdle(run, now, this.#runs.size)
    if (!run.isDropped() && queue.underWay() === 0 && isOver) await this.#save(run, null)
    else if (!run.isDropped() && (run.hasChanged() || run.leasedUntil() - now < LEASE_MS / 2))
      await this.#save(run, now + LEASE_MS)
    if (run.isDropped()) {
      if (queue.underWay() === 0) this.#runs.delete(nameOf(endpoint))
      return false
    }
    const isMore = run.opensAt() <= now && queue.room() >= READ_AT_ONCE && (await this.#read(run))
    run.pump()
    return isMore
  }

  /** Saves what was done, and renews the lease or gives it back. A run whose lease is lost is dropped. */
  async #save(run: EndpointRun, leasedUntil: number | null): Promise<void> {
    const made = run.toSave()
    const progress = { ...made, holder: this.#holder, leasedUntil, now: this.#deps.machineNow() }
    let isSaved = false
    try {
      isSaved = await this.#alone(() => saveProgress(this.#deps.db, progress))
    } finally {
      // Also where it is not known what was saved: the events after the stored position are sent again.
      if (!isSaved || leasedUntil === null) run.drop()
    }
    if (leasedUntil !== null) run.renewed(leasedUntil)
    await this.#alone(() => this.#trim(made, made.attempts.length))
  }

  /** Reads the next events of an endpoint. @returns whether there are more */
  async #read(run: EndpointRun): Promise<boolean> {
    const { endpoint, queue } = run
    const asked = { after: queue.readTo(), most: READ_AT_ONCE, types: wantedTypes(endpoint.types), view: asTold }
    const { events, readTo, isEnd, isBeyond } = await this.#alone(() =>
      readEventsAfter(this.#deps, endpoint.organizationId, asked),
    )
    // The book was restored to an earlier moment: the endpoint is read again, with its position of then.
    if (isBeyond) run.drop()
    queue.add(events, readTo)
    return !isEnd
  }
}

const asTold = (event: ToldEvent): ToldEvent => event

/** Returns whether a run has nothing to send soon; its lease is then given back. */
function isIdle(run: EndpointRun, now: number, runs: number): boolean {
  if (run.opensAt() > now + (runs < MOST_RUNS ? KEEP_BACKED_OFF_MS : KEEP_IDLE_MS)) return true
  const isWaiting = run.queue.ahead() > 0 || run.queue.nextDueAt() <= now + KEEP_IDLE_MS
  const unusedFor = now - run.lastUsedAt()
  return !isWaiting && unusedFor > (runs < MOST_RUNS ? KEEP_IDLE_MS : 0)
}

const nameOf = ({ organizationId, id }: Pick<LeasedEndpoint, 'organizationId' | 'id'>) => `${organizationId} ${id}`

/** Returns a function that runs one piece of work after the other. */
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = last.then(work)
    last = mine.catch(() => undefined)
    return mine
  }
}

/** Returns a wait for a condition, which is looked at when `look` is called. */
function waitersOf(isMet: () => boolean): { look(): void; wait(): Promise<void> } {
  const waiting: (() => void)[] = []
  return {
    look() {
      if (isMet()) for (const go of waiting.splice(0)) go()
    },
    wait: () => (isMet() ? Promise.resolve() : new Promise((go) => waiting.push(go))),
  }
}

/** The pause after a round that found nothing to send. */
const EVERY_MS = 1_000
/** The pause after a round that left nothing but what is being sent, or what is to be saved. */
const BUSY_MS = 100

/**
 * Creates the job that sends events to the endpoints that this process has leased. Several processes may work on one book.
 * When it is stopped, it waits a moment for the answers, and gives the leases back.
 */
export function webhooksJob(deps: Deps, options: DeliveryOptions): Job {
  const delivery = new Delivery(deps, options)
  return {
    name: 'webhooks',
    failure: 'events could not be sent to webhook endpoints',
    everyMs: EVERY_MS,
    // Sending waits for the receivers: it takes little of the time of this process and of the database.
    share: 1,
    organizations: async () => [SERVICE],
    async work(_, signal) {
      const state = await delivery.round()
      if (state === 'busy') await pause(BUSY_MS, undefined, { signal }).catch(() => undefined)
      return state === 'idle' ? 'done' : 'more'
    },
    async stopped() {
      await delivery.stop().catch((error: unknown) => {
        const message = 'the leases of webhook endpoints could not be given back; they end after 30 s'
        options.log.error({ err: error }, message)
      })
    },
  }
}
