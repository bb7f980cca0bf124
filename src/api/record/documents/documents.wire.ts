import { z } from 'zod'
import { toRfc3339 } from '../../../domain/dates.ts'
import type { LoanReceipt, LoanStatement } from '../../../domain/documents/documents.ts'
import { isReversed, type LoanLine, TERMS_LINES } from '../../../domain/documents/loanLines.ts'
import { ENTRY_TYPES, paymentMethodOf } from '../../../domain/loan/entry.ts'
import { LOAN_STATUSES } from '../../../domain/loan/lifecycle.ts'
import { totalOf } from '../../../domain/loan/portions.ts'
import { type Currency, currencyOf, minorToNumber } from '../../../domain/money.ts'
import type { Coded, VerifiedDocument } from '../../../services/documents/documents.ts'
import { codeText } from '../../../services/documents/texts.ts'
import { LANGUAGES } from '../../../words/words.ts'
import { typedCode } from '../../body/accepted.ts'
import { wireInteger } from '../../body/json.ts'
import { count, word } from '../../openapi/answers.ts'
import { instant, money } from '../../wire.ts'
import { itemOf, named, wireId } from '../registry.ts'
import * as examples from './examples.ts'

const loan = named(
  'DocumentLoan',
  z.object({
    loan_id: wireId.describe('The id of the loan.'),
    currency_code: z.string().describe('The currency of every amount of the document.'),
    principal_amount: money,
    fees_deducted: money.describe('Fees that were kept back from the principal.'),
    settled: money.describe('What paid off other loans, out of the principal.'),
    released_date: z.iso.date(),
    due_date: z.iso.date().describe('The last due date that was agreed.'),
    number_of_repayments: count,
  }),
  { example: examples.statement.loan },
)

const line = named(
  'StatementLine',
  z.object({
    date: z.iso.date().describe('The value date.'),
    type: word('What happened: an entry, or what the terms of the loan make owed', [...TERMS_LINES, ...ENTRY_TYPES]),
    repayment_id: wireId.optional().describe('The id of the entry; absent where the terms of the loan make the line.'),
    method: z.string().optional().describe('How it was paid.'),
    name: z.string().optional().describe('Of a single charge: what is charged.'),
    reversed: z.boolean().describe('Whether the entry counts no longer.'),
    amount: money.describe('The whole amount of the line.'),
    principal: money.describe('The part of the amount that moved principal; 0 of a reversed entry.'),
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
    number: count,
    due_date: z.iso.date(),
    due: money,
    paid: money,
    given_up: money.describe('What was waived or written off.'),
    owed: money,
  }),
  { example: examples.statement.instalments[0]! },
)

const lender = named(
  'DocumentLender',
  z.object({
    name: z.string().describe('Your legal name; without one, the name of your organization.'),
    licence_number: z.string().nullable(),
  }),
  { example: examples.statement.lender },
)

const borrower = named('DocumentBorrower', z.object({ id: wireId, name: z.string() }), {
  example: examples.statement.borrower,
})

const head = {
  code: z.string().describe('The code by which the document can be checked: 16 letters and digits.'),
  language: word('The language of the PDF', LANGUAGES),
  lender,
  borrower,
  loan,
}

const statementSchema = named(
  'LoanStatement',
  z.object({
    ...head,
    from: z.iso.date(),
    to: z.iso.date(),
    status: word('The status of the loan at the end of `to`', LOAN_STATUSES),
    opening_balance: z.number().describe('What was owed before `from`, less what was overpaid.'),
    charged: money.describe('The sum of what raised the balance.'),
    credited: money.describe('The sum of what lowered it.'),
    closing_balance: z.number().describe('What is owed at the end of `to`, less what is overpaid.'),
    lines: z.array(line).describe('In the order in which they count.'),
    total_outstanding: money,
    total_overdue: money,
    total_overpaid: money,
    instalments: z.array(instalment).describe('As they stand at the end of `to`.'),
  }),
  { example: examples.statement },
)

const receiptSchema = named(
  'LoanReceipt',
  z.object({ ...head, ...line.shape, repayment_id: wireId, posted_at: instant.describe('The instant of posting.') }),
  { example: examples.receipt },
)

export const verifyDocumentRequest = named(
  'VerifyDocumentRequest',
  z.strictObject({
    code: typedCode.describe('As it is printed: in any case, with or without dashes; O counts as 0, I and L as 1.'),
  }),
  { example: { code: examples.CODE } },
)

