import fc from 'fast-check'
import { addPeriods, dateIn, type Instant, type LocalDate } from '../../../src/domain/dates.ts'
import { LendingError } from '../../../src/domain/errors.ts'
import type { Entry, NewEntry, PostableType } from '../../../src/domain/loan/entry.ts'
import { type Decision, type Loan, post, reverse, stateOf } from '../../../src/domain/loan/loan.ts'
import { RESTRUCTURE_REASONS } from '../../../src/domain/loan/restructure/plan.ts'
import {
  type AskedChange,
  type RestructureRequest,
  restructureLoan,
  reverseRestructure,
} from '../../../src/domain/loan/restructure/restructureLoan.ts'
import { type LoanTerms, termsFor } from '../../../src/domain/loan/terms/terms.ts'
import { RATE_PERIODS } from '../../../src/domain/product/terms.ts'
import type { Lent } from '../terms/anyLent.ts'

export const ZONE = 'Africa/Nairobi'

/** What is asked for of a restructure, in proportion to the loan at the time. */
export interface AnyRestructure {
  readonly kind: AskedChange['kind']
  /** Days, periods, instalments, or thousandths of what is owed. */
  readonly size: number
  readonly hasNewDistance: boolean
  readonly interest: RestructureRequest['interest']
  readonly reason: RestructureRequest['reason']
  readonly fee: RestructureRequest['fee']
  /** Of each component, thousandths of what is owed of it; 0: none is waived. */
  readonly waive: { readonly penalty: number; readonly fees: number; readonly interest: number }
  readonly ago: number
}

const rarely = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 1_000 }) },
)

export const anyRestructure: fc.Arbitrary<AnyRestructure> = fc.record({
  kind: fc.constantFrom('newFirstDueDate', 'postponeBy', 'numberOfRepayments', 'instalmentAmount', 'until'),
  size: fc.integer({ min: 1, max: 60 }),
  hasNewDistance: fc.boolean(),
  interest: fc.oneof(
    fc.constantFrom('keep' as const, 'none' as const),
    fc.record({ rate: fc.bigInt(0n, 20_000_000n), ratePer: fc.constantFrom(...RATE_PERIODS) }),
  ),
  reason: fc.constantFrom(...RESTRUCTURE_REASONS),
  fee: fc.oneof(
    fc.constant(null),
    fc.record({
      name: fc.constant('Extension'),
      amount: fc.bigInt(1n, 900n).map((units) => ({ units, scale: 0 })),
      treatment: fc.constantFrom('due_now' as const, 'added' as const),
    }),
  ),
  waive: fc.record({ penalty: rarely, fees: rarely, interest: rarely }),
  ago: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 40 }) }),
})

/** One thing that happens to a loan. */
export interface AnyStep {
  readonly does: 'post' | 'pay' | 'restructure' | 'reverse restructure' | 'reverse' | 'wait'
  readonly type: PostableType
  /** Thousandths of what it is about. */
  readonly share: number
  readonly hours: number
  readonly ago: number
  readonly target: number
  readonly restructure: AnyRestructure
}

/** Returns any step of some kinds; one that is named twice comes twice as often. */
export const anyStepOf = (does: readonly AnyStep['does'][]): fc.Arbitrary<AnyStep> =>
  fc.record({
    does: fc.constantFrom(...does),
    type: fc.constantFrom(
      ...(['Waive Interest', 'Refund', 'Fee', 'Penalty', 'Charge-off', 'Write-off', 'Recovery Repayment'] as const),
      ...(['Credit Balance Refund', 'Fee', 'Penalty', 'Waive Interest'] as const),
    ),
    share: fc.integer({ min: 1, max: 1_100 }),
    hours: fc.integer({ min: 1, max: 1_200 }),
    ago: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 30 }) }),
    target: fc.nat({ max: 30 }),
    restructure: anyRestructure,
  })

const KINDS = [
  'pay',
  'pay',
  'pay',
  'post',
  'restructure',
  'restructure',
  'reverse restructure',
  'reverse',
  'wait',
] as const

export const anySteps = fc.array(anyStepOf(KINDS), { minLength: 2, maxLength: 12 })

const HOUR_MS = 3_600_000

/** A loan to which things happen, as a client of the domain sees it. */
export class LivedLoan {
  loan: Loan
  now: Instant
  private readonly lent: Lent

  constructor(lent: Lent, terms: LoanTerms = termsFor(lent.product, lent.principal, lent.disbursedAt, ZONE)) {
    this.lent = lent
    this.loan = { terms, entries: [] }
    this.now = lent.disbursedAt
  }

  get today(): LocalDate {
    return dateIn(ZONE, this.now)
  }

  get state() {
    return stateOf(this.loan, this.now)
  }

  wait(hours: number): void {
    this.now += hours * HOUR_MS
  }

