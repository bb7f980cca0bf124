import { LendingError } from '../domain/errors.ts'
import { createLru, type Lru } from './lru.ts'
import { Tally } from './tally.ts'

/** The holder of a place: an organization and its account, or any other group and its member. */
export interface Holder {
  readonly group: number | string
  /** Left out: the members of the group are not told apart. */
  readonly member?: number | string | null
}

/** What has no place left: the gate, or a group or a member of it. */
export type Full = 'all' | 'group' | 'member'

/** The numbers of places of one kind, and what a refusal says. */
export interface GateBounds {
  readonly atOnce: number
  /** Places of a group and of a member at once; left out: as many as there are. */
  readonly ofGroup?: number
  readonly ofMember?: number
  /** The most that wait for a place: all, of a group, and of a member; left out: none waits. */
  readonly waiting?: { readonly all: number; readonly ofGroup: number; readonly ofMember?: number }
  /** The longest wait; left out: without an end. */
  readonly waitMs?: number
  /**
   * Returns the milliseconds for which a place stays taken after its work; left out: none.
   * @param tookMs how long the work took, with what its caller then did in the same turn of the process, such as to write the answer
   */
  readonly restMs?: (tookMs: number) => number
  readonly code?: 'resource_exhausted' | 'unavailable'
  /** What a refusal says; a function returns it for what is full. */
  readonly refusal: string | ((full: Full) => string)
  readonly againSeconds: number
}

/** A gate before work that takes much of the process: it has a number of places, and work begins in one of them. */
export interface Gate {
  /**
   * Takes a place: at once, or in its turn.
   * @returns a function that frees the place; only its first call counts
   * @throws LendingError of the bounds' code when too many wait, or this one has waited too long
   */
  take(holder: Holder): Promise<() => void>
  /**
   * Takes a place that is free now.
   * @returns a function that frees the place; only its first call counts. Undefined where no place is free
   */
  tryEnter(holder: Holder): (() => void) | undefined
  /** Takes a place that is free now. @throws LendingError of the bounds' code where none is */
  enter(holder: Holder): () => void
  /** Does work in a place. @throws LendingError as `take` does, and as the work does */
  run<T>(holder: Holder, work: () => Promise<T>): Promise<T>
}

/** One that waits for a place. */
interface Waiting extends Named {
  readonly start: () => void
}

/** The names by which a holder is counted. */
interface Named {
  readonly group: string
  readonly member: string | undefined
}

/** Groups and members whose last turn is remembered. */
const MOST_REMEMBERED = 1_000

/** Returns the holder that a caller is. */
export const holderOf = (caller: { readonly organizationId: number; readonly accountId: number | null }): Holder => ({
  group: caller.organizationId,
  member: caller.accountId,
})

/**
 * Creates a gate. One that waits gets its turn when a place is free: first the group whose last turn is the longest ago,
 * and in it the member whose last turn is. So no group waits behind the queue of another.
 */
export const createGate = (bounds: GateBounds): Gate => new BoundedGate(bounds)

class BoundedGate implements Gate {
  readonly #bounds: GateBounds
  #taken = 0
  readonly #takenBy = new Tally<string>()
  readonly #waiting: Waiting[] = []
  /** Made by the first turn: most gates of a process never have one, and its room is taken at once. */
  #lastTurns: Lru<string, number> | undefined
  #turns = 0

  constructor(bounds: GateBounds) {
    this.#bounds = bounds
  }

  async take(wanted: Holder): Promise<() => void> {
    const holder = named(wanted)
    if (this.#fullOf(holder) === undefined) return this.#occupy(holder)
    this.#requireRoomToWait(holder)
    const { waitMs } = this.#bounds
    return new Promise((resolve, reject) => {
      const one: Waiting = {
        group: holder.group,
        member: holder.member,
        start: () => {
          clearTimeout(timer)
          resolve(this.#occupy(holder))
        },
      }
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(one), 1)
        reject(this.#refusal(holder))
      }
      const timer = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs)
      this.#waiting.push(one)
    })
  }

  tryEnter(wanted: Holder): (() => void) | undefined {
    const holder = named(wanted)
    return this.#fullOf(holder) === undefined ? this.#occupy(holder) : undefined
  }

  enter(holder: Holder): () => void {
    const free = this.tryEnter(holder)
    if (!free) throw this.#refusal(named(holder))
    return free
  }

  async run<T>(holder: Holder, work: () => Promise<T>): Promise<T> {
    const free = await this.take(holder)
    try {
      return await work()
    } finally {
      free()
    }
  }

  /** Returns what is full for a holder, the narrowest first; undefined where a place is free. */
  #fullOf({ group, member }: Named): Full | undefined {
    const { atOnce, ofGroup = atOnce, ofMember = atOnce } = this.#bounds
    if (member !== undefined && this.#takenBy.of(member) >= ofMember) return 'member'
    if (this.#takenBy.of(group) >= ofGroup) return 'group'
    return this.#taken >= atOnce ? 'all' : undefined
  }

  #count({ group, member }: Named, one: 1 | -1): void {
    this.#taken += one
    this.#takenBy.add(group, one)
    if (member !== undefined) this.#takenBy.add(member, one)
  }

  /** Takes a place that is free. @returns a function that frees it after its rest */
  #occupy(holder: Named): () => void {
    this.#count(holder, 1)
    this.#lastTurns ??= createLru(MOST_REMEMBERED)
    this.#lastTurns.set(holder.group, ++this.#turns)
    if (holder.member !== undefined) this.#lastTurns.set(holder.member, this.#turns)
    const began = performance.now()
    let isFreed = false
    return () => {
      if (isFreed) return
      isFreed = true
      const { restMs } = this.#bounds
      if (restMs) setImmediate(() => this.#leaveAfter(holder, restMs(performance.now() - began)))
      else this.#leave(holder)
    }
  }

  #leaveAfter(holder: Named, rest: number): void {
    if (rest > 0) setTimeout(() => this.#leave(holder), rest).unref()
    else this.#leave(holder)
  }

  #leave(holder: Named): void {
    this.#count(holder, -1)
    for (let next = this.#nextReady(); next; next = this.#nextReady()) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      next.start()
    }
  }

  /** Returns the one that waits whose turn it is; undefined where none has room. */
  #nextReady(): Waiting | undefined {
    const lastTurn = (name = '') => this.#lastTurns?.get(name) ?? 0
    const [first, ...others] = this.#waiting.filter((one) => this.#fullOf(one) === undefined)
    return others.reduce((best, one) => {
      const order = lastTurn(one.group) - lastTurn(best?.group) || lastTurn(one.member) - lastTurn(best?.member)
      return order < 0 ? one : best
    }, first)
  }

  #requireRoomToWait(holder: Named): void {
    const { group, member } = holder
    const { all, ofGroup, ofMember = ofGroup } = this.#bounds.waiting ?? { all: 0, ofGroup: 0 }
    const inGroup = this.#waiting.filter((one) => one.group === group)
    const sameMember = inGroup.filter((one) => member !== undefined && one.member === member)
    if (this.#waiting.length >= all || inGroup.length >= ofGroup || sameMember.length >= ofMember)
      throw this.#refusal(holder)
  }

  #refusal(holder: Named): LendingError {
    const { code = 'resource_exhausted', refusal, againSeconds } = this.#bounds
    const text = typeof refusal === 'string' ? refusal : refusal(this.#fullOf(holder) ?? 'all')
    return new LendingError(code, text, [], againSeconds)
  }
}

const named = ({ group, member }: Holder): Named => ({
  group: `${group}`,
  member: member === undefined ? undefined : `${group} ${member}`,
})
