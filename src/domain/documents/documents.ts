import { dateIn, type Instant, type LocalDate } from '../dates.ts'
import { failedPrecondition, invalidArgument, notFound } from '../errors.ts'
import type { Period } from '../loan/allocation.ts'
import type { Balances } from '../loan/balances.ts'
import { type Entry, movesMoney, paymentMethodOf } from '../loan/entry.ts'
import { replay } from '../loan/replay.ts'
import { restructuresIn } from '../loan/restructure/plan.ts'
import { scheduleVersions } from '../loan/restructure/scheduleVersions.ts'
import { type ChargedTax, chargedTaxes } from '../loan/rules/chargedTaxes.ts'
import { USUAL_RULES } from '../loan/rules/loanRules.ts'
import { paidToOthers } from '../loan/rules/topUp.ts'
import type { LoanTerms } from '../loan/terms/terms.ts'
import type { Currency } from '../money.ts'
import { endOfDay, type LinesOfPeriod, type LoanLine, linesFrom, linesOf } from './loanLines.ts'

/** The languages of documents. */
export type DocumentLanguage = 'en' | 'sw'

/** The lender as the head of a document names it. */
export interface DocumentLender {
  readonly name: string
  /** Null: none is known. */
  readonly licenceNumber: string | null
}

/** The customer as a document names them. */
export interface DocumentBorrower {
  readonly id: bigint
  readonly externalId: string | null
  readonly name: string
}

/** A loan with the names that a document has of it. */
export interface DocumentLoan {
  readonly id: bigint
  readonly externalId: string | null
  readonly accountNo: bigint
  /** Null for a loan of a record system. */
  readonly productName: string | null
  readonly terms: LoanTerms
  readonly entries: readonly Entry[]
}

/** What a document is made of, besides the loan. */
export interface DocumentContext {
  readonly lender: DocumentLender
  readonly borrower: DocumentBorrower
  readonly language: DocumentLanguage
  readonly now: Instant
}

/** The terms of a loan that a document shows. Amounts in minor units. */
export interface DocumentTerms {
  readonly id: bigint
  readonly externalId: string | null
  readonly accountNo: bigint
  readonly productName: string | null
  readonly currency: Currency
  readonly principal: bigint
  /** Fees that were kept back from what was paid out. */
  readonly deducted: bigint
  /** What paid off other loans, out of the principal. */
  readonly settled: bigint
  readonly disbursedOn: LocalDate
  readonly dueOn: LocalDate
  readonly numberOfRepayments: number
}

/** The members that every document has. */
interface DocumentHead {
  readonly language: DocumentLanguage
  readonly lender: DocumentLender
  readonly borrower: DocumentBorrower
  readonly loan: DocumentTerms
}

/** A statement of a loan: what happened from one day to another, and how the loan stood at the end of the last one. */
export interface LoanStatement extends DocumentHead, LinesOfPeriod {
  readonly kind: 'statement'
  readonly from: LocalDate
  readonly to: LocalDate
  /** At the end of `to`. */
  readonly state: Pick<
    Balances,
    'status' | 'outstanding' | 'totalOutstanding' | 'totalOverpaid' | 'totalOverdue' | 'nextDueOn' | 'nextDueAmount'
  >
  /** The taxes in what was charged by the end of `to`. */
  readonly taxes: readonly ChargedTax[]
  /** The instalments at the end of `to`. */
  readonly schedule: readonly Period[]
}

/** A receipt of one transaction in which money moved. */
export interface LoanReceipt extends DocumentHead {
  readonly kind: 'receipt'
  readonly line: LoanLine & { readonly entry: Entry }
  readonly postedAt: Instant
  readonly method: string | null
}

export type LoanDocument = LoanStatement | LoanReceipt

/** The days of a statement; a day that is left out: the disbursement, and today. */
export interface StatementDays {
  readonly from?: LocalDate | undefined
  readonly to?: LocalDate | undefined
}

/** The most lines of a statement. */
export const MOST_LINES = 10_000

/**
 * Builds the statement of a loan.
 * @throws LendingError `invalid_argument` for days that are no period of the loan, or that have more than `MOST_LINES`
 */
