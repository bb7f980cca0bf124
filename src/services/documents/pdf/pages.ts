import type {
  DocumentLanguage,
  DocumentLender,
  LoanDocument,
  LoanReceipt,
  LoanStatement,
} from '../../../domain/documents/documents.ts'
import { isReversed } from '../../../domain/documents/loanLines.ts'
import type { Period } from '../../../domain/loan/allocation.ts'
import { COMPONENTS, totalOf } from '../../../domain/loan/portions.ts'
import type { Logo } from '../../../domain/organization/logo.ts'
import { DOCUMENT_WORDS, LINE_WORDS, STATUS_WORDS } from '../../../words/documents.ts'
import { speak } from '../../../words/words.ts'
import { codeText, detailsOf, groupedText } from '../texts.ts'
import { BODY, type Cell, type Column, Sheet, SMALL, STRONG } from './sheet.ts'

/** What the PDF of a statement or a receipt is made of. */
interface LoanPdf {
  readonly document: LoanDocument
  readonly code: string
  readonly logo: Logo | null
  /** The moment of posting as a text, in the zone of the lender; of a receipt. */
  readonly postedAt: string
}

/** A table of a listing: its columns, each with its share of the width, and the texts of its rows. A text may have several lines. */
export interface ListingTable {
  readonly columns: readonly { readonly title: string; readonly share: number; readonly right?: true }[]
  readonly rows: readonly (readonly string[])[]
}

/** A part of a listing: its heading, labels with values, and tables. */
export interface ListingPart {
  readonly heading: string
  readonly pairs?: Pairs
  readonly tables?: readonly ListingTable[]
}

/** A document of parts whose texts are written already. */
export interface Listing {
  readonly kind: 'listing'
  readonly language: DocumentLanguage
  readonly lender: DocumentLender
  readonly title: string
  /** What it is about: what its number is called, and the number. They stand at the top of every page. */
  readonly subject: string
  readonly number: string
  readonly foot: string
  readonly day: string
  readonly parts: readonly ListingPart[]
}

/** What a PDF is made of. */
export type PdfRequest = LoanPdf | { readonly document: Listing; readonly logo: Logo | null }

const RED = '#b3261e'
const wordsOf = ({ language }: Pick<LoanDocument, 'language'>) => speak(DOCUMENT_WORDS, language)
type Say = ReturnType<typeof wordsOf>
type Pairs = readonly (readonly [label: string, value: string])[]

/** Writes a document as a PDF. The same request makes the same bytes. */
export async function toPdf(request: PdfRequest): Promise<Uint8Array> {
  if (!('code' in request)) return listingPdf(request.document, request.logo)
  const { document } = request
  return document.kind === 'statement' ? statementPdf(document, request) : receiptPdf(document, request)
}

/** The head of a document, and what stands on its pages. */
interface Head extends Pick<Listing, 'title' | 'subject' | 'number' | 'foot' | 'day'> {
  readonly size: 'A4' | 'A5'
  readonly logo: Logo | null
}

/** Begins a document: its file, its feet, and the lender. */
function begin(
  document: Pick<Listing, 'language' | 'lender'>,
  { title, subject, number, foot, day, size, logo }: Head,
): Sheet {
  const say = wordsOf(document)
  const { lender, language } = document
  const at = new Date(`${day}T00:00:00Z`)
  const sheet = new Sheet(
    { title: `${title} ${number}`, author: lender.name, language, at, size },
    {
      head: `${lender.name} · ${title} · ${subject} ${number}`,
      foot,
      pageOf: (page, pages) => `${say('page')} ${page} ${say('of')} ${pages}`,
    },
  )
  const drawn = sheet.picture(logo, { width: 90, height: 40 })
  const x = sheet.left + (drawn > 0 ? drawn + 12 : 0)
  const width = (sheet.right - x) * 0.6
  const top = sheet.y
  sheet.y += sheet.paragraph(lender.name, x, width, { size: 13, weight: 'bold' })
  if (lender.licenceNumber !== null)
    sheet.y += sheet.paragraph(`${say('licence')} ${lender.licenceNumber}`, x, width, SMALL)
  sheet.type.write(title, { x: sheet.right, y: top + 13, right: true }, { size: 13, weight: 'bold' })
  sheet.y = Math.max(sheet.y, top + (drawn > 0 ? 46 : 24)) + 8
  return sheet
}

