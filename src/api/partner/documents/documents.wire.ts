import { z } from 'zod'
import { toRfc3339 } from '../../../domain/dates.ts'
import type { DocumentTerms, LoanReceipt, LoanStatement } from '../../../domain/documents/documents.ts'
import { isReversed, type LoanLine, TERMS_LINES } from '../../../domain/documents/loanLines.ts'
import { ENTRY_TYPES, paymentMethodOf } from '../../../domain/loan/entry.ts'
import { LOAN_STATUSES } from '../../../domain/loan/lifecycle.ts'
import { totalOf } from '../../../domain/loan/portions.ts'
import { type Currency, currencyOf, minorToNumber } from '../../../domain/money.ts'
import type { Coded, VerifiedDocument } from '../../../services/documents/documents.ts'
import { codeText } from '../../../services/documents/texts.ts'
import { LANGUAGES } from '../../../words/words.ts'
import { typedCode } from '../../body/accepted.ts'
import { count, word } from '../../openapi/answers.ts'
import { instant, money } from '../../wire.ts'
import { toAccountNo } from '../customers.wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'

const lender = named(
  'DocumentLender',
  z.object({
    name: z.string().describe('Your legal name; without one, the name of your organization.'),
    licenceNumber: z.string().nullable(),
  }),
  { example: examples.statement.lender },
)

const borrower = named(
  'DocumentCustomer',
  z.object({ id: z.string(), externalId: z.string().nullable(), name: z.string() }),
  { example: examples.statement.customer },
)

const loan = named(
  'DocumentLoan',
  z.object({
    id: z.string().describe("The service's number."),
    externalId: z.string().nullable(),
    accountNo: z.string().describe('A running number of your organization, padded with zeros to 9 digits.'),
    productName: z.string().nullable(),
    currencyCode: z.string().describe('The currency of every amount of the document.'),
    principal: money.describe('The amount that was lent.'),
    feesDeducted: money.describe('Fees that were kept back from the principal.'),
    settled: money.describe('What paid off other loans, out of the principal.'),
    disbursedOn: z.iso.date(),
    dueDate: z.iso.date().describe('The last due date that was agreed.'),
    numberOfRepayments: count,
  }),
  { example: examples.statement.loan },
)

const line = named(
  'StatementLine',
  z.object({
    date: z.iso.date().describe('The value date.'),
    type: word('What happened: a transaction, or what the terms of the loan make owed', [
      ...TERMS_LINES,
      ...ENTRY_TYPES,
    ]),
    transactionId: z.string().optional().describe('Absent where the terms of the loan make the line.'),
    idempotencyKey: z.string().optional().describe('Your own id of the transaction.'),
    paymentMethod: z.string().optional(),
    name: z.string().optional().describe('Of a single charge: what is charged.'),
    status: word('Of a transaction', ['posted', 'reversed']).optional(),
    amount: money.describe('The whole amount of the line.'),
    principal: money.describe('The part of the amount that moved principal; 0 of a reversed transaction.'),
    interest: money,
    fees: money,
    penalty: money,
    overpayment: money.describe('The part of the amount that is, or was taken from, the overpayment.'),
    change: z.number().describe('What the line adds to the balance; negative for what it takes from it.'),
    balance: z.number().describe('What is owed after the line, less what is overpaid.'),
  }),
  { example: examples.statement.lines[0]! },
)

const instalment = named(
  'StatementInstalment',
  z.object({
    period: count,
    dueDate: z.iso.date(),
    due: money,
    paid: money,
    givenUp: money.describe('What was waived or written off.'),
    owed: money,
  }),
  { example: examples.statement.instalments[0]! },
)

const head = {
  code: z.string().describe('The code by which the document can be checked: 16 letters and digits.'),
  language: word('The language of the PDF', LANGUAGES),
  lender,
  customer: borrower,
  loan,
}

export const statementSchema = named(
  'LoanStatement',
  z.object({
    ...head,
    from: z.iso.date(),
    to: z.iso.date(),
    status: word('The status of the loan at the end of `to`', LOAN_STATUSES),
    openingBalance: z.number().describe('What was owed before `from`, less what was overpaid.'),
    charged: money.describe('The sum of what raised the balance.'),
    credited: money.describe('The sum of what lowered it.'),
    closingBalance: z.number().describe('What is owed at the end of `to`, less what is overpaid.'),
    lines: z.array(line).describe('In the order in which they count.'),
    principalOutstanding: money,
    interestOutstanding: money,
    feesOutstanding: money,
    penaltyOutstanding: money,
    totalOutstanding: money,
    totalOverdue: money,
    totalOverpaid: money,
    nextDueDate: z.iso.date().optional().describe('Absent where nothing is owed.'),
    nextDueAmount: money.optional(),
    instalments: z.array(instalment).describe('As they stand at the end of `to`.'),
  }),
  { example: examples.statement },
)

export const receiptSchema = named(
  'LoanReceipt',
  z.object({
    ...head,
    ...line.shape,
    transactionId: z.string(),
    transactionAt: instant.describe('The instant of posting.'),
    balance: z.number().describe('What was owed after it on its day, less what was overpaid.'),
  }),
  { example: examples.receipt },
)

export const verifyDocumentRequest = named(
  'VerifyDocumentRequest',
  z.strictObject({
    code: typedCode.describe('As it is printed: in any case, with or without dashes; O counts as 0, I and L as 1.'),
  }),
  { example: { code: examples.CODE } },
)

