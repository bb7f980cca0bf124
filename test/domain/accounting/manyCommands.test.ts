import { expect, it } from 'vitest'
import { contributionOf, METHODS } from '../../../src/domain/accounting/contribution.ts'
import { lessAmounts, NO_AMOUNTS, plusAmounts, type SlotAmounts } from '../../../src/domain/accounting/slots.ts'
import { dateIn, dayAfter, startOfDay } from '../../../src/domain/dates.ts'
import { randomFrom } from '../../support/random.ts'
import { DayJournal, keyOf } from './dayJournal.ts'
import {
  BEGIN,
  type Command,
  DAY_MS,
  decide,
  loanOf,
  type NewLoan,
  POSTED_TYPES,
  type RandomLoan,
  ZONE,
} from './randomLoans.ts'

// A book to which random commands happen while its months are closed. `npm run try -- journal` has a million accepted;
// MKOPO_COMMANDS and MKOPO_SEED say otherwise.

const COMMANDS = Number(process.env.MKOPO_COMMANDS ?? 4_000)
const SEED = Number(process.env.MKOPO_SEED ?? 1)
const COMMANDS_A_DAY = 50
const OPEN_LOANS = 150
const COMMANDS_A_LOAN = 40

const random = randomFrom(SEED)
const oneOf = <T>(list: readonly T[]): T => list[random(list.length)]!

const randomLoan = (): NewLoan => ({
  kind: oneOf(['product', 'product', 'fees', 'basic', 'extended']),
  currency: oneOf(['TZS', 'UGX', 'KES']),
  principal: 100_00 + random(9_000_00),
  instalments: 1 + random(6),
  unit: oneOf(['days', 'weeks', 'months']),
  ratePercent: oneOf([0, 1, 5, 12]),
  penaltyPercent: oneOf([0, 10]),
  method: oneOf(['flat_rate', 'reducing_rate_equal_installments', 'interest_only', 'compound_interest']),
  releasedAgo: oneOf([0, 0, 0, 3, 40]),
})

const randomCommand = (): Command => ({
  does: oneOf(['post', 'post', 'post', 'post', 'post', 'reverse', 'adjust', 'restate']),
  type: oneOf(POSTED_TYPES),
  share: random(random(2) === 0 ? 1200 : 300),
  isToTheCent: random(4) === 0,
  daysAgo: random(3) === 0 ? random(60) : 0,
  target: random(50),
})

/** A loan of the book, and when the sweep looks at it again. */
interface OpenLoan {
  readonly loan: RandomLoan
  nextChangeAt: number | null
  commands: number
}

class Book {
  readonly journal = new DayJournal()
  /** What the loans that are not open any more contribute, by a replay, by method and currency. */
  readonly replayed = new Map<string, SlotAmounts>()
  readonly done = new Map<string, number>()
  loans = 0
  accepted = 0
  refused = 0
  private open: OpenLoan[] = []
  private now = BEGIN

  /** Gives the next command to one of the loans. */
  command(): void {
    this.passTime(this.now + Math.floor((DAY_MS / COMMANDS_A_DAY) * (0.5 + random(1000) / 1000)))
    const index = random(OPEN_LOANS)
    const one = this.open[index]
    if (!one) {
      this.open.push(this.newLoan())
      return
    }
    this.sweep(one)
    const command = randomCommand()
    const decision = decide(one.loan, command, this.now)
    if (decision) {
      this.accepted++
      this.book(one, one.loan.decided(decision, this.now))
      const what = decision.posted && !decision.reversed ? decision.posted.type : command.does
      this.done.set(what, (this.done.get(what) ?? 0) + 1)
    } else this.refused++
    if (++one.commands < COMMANDS_A_LOAN) return
    this.check(one)
    this.open[index] = this.newLoan()
  }

  private newLoan(): OpenLoan {
    this.loans++
    const one: OpenLoan = { loan: loanOf(randomLoan(), this.now), nextChangeAt: null, commands: 0 }
    this.book(one, one.loan.disbursed(this.now))
    return one
  }

