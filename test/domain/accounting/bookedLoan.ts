import { METHODS, type Method } from '../../../src/domain/accounting/contribution.ts'
import { postedBy, stepsOf } from '../../../src/domain/accounting/posted.ts'
import { amountsFromText, amountsToText, NO_AMOUNTS, type SlotAmounts } from '../../../src/domain/accounting/slots.ts'
import { dateIn, type LocalDate } from '../../../src/domain/dates.ts'
import type { Balances } from '../../../src/domain/loan/balances.ts'
import { type ChangingLoan, loanTold } from '../../../src/domain/loan/change/change.ts'
import { changeFromText } from '../../../src/domain/loan/change/changeFromText.ts'
import { changeToText } from '../../../src/domain/loan/change/changeText.ts'
import type { Entry } from '../../../src/domain/loan/entry.ts'
import { type Decision, type Loan, stateOf } from '../../../src/domain/loan/loan.ts'
import { type LoanState, replay } from '../../../src/domain/loan/replay.ts'
import type { LoanTerms } from '../../../src/domain/loan/terms/terms.ts'

/** The amounts of a posting or of a loan by each method. */
export type ByMethod = Readonly<Record<Method, SlotAmounts>>

/** Returns what a function says of each method. */
export const byMethod = (amountsOf: (method: Method) => SlotAmounts): ByMethod =>
  Object.fromEntries(METHODS.map((method) => [method, amountsOf(method)])) as unknown as ByMethod

/** A change of a loan, as the journal sees it. */
export interface BookedChange {
  /** The day from which the change counts. */
  readonly on: LocalDate
  readonly postings: ByMethod
}

/** Returns the balances as the journal reads them: from the text that the trail keeps. */
/** Returns a loan after a change as the trail has it: written as text, and read. */
const writtenAndRead = (loan: ChangingLoan, state: Balances, on: LocalDate, isImported: boolean) =>
  changeFromText(changeToText({ ...loanTold(loan, { version: 1, on, after: state }), isImported }))!

/**
 * A loan to which the domain's own commands happen, and what the journal posts of each, with the functions of the
 * keeper.
 */
export class BookedLoan {
  terms: LoanTerms
  entries: Entry[] = []
  /** Whether what happens to the loan is imported: it opens, where it would be posted. */
  isImporting = false
  /** What the loan contributes so far by each method, as the journal keeps it. */
  private isOpened = false
  private readonly contributions = new Map<Method, string>()
  private loan: Loan

  constructor(terms: LoanTerms) {
    this.terms = terms
    this.loan = { terms, entries: this.entries }
  }

  /** Returns the loan for a command; the list of its entries must not be changed. */
  whole(): Loan {
    return this.loan
  }

  stateAt(now: number): LoanState {
    return stateOf(this.loan, now)
  }

  /** Returns what the loan contributes so far: the sum of its postings, and of what was opened. */
  get booked(): ByMethod {
    return byMethod((method) => amountsFromText(this.contributions.get(method) ?? '') ?? NO_AMOUNTS)
  }

  /** Returns the state by a replay of all entries, without anything that was computed before. */
  replayed(now: number): LoanState {
    return replay(this.terms, this.entries, now)
  }

  /** Books the loan as it was made. */
  disbursed(now: number): BookedChange {
    return this.book(this.stateAt(now), this.terms.disbursedOn)
  }

  /** Books what time has changed by a moment. @param on the day that was over */
  timePassed(now: number, on: LocalDate): BookedChange {
    return this.book(this.stateAt(now), on)
  }

  /** Takes over a decision and books it. */
  decided(decision: Decision, now: number): BookedChange {
    const { posted, reversed, modifiedTerms, state } = decision
    if (modifiedTerms) this.terms = modifiedTerms.terms
    const entries = this.entries.map((entry) => (entry === reversed ? { ...entry, reversedAt: now } : entry))
    if (posted) entries.push({ ...posted, id: BigInt(entries.length + 1) })
    this.entries = entries
    this.loan = { terms: this.terms, entries }
    return this.book(state, (posted ?? reversed)?.valueDate ?? this.terms.disbursedOn)
  }

  private book(state: Balances, on: LocalDate): BookedChange {
    const loan = { productId: 1, customerId: 1n, terms: this.terms }
    const [after] = stepsOf(writtenAndRead(loan, state, on, this.isImporting))
    if (!after) throw new Error('a change has a step')
    const isFirst = this.contributions.size === 0
    const postings = byMethod((method) => {
      const before = this.contributions.get(method)
      const contribution = before === undefined ? undefined : amountsFromText(before)
      const posted = postedBy(method, after, { contribution, isOpened: this.isOpened }, isFirst)
      if (isFirst) this.isOpened = posted.isOpened
      this.contributions.set(method, amountsToText(posted.contribution))
      return posted.amounts
    })
    return { on: after.on, postings }
  }
}

/** Returns the day that is over when time changes a loan at a moment: the day before. */
export const dayBefore = (zone: string, now: number): LocalDate => dateIn(zone, now - 86_400_000)
