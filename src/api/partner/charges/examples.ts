import { newLoan, posted, product } from '../openapi/examples.ts'

/** The request for a charge. */
export const newCharge = { name: 'Collection visit', amount: 1_500, kind: 'fee' as const }

export const charge = posted(12, 'Fee', '2026-02-20', {
  name: newCharge.name,
  dueDate: '2026-02-20',
  amount: newCharge.amount,
  fees: newCharge.amount,
})

const { fees: ____, ...withoutFees } = charge

export const reversedCharge = { ...withoutFees, status: 'reversed' as const }

/** Of the loan as it was disbursed: a product with the default rule waives nothing. */
export const settlementQuote = {
  loanId: newLoan.id,
  currencyCode: product.currencyCode,
  on: '2026-01-31',
  earlySettlement: 'full_interest' as const,
  totalOutstanding: 110_000,
  interestWaived: 0,
  settlementAmount: 110_000,
  overpaid: 0,
}