export function statementOf(loan: DocumentLoan, context: DocumentContext, days: StatementDays): LoanStatement {
  const { terms, entries } = loan
  const { from, to } = periodOf(terms, days, context.now)
  const asOf = endOfDay(to, terms.zone, context.now)
  const period = linesFrom(linesOf(terms, entries, asOf), from)
  if (period.lines.length > MOST_LINES)
    throw invalidArgument(
      'from',
      (nameOf) =>
        `leaves ${period.lines.length} lines up to ${to}, and a statement has at most ${MOST_LINES}: choose a later ${nameOf('from')} or an earlier ${nameOf('to')}`,
    )
  const { periods, ...state } = replay(
    terms,
    entries.filter(({ valueDate }) => valueDate <= to),
    asOf,
  )
  const { status, outstanding, totalOutstanding, totalOverpaid, totalOverdue, nextDueOn, nextDueAmount } = state
  return {
    kind: 'statement',
    ...headOf(loan, context, { on: to, asOf }),
    from,
    to,
    ...period,
    taxes: chargedTaxes(terms.rules, state.charged),
    schedule: periods,
    state: { status, outstanding, totalOutstanding, totalOverpaid, totalOverdue, nextDueOn, nextDueAmount },
  }
}

/** Returns the days of a statement. @throws LendingError `invalid_argument` */
function periodOf(terms: LoanTerms, days: StatementDays, now: Instant): { from: LocalDate; to: LocalDate } {
  const today = dateIn(terms.zone, now)
  const { from = terms.disbursedOn, to = today } = days
  if (to > today) throw invalidArgument('to', `must not be in the future: today is ${today}`)
  if (to < terms.disbursedOn)
    throw invalidArgument('to', `must not be before the disbursement of the loan, ${terms.disbursedOn}`)
  if (from > to) throw invalidArgument('from', (nameOf) => `must not be after ${nameOf('to')}, ${to}`)
  return { from, to }
}

/**
 * Builds the receipt of a transaction, with the balance after it on its day.
 * @throws LendingError `not_found` for a transaction that is not on the loan; `failed_precondition` for one of a type in
 *   which no money moves
 */
export function receiptOf(loan: DocumentLoan, context: DocumentContext, transactionId: bigint): LoanReceipt {
  const entry = loan.entries.find(({ id }) => id === transactionId)
  if (!entry) throw notFound('no transaction of this loan has that id')
  if (!movesMoney(entry.type))
    throw failedPrecondition(
      `the transaction is a ${entry.type}, in which no money moves: there is a receipt of a repayment, a recovery, a refund and a credit balance refund`,
    )
  const asOf = endOfDay(entry.valueDate, loan.terms.zone, context.now)
  const line = linesOf(loan.terms, loan.entries, asOf).find((one) => one.entry?.id === transactionId)!
  return {
    kind: 'receipt',
    ...headOf(loan, context, { on: entry.valueDate, asOf }),
    line: { ...line, entry },
    postedAt: entry.postedAt,
    method: paymentMethodOf(entry),
  }
}

/** The last day that a document tells of, and a moment of it. */
interface Told {
  readonly on: LocalDate
  readonly asOf: Instant
}

/** Returns the last due date and the number of instalments of the schedule that is in force on a day. */
function inForce({ terms, entries }: DocumentLoan, { on, asOf }: Told) {
  const dated = entries.filter(({ valueDate }) => valueDate <= on)
  if (restructuresIn(dated).length === 0) return terms
  const { lines } = scheduleVersions(terms, dated, asOf).at(-1)!
  return { dueOn: lines.at(-1)!.dueDate, numberOfRepayments: lines.length }
}

function headOf(loan: DocumentLoan, { language, lender, borrower }: DocumentContext, told: Told): DocumentHead {
  const { id, externalId, accountNo, productName, terms } = loan
  const { currency, principal, disbursedOn } = terms
  const { dueOn, numberOfRepayments } = inForce(loan, told)
  const { deducted, ...rules } = terms.rules ?? USUAL_RULES
  const settled = paidToOthers(rules)
  const shown = { id, externalId, accountNo, productName }
  return {
    language,
    lender,
    borrower,
    loan: { ...shown, currency, principal, deducted, settled, disbursedOn, dueOn, numberOfRepayments },
  }
}
