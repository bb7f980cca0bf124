import { setImmediate as turn } from 'node:timers/promises'
import { findDocument, insertDocument, type StoredDocument } from '../../db/documents/documents.ts'
import { displayName } from '../../domain/customer/customer.ts'
import { toRfc3339 } from '../../domain/dates.ts'
import {
  type DocumentContext,
  type DocumentLanguage,
  type LoanDocument,
  type LoanReceipt,
  type LoanStatement,
  receiptOf,
  type StatementDays,
  statementOf,
} from '../../domain/documents/documents.ts'
import { isReversed, type LoanLine } from '../../domain/documents/loanLines.ts'
import { LendingError, notFound } from '../../domain/errors.ts'
import { paymentMethodOf } from '../../domain/loan/entry.ts'
import { COMPONENTS } from '../../domain/loan/portions.ts'
import { type Currency, minorToText } from '../../domain/money.ts'
import { showHidden } from '../../domain/visibleText.ts'
import { holderOf } from '../../toolbox/gate.ts'
import { DOCUMENT_WORDS, LINE_WORDS } from '../../words/documents.ts'
import { isLanguage, type Language, speak } from '../../words/words.ts'
import type { Caller } from '../access/caller.ts'
import { columnsNamed, csvFile, othersText } from '../csv.ts'
import type { Caches, Core, Writing } from '../deps.ts'
import { getLoan, type LoanRead, type LoanRef } from '../loans/loans.ts'
import { getRecordRepayment } from '../loans/recordRepayments.ts'
import type { TransactionRef } from '../loans/transactions.ts'
import { lenderDetails } from '../organizations/organizations.ts'
import { codeOf, factsOf, readCode } from './code.ts'
import { codeText, fileNameOf } from './texts.ts'

/** What a client asks of a statement. */
export interface StatementRequest extends StatementDays {
  /** Undefined: English. */
  readonly language?: DocumentLanguage | undefined
}

/** What a client asks of a receipt. */
export type ReceiptRequest = Pick<StatementRequest, 'language'>

/** A document, and the code by which it can be checked. */
export interface Coded<Document extends LoanDocument = LoanDocument> {
  readonly document: Document
  readonly code: string
}

/** The files that a document is written as. */
export const DOCUMENT_FORMATS = ['pdf', 'csv'] as const
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number]

/** A document as a file. */
export interface DocumentFile {
  readonly bytes: Buffer
  readonly type: 'application/pdf' | 'text/csv; charset=utf-8'
  /** A name of ASCII letters, digits, points and dashes. */
  readonly name: string
}

type DocumentDeps = Core & Caches & Pick<Writing, 'loanBatches'>

/**
 * Builds the statement of a loan as of now, and keeps its code.
 * @throws LendingError `not_found`, `invalid_argument` for days that are no period of the loan, `resource_exhausted` when
 *   too many such long loans are read at once; `unavailable`, also in a book that takes no writes
 */
export const makeStatement = async (
  deps: DocumentDeps,
  caller: Caller,
  ref: LoanRef,
  { language, ...days }: StatementRequest,
): Promise<Coded<LoanStatement>> =>
  keep(deps, caller, await build(deps, caller, { ref, language }, (loan, context) => statementOf(loan, context, days)))

/**
 * Builds the receipt of a transaction as of now, and keeps its code.
 * @throws LendingError `not_found`, `failed_precondition` for a transaction in which no money moved, `unavailable`
 */
export const makeReceipt = async (
  deps: DocumentDeps,
  caller: Caller,
  { ref, transactionId }: TransactionRef,
  { language }: ReceiptRequest,
): Promise<Coded<LoanReceipt>> =>
  keep(
    deps,
    caller,
    await build(deps, caller, { ref, language }, (loan, context) => receiptOf(loan, context, transactionId)),
  )

/**
 * Writes the statement of a loan as a file. The same request on the same book gives the same bytes.
 * @throws LendingError as `makeStatement` and `writeFile` do
 */
export const renderStatement = async (
  deps: DocumentDeps,
  caller: Caller,
  ref: LoanRef,
  { format, ...request }: StatementRequest & { readonly format: DocumentFormat },
): Promise<DocumentFile> => writeFile(deps, caller, await makeStatement(deps, caller, ref, request), format)

/**
 * Writes the receipt of a transaction as a file. The same request on the same book gives the same bytes.
 * @throws LendingError as `makeReceipt` and `writeFile` do
 */
export const renderReceipt = async (
  deps: DocumentDeps,
  caller: Caller,
  of: TransactionRef,
  { format, ...request }: ReceiptRequest & { readonly format: DocumentFormat },
): Promise<DocumentFile> => writeFile(deps, caller, await makeReceipt(deps, caller, of, request), format)

