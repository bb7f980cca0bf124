import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import {
  type ReceiptView,
  type StatementView,
  toReceipt,
  toStatement,
} from '../../../src/api/partner/documents/documents.wire.ts'
import { dateIn } from '../../../src/domain/dates.ts'
import {
  type DocumentContext,
  type DocumentLoan,
  type LoanStatement,
  receiptOf,
  statementOf,
} from '../../../src/domain/documents/documents.ts'
import { type Entry, movesMoney } from '../../../src/domain/loan/entry.ts'
import { owedByDay } from '../../../src/domain/loan/replay.ts'
import { showHidden } from '../../../src/domain/visibleText.ts'
import { toPdf } from '../../../src/services/documents/pdf/pages.ts'
import { DOCUMENT_WORDS, LINE_WORDS } from '../../../src/words/documents.ts'
import { LANGUAGES, type Language, speak } from '../../../src/words/words.ts'
import { anyHistory, type Step } from '../../domain/terms/anyHistory.ts'
import { anyLent } from '../../domain/terms/anyLent.ts'
import { PlayedLoan } from '../../domain/terms/playedLoan.ts'
import { pagesOf, type ReadStatement, readStatement, squeezed } from '../../support/readDocument.ts'

/** What is counted of the statements that are compared. */
export type Counts = Record<
  'loans' | 'statements' | 'lines' | 'reversed' | 'penalties' | 'instalments' | 'receipts' | 'payouts',
  number
>

const CODE = '7KD2M9QX4TZA1B6C'
/** Pays out some of what was paid, which few histories do. */
const PAY_OUT: Step = {
  ...{ does: 'post', type: 'Refund', share: 300, isExact: false },
  ...{ clock: { hours: 0 }, ago: 0, target: 0, dueIn: 0 },
}
/** The parts of an amount that a document names. */
const PARTS = ['principal', 'interest', 'fees', 'penalty', 'overpayment'] as const

/** Texts that a client can send, and that look harmless when a PDF shows them. */
export const TEXTS = [
  'MPESA-QWE123',
  'x'.repeat(100),
  '=HYPERLINK("http://evil.example")',
  '<script>alert(1)</script>',
  'order 7 of \u202Egnirts\u202C',
  'ziwa\u200Bcredit\u{1F600}',
  'Ελλάδα Žižka Ñandú',
  'ሰላም ተስፋዬ',
  '张伟 (Zhang Wei)',
] as const

const anyCase = fc.record({
  lent: anyLent,
  history: anyHistory,
  texts: fc.array(fc.option(fc.constantFrom(...TEXTS), { nil: null }), { minLength: 1, maxLength: 8 }),
  first: fc.nat({ max: 60 }),
  last: fc.nat({ max: 60 }),
  isWhole: fc.boolean(),
})

type Case = typeof anyCase extends fc.Arbitrary<infer T> ? T : never

/** Reads back statements and receipts of random loans from their PDFs, and compares each with the JSON of the API. @throws the first difference */
export async function compareMany(seed: number, many: number): Promise<Counts> {
  const counts = {
    loans: 0,
    statements: 0,
    lines: 0,
    reversed: 0,
    penalties: 0,
    instalments: 0,
    receipts: 0,
    payouts: 0,
  }
  await fc.assert(
    fc.asyncProperty(anyCase, (one) => compare(one, counts)),
    { seed, numRuns: many, endOnFailure: true },
  )
  return counts
}

async function compare({ lent, history, texts, ...days }: Case, counts: Counts): Promise<void> {
  const played = new PlayedLoan(lent)
  for (const step of days.isWhole ? [...history, PAY_OUT] : history) played.do(step)
  const entries = played.entries.map((entry, index): Entry => {
    const token = texts[index % texts.length]!
    const paymentMethod = index % 4 === 3 ? null : 'Mobile Money'
    return { ...entry, token: entry.type === 'Repayment' ? token : null, paymentMethod }
  })
  counts.loans++
  for (const language of LANGUAGES) {
    const statement = statementFor(played, entries, { ...days, language })
    requireBalances(statement, played, entries)
    const request = { document: statement, code: CODE, logo: null, postedAt: '' }
    const pdf = await printed(request)
    const shown = await readStatement(pdf, language)
    requireSame(shown, expectedOf(toStatement({ document: statement, code: CODE }), language, shown))
    count(statement, counts)
    await compareReceipt(played, entries, { ...days, language }, counts)
  }
}

/** Prints a document twice. @throws Error where the bytes differ */
async function printed(request: Parameters<typeof toPdf>[0]): Promise<Uint8Array> {
  const [pdf, again] = [await toPdf(request), await toPdf(request)]
  if (!Buffer.from(pdf).equals(Buffer.from(again))) throw new Error('the same request made other bytes')
  return pdf
}

