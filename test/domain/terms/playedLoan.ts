import { LendingError } from '../../../src/domain/errors.ts'
import type { Entry } from '../../../src/domain/loan/entry.ts'
import { adjust, type Decision, type Loan, type Posting, post, reverse } from '../../../src/domain/loan/loan.ts'
import type { Outcome } from '../../../src/domain/loan/outcomes.ts'
import { type LoanState, replay } from '../../../src/domain/loan/replay.ts'
import { settle, settledDayOf, settlementOn } from '../../../src/domain/loan/rules/earlySettlement.ts'
import { type LoanTerms, termsFor } from '../../../src/domain/loan/terms/terms.ts'
import { daysBefore, lastMoment, momentAfter, momentsOf, type Step } from './anyHistory.ts'
import type { Lent } from './anyLent.ts'
import { dateOf, dayAt } from './naive/calendar.ts'
import { type Life, lifeOf } from './naive/life.ts'
import { type NaiveLoan, naiveLoan, type Transaction } from './naive/loan.ts'
import { type About, aboutOf, amountsOf, effectOf, type SeenLoan } from './naive/seen.ts'

const ZONE = 'Africa/Nairobi'

/** A loan to which a history happens, by the decisions of the domain; beside it the model, which reads the entries. */
export class PlayedLoan {
  readonly terms: LoanTerms
  readonly naive: NaiveLoan
  entries: readonly Entry[] = []
  now: number
  accepted = 0
  refused = 0
  settled = 0
  /** The state after the last decision, as that decision has it. */
  decided: Decision['state'] | undefined
  private readonly moments: readonly number[]

  constructor({ product, principal, disbursedAt }: Lent) {
    this.terms = termsFor(product, principal, disbursedAt, ZONE)
    this.naive = naiveLoan(product, principal, disbursedAt, this.terms.schedule)
    this.now = disbursedAt
    this.moments = momentsOf(this.naive)
  }

  /** Lets the clock go on to a step. */
  goOn({ clock }: Step): void {
    this.now = momentAfter(this.now, clock, this.moments, lastMoment(this.naive))
  }

  /** Does a step, where the loan takes it. */
  do(step: Step): void {
    this.goOn(step)
    this.decided = undefined
    if (step.does === 'look') return
    try {
      const decision = this.decide(step)
      if (!decision) return
      this.change(decision)
      this.accepted++
    } catch (error) {
      if (!(error instanceof LendingError)) throw error
      this.refused++
    }
  }

  whole(): Loan {
    return { terms: this.terms, entries: this.entries }
  }

  /** Saves a decision, and posts the settlement waivers that it makes necessary, as the service does. */
  change(decision: Decision): void {
    this.save(decision)
    for (let day = settledDayOf(this.whole()); day !== undefined; day = settledDayOf(this.whole())) {
      const { waiver, cause } = settle(this.whole(), decision, day, this.now)
      this.save({ ...waiver, state: cause.state })
      this.settled++
    }
  }

  /** The entries as the model reads them: it has no restructures. */
  get transactions(): readonly Transaction[] {
    return this.entries as readonly Transaction[]
  }

  state(asOf = this.now): LoanState {
    return replay(this.terms, this.entries, asOf)
  }

  life(asOf = this.now): Life {
    return lifeOf(this.naive, this.transactions, asOf)
  }

  /** Returns the loan of the domain. */
  seen(asOf = this.now): SeenLoan {
    const { status, totalOverpaid, penaltiesRaised, interestAfterDue, chargedOffOn, closedOn, periods, outcomes } =
      this.state(asOf)
    const {
      waived: interestWaived,
      amount: settlementAmount,
      overpaid,
    } = settlementOn(this.whole(), dateOf(dayAt(asOf)))
    return {
      ...{ status, overpaid: totalOverpaid, penaltiesRaised, interestAfterDue, chargedOffOn, closedOn },
      settlementDay: settledDayOf(this.whole())?.on ?? null,
      quote: { interestWaived, settlementAmount, overpaid },
      instalments: periods.map((period) => ({
        dueDate: period.dueDate,
        completedOn: period.completedOn,
        amounts: amountsOf(period),
      })),
      effects: Object.fromEntries(
        this.entries.flatMap((entry) => {
          const outcome = outcomes.get(entry.ordinal)
          return outcome ? [[entry.ordinal, effectSeen(entry, outcome)]] : []
        }),
      ),
    }
  }