/**
 * Writes a document as a file; a PDF on another thread, in a place of the caller.
 * @throws LendingError `resource_exhausted` while too many PDFs wait to be made; `unavailable` for one that took too long
 */
export async function writeFile(
  deps: Core & Caches,
  caller: Pick<Caller, 'organizationId' | 'accountId'>,
  { document, code }: Coded,
  format: DocumentFormat,
): Promise<DocumentFile> {
  const name = fileNameOf(document, format)
  if (format === 'csv') return { bytes: Buffer.from(toCsv(document, code)), type: 'text/csv; charset=utf-8', name }
  const postedAt = document.kind === 'receipt' ? toRfc3339(document.postedAt, deps.config.zone) : ''
  const { logo } = await lenderDetails(deps, caller)
  const bytes = await deps.gates.pdfs.run(holderOf(caller), () =>
    deps.printer.print({ document, code, logo, postedAt }),
  )
  return { bytes, type: 'application/pdf', name }
}

/**
 * Returns the transaction that is a customer's repayment.
 * @throws LendingError `not_found`, also for a transaction of another type
 */
export async function ofRepayment(deps: DocumentDeps, caller: Caller, id: bigint): Promise<TransactionRef> {
  const { loanId } = await getRecordRepayment(deps, caller, id)
  return { ref: { id: loanId }, transactionId: id }
}

/** What a document is built from. */
interface Asked {
  readonly ref: LoanRef
  readonly language: DocumentLanguage | undefined
}

/** Builds a document of a loan as of now: in its turn where the loan is long, and after other requests have had theirs. */
export async function build<Document extends LoanDocument>(
  deps: DocumentDeps,
  caller: Caller,
  { ref, language = 'en' }: Asked,
  toDocument: (loan: LoanRead['loan'], context: DocumentContext) => Document,
): Promise<Document> {
  const { legalName, licenceNumber } = await lenderDetails(deps, caller)
  const lender = { name: legalName, licenceNumber }
  const { loan, at } = await getLoan(deps, caller, ref)
  const { customerId: id, customerExternalId: externalId, customerBusinessName: businessName } = loan
  const name = businessName || displayName({ externalId, businessName })
  const weight = loan.terms.schedule.length + loan.entries.length
  return deps.heavyReads.run(caller.organizationId, weight, async () => {
    await turn()
    return toDocument(loan, { lender, borrower: { id, externalId, name }, language, now: at })
  })
}

/** Stores the code of a document, unless it is stored: a book that takes no writes still answers what was made before. */
async function keep<Document extends LoanDocument>(
  deps: Core & Caches,
  { organizationId }: Caller,
  document: Document,
): Promise<Coded<Document>> {
  const facts = factsOf(organizationId, document)
  const code = codeOf(deps.documentKey, facts)
  const isKept = await findDocument(deps.db, { organizationId, code })
  if (!isKept) await insertDocument(deps.db, { ...facts, code, madeAt: deps.now(organizationId) })
  return { document, code }
}

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
function toCsv(document: LoanDocument, code: string): string {
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

/** What a document said when it was made, and whether it would say the same now. */
export interface VerifiedDocument extends StoredDocument {
  /** False once the book says something else: a transaction was reversed or back-dated, or a name has changed. */
  readonly current: boolean
}

/**
 * Returns what the document with a code says. It changes nothing.
 * @param typed the code as a person typed it
 * @throws LendingError `not_found` for a code that no document of the organization has, and for one whose row was changed
 *   in the database; `unavailable`
 */
export async function verifyDocument(deps: DocumentDeps, caller: Caller, typed: string): Promise<VerifiedDocument> {
  const code = readCode(typed)
  const { organizationId } = caller
  const stored = await findDocument(deps.db, { organizationId, code })
  if (!stored || codeOf(deps.documentKey, withoutName(stored)) !== code)
    throw notFound('no document of your organization has that code')
  return { ...stored, current: await isCurrent(deps, caller, stored) }
}

const withoutName = ({ code: _, madeAt: __, ...facts }: StoredDocument) => facts

/** Returns whether the same document, made now, would have the same code. */
async function isCurrent(deps: DocumentDeps, caller: Caller, stored: StoredDocument): Promise<boolean> {
  const { loanId: id, transactionId, fromDate, toDate, language, code } = stored
  const asked = { ref: { id }, language: isLanguage(language) ? language : undefined }
  try {
    const document = await build(deps, caller, asked, (loan, context) =>
      transactionId === null
        ? statementOf(loan, context, { from: fromDate ?? undefined, to: toDate })
        : receiptOf(loan, context, transactionId),
    )
    return codeOf(deps.documentKey, factsOf(caller.organizationId, document)) === code
  } catch (error) {
    // The loan is not there any more, or has other terms, with which there is no such statement.
    if (error instanceof LendingError && ['invalid_argument', 'not_found'].includes(error.code)) return false
    throw error
  }
}
