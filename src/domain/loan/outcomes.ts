import type { Portions } from './portions.ts'

/** The effect of an entry at its place. Portions, overpayment and `dropped` sum to the amount. */
export interface Outcome {
  /** The entry's own amount, or, of a charge-off or write-off, what is owed at its place. */
  readonly amount: bigint
  readonly portions: Portions
  /** Of a payment: what exceeded the debt. Of a refund: what was taken from the overpayment. */
  readonly overpayment: bigint
  /** Of a refund: what was no longer there to pay back, and became principal owed again (part of `portions`). */
  readonly credited: bigint
  /** Of a waiver: the part for which there is no interest to waive, after an earlier entry changed. */
  readonly dropped: bigint
}

/**
 * The outcomes of a loan's entries. Successive states of a loan share one growing list, and each state sees the length
 * that the list had when the state was made: a loan of thousands of entries takes the next one without copying the
 * list.
 */
export class Outcomes {
  private readonly list: (Outcome | undefined)[]
  private readonly seen: number

  /** @param list by ordinal, the first at index 0; it belongs to the instance from then on */
  constructor(list: (Outcome | undefined)[]) {
    this.list = list
    this.seen = list.length
  }

  /** Returns the outcome of the entry with the ordinal; a reversed entry has none. */
  get(ordinal: number): Outcome | undefined {
    return ordinal <= this.seen ? this.list[ordinal - 1] : undefined
  }

  /** Returns all outcomes, in the order of the ordinals. */
  values(): Outcome[] {
    return this.list.slice(0, this.seen).filter((outcome) => outcome !== undefined)
  }

  /** Returns these outcomes and that of a later entry; this instance does not change. */
  and(ordinal: number, outcome: Outcome): Outcomes {
    // Where another state already continued this list, even for an entry that was refused, the new one gets a copy.
    const index = ordinal - 1
    const list = this.list.length === this.seen && index >= this.seen ? this.list : this.list.slice(0, this.seen)
    list[index] = outcome
    return new Outcomes(list)
  }
}
