import type { Instant, LocalDate } from '../../dates.ts'
import { dateIn, sameTimeOn } from '../../dates.ts'
import { applyRate, type Currency, type Decimal, type Rate } from '../../money.ts'
import { type Product, principalFor, requireWithinCap } from '../../product/product.ts'
import { type Instalment, productSchedule } from '../../schedule/schedule.ts'
import type { Entry } from '../entry.ts'
import type { HeldDays } from '../rules/heldDaysText.ts'
import { type LoanRules, rulesOf } from '../rules/loanRules.ts'

/** The terms of a loan: fixed at disbursement, until a change of terms. Amounts in minor units. */
export interface LoanTerms {
  readonly currency: Currency
  /** The time zone in which the loan's days begin and end. */
  readonly zone: string
  readonly principal: bigint
  readonly numberOfRepayments: number
  readonly ratePerPeriod: Rate
  /** Raised once, at `dueAt`, when anything is unpaid then; null: none. */
  readonly penaltyAmount: bigint | null
  readonly disbursedAt: Instant
  readonly disbursedOn: LocalDate
  /** The last due date, and that day at the disbursement's time of day. */
  readonly dueOn: LocalDate
  readonly dueAt: Instant
  /** Null: those of contract 4.3. */
  readonly rules: LoanRules | null
  /** Days on which no penalty is raised, apart from each other, ascending; left out: none. They may be added later. */
  readonly penaltyHolds?: readonly HeldDays[] | undefined
  readonly schedule: readonly Instalment[]
}

/** The terms of a loan without its schedule. */
export type HeadTerms = Omit<LoanTerms, 'schedule'>

/**
 * Returns the terms of a partner-style loan: the product's, for the requested principal (contract 4.2, 4.3.1–2).
 * @throws LendingError `failed_precondition` for a retired product, `invalid_argument` for the principal
 */
export function termsOf(product: Product, requested: Decimal, disbursedAt: Instant, zone: string): LoanTerms {
  const terms = termsFor(product, principalFor(product, requested), disbursedAt, zone)
  requireWithinCap(product, terms.principal, terms.schedule)
  return terms
}

/** Returns the terms that a product makes of a principal, in minor units, even where the product is retired. */
export function termsFor(product: Product, principal: bigint, disbursedAt: Instant, zone: string): LoanTerms {
  const disbursedOn = dateIn(zone, disbursedAt)
  const schedule = productSchedule({ ...product, principal, disbursedOn })
  const dueOn = schedule.at(-1)!.dueDate
  const penalty = product.penaltyRate === null ? 0n : applyRate(principal, product.penaltyRate)
  return {
    currency: product.currency,
    zone,
    principal,
    numberOfRepayments: product.numberOfRepayments,
    ratePerPeriod: product.ratePerPeriod,
    penaltyAmount: penalty > 0n ? penalty : null,
    disbursedAt,
    disbursedOn,
    dueOn,
    dueAt: sameTimeOn(dueOn, disbursedAt, zone),
    rules: rulesOf(product, principal, schedule),
    schedule,
  }
}

/** Returns the last due date of the schedule in force, and that day at the disbursement's time of day. */
export function dueInForce(
  { dueOn, dueAt, disbursedAt, zone }: HeadTerms,
  { restructuredDueOn: on }: { readonly restructuredDueOn: LocalDate | null },
): Pick<HeadTerms, 'dueOn' | 'dueAt'> {
  return on === null || on === dueOn ? { dueOn, dueAt } : { dueOn: on, dueAt: sameTimeOn(on, disbursedAt, zone) }
}

/** A loan is its terms and its entries (in the order of posting). */
export interface Loan {
  readonly terms: LoanTerms
  readonly entries: readonly Entry[]
}