  /** Moments at which time alone may have changed the loan, after now. */
  later(): number[] {
    const next = this.moments.filter((moment) => moment > this.now)
    return [...next.slice(0, 2).flatMap((moment) => [moment - 1, moment]), lastMoment(this.naive)]
  }

  private decide(step: Step): Decision | undefined {
    const { does, share, isExact, target } = step
    const posting = this.wouldPost(step)
    if (posting) return post(this.whole(), posting, this.now)
    const open = this.entries.filter(({ reversedAt }) => reversedAt === null)
    const original = open[target % open.length]
    if (!original) return undefined
    if (does === 'reverse') return reverse(this.whole(), original.id, this.now, null)
    const units = (original.amount * BigInt(share)) / 600n
    const adjusted = { units, scale: this.terms.currency.decimals }
    const valueDate = isExact ? this.valueDateOf(step) : undefined
    return adjust(this.whole(), original.id, { amount: adjusted, valueDate, note: null }, this.now)
  }

  private valueDateOf({ ago }: Step): string {
    return dateOf(daysBefore(dayAt(this.now), ago, this.naive.disbursedOn))
  }

  /** Returns the posting of a step now; undefined where the step posts nothing of its own. */
  wouldPost(step: Step): Posting | undefined {
    const { does, type, share, isExact, dueIn } = step
    if (does === 'pay off') return this.posting('Repayment', this.quoted(), undefined)
    if (does !== 'post') return undefined
    const amount = amountFor(type, aboutOf(this.life().debt), share, isExact)
    if (type !== 'Fee' && type !== 'Penalty') return this.posting(type, amount, this.valueDateOf(step))
    const dueOn = dateOf(Math.max(dayAt(this.now) + dueIn, this.naive.disbursedOn))
    return { ...this.posting(type, amount, undefined), dueOn }
  }

  /** Returns what settles the loan today. */
  private quoted(): bigint {
    const { settlementAmount } = this.life().quote
    return settlementAmount > 0n ? settlementAmount : 1n
  }

  private posting(type: Step['type'], amount: bigint, valueDate: string | undefined): Posting {
    const isMark = type === 'Charge-off' || type === 'Write-off'
    const asked = isMark ? null : { units: amount, scale: this.terms.currency.decimals }
    return { type, amount: asked, valueDate, token: null, note: null }
  }

  private save({ posted, reversed, state }: Decision): void {
    const entries = this.entries.map((entry) => (entry === reversed ? { ...entry, reversedAt: this.now } : entry))
    this.decided = state
    this.entries = posted ? [...entries, { ...posted, id: BigInt(posted.ordinal) }] : entries
  }
}

/** Plays a history. */
export function played(lent: Lent, steps: readonly Step[]): PlayedLoan {
  const loan = new PlayedLoan(lent)
  for (const step of steps) loan.do(step)
  return loan
}

/** Returns what an entry did. Of a charge it is the amount, whether overpayment paid it or not: the contract does not say. */
function effectSeen({ type }: Entry, { portions, overpayment }: Outcome): Record<string, bigint> {
  if (type !== 'Fee' && type !== 'Penalty') return effectOf({ parts: portions, overpayment })
  const part = type === 'Fee' ? 'fees' : 'penalty'
  return effectOf({ parts: { ...portions, [part]: portions[part] + overpayment }, overpayment: 0n })
}

/** Returns an amount in proportion to what a transaction of the type is about, at least 1. */
function amountFor(type: Step['type'], about: About, share: number, isExact: boolean): bigint {
  const whole = {
    ...{ Repayment: about.owed, 'Waive Interest': about.interestOwed, 'Credit Balance Refund': about.overpaid },
    ...{
      Refund: about.overpaid > 0n ? about.overpaid : about.paid,
      'Recovery Repayment': about.owed + about.writtenOff,
    },
    ...{ 'Charge-off': 1n, 'Write-off': 1n, Fee: about.owed / 8n, Penalty: about.owed / 8n },
  }[type]
  const amount = isExact ? whole : (whole * BigInt(share)) / 1_000n
  return amount > 0n ? amount : 1n
}