/** Begins a document of a loan, with its code. */
function beginOfLoan(
  document: LoanDocument,
  { code, logo }: LoanPdf,
  { title, day }: { title: string; day: string },
): Sheet {
  const say = wordsOf(document)
  const named = { subject: say('loanNumber'), number: String(document.loan.id) }
  const foot = `${say('code')} ${codeText(code)} · ${say('check')}`
  return begin(document, { ...named, title, foot, day, logo, size: document.kind === 'statement' ? 'A4' : 'A5' })
}

/** Writes a listing: one part below the other. */
function listingPdf(listing: Listing, logo: Logo | null): Promise<Uint8Array> {
  const { title, subject, number, foot, day } = listing
  const sheet = begin(listing, { title, subject, number, foot, day, logo, size: 'A4' })
  for (const { heading, pairs = [], tables = [] } of listing.parts) {
    sheet.heading(heading, 60)
    sheet.pairs(pairs, sheet.left, sheet.width)
    for (const { columns, rows } of tables) {
      sheet.table(
        columns.map(({ share, ...column }): Column => ({ ...column, width: sheet.width * share })),
        cellsOf(rows),
      )
      sheet.y += 6
    }
  }
  return sheet.end()
}

function* cellsOf(rows: ListingTable['rows']): Generator<Cell[]> {
  for (const row of rows) yield row.map((text) => text.split('\n').flatMap((line) => cell(line)))
}

const borrowerPairs = ({ borrower }: LoanDocument, say: Say): Pairs => [
  [say('borrower'), borrower.name],
  [say('borrowerNumber'), String(borrower.id)],
  ...(borrower.externalId === null ? [] : [[say('reference'), borrower.externalId] as const]),
]

const loanPairs = ({ loan }: LoanDocument, say: Say): Pairs => [
  [say('loanNumber'), String(loan.id)],
  [say('account'), String(loan.accountNo).padStart(9, '0')],
  ...(loan.externalId === null ? [] : [[say('reference'), loan.externalId] as const]),
  ...(loan.productName === null ? [] : [[say('product'), loan.productName] as const]),
]

/** Writes two lists of labels and values beside each other. */
function besides(sheet: Sheet, left: Pairs, right: Pairs): void {
  const { y } = sheet
  const width = sheet.width / 2 - 12
  sheet.pairs(left, sheet.left, width)
  const end = sheet.y
  sheet.y = y
  sheet.pairs(right, sheet.left + sheet.width / 2 + 12, width)
  sheet.y = Math.max(sheet.y, end) + 8
}

function statementPdf(document: LoanStatement, request: LoanPdf): Promise<Uint8Array> {
  const say = wordsOf(document)
  const { loan, from, to, state } = document
  const { currency } = loan
  const money = (minor: bigint) => groupedText(minor, currency)
  const withCode = (minor: bigint) => `${currency.code} ${money(minor)}`
  const sheet = beginOfLoan(document, request, { title: say('statement'), day: to })
  const period: Pairs = [
    [say('from'), from],
    [say('to'), to],
    [say('status'), speak(STATUS_WORDS, document.language)(state.status)],
  ]
  const terms: Pairs = [
    ...loanPairs(document, say),
    [say('principalLent'), withCode(loan.principal)],
    ...(loan.deducted === 0n ? [] : [[say('deducted'), money(loan.deducted)] as const]),
    ...(loan.settled === 0n ? [] : [[say('settled'), money(loan.settled)] as const]),
    ...(loan.deducted + loan.settled === 0n
      ? []
      : [[say('paidOut'), money(loan.principal - loan.deducted - loan.settled)] as const]),
    ...document.taxes.map(({ name, amount }) => [say('taxIncluded', { name }), money(amount)] as const),
    [say('disbursedOn'), loan.disbursedOn],
    [say('dueOn'), loan.dueOn],
    [say('instalments'), String(loan.numberOfRepayments)],
  ]
  besides(sheet, [...borrowerPairs(document, say), ...period], terms)
  sheet.band([
    [say('opening'), withCode(document.opening)],
    [say('charged'), money(document.charged)],
    [say('credited'), money(document.credited)],
    [say('closing'), withCode(document.closing)],
  ])
  if (document.lines.length === 0) {
    sheet.pairs([['', say('noLines')]], sheet.left, sheet.width)
  } else sheet.table(lineColumns(sheet, say), rowsOf(document, money))
  writeBalances(sheet, document, say)
  sheet.heading(say('schedule'))
  sheet.table(
    scheduleColumns(sheet, say),
    document.schedule.map((period) => scheduleRow(period, money)),
  )
  return sheet.end()
}

type Money = (minor: bigint) => string

const cell = (text: string, style = BODY): Cell => (text === '' ? [] : [[text, style]])

/** The width of a column of amounts: the largest amount in bold. */
const AMOUNT = 84

