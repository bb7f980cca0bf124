import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { contributionOf, METHODS } from '../../../src/domain/accounting/contribution.ts'
import {
  isNothing,
  NO_AMOUNTS,
  plusAmounts,
  type Slot,
  type SlotAmounts,
} from '../../../src/domain/accounting/slots.ts'
import { dateIn, type LocalDate } from '../../../src/domain/dates.ts'
import type { Decision } from '../../../src/domain/loan/loan.ts'
import { CHANGE_KINDS, planOf, type RestructurePlan } from '../../../src/domain/loan/restructure/plan.ts'
import { type BookedChange, BookedLoan } from '../accounting/bookedLoan.ts'
import { DayJournal, keyOf } from '../accounting/dayJournal.ts'
import { anyLent, type Lent } from '../terms/anyLent.ts'
import { type Part, total } from '../terms/naive/debt.ts'
import { lifeOf } from '../terms/naive/life.ts'
import { naiveLoan, type Transaction } from '../terms/naive/loan.ts'
import { type AnyStep, anyStepOf, LivedLoan, ZONE } from './anyRestructure.ts'
import { bearingFullInterest } from './manyRestructures.ts'

// The journal of random loans with many restructures: each change is booked with the functions of the keeper, and what the books
// have at the end is what the model says is owed of each part.

/** What a restructure or a part of one is counted as. */
const COUNTED = [
  ...CHANGE_KINDS,
  ...(['keep', 'none', 'rate', 'fee', 'waiver', 'undone', 'told late', 'only moved'] as const),
] as const

/** What is counted of the loans whose changes are booked. */
export type BookCounts = Record<'books' | 'booked' | 'postings' | (typeof COUNTED)[number], number>

const noCounts = (): BookCounts => ({
  ...{ books: 0, booked: 0, postings: 0 },
  ...(Object.fromEntries(COUNTED.map((name) => [name, 0])) as Record<(typeof COUNTED)[number], number>),
})

/** Half of the steps are about restructures. */
const anySteps = fc.array(
  anyStepOf([
    'restructure',
    'restructure',
    'restructure',
    'reverse restructure',
    'pay',
    'pay',
    'post',
    'wait',
    'reverse',
  ]),
  { minLength: 4, maxLength: 14 },
)

/** A loan to which things happen, each of which is booked. */
class BookedLife extends LivedLoan {
  private readonly booked: BookedLoan
  private readonly book: (change: BookedChange) => void

  constructor(lent: Lent, book: (change: BookedChange) => void) {
    super(lent)
    this.book = book
    this.booked = new BookedLoan(this.loan.terms)
    this.loan = this.booked.whole()
    book(this.booked.disbursed(this.now))
  }

  get contributed() {
    return this.booked.booked
  }

  override wait(hours: number): void {
    super.wait(hours)
    this.passTime()
  }

  /** Books what time has changed, as the sweep of the service does. */
  private passTime(): void {
    for (;;) {
      const { nextChangeAt } = this.booked.stateAt(this.lookedAt)
      if (nextChangeAt === null || nextChangeAt > this.now) break
      this.lookedAt = nextChangeAt
      const on = dateIn(ZONE, Math.max(this.loan.terms.disbursedAt, nextChangeAt - 1))
      this.book(this.booked.timePassed(nextChangeAt, on))
    }
    this.lookedAt = this.now
  }

  private lookedAt = this.now

  override save(decisions: readonly Decision[]): void {
    for (const decision of decisions) this.book(this.booked.decided(decision, this.now))
    this.loan = this.booked.whole()
  }
}

/** The parts of a debt, with the accounts of what is owed of them. */
const RECEIVABLES: readonly (readonly [Part, Slot])[] = [
  ['principal', 'loan_portfolio'],
  ['interest', 'interest_receivable'],
  ['fees', 'fees_receivable'],
  ['penalty', 'penalties_receivable'],
]

/** Returns what the books must have of a loan by the model: by account, minor units. */
function owedByModel(lent: Lent, { loan, now }: LivedLoan): Partial<Record<Slot, bigint>> {
  const { terms, entries } = loan
  const naive = naiveLoan(lent.product, lent.principal, lent.disbursedAt, terms.schedule)
  const { debt } = lifeOf(naive, entries as readonly Transaction[], now)
  const owed = (part: Part) =>
    debt.chargedOffOn === null
      ? total(debt, part, 'due') -
        total(debt, part, 'paid') -
        total(debt, part, 'waived') -
        total(debt, part, 'writtenOff')
      : 0n
  const moved = (...types: string[]) =>
    entries
      .filter(({ type, reversedAt }) => reversedAt === null && types.includes(type))
      .reduce((sum, { amount }) => sum + amount, 0n)
  const cash = moved('Repayment', 'Recovery Repayment') - moved('Refund', 'Credit Balance Refund')
  return {
    ...Object.fromEntries(RECEIVABLES.map(([part, slot]) => [slot, owed(part)])),
    cash: cash - lent.principal + (terms.rules?.deducted ?? 0n),
    overpayments: -debt.overpaid,
  }
}

