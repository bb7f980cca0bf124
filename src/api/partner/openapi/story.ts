import type { FastifyContextConfig } from 'fastify'

// The story of the reference. Sent in the order of the document, on a book where nothing but the demonstration data is, each
// value that is filled in is taken: one customer takes one loan, and each operation on it is sent by the loan's number and by
// its externalId.

type Prefilled = FastifyContextConfig['prefilled'] & {}

/**
 * The operations whose order matters, by their `operationId`: each finds the loan as the one before it has left it. The
 * document shows the operations of a tag in this order, and after them those that are not here.
 */
export const ORDER = [
  'postRepayment',
  'postRepaymentByLoanExternalId',
  // Its line is the first repayment, which is answered again.
  'postRepayments',
  'getTransaction',
  'getTransactionByLoanExternalId',
  'postRefund',
  'postRefundByLoanExternalId',
  'waiveInterest',
  'waiveInterestByLoanExternalId',
  // The first repayment is now more than the loan, so that an overpayment can be paid out.
  'adjustTransaction',
  'refundCreditBalance',
  'refundCreditBalanceByLoanExternalId',
  // What replaced the first repayment is now less than the loan again.
  'adjustTransactionByLoanExternalId',
  // Once the restructure by the loan's number is reversed, the loan can be restructured again, by its externalId.
  'restructureLoan',
  'reverseRestructure',
  'restructureLoanByExternalId',
  'reverseRestructureByLoanExternalId',
  // Once the charge-off by the loan's number is reversed, the loan can be charged off again, by its externalId.
  'chargeOffLoan',
  'reverseTransaction',
  'chargeOffLoanByExternalId',
  'postRecovery',
  'postRecoveryByLoanExternalId',
  // Once the write-off by the loan's number is reversed, the loan can be written off again, by its externalId.
  'writeOffLoan',
  'reverseTransactionByLoanExternalId',
  'writeOffLoanByExternalId',
] as const

/** Returns the id of a transaction of the story. A request that posts nothing uses up a number, too. */
export const transactionId = (ordinal: number) => String(4_000_000_000_000_000 + ordinal)

/** The amount to which the first repayment is adjusted. */
export const ADJUSTED_AMOUNT = 150_000

const posted = (ordinal: number) => ({ transactionId: transactionId(ordinal) })

const PREFILLED: Readonly<Record<string, Prefilled>> = {
  adjustTransaction: { params: posted(1), body: { transactionAmount: ADJUSTED_AMOUNT } },
  adjustTransactionByLoanExternalId: { params: posted(8), body: { transactionAmount: 9_000 } },
  reverseCharge: { params: posted(12) },
  reverseChargeByLoanExternalId: { params: posted(13) },
  reverseRestructure: { params: posted(16) },
  reverseRestructureByLoanExternalId: { params: posted(22) },
  reverseTransaction: { params: posted(28) },
  reverseTransactionByLoanExternalId: { params: posted(33) },
}

/** Returns what the reference fills in for an operation on a transaction of the story: its path, and the body if any. */
export function prefilledFor(operationId: string): Prefilled {
  const found = PREFILLED[operationId]
  if (found === undefined) throw new Error(`${operationId} has no transaction in the story of the reference`)
  return found
}