const lineColumns = ({ width }: Sheet, say: Say): Column[] => [
  { title: say('date'), width: 54 },
  { title: say('details'), width: width - 54 - 3 * AMOUNT },
  { title: say('charged'), width: AMOUNT, right: true },
  { title: say('credited'), width: AMOUNT, right: true },
  { title: say('balance'), width: AMOUNT, right: true },
]

function* rowsOf({ lines, language, loan: { currency } }: LoanStatement, money: Money): Generator<Cell[]> {
  for (const line of lines) {
    const { type, names, amounts } = detailsOf(line, language, currency)
    const { change, balance } = line
    const title = isReversed(line) ? { ...STRONG, color: RED } : STRONG
    yield [
      cell(line.date),
      [...cell(type, title), ...cell(names, SMALL), ...cell(amounts, SMALL)],
      cell(change > 0n ? money(change) : ''),
      cell(change < 0n ? money(-change) : ''),
      cell(money(balance), STRONG),
    ]
  }
}

function writeBalances(sheet: Sheet, { state, loan: { currency } }: LoanStatement, say: Say): void {
  const money = (minor: bigint) => groupedText(minor, currency)
  const { outstanding, totalOutstanding, totalOverdue, totalOverpaid, nextDueOn, nextDueAmount } = state
  sheet.heading(say('balances'))
  const components: Pairs = COMPONENTS.toReversed().map((component) => [say(component), money(outstanding[component])])
  besides(sheet, components, [
    [say('outstanding'), money(totalOutstanding)],
    [say('overdue'), money(totalOverdue)],
    [say('overpayment'), money(totalOverpaid)],
    ...(nextDueOn === null || nextDueAmount === null
      ? []
      : [[say('nextDue'), `${money(nextDueAmount)} · ${nextDueOn}`] as const]),
  ])
}

const scheduleColumns = ({ width }: Sheet, say: Say): Column[] => [
  { title: say('number'), width: 40 },
  { title: say('dueDate'), width: width - 40 - 4 * 92 },
  ...(['due', 'paid', 'givenUp', 'owed'] as const).map((word) => ({
    title: say(word),
    width: 92,
    right: true as const,
  })),
]

function scheduleRow({ period, dueDate, due, paid, waived, writtenOff, owed }: Period, money: Money): Cell[] {
  const figures = [totalOf(due), totalOf(paid), totalOf(waived) + totalOf(writtenOff), owed]
  return [cell(String(period)), cell(dueDate), ...figures.map((figure) => cell(money(figure)))]
}

function receiptPdf(document: LoanReceipt, request: LoanPdf): Promise<Uint8Array> {
  const say = wordsOf(document)
  const { line, loan, method } = document
  const { currency } = loan
  const withCode = (minor: bigint) => `${currency.code} ${groupedText(minor, currency)}`
  const isPayout = line.type === 'Refund' || line.type === 'Credit Balance Refund'
  const sheet = beginOfLoan(document, request, { title: say(isPayout ? 'payout' : 'receipt'), day: line.date })
  if (isReversed(line)) {
    sheet.type.write(
      say('reversedReceipt'),
      { x: sheet.left, y: sheet.y + 18 },
      { size: 18, weight: 'bold', color: RED },
    )
    sheet.y += 32
  }
  sheet.band([
    [speak(LINE_WORDS, document.language)(line.type), withCode(line.amount)],
    [say('balanceAfter'), withCode(line.balance)],
  ])
  sheet.pairs(receiptPairs(document, request.postedAt, say), sheet.left, sheet.width)
  const parts: Pairs = [
    ...COMPONENTS.toReversed().map((component) => [say(component), line.portions[component]] as const),
    [say('overpayment'), line.overpayment] as const,
  ].flatMap(([label, minor]) => (minor === 0n ? [] : [[label, groupedText(minor, currency)] as const]))
  if (parts.length > 0) {
    sheet.heading(say('allocated'))
    sheet.pairs(parts, sheet.left, sheet.width)
  }
  return sheet.end()

  function receiptPairs(receipt: LoanReceipt, postedAt: string, speaking: Say): Pairs {
    const { entry } = receipt.line
    return [
      [speaking('transaction'), String(entry.id)],
      [speaking('valueDate'), receipt.line.date],
      [speaking('postedAt'), postedAt],
      ...(method === null ? [] : [[speaking('method'), method] as const]),
      ...(entry.token === null ? [] : [[speaking('reference'), entry.token] as const]),
      ...borrowerPairs(receipt, speaking),
      ...loanPairs(receipt, speaking),
    ]
  }
}