/** The accounts by each method that the model has, too: cash accounting has no receivables but the principal. */
const compared = {
  cash: ['cash', 'loan_portfolio', 'overpayments'],
  accrual_upfront: ['cash', 'overpayments', ...RECEIVABLES.map(([, slot]) => slot)],
  // Of fees only what has fallen due is a receivable.
  accrual_periodic: ['cash', 'overpayments', 'loan_portfolio', 'interest_receivable', 'penalties_receivable'],
} as const satisfies Record<(typeof METHODS)[number], readonly Slot[]>

/** Returns the plan of decisions that only move due dates: nothing is added, waived or divided again in the past. */
function isOnlyMoved({ interest, change }: RestructurePlan, decisions: readonly Decision[], isToday: boolean): boolean {
  const isDivided = change.kind === 'numberOfRepayments' || change.kind === 'instalmentAmount'
  return interest === 'none' && decisions.length === 1 && (isToday || !isDivided)
}

/** Books random loans with restructures, and checks the trial balance. @throws the first difference, with its seed */
export function bookMany(seed: number, numRuns: number): BookCounts {
  const counts = noCounts()
  const journal = new DayJournal()
  const [expected, days] = [new Map<string, SlotAmounts>(), new Set<LocalDate>()]
  fc.assert(
    fc.property(anyLent, anySteps, (given, steps) => {
      const lent = bearingFullInterest(given)
      const { code } = lent.product.currency
      let last: BookedChange[] = []
      const life = new BookedLife(lent, (change) => {
        journal.book(change, code)
        days.add(change.on)
        last.push(change)
      })
      counts.books++
      for (const step of steps) {
        life.wait(step.hours)
        last = []
        countStep(counts, life, step, life.does({ ...step, hours: 0 }), last)
      }
      const [owed, state] = [owedByModel(lent, life), life.state]
      for (const method of METHODS) {
        const is = life.contributed[method]
        if (!isDeepStrictEqual(is, contributionOf(method, state)))
          throw new Error(`by ${method} the postings sum to other amounts than the loan contributes`)
        for (const slot of compared[method])
          if (is[slot] !== owed[slot])
            throw new Error(`by ${method} the books have ${is[slot]} in ${slot}, and the model ${owed[slot]}`)
        const key = keyOf(method, code)
        expected.set(key, plusAmounts(expected.get(key) ?? NO_AMOUNTS, is))
      }
    }),
    { seed, numRuns, endOnFailure: true },
  )
  // Each trial balance throws where its debits are not its credits.
  const sorted = [...days].toSorted()
  journal.trialBalances([...sorted.filter((_, index) => index % 7 === 0), sorted.at(-1)!])
  const totals = journal.totals()
  for (const [key, amounts] of expected)
    if (!isDeepStrictEqual(totals.get(key) ?? NO_AMOUNTS, amounts))
      throw new Error(`the trial balance of ${key} is not the sum of the loans`)
  return { ...counts, postings: journal.postings }
}

/** Counts what a step did, and requires that a restructure that only moves due dates posts nothing. */
function countStep(
  counts: BookCounts,
  { loan, now }: LivedLoan,
  step: AnyStep,
  decisions: readonly Decision[] | undefined,
  changes: readonly BookedChange[],
): void {
  if (!decisions || decisions.length === 0) return
  if (step.does === 'reverse restructure') counts.undone++
  const posted = decisions.flatMap((decision) => decision.posted ?? [])
  const restructure = posted.find(({ type }) => type === 'Restructure')
  const plan = planOf(restructure?.restructure)
  if (!restructure || !plan) return
  const isToday = restructure.valueDate === dateIn(loan.terms.zone, now)
  counts.booked++
  counts[plan.change.kind]++
  counts[typeof plan.interest === 'string' ? plan.interest : 'rate']++
  if (posted.some(({ type }) => type === 'Fee')) counts.fee++
  if (posted.some(({ type }) => type.startsWith('Waive'))) counts.waiver++
  if (!isToday) counts['told late']++
  if (!isOnlyMoved(plan, decisions, isToday)) return
  counts['only moved']++
  for (const method of METHODS)
    for (const { postings, on } of changes)
      if (!isNothing(postings[method]))
        throw new Error(`by ${method} a restructure of ${on} that only moves due dates posts something`)
}
