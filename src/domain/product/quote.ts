import type { LocalDate } from '../dates.ts'
import { sum } from '../money.ts'
import { type Instalment, productSchedule } from '../schedule/schedule.ts'
import { aprOf } from './apr.ts'
import type { Product } from './product.ts'

/** What a loan would cost; amounts in minor units. */
export interface Quote {
  readonly product: Product
  readonly principal: bigint
  readonly disbursedOn: LocalDate
  readonly schedule: readonly Instalment[]
  readonly totalInterest: bigint
  readonly totalFees: bigint
  /** The annual percentage rate; null where it is beyond what is answered. */
  readonly apr: number | null
}

/** Returns what a loan of a principal, in minor units, would cost if it were paid out on a day (contract 10.6). */
export function quoteOf(product: Product, principal: bigint, disbursedOn: LocalDate): Quote {
  const schedule = productSchedule({ ...product, principal, disbursedOn })
  const flows = schedule.map((line) => ({ on: line.dueDate, amount: line.principal + line.interest + line.fees }))
  return {
    ...{ product, principal, disbursedOn, schedule },
    totalInterest: sum(schedule.map(({ interest }) => interest)),
    totalFees: sum(schedule.map(({ fees }) => fees)),
    apr: aprOf(principal, disbursedOn, flows),
  }
}
