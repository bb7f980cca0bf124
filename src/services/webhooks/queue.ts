import type { ParkedEvent } from '../../db/webhooks/leases.ts'
import type { Subject, ToldEvent } from '../events/toldEvent.ts'

/** An event that an endpoint has not taken yet. */
export interface Item {
  readonly sequence: bigint
  /** The loan, the customer or the payment: the events of one subject are sent in order. */
  readonly subject: string
  readonly type: string
  /** Undefined where it has to be read again. */
  event: ToldEvent | undefined
  /** Attempts so far. */
  attempts: number
  /** When the next attempt is due; null behind another event of the subject. */
  dueAt: number | null
}

/** The most events that wait for another attempt at one endpoint, those behind them included. */
export const MOST_PARKED = 10_000
/** The most events that are read ahead. */
const MOST_AHEAD = 512
/** The most parked events that are kept in memory with all that they say. */
const MOST_HELD = 1_000
/** Probes take turns among so many of the events that wait longest. */
const MOST_PROBED = 10

/** Returns the name of a subject, as it is stored. */
export function subjectName(subject: Subject): string {
  if ('loanId' in subject) return `loan ${subject.loanId}`
  if ('paymentId' in subject) return `payment ${subject.paymentId}`
  return 'customerId' in subject ? `customer ${subject.customerId}` : 'journal'
}

/** What one endpoint still has to get, in memory: which event is next, and up to where all is settled. */
export class Queue {
  #readTo: bigint
  /** Read and not settled, ascending; those under way included. */
  #ahead: Item[] = []
  /** By subject, each ascending: the first is tried, the others wait for it. */
  readonly #parked = new Map<string, Item[]>()
  readonly #parkedSequences = new Set<bigint>()
  readonly #underWay = new Map<string, Item>()
  /** The parked events that changed since they were saved; undefined: not parked any more. */
  readonly #changed = new Map<bigint, Item | undefined>()
  /** The first events of subjects that were due at the last look; to look at all for each event would take long. */
  #due: Item[] = []
  /** No parked event is due before. */
  #quietUntil = Number.NEGATIVE_INFINITY

  constructor(position: bigint, stored: readonly ParkedEvent[] = []) {
    this.#readTo = position
    for (const row of stored) this.#putBehind({ ...row, event: undefined })
  }

  /** Returns how many more events may be read; 0 while so many wait that nothing more is read. */
  room(): number {
    return this.#parkedSequences.size >= MOST_PARKED ? 0 : MOST_AHEAD - this.#ahead.length
  }

  /** Returns how far events were read. */
  readTo(): bigint {
    return this.#readTo
  }