  /** Saves decisions, as the service does. */
  save(decisions: readonly Decision[]): void {
    for (const { posted, reversed } of decisions) {
      const marked = this.loan.entries.map((entry) =>
        entry.id === reversed?.id ? { ...entry, reversedAt: this.now } : entry,
      )
      this.loan = { terms: this.loan.terms, entries: posted ? [...marked, withId(posted)] : marked }
    }
  }

  /** Does what a step says. @returns the decisions that were saved; undefined where the loan refused */
  does(step: AnyStep): Decision[] | undefined {
    this.wait(step.hours)
    try {
      const decisions = this.decide(step)
      this.save(decisions)
      return decisions
    } catch (error) {
      if (error instanceof LendingError) return undefined
      throw error
    }
  }

  /** Returns the decisions of a restructure. @throws LendingError */
  restructured(asked: AnyRestructure): Decision[] {
    const { product } = this.lent
    const ground = { every: { every: product.repayEvery, unit: product.repayUnit }, limits: null }
    return restructureLoan(this.loan, this.requestOf(asked), ground, this.now)
  }

  private decide(step: AnyStep): Decision[] {
    const { entries } = this.loan
    const open = entries.filter(({ reversedAt }) => reversedAt === null)
    const valueDate = this.daysAgo(step.ago)
    switch (step.does) {
      case 'wait':
        return []
      case 'restructure':
        return this.restructured(step.restructure)
      case 'reverse restructure': {
        const made = open.filter(({ type }) => type === 'Restructure')
        const one = made[step.target % made.length]
        return one ? reverseRestructure(this.loan, one.id, this.now, null) : []
      }
      case 'reverse': {
        const alone = open.filter(({ restructure, type }) => !restructure && type !== 'Settlement Waiver')
        const one = alone[step.target % alone.length]
        return one ? [reverse(this.loan, one.id, this.now, null)] : []
      }
      default: {
        const type = step.does === 'pay' ? 'Repayment' : step.type
        const amount = type === 'Charge-off' || type === 'Write-off' ? null : this.amountOf(type, step.share)
        const token = null
        return [post(this.loan, { type, amount, valueDate, token, note: 'a note' }, this.now)]
      }
    }
  }

  private daysAgo(ago: number): LocalDate {
    const day = addPeriods(this.today, -ago, 'days')
    return day < this.loan.terms.disbursedOn ? this.loan.terms.disbursedOn : day
  }

  private amountOf(type: PostableType, share: number) {
    const { totalOutstanding, outstanding, totalPaid, totalOverpaid } = this.state
    const about =
      type === 'Waive Interest'
        ? outstanding.interest
        : type === 'Refund'
          ? totalPaid
          : type === 'Credit Balance Refund'
            ? totalOverpaid
            : type === 'Repayment'
              ? totalOutstanding / 2n
              : totalOutstanding / 20n
    const units = (about * BigInt(share)) / 1_000n
    return { units: units > 0n ? units : 1n, scale: this.loan.terms.currency.decimals }
  }

  private requestOf(asked: AnyRestructure): RestructureRequest {
    const { outstanding } = this.state
    const scale = this.loan.terms.currency.decimals
    const partOf = (owed: bigint, thousandths: number) => {
      const units = (owed * BigInt(thousandths)) / 1_000n
      return units > 0n ? { units, scale } : undefined
    }
    const [penalty, fees, interest] = (['penalty', 'fees', 'interest'] as const).map((one) =>
      partOf(outstanding[one], asked.waive[one]),
    )
    return {
      effectiveDate: asked.ago === 0 ? undefined : this.daysAgo(asked.ago),
      change: this.changeOf(asked),
      interest: asked.interest,
      fee: asked.fee,
      waive: { ...(penalty && { penalty }), ...(fees && { fees }), ...(interest && { interest }) },
      reason: asked.reason,
      note: null,
    }
  }

  private changeOf({ kind, size, hasNewDistance }: AnyRestructure): AskedChange {
    const later = addPeriods(this.today, size * 3, 'days')
    switch (kind) {
      case 'newFirstDueDate':
      case 'until':
        return { kind, on: later }
      case 'postponeBy':
        return { kind, periods: 1 + (size % 6) }
      case 'numberOfRepayments':
        return { kind, count: size, every: hasNewDistance ? { every: 1 + (size % 3), unit: 'weeks' } : null }
      case 'instalmentAmount': {
        const { units } = this.amountOf('Repayment', (2_000 / (1 + (size % 20))) | 0)
        return { kind, amount: { units, scale: this.loan.terms.currency.decimals } }
      }
    }
  }
}

const withId = (posted: NewEntry): Entry => ({ ...posted, id: posted.id ?? BigInt(posted.ordinal) })

/** Returns the loan after all steps. */
export function lived(
  lent: Lent,
  steps: readonly AnyStep[],
  visit?: (loan: LivedLoan, step: AnyStep) => void,
): LivedLoan {
  const loan = new LivedLoan(lent)
  for (const step of steps) {
    if (visit) visit(loan, step)
    loan.does(step)
  }
  return loan
}