export const verifiedSchema = named(
  'VerifiedDocument',
  z.object({
    code: z.string(),
    kind: word('What the document is', ['statement', 'receipt']),
    current: z
      .boolean()
      .describe('Whether the same document would say the same now. False after a reversal, for instance.'),
    loanId: z.string(),
    transactionId: z.string().optional().describe('Of a receipt.'),
    from: z.iso.date().optional().describe('The first day of a statement.'),
    to: z.iso.date().describe('The last day of a statement, or the value date of a receipt.'),
    language: z.string(),
    currencyCode: z.string(),
    amount: z.number().describe('The closing balance of a statement, or the amount of a receipt.'),
    reversed: z.boolean().describe('Whether a receipt says that its transaction was reversed.'),
    lenderName: z.string(),
    customerName: z.string(),
    madeAt: instant.describe('When it was first made.'),
  }),
  { example: examples.verified },
)

export type StatementView = z.infer<typeof statementSchema>
export type ReceiptView = z.infer<typeof receiptSchema>

const toLoan = ({ id, externalId, accountNo, productName, currency, ...terms }: DocumentTerms) => ({
  id: String(id),
  externalId,
  accountNo: toAccountNo(accountNo),
  productName,
  currencyCode: currency.code,
  principal: minorToNumber(terms.principal, currency),
  feesDeducted: minorToNumber(terms.deducted, currency),
  settled: minorToNumber(terms.settled, currency),
  disbursedOn: terms.disbursedOn,
  dueDate: terms.dueOn,
  numberOfRepayments: terms.numberOfRepayments,
})

const toHead = ({ document, code }: Coded) => ({
  code: codeText(code),
  language: document.language,
  lender: document.lender,
  customer: { ...document.borrower, id: String(document.borrower.id) },
  loan: toLoan(document.loan),
})

function toLine(shown: LoanLine, currency: Currency): z.infer<typeof line> {
  const { date, type, entry, amount, portions, overpayment, change, balance } = shown
  const { principal, interest, fees, penalty } = portions
  const number = (minor: bigint) => minorToNumber(minor, currency)
  const method = entry && paymentMethodOf(entry)
  return {
    date,
    type,
    ...(entry && { transactionId: String(entry.id), status: isReversed(shown) ? 'reversed' : 'posted' }),
    ...(entry && entry.token !== null && { idempotencyKey: entry.token }),
    ...(typeof method === 'string' && { paymentMethod: method }),
    ...(entry?.dueOn && entry.note !== null && { name: entry.note }),
    amount: number(amount),
    principal: number(principal),
    interest: number(interest),
    fees: number(fees),
    penalty: number(penalty),
    overpayment: number(overpayment),
    change: number(change),
    balance: number(balance),
  }
}

/** Builds the partner style's view of a statement. */
export function toStatement(coded: Coded<LoanStatement>): StatementView {
  const { from, to, state, schedule, lines, loan: terms, ...sums } = coded.document
  const number = (minor: bigint) => minorToNumber(minor, terms.currency)
  const { status, outstanding, nextDueOn, nextDueAmount } = state
  return {
    ...toHead(coded),
    from,
    to,
    status,
    openingBalance: number(sums.opening),
    charged: number(sums.charged),
    credited: number(sums.credited),
    closingBalance: number(sums.closing),
    lines: lines.map((one) => toLine(one, terms.currency)),
    principalOutstanding: number(outstanding.principal),
    interestOutstanding: number(outstanding.interest),
    feesOutstanding: number(outstanding.fees),
    penaltyOutstanding: number(outstanding.penalty),
    totalOutstanding: number(state.totalOutstanding),
    totalOverdue: number(state.totalOverdue),
    totalOverpaid: number(state.totalOverpaid),
    ...(nextDueOn !== null &&
      nextDueAmount !== null && { nextDueDate: nextDueOn, nextDueAmount: number(nextDueAmount) }),
    instalments: schedule.map(({ period, dueDate, due, paid, waived, writtenOff, owed }) => ({
      period,
      dueDate,
      due: number(totalOf(due)),
      paid: number(totalOf(paid)),
      givenUp: number(totalOf(waived) + totalOf(writtenOff)),
      owed: number(owed),
    })),
  }
}

/** Builds the partner style's view of a receipt. */
export function toReceipt(coded: Coded<LoanReceipt>, zone: string): ReceiptView {
  const { line: shown, loan: terms, postedAt } = coded.document
  return {
    ...toHead(coded),
    ...toLine(shown, terms.currency),
    transactionId: String(shown.entry.id),
    transactionAt: toRfc3339(postedAt, zone),
  }
}

/** Builds the partner style's view of what a document says. */
export const toVerified = (document: VerifiedDocument, zone: string): z.infer<typeof verifiedSchema> => ({
  code: codeText(document.code),
  kind: document.kind,
  current: document.current,
  loanId: String(document.loanId),
  ...(document.transactionId !== null && { transactionId: String(document.transactionId) }),
  ...(document.fromDate !== null && { from: document.fromDate }),
  to: document.toDate,
  language: document.language,
  currencyCode: document.currency,
  amount: minorToNumber(document.amount, currencyOf(document.currency)),
  reversed: document.reversed,
  lenderName: document.lender,
  customerName: document.borrower,
  madeAt: toRfc3339(document.madeAt, zone),
})
