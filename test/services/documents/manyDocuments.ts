import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import type { StatementView } from '../../../src/api/partner/documents/documents.wire.ts'
import { toStatement } from '../../../src/api/partner/documents/documents.wire.ts'
import { dateIn } from '../../../src/domain/dates.ts'
import { type LoanStatement, statementOf } from '../../../src/domain/documents/documents.ts'
import type { Entry } from '../../../src/domain/loan/entry.ts'
import { owedByDay } from '../../../src/domain/loan/replay.ts'
import { showHidden } from '../../../src/domain/visibleText.ts'
import { toPdf } from '../../../src/services/documents/pdf/pages.ts'
import { DOCUMENT_WORDS, LINE_WORDS } from '../../../src/words/documents.ts'
import { LANGUAGES, type Language, speak } from '../../../src/words/words.ts'
import { anyHistory } from '../../domain/terms/anyHistory.ts'
import { anyLent } from '../../domain/terms/anyLent.ts'
import { PlayedLoan } from '../../domain/terms/playedLoan.ts'
import { type ReadStatement, readStatement, squeezed } from '../../support/readDocument.ts'

/** What is counted of the statements that are compared. */
export type Counts = Record<'loans' | 'statements' | 'lines' | 'reversed' | 'penalties' | 'instalments', number>

const CODE = '7KD2M9QX4TZA1B6C'

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

/** Reads back the statements of random loans from their PDFs, and compares each with the JSON of the API. @throws the first difference */
export async function compareMany(seed: number, many: number): Promise<Counts> {
  const counts = { loans: 0, statements: 0, lines: 0, reversed: 0, penalties: 0, instalments: 0 }
  await fc.assert(
    fc.asyncProperty(anyCase, (one) => compare(one, counts)),
    { seed, numRuns: many, endOnFailure: true },
  )
  return counts
}

async function compare({ lent, history, texts, ...days }: Case, counts: Counts): Promise<void> {
  const played = new PlayedLoan(lent)
  for (const step of history) played.do(step)
  const entries = played.entries.map((entry, index): Entry => {
    const token = texts[index % texts.length]!
    return { ...entry, token: entry.type === 'Repayment' ? token : null, paymentMethod: 'Mobile Money' }
  })
  counts.loans++
  for (const language of LANGUAGES) {
    const statement = statementFor(played, entries, { ...days, language })
    requireBalances(statement, played, entries)
    const request = { document: statement, code: CODE, logo: null, postedAt: '' }
    const pdf = await toPdf(request)
    const again = await toPdf(request)
    if (!Buffer.from(pdf).equals(Buffer.from(again))) throw new Error('the same request made other bytes')
    const shown = await readStatement(pdf, language)
    requireSame(shown, expectedOf(toStatement({ document: statement, code: CODE }), language, shown))
    count(statement, counts)
  }
}

type Days = Pick<Case, 'first' | 'last' | 'isWhole'> & { readonly language: Language }

function statementFor(played: PlayedLoan, entries: readonly Entry[], { first, last, isWhole, language }: Days) {
  const { terms, now } = played
  const loan = { id: 71n, externalId: TEXTS[4], accountNo: 12n, productName: TEXTS[3], terms, entries }
  const borrower = { id: 9n, externalId: 'CUST-1', name: `Asha ${TEXTS[7]}` }
  const lender = { name: 'Ziwa Credit', licenceNumber: 'CBK/DCP/17' }
  const context = { lender, borrower, language, now }
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

/** Returns what a PDF has to show of the API's JSON. */
function expectedOf(view: StatementView, language: Language, { text, pages }: ReadStatement): ReadStatement {
  const say = speak(DOCUMENT_WORDS, language)
  const { currencyCode } = view.loan
  const decimals = ['UGX', 'RWF', 'BIF'].includes(currencyCode) ? 0 : 2
  const format = new Intl.NumberFormat('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
  const money = (amount: number) => format.format(amount)
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
  const parts = (['principal', 'interest', 'fees', 'penalty', 'overpayment'] as const).filter(
    (part) => line[part] !== 0,
  )
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
