import { createHmac, createSecretKey, hash, hkdfSync, type KeyObject } from 'node:crypto'
import type { StoredDocument } from '../../db/documents/documents.ts'
import type { LoanDocument } from '../../domain/documents/documents.ts'
import type { LoanLine } from '../../domain/documents/loanLines.ts'
import { paymentMethodOf } from '../../domain/loan/entry.ts'
import { COMPONENTS, type Portions } from '../../domain/loan/portions.ts'

/** The key of the codes of documents. The database does not hold it. */
export type DocumentKey = KeyObject

/** Derives the key from KEY_ENCRYPTION_SECRET (HKDF with SHA-256), apart from all other keys that are derived from it. */
export const documentKey = (keyEncryptionSecret: string): DocumentKey =>
  createSecretKey(Buffer.from(hkdfSync('sha256', keyEncryptionSecret, '', 'mkopo codes of documents 1', 32)))

/** What is stored of a document, apart from its code, which covers every member, and the moment at which it was made. */
export type DocumentFacts = Omit<StoredDocument, 'code' | 'madeAt'>

/** Returns what is stored of a document. */
export function factsOf(organizationId: number, document: LoanDocument): DocumentFacts {
  const { kind, loan, language, lender, borrower } = document
  const head = { organizationId, kind, loanId: loan.id, language, currency: loan.currency.code }
  const names = { lender: lender.name, borrower: borrower.name, digest: digestOf(document) }
  if (document.kind === 'statement') {
    const { from: fromDate, to: toDate, closing: amount } = document
    return { ...head, ...names, transactionId: null, fromDate, toDate, amount, reversed: false }
  }
  const { entry, date: toDate, amount } = document.line
  const reversed = entry.reversedAt !== null
  return { ...head, ...names, transactionId: entry.id, fromDate: null, toDate, amount, reversed }
}

const TEXT_VERSION = 'mkopo document 1'

/** Digits and letters without I, L, O and U, which people misread (Crockford). */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** 80 bits: a guess is right once in 10^24. */
export const CODE_LENGTH = 16

/** Returns the code of a document: the same for the same content under the same key. */
export function codeOf(key: DocumentKey, facts: DocumentFacts): string {
  const { digest, ...rest } = facts
  const named = Object.entries({ ...rest, digest: Buffer.from(digest).toString('hex') })
  const text = JSON.stringify([TEXT_VERSION, ...named.sort(([a], [b]) => (a < b ? -1 : 1))], bigintsAsText)
  const bytes = createHmac('sha256', key).update(text).digest()
  const bits = Array.from(bytes.subarray(0, (CODE_LENGTH * 5) / 8), (byte) => byte.toString(2).padStart(8, '0')).join(
    '',
  )
  return (bits.match(/.{5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five, 2)]).join('')
}

/** Returns a code as it is stored, of one that a person typed: in any case, with spaces and dashes, O for 0, I or L for 1. */
export const readCode = (typed: string): string =>
  typed
    .toUpperCase()
    .replace(/[\s\-–—]/g, '')
    .replace(/O/g, '0')
    .replace(/[IL]/g, '1')

const bigintsAsText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)

/** Returns the SHA-256 over all that a document says, in an order that does not depend on how it was read. */
function digestOf(document: LoanDocument): Uint8Array<ArrayBuffer> {
  const { kind, language, lender, borrower, loan } = document
  const { id, externalId, accountNo, productName, currency, principal, deducted, settled, disbursedOn, dueOn } = loan
  const said = [
    TEXT_VERSION,
    kind,
    language,
    lender.name,
    lender.licenceNumber,
    borrower.id,
    borrower.externalId,
    borrower.name,
    id,
    externalId,
    accountNo,
    productName,
    currency.code,
    principal,
    deducted,
    ...(settled === 0n ? [] : ['settled', settled]),
    disbursedOn,
    dueOn,
    loan.numberOfRepayments,
    document.kind === 'statement' ? ofStatement(document) : [document.postedAt, document.method, ofLine(document.line)],
  ]
  return Uint8Array.from(hash('sha256', JSON.stringify(said, bigintsAsText), 'buffer'))
}

function ofStatement({
  from,
  to,
  opening,
  charged,
  credited,
  closing,
  lines,
  state,
  taxes,
  schedule,
}: Statement): unknown[] {
  const { status, outstanding, totalOutstanding, totalOverpaid, totalOverdue, nextDueOn, nextDueAmount } = state
  return [
    from,
    to,
    opening,
    charged,
    credited,
    closing,
    lines.map(ofLine),
    status,
    ofPortions(outstanding),
    totalOutstanding,
    totalOverpaid,
    totalOverdue,
    nextDueOn,
    nextDueAmount,
    ...taxes.map(({ name, amount }) => ['tax', name, amount]),
    schedule.map(({ period, dueDate, due, paid, waived, writtenOff, owed }) => [
      period,
      dueDate,
      owed,
      ...[due, paid, waived, writtenOff].map(ofPortions),
    ]),
  ]
}

type Statement = Extract<LoanDocument, { kind: 'statement' }>

const ofPortions = (portions: Readonly<Portions>) => COMPONENTS.map((component) => portions[component])

function ofLine({ date, type, entry, amount, portions, overpayment, change, balance }: LoanLine): unknown[] {
  const named = entry && [
    entry.id,
    entry.token,
    entry.reversedAt !== null,
    paymentMethodOf(entry),
    entry.dueOn ?? null,
    entry.dueOn ? entry.note : null,
  ]
  return [date, type, amount, ofPortions(portions), overpayment, change, balance, named]
}
