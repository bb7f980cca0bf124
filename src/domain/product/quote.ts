import { daysBetween, type LocalDate } from '../dates.ts'
import { sum } from '../money.ts'
import { feeTaxesIn, feeTaxesOf } from '../schedule/fees.ts'
import { type Instalment, productSchedule } from '../schedule/schedule.ts'
import { interestTaxesIn, withoutInterestTax } from '../schedule/taxes.ts'
import type { Product } from './product.ts'
import { feesDeducted, requireWithinCap } from './product.ts'
import { isTaxed } from './terms.ts'

/** What a loan would cost; amounts in minor units. */
export interface Quote {
  readonly product: Product
  readonly principal: bigint
  /** What is paid out: the principal without the fees that are deducted. */
  readonly netDisbursed: bigint
  readonly disbursedOn: LocalDate
  readonly schedule: readonly Instalment[]
  readonly totalInterest: bigint
  /** The taxes in interest and fees; null for a product without any. */
  readonly taxes: QuotedTaxes | null
  /** Deducted ones too. */
  readonly totalFees: bigint
  readonly feesDeducted: bigint
  /** What is due in all instalments: the principal, the interest, and the fees that are not deducted. */
  readonly totalDue: bigint
  /** The annual percentage rate; null where it is beyond what is answered. */
  readonly apr: number | null
}

/** The taxes in the charges of a quote. Amounts in minor units. */
interface QuotedTaxes {
  /** Of each instalment. */
  readonly due: readonly bigint[]
  /** With those in the fees that are deducted. */
  readonly total: bigint
}

function taxesIn({ terms }: Product, principal: bigint, schedule: readonly Instalment[]): QuotedTaxes | null {
  if (terms === null || !isTaxed(terms)) return null
  const { fees, interestTax } = terms
  const cells = withoutInterestTax(schedule, interestTax)
  const ofInterest = interestTaxesIn(schedule, interestTax)
  const due = feeTaxesIn(fees, principal, cells).map((tax, index) => tax + ofInterest[index]!)
  return { due, total: sum(due) + sum(feeTaxesOf(fees, principal, cells).map(({ deducted }) => deducted)) }
}

/**
 * Returns what a loan of a principal, in minor units, would cost if it were paid out on a day (contract 10.6).
 * @throws LendingError `invalid_argument` for a principal whose charges are above the cap
 */
export function quoteOf(product: Product, principal: bigint, disbursedOn: LocalDate): Quote {
  const schedule = productSchedule({ ...product, principal, disbursedOn })
  requireWithinCap(product, principal, schedule)
  const flows = schedule.map((line) => ({ on: line.dueDate, amount: line.principal + line.interest + line.fees }))
  const deducted = feesDeducted(product, principal)
  const netDisbursed = principal - deducted
  return {
    product,
    principal,
    netDisbursed,
    disbursedOn,
    schedule,
    taxes: taxesIn(product, principal, schedule),
    totalInterest: sum(schedule.map(({ interest }) => interest)),
    totalFees: sum(schedule.map(({ fees }) => fees)) + deducted,
    feesDeducted: deducted,
    totalDue: sum(flows.map(({ amount }) => amount)),
    apr: aprOf(netDisbursed, disbursedOn, flows),
  }
}

/** The days of a year by which cash flows are dated. */
const DAYS_OF_YEAR = 365
/** The highest rate that is answered, in percent; the limit keeps the solver within what a double can hold. */
const HIGHEST = 1_000_000
/** Halvings of the interval of a logarithm below 10: the last is narrower than a double can tell. */
const HALVINGS = 60

/** Money that is due on a day. */
interface CashFlow {
  readonly on: LocalDate
  /** Minor units. */
  readonly amount: bigint
}

/**
 * Returns the annual percentage rate of a loan, with two decimals: the i for which Σ amount / (1 + i)^(days / 365) is
 * what was paid out, in percent. What is due never sums to less than that, so there is one i, of at least 0. The solver
 * halves the interval of ln(1 + i) a fixed number of times.
 * @param netDisbursed minor units, above 0
 * @returns null where i is above a million percent
 */
function aprOf(netDisbursed: bigint, disbursedOn: LocalDate, due: readonly CashFlow[]): number | null {
  const flows = due.map(({ on, amount }) => [Number(amount), daysBetween(disbursedOn, on) / DAYS_OF_YEAR] as const)
  const lent = Number(netDisbursed)
  const excess = (force: number) =>
    flows.reduce((total, [amount, years]) => total + amount * Math.exp(-force * years), -lent)
  let [low, high] = [0, Math.log1p(HIGHEST / 100)]
  if (excess(high) > 0) return null
  if (excess(low) <= 0) return 0
  for (let step = 0; step < HALVINGS; step++) {
    const middle = (low + high) / 2
    if (excess(middle) > 0) low = middle
    else high = middle
  }
  return Math.round(Math.expm1((low + high) / 2) * 10_000) / 100
}
