import { toRfc3339 } from '../domain/dates.ts'
import { isReversed, type LoanLine } from '../domain/documents/loanLines.ts'
import { paymentMethodOf } from '../domain/loan/entry.ts'
import { COMPONENTS, totalOf } from '../domain/loan/portions.ts'
import { minorToText } from '../domain/money.ts'
import type { Coded } from '../services/documents/documents.ts'
import { codeText } from '../services/documents/texts.ts'

/** Writes a document as JSON of the command line, with exact amounts as texts. */
export function toDocumentView({ document, code }: Coded, zone: string): object {
  const { kind, language, lender, borrower, loan } = document
  const { currency, principal, deducted, ...terms } = loan
  const text = (minor: bigint) => minorToText(minor, currency)
  const head = {
    code: codeText(code),
    kind,
    language,
    lender,
    customer: borrower,
    loan: { ...terms, currencyCode: currency.code, principal: text(principal), feesDeducted: text(deducted) },
  }
  if (document.kind === 'receipt')
    return { ...head, ...toLine(document.line, text), postedAt: toRfc3339(document.postedAt, zone) }
  const { from, to, opening, charged, credited, closing, state, lines, schedule } = document
  return {
    ...head,
    from,
    to,
    status: state.status,
    openingBalance: text(opening),
    charged: text(charged),
    credited: text(credited),
    closingBalance: text(closing),
    lines: lines.map((line) => toLine(line, text)),
    totalOutstanding: text(state.totalOutstanding),
    totalOverdue: text(state.totalOverdue),
    totalOverpaid: text(state.totalOverpaid),
    instalments: schedule.map(({ period, dueDate, due, paid, waived, writtenOff, owed }) => ({
      period,
      dueDate,
      due: text(totalOf(due)),
      paid: text(totalOf(paid)),
      givenUp: text(totalOf(waived) + totalOf(writtenOff)),
      owed: text(owed),
    })),
  }
}

function toLine(line: LoanLine, text: (minor: bigint) => string): object {
  const { date, type, entry, amount, portions, overpayment, change, balance } = line
  return {
    date,
    type,
    ...(entry && { transactionId: entry.id, reference: entry.token, paymentMethod: paymentMethodOf(entry) }),
    ...(entry && { status: isReversed(line) ? 'reversed' : 'posted' }),
    amount: text(amount),
    ...Object.fromEntries(COMPONENTS.map((component) => [component, text(portions[component])])),
    overpayment: text(overpayment),
    change: text(change),
    balance: text(balance),
  }
}
