// The values that the reference fills in. Sent in the order of the document, on a book where nothing but the demonstration
// data is, each of them is taken: one customer takes one loan, and each operation on it is sent by the loan's number and by its
// externalId.

/** Returns the id of a transaction of the story. A request that posts nothing uses up a number, too. */
export const transactionId = (ordinal: number) => String(4_000_000_000_000_000 + ordinal)

const posted = (ordinal: number) => ({ transactionId: transactionId(ordinal) })

/** The transactions that the reference names in paths, and the amounts to which it adjusts them. */
export const STORY = {
  byNumber: {
    /** The first repayment. It is now more than the loan, so that an overpayment can be paid out. */
    adjusted: { params: posted(1), body: { transactionAmount: 150_000 } },
    /** The charge-off by the loan's number. Afterwards the loan can be charged off again, by its externalId. */
    reversed: { params: posted(15) },
  },
  byOwnId: {
    /** What replaced the first repayment. It is now less than the loan again. */
    adjusted: { params: posted(7), body: { transactionAmount: 9_000 } },
    /** The write-off by the loan's number. Afterwards the loan can be written off again, by its externalId. */
    reversed: { params: posted(20) },
  },
  /** The charges by the loan's number and by its externalId. */
  charged: [{ params: posted(11) }, { params: posted(12) }],
} as const
