import { outstandingOf, type Totals } from '../loan/allocation.ts'
import type { Balances, Recognition } from '../loan/balances.ts'
import { type Portions, totalOf } from '../loan/portions.ts'
import { min } from '../money.ts'
import { taxAtRate } from '../schedule/taxes.ts'
import { amountsBy, NO_AMOUNTS, type SlotAmounts } from './slots.ts'

/** The ways in which a lender recognises income. */
export const METHODS = ['cash', 'accrual_upfront', 'accrual_periodic'] as const

export type Method = (typeof METHODS)[number]

/** Returns whether a text is the name of a method. */
export const isMethod = (text: string | null): text is Method => METHODS.some((method) => method === text)

/** The balances of a loan that decide what it contributes to the accounts. */
export type Contributing = Pick<
  Balances,
  'charged' | 'paid' | 'waived' | 'writtenOff' | 'totalRecovered' | 'totalOverpaid'
> &
  Recognition

/** The totals of a loan that is not charged off. */
interface Performing extends Omit<Totals, 'recovered'>, Pick<Recognition, 'unearned' | 'forgone'> {}

/**
 * Returns what a loan contributes to each account: A of its balances (contract 9.1). The posting of a change is A after it
 * less A before it. The amounts always sum to zero: money that came in less money that went out is what is owed, what was
 * lost and what was earned. A fee that is deducted is money that did not go out, and is earned at disbursement.
 */
export function contributionOf(method: Method, loan: Contributing): SlotAmounts {
  const { charged: due, paid, waived, writtenOff, unearned, forgone, atChargeOff, totalRecovered, totalOverpaid } = loan
  const { deducted, taxes, fromPayments } = loan
  const money = {
    cash: totalOf(paid) + totalRecovered + totalOverpaid - due.principal + deducted - fromPayments,
    // Money that was received before it was allocated is in suspense until then.
    payments_in_suspense: fromPayments,
    overpayments: -totalOverpaid,
  }
  if (atChargeOff === null) {
    const owed = OF_METHOD[method]({ due, paid, waived, writtenOff, unearned, forgone })
    return { ...NO_AMOUNTS, ...owed, ...money, ...earnedOf(owed, deducted, taxes), recoveries: -totalRecovered }
  }
  // The books stand as they were; what was owed is expensed, and money is recovered. Money that goes out again was
  // recovered before; beyond that, it is a further loss.
  const then = OF_METHOD[method](atChargeOff)
  const assets = ASSETS.reduce((sum, slot) => sum + (then[slot] ?? 0n), 0n)
  const received = totalOf(paid) - totalOf(atChargeOff.paid)
  const recovered = received > 0n ? received : 0n
  const settled = amountsBy((slot) => (ASSETS.includes(slot) ? 0n : (then[slot] ?? 0n)))
  return {
    ...settled,
    ...money,
    ...earnedOf(settled, deducted, taxes),
    charge_offs: assets + due.principal - atChargeOff.due.principal - (received - recovered),
    recoveries: -(totalRecovered + recovered),
  }
}

/**
 * Returns what is earned, without the tax in it, which is owed from the same moment on. Of fees, the tax is recognised first: the sum
 * of it is fixed when the loan is made. Tax stays owed where what it is on is waived or lost later.
 */
function earnedOf(
  { interest_income: interest, fee_income: fees }: Pick<SlotAmounts, 'interest_income' | 'fee_income'>,
  deducted: bigint,
  taxes: Recognition['taxes'],
): Partial<SlotAmounts> {
  if (taxes === null) return { fee_income: fees - deducted }
  const [ofInterest, ofFees] = [taxAtRate(-interest, taxes.interest), min(-fees, taxes.fees) + taxes.deducted]
  return {
    interest_income: interest + ofInterest,
    fee_income: fees - deducted + ofFees,
    tax_payable: -(ofInterest + ofFees),
  }
}

/** What a charge-off takes out of the books. */
const ASSETS: readonly (keyof SlotAmounts)[] = [
  'loan_portfolio',
  'interest_receivable',
  'fees_receivable',
  'penalties_receivable',
  'unearned_interest',
]

const OF_METHOD: Record<
  Method,
  (loan: Performing) => Partial<SlotAmounts> & Pick<SlotAmounts, 'interest_income' | 'fee_income'>
> = {
  cash: ({ due, paid, waived, writtenOff }) => ({
    loan_portfolio: owedOf({ due, paid, waived, writtenOff }).principal,
    interest_income: -paid.interest,
    fee_income: -paid.fees,
    penalty_income: -paid.penalty,
    waivers: waived.principal,
    write_offs: writtenOff.principal,
  }),
  accrual_upfront: (loan) => accrued(loan),
  accrual_periodic: (loan) => {
    const { unearned, forgone } = loan
    const upfront = accrued(loan)
    const forgoneOf = (part: 'interest' | 'fees') => forgone.waived[part] + forgone.writtenOff[part]
    return {
      ...upfront,
      fees_receivable: upfront.fees_receivable - unearned.fees,
      unearned_interest: -unearned.interest,
      interest_income: upfront.interest_income + unearned.interest + forgoneOf('interest'),
      fee_income: upfront.fee_income + unearned.fees + forgoneOf('fees'),
      waivers: upfront.waivers - forgone.waived.interest - forgone.waived.fees,
      write_offs: upfront.write_offs - forgone.writtenOff.interest - forgone.writtenOff.fees,
    }
  },
}

/** Returns what a loan contributes of which all is income that was charged. */
function accrued({ due, paid, waived, writtenOff }: Performing) {
  const owed = owedOf({ due, paid, waived, writtenOff })
  return {
    loan_portfolio: owed.principal,
    interest_receivable: owed.interest,
    fees_receivable: owed.fees,
    penalties_receivable: owed.penalty,
    interest_income: -due.interest,
    fee_income: -due.fees,
    penalty_income: -due.penalty,
    waivers: totalOf(waived),
    write_offs: totalOf(writtenOff),
  }
}

const owedOf = (totals: Omit<Totals, 'recovered'>): Portions => outstandingOf({ ...totals, recovered: totals.due })

/** The slots that an opening posting leaves as they are: what is owed to the lender, and what the lender owes. */
const CARRIED: ReadonlySet<keyof SlotAmounts> = new Set([...ASSETS, 'overpayments'])

/**
 * Returns a posting that opens what was made elsewhere (contract 9.1): money that moved there, and income and losses of
 * then, are in `opening_equity`.
 * @param change the amounts of A that are opened
 */
export function openingOf(change: SlotAmounts): SlotAmounts {
  const carried = amountsBy((slot) => (CARRIED.has(slot) ? change[slot] : 0n))
  const sum = [...CARRIED].reduce((total, slot) => total + change[slot], 0n)
  return { ...carried, opening_equity: -sum }
}
