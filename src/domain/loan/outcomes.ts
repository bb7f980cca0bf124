import type { Portions } from './allocation.ts'

/** What an entry did at its place. Portions and overpayment sum to the amount, but for a waiver (see `dropped`). */
export interface Outcome {
  /** The entry's own amount, or, of a charge-off or write-off, what is owed at its place. */
  readonly amount: bigint
  readonly portions: Portions
  /** Of a payment: what exceeded the debt. Of a refund: what came out of the overpayment. */
  readonly overpayment: bigint
  /** Of a refund: what was no longer there to give back, and so is principal owed again (part of `portions`). */
  readonly credited: bigint
  /** Of a waiver: what found no interest to waive, after an earlier entry changed. */
  readonly dropped: bigint
}

/**
 * The outcomes of a loan's entries. States of a loan that follow one another share one growing list, of which each sees
 * as much as there was when it was made: a loan of thousands of entries takes the next without copying what the others
 * did.
 */
export class Outcomes {
  private readonly list: (Outcome | undefined)[]
  private readonly seen: number

  /** @param list by ordinal, the first at 0; the instance takes it over */
  constructor(list: (Outcome | undefined)[]) {
    this.list = list
    this.seen = list.length
  }

  /** Of the entry of that ordinal; reversed entries have none. */
  get(ordinal: number): Outcome | undefined {
    return ordinal <= this.seen ? this.list[ordinal - 1] : undefined
  }

  /** All there are, in the order of their ordinals. */
  values(): Outcome[] {
    return this.list.slice(0, this.seen).filter((outcome) => outcome !== undefined)
  }

  /** These and that of a later entry; these stay as they are. */
  and(ordinal: number, outcome: Outcome): Outcomes {
    // Where another one goes on from here already, or did and was refused, this one gets a list of its own.
    const index = ordinal - 1
    const list = this.list.length === this.seen && index >= this.seen ? this.list : this.list.slice(0, this.seen)
    list[index] = outcome
    return new Outcomes(list)
  }
}
