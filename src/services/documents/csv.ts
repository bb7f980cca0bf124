import type { LoanDocument } from '../../domain/documents/documents.ts'
import { isReversed, type LoanLine } from '../../domain/documents/loanLines.ts'
import { paymentMethodOf } from '../../domain/loan/entry.ts'
import { COMPONENTS } from '../../domain/loan/portions.ts'
import { type Currency, minorToText } from '../../domain/money.ts'
import { showHidden } from '../../domain/visibleText.ts'
import { DOCUMENT_WORDS, LINE_WORDS } from '../../words/documents.ts'
import { type Language, speak } from '../../words/words.ts'
import { columnsNamed, csvFile, othersText } from '../csv.ts'
import { codeText } from './texts.ts'

/** The columns of the file: a row for each line, whatever the language. */
const COLUMNS = [
  'date',
  'type',
  'description',
  'transactionId',
  'reference',
  'paymentMethod',
  'name',
  'status',
  'currencyCode',
  'amount',
  'principal',
  'interest',
  'fees',
  'penalty',
  'overpayment',
  'charged',
  'credited',
  'balance',
] as const

type CsvRow = Partial<Record<(typeof COLUMNS)[number], string>>

/** Writes a text that somebody else chose: it is shown in full, and nothing runs it. */
const cell = (text: string | null): string => othersText(text && showHidden(text))

/** Writes a document as CSV: the lines, of a statement between its opening and its closing balance, and the code. */
export function toCsv(document: LoanDocument, code: string): string {
  const { language, loan } = document
  const { currency } = loan
  const say = speak(DOCUMENT_WORDS, language)
  const balance = (date: string, word: 'opening' | 'closing', minor: bigint): CsvRow => ({
    date,
    type: word === 'opening' ? 'Opening Balance' : 'Closing Balance',
    description: say(word),
    currencyCode: currency.code,
    balance: minorToText(minor, currency),
  })
  const lines = document.kind === 'statement' ? document.lines : [document.line]
  const rows = lines.map((line) => rowOf(line, language, currency))
  if (document.kind === 'statement') {
    rows.unshift(balance(document.from, 'opening', document.opening))
    rows.push(balance(document.to, 'closing', document.closing))
  }
  rows.push({ type: 'Code', description: say('code'), reference: othersText(codeText(code)) })
  return csvFile(columnsNamed(COLUMNS), rows)
}

function rowOf(line: LoanLine, language: Language, currency: Currency): CsvRow {
  const { date, type, entry, amount, portions, overpayment, change, balance } = line
  const text = (minor: bigint) => minorToText(minor, currency)
  const unlessZero = (minor: bigint) => (minor === 0n ? '' : text(minor))
  return {
    date,
    type,
    description: speak(LINE_WORDS, language)(type),
    currencyCode: currency.code,
    amount: text(amount),
    ...Object.fromEntries(COMPONENTS.map((component) => [component, unlessZero(portions[component])])),
    overpayment: unlessZero(overpayment),
    charged: change > 0n ? text(change) : '',
    credited: change < 0n ? text(-change) : '',
    balance: text(balance),
    ...(entry && {
      transactionId: othersText(entry.id),
      reference: cell(entry.token),
      paymentMethod: cell(paymentMethodOf(entry)),
      name: cell(entry.dueOn ? entry.note : null),
      status: isReversed(line) ? 'reversed' : 'posted',
    }),
  }
}