const verifiedSchema = named(
  'VerifiedDocument',
  z.object({
    code: z.string(),
    kind: word('What the document is', ['statement', 'receipt']),
    current: z
      .boolean()
      .describe('Whether the same document would say the same now. False after a reversal, for instance.'),
    loan_id: wireId,
    repayment_id: wireId.optional().describe('Of a receipt.'),
    from: z.iso.date().optional().describe('The first day of a statement.'),
    to: z.iso.date().describe('The last day of a statement, or the value date of a receipt.'),
    language: z.string(),
    currency_code: z.string(),
    amount: z.number().describe('The closing balance of a statement, or the amount of a receipt.'),
    reversed: z.boolean().describe('Whether a receipt says that its repayment was reversed.'),
    lender_name: z.string(),
    borrower_name: z.string(),
    made_at: instant.describe('When it was first made.'),
  }),
  { example: examples.verified },
)

export const statementItem = itemOf('LoanStatementItem', statementSchema)
export const receiptItem = itemOf('LoanReceiptItem', receiptSchema)
export const verifiedItem = itemOf('VerifiedDocumentItem', verifiedSchema)

function toHead({ document, code }: Coded) {
  const { language, lender, borrower, loan: terms } = document
  const number = (minor: bigint) => minorToNumber(minor, terms.currency)
  return {
    code: codeText(code),
    language,
    lender: { name: lender.name, licence_number: lender.licenceNumber },
    borrower: { id: wireInteger(borrower.id), name: borrower.name },
    loan: {
      loan_id: wireInteger(terms.id),
      currency_code: terms.currency.code,
      principal_amount: number(terms.principal),
      fees_deducted: number(terms.deducted),
      settled: number(terms.settled),
      released_date: terms.disbursedOn,
      due_date: terms.dueOn,
      number_of_repayments: terms.numberOfRepayments,
    },
  }
}

function toLine(shown: LoanLine, currency: Currency): z.infer<typeof line> {
  const { date, type, entry, amount, portions, overpayment, change, balance } = shown
  const { principal, interest, fees, penalty } = portions
  const number = (minor: bigint) => minorToNumber(minor, currency)
  const method = entry && paymentMethodOf(entry)
  return {
    date,
    type,
    ...(entry && { repayment_id: wireInteger(entry.id) }),
    ...(typeof method === 'string' && { method }),
    ...(entry?.dueOn && entry.note !== null && { name: entry.note }),
    reversed: isReversed(shown),
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

/** Builds the record style's view of a statement. */
export function toStatement(coded: Coded<LoanStatement>): z.infer<typeof statementSchema> {
  const { from, to, state, schedule, lines, loan: terms, ...sums } = coded.document
  const number = (minor: bigint) => minorToNumber(minor, terms.currency)
  return {
    ...toHead(coded),
    from,
    to,
    status: state.status,
    opening_balance: number(sums.opening),
    charged: number(sums.charged),
    credited: number(sums.credited),
    closing_balance: number(sums.closing),
    lines: lines.map((one) => toLine(one, terms.currency)),
    total_outstanding: number(state.totalOutstanding),
    total_overdue: number(state.totalOverdue),
    total_overpaid: number(state.totalOverpaid),
    instalments: schedule.map(({ period, dueDate, due, paid, waived, writtenOff, owed }) => ({
      number: period,
      due_date: dueDate,
      due: number(totalOf(due)),
      paid: number(totalOf(paid)),
      given_up: number(totalOf(waived) + totalOf(writtenOff)),
      owed: number(owed),
    })),
  }
}

/** Builds the record style's view of a receipt. */
export function toReceipt(coded: Coded<LoanReceipt>, zone: string): z.infer<typeof receiptSchema> {
  const { line: shown, loan: terms, postedAt } = coded.document
  const repayment = { repayment_id: wireInteger(shown.entry.id), posted_at: toRfc3339(postedAt, zone) }
  return { ...toHead(coded), ...toLine(shown, terms.currency), ...repayment }
}

/** Builds the record style's view of what a document says. */
export const toVerified = (document: VerifiedDocument, zone: string): z.infer<typeof verifiedSchema> => ({
  code: codeText(document.code),
  kind: document.kind,
  current: document.current,
  loan_id: wireInteger(document.loanId),
  ...(document.transactionId !== null && { repayment_id: wireInteger(document.transactionId) }),
  ...(document.fromDate !== null && { from: document.fromDate }),
  to: document.toDate,
  language: document.language,
  currency_code: document.currency,
  amount: minorToNumber(document.amount, currencyOf(document.currency)),
  reversed: document.reversed,
  lender_name: document.lender,
  borrower_name: document.borrower,
  made_at: toRfc3339(document.madeAt, zone),
})