  private book(one: OpenLoan, change: ReturnType<RandomLoan['disbursed']>): void {
    this.journal.book(change, one.loan.terms.currency.code)
    one.nextChangeAt = one.loan.stateAt(this.now).nextChangeAt
  }

  /** Books what time has changed, only where it is said that time has: as the sweep of the service does. */
  private sweep(one: OpenLoan): void {
    if (one.nextChangeAt === null || one.nextChangeAt > this.now) return
    const on = dateIn(ZONE, Math.max(one.loan.terms.disbursedAt, one.nextChangeAt - 1))
    this.book(one, one.loan.timePassed(this.now, on))
  }

  private passTime(to: number): void {
    const before = dateIn(ZONE, this.now)
    this.now = to
    const today = dateIn(ZONE, to)
    if (today === before) return
    for (const one of this.open) this.sweep(one)
    // Months are closed in the first days of the next, or together with it.
    const lastDay = dateIn(ZONE, startOfDay(`${today.slice(0, 7)}-01`, ZONE) - 1)
    const last = this.journal.closed.at(-1)?.lastDay ?? '2026-01-31'
    if (lastDay > last && random(6) === 0 && random(60) > 0)
      for (const day of monthEnds(last, lastDay)) this.journal.close(day)
  }

  /** Requires that the postings of a loan sum to what it contributes by a replay of its entries. */
  private check({ loan }: OpenLoan): void {
    const state = loan.replayed(this.now)
    for (const method of METHODS) {
      const contributed = contributionOf(method, state)
      expect(loan.booked[method]).toEqual(contributed)
      const key = keyOf(method, loan.terms.currency.code)
      this.replayed.set(key, plusAmounts(this.replayed.get(key) ?? NO_AMOUNTS, contributed))
    }
  }

  /** Checks the loans that are still open. */
  end(): void {
    for (const one of this.open) {
      this.sweep(one)
      this.check(one)
    }
  }
}

/** Returns the last days of the months after one and up to another. */
function monthEnds(after: string, to: string): string[] {
  const ends: string[] = []
  for (let day = after; day < to; ) {
    const nextMonth = startOfDay(dayAfter(day), ZONE) + 32 * DAY_MS
    day = dateIn(ZONE, startOfDay(`${dateIn(ZONE, nextMonth).slice(0, 7)}-01`, ZONE) - 1)
    ends.push(day)
  }
  return ends
}

it(`keeps the books of ${COMMANDS} random commands, over closed months`, () => {
  const book = new Book()
  const { journal } = book
  const begun = performance.now()
  while (book.accepted < COMMANDS) book.command()
  book.end()
  const seconds = (performance.now() - begun) / 1000
  // What closed months showed, they show still.
  const months = journal.closed.map(({ lastDay }) => lastDay)
  expect(journal.trialBalances(months)).toEqual(journal.closed.map(({ trialBalance }) => trialBalance))
  expect(journal.isBalancedByMonth()).toBe(true)
  const totals = journal.totals()
  for (const [key, contributed] of book.replayed) expect(lessAmounts(totals.get(key)!, contributed)).toEqual(NO_AMOUNTS)
  expect([...totals.keys()].toSorted()).toEqual([...book.replayed.keys()].toSorted())
  for (const type of [...POSTED_TYPES, 'reverse', 'adjust', 'restate']) expect(book.done.get(type)).toBeGreaterThan(10)
  expect(months.length).toBeGreaterThan(COMMANDS / 3000)
  expect(journal.late).toBeGreaterThan(100)
  const done = [...book.done].map(([what, times]) => `${what} ${times}`).join(', ')
  console.info(
    `${COMMANDS} accepted commands of seed ${SEED} in ${seconds.toFixed(0)} s: ${book.loans} loans, ${journal.postings} postings ` +
      `(${journal.late} late) over ${months.length} closed months; ${book.refused} more were refused; ${done}`,
  )
}, 1_200_000)
