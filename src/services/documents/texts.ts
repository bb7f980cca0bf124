import type { LoanDocument } from '../../domain/documents/documents.ts'
import { isReversed, type LoanLine } from '../../domain/documents/loanLines.ts'
import { paymentMethodOf } from '../../domain/loan/entry.ts'
import { COMPONENTS } from '../../domain/loan/portions.ts'
import { type Currency, minorToText } from '../../domain/money.ts'
import { DOCUMENT_WORDS, LINE_WORDS } from '../../words/documents.ts'
import { type Language, speak } from '../../words/words.ts'

/** Writes an amount with its thousands apart: `1,234,500.00`. */
export const groupedText = (minor: bigint, currency: Currency): string =>
  minorToText(minor, currency).replace(/\B(?=(?:\d{3})+(?!\d))(?<!\.\d*)/g, ',')

const JOINT = ' · '

/** The texts of the details of a line: its type, what it is known by, and what its amount went to. */
export interface LineDetails {
  readonly type: string
  /** Empty for a line without an entry. */
  readonly names: string
  /** Empty for a line without an entry. */
  readonly amounts: string
}

/** Writes the details of a line. */
export function detailsOf(line: LoanLine, language: Language, currency: Currency): LineDetails {
  const { entry, amount, portions, overpayment } = line
  const say = speak(DOCUMENT_WORDS, language)
  const type = speak(LINE_WORDS, language)(line.type)
  if (!entry) return { type, names: '', amounts: '' }
  const name = entry.dueOn === undefined || entry.dueOn === null ? null : entry.note
  const method = paymentMethodOf(entry)
  const text = (minor: bigint) => groupedText(minor, currency)
  const parts = COMPONENTS.toReversed().filter((component) => portions[component] !== 0n)
  return {
    type: isReversed(line) ? `${type}${JOINT}${say('reversed')}` : type,
    names: [
      `${say('transaction')} ${entry.id}`,
      ...(name === null ? [] : [name]),
      ...(entry.token === null ? [] : [`${say('reference')} ${entry.token}`]),
      ...(method === null ? [] : [method]),
    ].join(JOINT),
    amounts: [
      `${say('amount')} ${text(amount)}`,
      ...parts.map((component) => `${say(component)} ${text(portions[component])}`),
      ...(overpayment === 0n ? [] : [`${say('overpayment')} ${text(overpayment)}`]),
    ].join(JOINT),
  }
}

/** Writes a code in groups of four, as people read it. */
export const codeText = (code: string): string => code.replace(/(.{4})(?=.)/g, '$1-')

/** Returns the name of the file of a document, of ASCII letters alone. */
export const fileNameOf = (document: LoanDocument, extension: string): string =>
  document.kind === 'statement'
    ? `statement-${document.loan.id}-${document.from}-${document.to}.${extension}`
    : `receipt-${document.loan.id}-${document.line.entry.id}.${extension}`