const isPayout = (type: string): boolean => ['Refund', 'Credit Balance Refund'].includes(type)

/** Compares the receipt of one transaction in which money moved, of money that was paid out where there is any. */
async function compareReceipt(played: PlayedLoan, entries: readonly Entry[], days: Days, counts: Counts) {
  const paid = entries.filter(({ type }) => movesMoney(type))
  const entry = paid.findLast(({ type }) => isPayout(type)) ?? paid[days.last % paid.length]
  if (!entry) return
  const document = receiptOf(...madeOf(played, entries, days), entry.id)
  const view = toReceipt({ document, code: CODE }, played.terms.zone)
  const pdf = await printed({ document, code: CODE, logo: null, postedAt: view.transactionAt })
  const text = squeezed(
    (await pagesOf(pdf))
      .flat(2)
      .map((cell) => cell.text)
      .join(''),
  )
  const { is, not } = shownOn(view, days.language)
  requireSame(
    [is.filter((one) => !text.includes(squeezed(one))), not.filter((one) => text.includes(squeezed(one)))],
    [[], []],
  )
  counts.receipts++
  if (isPayout(entry.type)) counts.payouts++
}

/** Returns what a receipt has to show of the API's JSON, and what it must not. */
function shownOn(view: ReceiptView, language: Language): { is: string[]; not: string[] } {
  const say = speak(DOCUMENT_WORDS, language)
  const money = moneyOf(view.loan.currencyCode)
  const { customer, loan, lender } = view
  const sums = [view.amount, view.balance].map((amount) => `${loan.currencyCode} ${money(amount)}`)
  const optional = [
    ['method', view.paymentMethod],
    ['reference', view.idempotencyKey],
    ['reference', customer.externalId],
    ['reference', loan.externalId],
    ['product', loan.productName],
    ['licence', lender.licenceNumber],
  ] as const
  const parts = PARTS.map((part) => ({ text: `${say(part)} ${money(view[part])}`, isZero: view[part] === 0 }))
  return {
    is: [
      ...[
        say(isPayout(view.type) ? 'payout' : 'receipt'),
        LINE_WORDS[view.type as keyof typeof LINE_WORDS][LANGUAGES.indexOf(language)]!,
      ],
      ...[...sums, view.code, customer.name, lender.name],
      ...[`${say('transaction')} ${view.transactionId}`, `${say('valueDate')} ${view.date}`],
      ...[`${say('postedAt')} ${view.transactionAt}`, `${say('loanNumber')} ${loan.id}`],
      ...optional.flatMap(([label, value]) => (value == null ? [] : [`${say(label)} ${byFonts(value)}`])),
      ...(view.status === 'reversed' ? [say('reversedReceipt')] : []),
      ...parts.flatMap(({ text, isZero }) => (isZero ? [] : [text])),
    ],
    not: [
      ...optional.flatMap(([label, value]) => (value == null && label !== 'reference' ? [say(label)] : [])),
      ...(view.status === 'reversed' ? [] : [say('reversedReceipt')]),
      ...parts.flatMap(({ text, isZero }) => (isZero ? [text] : [])),
    ],
  }
}

type Days = Pick<Case, 'first' | 'last' | 'isWhole'> & { readonly language: Language }

/** Returns a loan and those whom its documents name: with all that may be left out, or without it. */
function madeOf(
  { terms, now }: PlayedLoan,
  entries: readonly Entry[],
  { first, language }: Days,
): [DocumentLoan, DocumentContext] {
  const maybe = <T>(value: T) => (first % 3 === 2 ? null : value)
  const names = { externalId: maybe(TEXTS[4]), productName: maybe(TEXTS[3]) }
  const borrower = { id: 9n, externalId: maybe('CUST-1'), name: `Asha ${TEXTS[7]}` }
  const lender = { name: 'Ziwa Credit', licenceNumber: maybe('CBK/DCP/17') }
  return [
    { id: 71n, accountNo: 12n, ...names, terms, entries },
    { lender, borrower, language, now },
  ]
}

function statementFor(played: PlayedLoan, entries: readonly Entry[], days: Days) {
  const { terms, now } = played
  const { first, last, isWhole } = days
  const [loan, context] = madeOf(played, entries, days)
  if (isWhole) return statementOf(loan, context, {})
  // Days on which something happens, or one beside them.
  const today = dateIn(terms.zone, now)
  const all = [terms.disbursedOn, ...entries.map(({ valueDate }) => valueDate), today].toSorted()
  const [from, to] = [all[first % all.length]!, all[last % all.length]!].toSorted()
  return statementOf(loan, context, { from, to })
}

