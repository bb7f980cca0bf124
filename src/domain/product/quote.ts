import type { LocalDate } from '../dates.ts'
import { sum } from '../money.ts'
import { type Instalment, productSchedule } from '../schedule/schedule.ts'
import { aprOf } from './apr.ts'
import { feesDeducted, requireWithinCap } from './charges.ts'
import type { Product } from './product.ts'

/** What a loan would cost; amounts in minor units. */
export interface Quote {
  readonly product: Product
  readonly principal: bigint
  /** What is paid out: the principal without the fees that are deducted. */
  readonly netDisbursed: bigint
  readonly disbursedOn: LocalDate
  readonly schedule: readonly Instalment[]
  readonly totalInterest: bigint
  /** Deducted ones too. */
  readonly totalFees: bigint
  readonly feesDeducted: bigint
  /** What is due in all instalments: the principal, the interest, and the fees that are not deducted. */
  readonly totalDue: bigint
  /** The annual percentage rate; null where it is beyond what is answered. */
  readonly apr: number | null
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
    totalInterest: sum(schedule.map(({ interest }) => interest)),
    totalFees: sum(schedule.map(({ fees }) => fees)) + deducted,
    feesDeducted: deducted,
    totalDue: sum(flows.map(({ amount }) => amount)),
    apr: aprOf(netDisbursed, disbursedOn, flows),
  }
}