  /** Adds events that were read, ascending. */
  add(events: readonly ToldEvent[], readTo: bigint): void {
    for (const event of events) {
      const { sequence, type } = event
      if (sequence <= this.#readTo || this.#parkedSequences.has(sequence)) continue
      const item: Item = { sequence, subject: subjectName(event.subject), type, event, attempts: 0, dueAt: null }
      const [first] = this.#parked.get(item.subject) ?? []
      if (!first) this.#ahead.push(item)
      // What is before the first parked event of its subject was settled, by a process that could not save it any more.
      else if (sequence > first.sequence) this.#store(this.#putBehind(item), null)
    }
    if (readTo > this.#readTo) this.#readTo = readTo
  }

  /** Takes the next event that may be sent at a moment; it is under way until it is settled, parked or given back. */
  take(now: number): Item | undefined {
    return this.#begin(this.#takeDue(now) ?? this.#ahead.find((item) => this.#isFree(item)))
  }

  /** Takes one event to try whether the endpoint answers: another one each turn, so that no single event decides it. */
  takeProbe(turn: number): Item | undefined {
    const firsts = this.#ahead.filter((item, index) => this.#ahead.findIndex(isOf(item)) === index)
    const waiting = [...this.#heads().toSorted(bySequence), ...firsts].filter((item) => this.#isFree(item))
    return this.#begin(waiting[turn % Math.min(waiting.length, MOST_PROBED)])
  }

  /** Settles an event under way: it was taken or given up, and the next one of its subject may go. */
  settled(item: Item, now: number): void {
    this.#underWay.delete(item.subject)
    const line = this.#parked.get(item.subject)
    if (line?.[0] !== item) {
      this.#ahead = this.#ahead.filter((one) => one !== item)
      return
    }
    line.shift()
    this.#parkedSequences.delete(item.sequence)
    this.#changed.set(item.sequence, undefined)
    const [next] = line
    if (next) this.#due.push(this.#store(next, now))
    else this.#parked.delete(item.subject)
  }

  /** Parks an event under way until its next attempt, and those of its subject behind it. */
  park(item: Item, dueAt: number): void {
    this.#underWay.delete(item.subject)
    item.attempts++
    if (!this.#parked.has(item.subject)) {
      const { same = [], others = [] } = Object.groupBy(this.#ahead, (one) =>
        one.subject === item.subject ? 'same' : 'others',
      )
      this.#ahead = others
      for (const one of same) this.#store(this.#putBehind(one), null)
    }
    this.#forget(this.#store(item, dueAt))
  }

  /** Gives an event under way back, as if it had not been taken. */
  giveBack(item: Item): void {
    this.#underWay.delete(item.subject)
    this.#forget(item)
    this.#quietUntil = Math.min(this.#quietUntil, item.dueAt ?? Number.POSITIVE_INFINITY)
  }

  /** Returns the number up to which every event is settled or parked. */
  position(): bigint {
    const [first] = this.#ahead
    return first ? first.sequence - 1n : this.#readTo
  }

  underWay(): number {
    return this.#underWay.size
  }

  /** Returns how many events were read and are neither settled nor parked. */
  ahead(): number {
    return this.#ahead.length
  }

  /** Returns when the next parked event is due; infinite where none is parked. */
  nextDueAt(): number {
    return this.#heads().reduce((least, { dueAt }) => Math.min(least, dueAt ?? least), Number.POSITIVE_INFINITY)
  }

  hasChanges(): boolean {
    return this.#changed.size > 0
  }

  /** Returns the parked events that changed since the last call, and the numbers of those that are not parked any more. */
  changes(): { readonly parked: readonly ParkedEvent[]; readonly unparked: readonly bigint[] } {
    const parked = [...this.#changed.values()].filter((item) => item !== undefined).map((item) => ({ ...item }))
    const unparked = [...this.#changed].filter(([, item]) => item === undefined).map(([sequence]) => sequence)
    this.#changed.clear()
    return { parked, unparked }
  }

  #begin(item: Item | undefined): Item | undefined {
    if (item) this.#underWay.set(item.subject, item)
    return item
  }

  #isFree(item: Item): boolean {
    return !this.#underWay.has(item.subject)
  }

  #heads(): Item[] {
    return [...this.#parked.values()].map(([head]) => head!)
  }

  #takeDue(now: number): Item | undefined {
    const isDue = (item: Item) => this.#isFree(item) && item.dueAt !== null && item.dueAt <= now
    if (this.#due.length === 0 && now >= this.#quietUntil) {
      this.#due = this.#heads().filter(isDue).reverse()
      if (this.#due.length === 0) this.#quietUntil = this.nextDueAt()
    }
    for (;;) {
      const item = this.#due.pop()
      if (item === undefined || (this.#parked.get(item.subject)?.[0] === item && isDue(item))) return item
    }
  }

  #store(item: Item, dueAt: number | null): Item {
    item.dueAt = dueAt
    this.#changed.set(item.sequence, item)
    this.#quietUntil = Math.min(this.#quietUntil, dueAt ?? Number.POSITIVE_INFINITY)
    return item
  }

  /** Drops what a parked event says, where many are parked: it is read again. */
  #forget(item: Item): void {
    if (this.#parkedSequences.size > MOST_HELD && this.#parkedSequences.has(item.sequence)) item.event = undefined
  }

  #putBehind(item: Item): Item {
    const line = this.#parked.get(item.subject) ?? []
    this.#parked.set(item.subject, line)
    line.push(item)
    this.#parkedSequences.add(item.sequence)
    this.#forget(item)
    return item
  }
}

const bySequence = (a: Item, b: Item) => (a.sequence < b.sequence ? -1 : 1)

const isOf = (item: Item) => (one: Item) => one.subject === item.subject