/** Requires that the balances are those of the replay, and follow from the lines. */
function requireBalances(statement: LoanStatement, { terms, now }: PlayedLoan, entries: readonly Entry[]): void {
  const { opening, charged, credited, closing, lines, state, to } = statement
  const owed = owedByDay(terms, entries, now).findLast(({ date }) => date <= to)!.owed
  requireSame(closing, state.totalOutstanding - state.totalOverpaid)
  requireSame(state.totalOutstanding, owed)
  requireSame(opening + charged - credited, closing)
  let balance = opening
  for (const line of lines) {
    balance += line.change
    requireSame(line.balance, balance)
  }
}

/** Returns how documents write the amounts of a currency. */
function moneyOf(currencyCode: string): (amount: number) => string {
  const decimals = ['UGX', 'RWF', 'BIF'].includes(currencyCode) ? 0 : 2
  const format = new Intl.NumberFormat('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
  return (amount) => format.format(amount)
}

/** Returns what the PDF of a statement has to show of the API's JSON. */
function expectedOf(view: StatementView, language: Language, { text, pages }: ReadStatement): ReadStatement {
  const say = speak(DOCUMENT_WORDS, language)
  const { currencyCode } = view.loan
  const money = moneyOf(currencyCode)
  const { nextDueAmount, nextDueDate } = view
  return {
    ...{ code: view.code, pages, text },
    sums: [
      `${currencyCode} ${money(view.openingBalance)}`,
      ...[money(view.charged), money(view.credited)],
      `${currencyCode} ${money(view.closingBalance)}`,
    ],
    lines: view.lines.map((line) => ({
      date: line.date,
      details: squeezed(detailsOf(line, language, money)),
      charged: line.change > 0 ? money(line.change) : '',
      credited: line.change < 0 ? money(-line.change) : '',
      balance: money(line.balance),
    })),
    balances: {
      [say('principal')]: money(view.principalOutstanding),
      [say('interest')]: money(view.interestOutstanding),
      [say('fees')]: money(view.feesOutstanding),
      [say('penalty')]: money(view.penaltyOutstanding),
      [say('outstanding')]: money(view.totalOutstanding),
      [say('overdue')]: money(view.totalOverdue),
      [say('overpayment')]: money(view.totalOverpaid),
      ...(nextDueAmount !== undefined && { [say('nextDue')]: `${money(nextDueAmount)} · ${nextDueDate}` }),
    },
    instalments: view.instalments.map(({ period, dueDate, ...figures }) => [
      ...[String(period), dueDate],
      ...[figures.due, figures.paid, figures.givenUp, figures.owed].map(money),
    ]),
  }
}

type LineView = StatementView['lines'][number]

function detailsOf(line: LineView, language: Language, money: (amount: number) => string): string {
  const say = speak(DOCUMENT_WORDS, language)
  const type = LINE_WORDS[line.type as keyof typeof LINE_WORDS][LANGUAGES.indexOf(language)]!
  if (line.transactionId === undefined) return type
  const parts = PARTS.filter((part) => line[part] !== 0)
  const names = [
    `${say('transaction')} ${line.transactionId}`,
    ...(line.name === undefined ? [] : [line.name]),
    ...(line.idempotencyKey === undefined ? [] : [`${say('reference')} ${byFonts(line.idempotencyKey)}`]),
    ...(line.paymentMethod === undefined ? [] : [line.paymentMethod]),
  ]
  const amounts = [
    `${say('amount')} ${money(line.amount)}`,
    ...parts.map((part) => `${say(part)} ${money(line[part])}`),
  ]
  const title = line.status === 'reversed' ? `${type} · ${say('reversed')}` : type
  return [title, names.join(' · '), amounts.join(' · ')].join(' ')
}

/** Returns a text as a PDF shows it: what no font has stands by its number. */
const byFonts = (text: string): string =>
  showHidden(text).replace(/[张伟\u{1F600}]/gu, (one) => `[U+${one.codePointAt(0)!.toString(16).toUpperCase()}]`)

function count({ lines, schedule }: LoanStatement, counts: Counts): void {
  counts.statements++
  counts.lines += lines.length
  counts.reversed += lines.filter(({ entry }) => entry !== null && entry.reversedAt !== null).length
  counts.penalties += lines.filter(({ type }) => type === 'Late Penalty').length
  counts.instalments += schedule.length
}

function requireSame(shown: unknown, expected: unknown): void {
  if (isDeepStrictEqual(shown, expected)) return
  const text = (value: unknown) => JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one), 1)
  throw new Error(`the PDF shows\n${text(shown)}\nand the API says\n${text(expected)}`)
}
