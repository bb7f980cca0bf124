import { sum } from '../../money.ts'
import { taxIn } from '../../schedule/taxes.ts'
import type { Portions } from '../portions.ts'
import type { LoanRules } from './loanRules.ts'

/** The tax of a name in the charges of a loan, in minor units. */
export interface ChargedTax {
  readonly name: string
  readonly amount: bigint
}

/** Returns the taxes in what a loan was charged, by name; none for a loan without taxes. */
export function chargedTaxes(rules: LoanRules | null, charged: Readonly<Portions>): ChargedTax[] {
  const { interest = null, fees = [] } = rules?.taxes ?? {}
  const all = [
    ...(interest ? [{ name: interest.name, amount: taxIn(charged.interest, interest) }] : []),
    ...fees.map(({ name, added, deducted }) => ({ name, amount: added + deducted })),
  ]
  return [...new Set(all.map(({ name }) => name))].map((name) => ({
    name,
    amount: sum(all.filter((tax) => tax.name === name).map(({ amount }) => amount)),
  }))
}
