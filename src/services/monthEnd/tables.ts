import type { AccountType } from '../../domain/accounting/chart.ts'
import { type Currency, currencyOf } from '../../domain/money.ts'
import { AT_RISK_DAYS, shareOf } from '../../domain/portfolio/cells.ts'
import type { Moved, RollRow } from '../../domain/portfolio/rolls.ts'
import { documentWordsOfMonth } from '../../words/monthEnd.ts'
import { ACCOUNT_WORDS, BUCKET_WORDS } from '../../words/names.ts'
import { type Language, nameIn, type Say, speak } from '../../words/words.ts'
import { incomeRows, type StatementRow, sheetRows } from '../accounting/csv.ts'
import type { BooksOfCurrency } from '../accounting/financialStatements.ts'
import { groupedText } from '../documents/texts.ts'
import type { MonthEnd } from './monthEnd.ts'

// The tables of a month as people read them: the page and the PDF show the same ones. Accounts without an amount are left out;
// the trial balance and the CSV file have them.

/** A column: its title, its share of the width of a sheet, and whether it has figures, or names that may take several lines. */
interface MonthColumn {
  readonly title: string
  readonly share: number
  readonly right?: true
  readonly hasNames?: true
}

/** A row: its texts, and whether it is a sum of rows. */
interface MonthRow {
  readonly cells: readonly string[]
  readonly isSum?: true
}

/** A table of a month, in one language. */
export interface MonthTable {
  readonly heading: string
  readonly columns: readonly MonthColumn[]
  readonly rows: readonly MonthRow[]
  /** Stands in place of the rows where there are none. */
  readonly empty: string
  /** Whether the first cell of a row is the code of an account, where it is not empty. */
  readonly isOfAccounts: boolean
}

type Words = keyof typeof documentWordsOfMonth

interface Writing {
  readonly say: Say<Words>
  readonly language: Language
}

const text = (title: string, share: number): MonthColumn => ({ title, share })
const names = (title: string, share: number): MonthColumn => ({ title, share, hasNames: true })
const figure = (title: string, share: number): MonthColumn => ({ title, share, right: true })
const percentText = (part: bigint, whole: bigint): string =>
  whole === 0n ? '–' : `${shareOf(part, whole).toFixed(2)} %`

/** Returns the tables of a month, in their order; a table of what was refused is left out. */
export function tablesOf(month: MonthEnd, language: Language): MonthTable[] {
  const writing: Writing = { say: speak(documentWordsOfMonth, language), language }
  return [
    ...month.books.currencies.flatMap((books) => [
      trialBalanceTable(writing, books),
      incomeTable(writing, books),
      sheetTable(writing, books),
    ]),
    ...provisionsTable(writing, month),
    rollsTable(writing, month),
    atRiskTable(writing, month),
  ]
}

function trialBalanceTable({ say, language }: Writing, { currency, trialBalance }: BooksOfCurrency): MonthTable {
  const money = (minor: bigint) => groupedText(minor, currency)
  const { accounts, totalDebit, totalCredit } = trialBalance
  return {
    heading: say('trialBalanceIn', { currency: currency.code }),
    columns: [
      text(say('code'), 0.11),
      names(say('account'), 0.32),
      text(say('type'), 0.12),
      figure(say('debit'), 0.15),
      figure(say('credit'), 0.15),
      figure(say('balance'), 0.15),
    ],
    rows: [
      ...accounts
        .filter(({ debit, credit }) => debit !== 0n || credit !== 0n)
        .map(({ code, name, type, debit, credit, balance }) => ({
          cells: [code, name, nameIn(ACCOUNT_WORDS, language, type), money(debit), money(credit), money(balance)],
        })),
      { cells: ['', say('allAccounts'), '', money(totalDebit), money(totalCredit), ''], isSum: true },
    ],
    empty: '',
    isOfAccounts: true,
  }
}

/** Returns the table of a financial statement. @param totals the words of its sums */
function statementTable(
  { say, language }: Writing,
  currency: Currency,
  {
    heading,
    rows,
    totals,
  }: { heading: string; rows: readonly StatementRow[]; totals: Readonly<Record<string, Words>> },
): MonthTable {
  return {
    heading,
    columns: [text(say('code'), 0.13), names(say('account'), 0.5), text(say('type'), 0.17), figure(say('amount'), 0.2)],
    rows: rows
      .filter(({ row, amount }) => row === 'total' || amount !== 0n)
      .map(({ row, type, code, name, amount }): MonthRow => {
        const money = groupedText(amount, currency)
        return row === 'total'
          ? { cells: ['', say(totals[type]!), '', money], isSum: true }
          : { cells: [code ?? '', name ?? '', nameIn(ACCOUNT_WORDS, language, type), money] }
      }),
    empty: '',
    isOfAccounts: true,
  }
}

const incomeTable = (writing: Writing, books: BooksOfCurrency): MonthTable =>
  statementTable(writing, books.currency, {
    heading: writing.say('incomeStatementIn', { currency: books.currency.code }),
    rows: incomeRows(books),
    totals: { income: 'totalIncome', expense: 'totalExpenses', result: 'result' } satisfies Partial<
      Record<AccountType | 'result', Words>
    >,
  })

function sheetTable(writing: Writing, books: BooksOfCurrency): MonthTable {
  const { say } = writing
  const { totalLiabilities, totalEquity, accumulatedResult } = books.balanceSheet
  const shown = statementTable(writing, books.currency, {
    heading: say('balanceSheetIn', { currency: books.currency.code }),
    rows: sheetRows(books),
    totals: {
      asset: 'totalAssets',
      liability: 'totalLiabilities',
      equity: 'totalEquity',
      result: 'accumulatedResult',
    } satisfies Partial<Record<AccountType | 'result', Words>>,
  })
  const sum = groupedText(totalLiabilities + totalEquity + accumulatedResult, books.currency)
  return { ...shown, rows: [...shown.rows, { cells: ['', say('bothSides'), '', sum], isSum: true }] }
}

function provisionsTable({ say }: Writing, { provisions, end }: MonthEnd): MonthTable[] {
  if ('refused' in provisions) return []
  const rows = provisions.value.groups.map(({ currency: code, productId, total, booked }) => {
    const money = (minor: bigint) => groupedText(minor, currencyOf(code))
    return [
      productId === null ? '' : String(productId),
      code,
      String(total.loans),
      money(total.principal),
      money(total.provision),
      money(booked),
      money(total.provision - booked),
    ]
  })
  return [
    {
      heading: say('provisionsAsOf', { day: end }),
      columns: [
        text(say('product'), 0.1),
        text(say('currency'), 0.1),
        figure(say('loans'), 0.1),
        figure(say('principalOutstanding'), 0.19),
        figure(say('provisionComputed'), 0.17),
        figure(say('provisionBooked'), 0.17),
        figure(say('provisionDifference'), 0.17),
      ],
      rows: rows.map((cells) => ({ cells })),
      empty: say('noneOpen'),
      isOfAccounts: false,
    },
  ]
}

function rollsTable({ say, language }: Writing, { rolls }: MonthEnd): MonthTable {
  const bucketName = (name: string) => nameIn(BUCKET_WORDS, language, name)
  const rows = rolls.rates.flatMap(({ currency: code, from, lent, reopened }) => {
    const line = (of: RollRow, opening: string, closing: string, { loans, principal }: Moved): string[][] =>
      loans === 0
        ? []
        : [
            [
              code,
              opening,
              closing,
              String(loans),
              groupedText(principal, currencyOf(code)),
              percentText(principal, of.principal),
            ],
          ]
    const linesOf = (of: RollRow, opening: string) => [
      ...of.to.flatMap(({ bucket, ...moved }) => line(of, opening, bucketName(bucket.name), moved)),
      ...line(of, opening, say('rolled_closed'), of.closed),
      ...line(of, opening, say('rolled_writtenOff'), of.writtenOff),
    ]
    return [
      ...from.flatMap(({ bucket, ...of }) => linesOf(of, bucketName(bucket.name))),
      ...linesOf(lent, say('rolled_lent')),
      ...linesOf(reopened, say('rolled_reopened')),
    ]
  })
  return {
    heading: say('rollRatesOf', { from: rolls.from, to: rolls.to }),
    columns: [
      text(say('currency'), 0.1),
      text(say('rolledFrom'), 0.22),
      text(say('rolledTo'), 0.22),
      figure(say('loans'), 0.1),
      figure(say('principalOutstanding'), 0.22),
      figure(say('rollShare'), 0.14),
    ],
    rows: rows.map((cells) => ({ cells })),
    empty: say('nothingRolled'),
    isOfAccounts: false,
  }
}

function atRiskTable({ say }: Writing, { atRisk, end }: MonthEnd): MonthTable {
  const rows = atRisk.groups.flatMap(({ currency: code, total }) => {
    const money = (minor: bigint) => groupedText(minor, currencyOf(code))
    return AT_RISK_DAYS.map((days, place) => [
      code,
      `PAR ${days}`,
      String(total.loans),
      money(total.principal),
      money(total.atRisk[place]!),
      percentText(total.atRisk[place]!, total.principal),
    ])
  })
  return {
    heading: say('atRiskAsOf', { day: end }),
    columns: [
      text(say('currency'), 0.12),
      text(say('parFigure'), 0.14),
      figure(say('loans'), 0.14),
      figure(say('principalOutstanding'), 0.24),
      figure(say('parAmount'), 0.22),
      figure(say('share'), 0.14),
    ],
    rows: rows.map((cells) => ({ cells })),
    empty: say('noneOpen'),
    isOfAccounts: false,
  }
}
