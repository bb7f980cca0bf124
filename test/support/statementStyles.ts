import type { LocalDate } from '../../src/domain/dates.ts'
import { type Currency, minorToText } from '../../src/domain/money.ts'

/** One transaction of a fictional statement. Minor units; `amount` is negative for money that went out. */
export interface Movement {
  readonly on: LocalDate
  /** `HH:mm:ss` */
  readonly time: string
  readonly reference: string
  readonly details: string
  readonly amount: bigint
  readonly fee: bigint
  /** Listed, but never carried out: moves no balance. */
  readonly failed?: true
}

/** A fictional owner's statement, before it is drawn. */
export interface StatementSketch {
  readonly layout: 'mpesa' | 'airtel' | 'yas' | 'bank'
  readonly owner: string
  readonly phone: string
  readonly from: LocalDate
  readonly to: LocalDate
  readonly currency: Currency
  readonly opening: bigint
  /** Oldest first. */
  readonly movements: readonly Movement[]
}

/** A movement and the balance after it. */
export interface Listed extends Movement {
  readonly balance: bigint
}

/** How an issuer draws its statements. */
export interface StatementStyle {
  readonly heading: string
  readonly newestFirst: boolean
  /** Labelled lines above the table: label and value. */
  head(sketch: StatementSketch, listed: readonly Listed[]): readonly (readonly [string, string])[]
  /** Title, left edge and width in points; amounts are set to the right. A cell may go on in a second line. */
  readonly columns: readonly { title: string; left: number; width: number; right?: true }[]
  cells(movement: Listed, sketch: StatementSketch): string[]
  /** A line that begins each page but the first. */
  carried?(balance: bigint, on: LocalDate, sketch: StatementSketch): string[]
  footer(page: number, pages: number, sketch: StatementSketch): string
}

/** `-1,234,567.50` */
function money(minor: bigint, currency: Currency): string {
  const [whole = '', cents] = minorToText(minor, currency).split('.')
  return whole.replace(/\B(?=(\d{3})+$)/g, ',') + (cents === undefined ? '' : `.${cents}`)
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const slashed = (date: LocalDate): string => date.split('-').reverse().join('/')
const worded = (date: LocalDate, gap: string): string => {
  const [year, month, day] = date.split('-')
  return [day, MONTHS[Number(month) - 1], year].join(gap)
}
const closingOf = (sketch: StatementSketch, listed: readonly Listed[]): bigint =>
  listed.at(-1)?.balance ?? sketch.opening

export const STYLES: Readonly<Record<StatementSketch['layout'], StatementStyle>> = {
  mpesa: {
    heading: 'M-PESA STATEMENT',
    newestFirst: true,
    head: (sketch, listed) => {
      const done = listed.filter(({ failed }) => !failed)
      const total = (of: (movement: Listed) => bigint) => done.reduce((sum, movement) => sum + of(movement), 0n)
      const paidIn = total(({ amount }) => (amount > 0n ? amount : 0n))
      const paidOut = total(({ amount, fee }) => (amount < 0n ? -amount : 0n) + fee)
      return [
        ['Customer Name:', sketch.owner],
        ['Mobile Number:', sketch.phone],
        ['Email Address:', 'nobody@example.com'],
        ['Statement Period:', `${worded(sketch.from, ' ')} - ${worded(sketch.to, ' ')}`],
        ['TOTAL:', `${money(paidIn, sketch.currency)} -${money(paidOut, sketch.currency)}`],
      ]
    },
    columns: [
      { title: 'Receipt No.', left: 30, width: 60 },
      { title: 'Completion Time', left: 92, width: 82 },
      { title: 'Details', left: 176, width: 150 },
      { title: 'Transaction Status', left: 330, width: 70 },
      { title: 'Paid In', left: 400, width: 50, right: true },
      { title: 'Withdrawn', left: 455, width: 52, right: true },
      { title: 'Balance', left: 510, width: 55, right: true },
    ],
    cells: ({ reference, on, time, details, failed, amount, balance }, { currency }) => [
      reference,
      `${on} ${time}`,
      details.replace(/^(.{1,28}) /, '$1\n'),
      failed ? 'Failed' : 'Completed',
      amount > 0n ? money(amount, currency) : '',
      amount < 0n ? money(amount, currency) : '',
      money(balance, currency),
    ],
    footer: (page, pages) => `Disclaimer: this record is for your personal use. Page ${page} of ${pages}`,
  },
  airtel: {
    heading: 'Airtel Money Customer Statement',
    newestFirst: false,
    head: (sketch, listed) => [
      ['Name:', sketch.owner],
      ['Mobile Number:', sketch.phone],
      ['Statement Period:', `${worded(sketch.from, '-')} to ${worded(sketch.to, '-')}`],
      ['Opening Balance:', `${sketch.currency.code} ${money(sketch.opening, sketch.currency)}`],
      ['Closing Balance:', `${sketch.currency.code} ${money(closingOf(sketch, listed), sketch.currency)}`],
    ],
    columns: [
      { title: 'Transaction ID', left: 30, width: 72 },
      { title: 'Transaction Date & Time', left: 105, width: 85 },
      { title: 'Description', left: 195, width: 100 },
      { title: 'Status', left: 300, width: 40 },
      { title: 'Transaction Amount', left: 345, width: 70, right: true },
      { title: 'Credit/Debit', left: 422, width: 45 },
      { title: 'Fee', left: 470, width: 35, right: true },
      { title: 'Balance', left: 508, width: 57, right: true },
    ],
    cells: ({ reference, on, time, details, failed, amount, fee, balance }, { currency }) => [
      reference,
      `${on.slice(8)}-${on.slice(5, 7)}-${on.slice(2, 4)} ${time.slice(0, 5)} ${time < '12' ? 'AM' : 'PM'}`,
      details,
      failed ? 'Failed' : 'Success',
      money(amount < 0n ? -amount : amount, currency),
      amount < 0n ? 'Debit' : 'Credit',
      money(fee, currency),
      money(balance, currency),
    ],
    footer: (page) => `Airtel Money customer care, dial 100  ${page}`,
  },
  yas: {
    heading: 'Mixx by Yas Account Statement',
    newestFirst: true,
    head: (sketch, listed) => [
      ['Account Holder:', sketch.owner],
      ['MSISDN:', sketch.phone],
      [`From: ${slashed(sketch.from)}`, `To: ${slashed(sketch.to)}`],
      ['Amounts in', sketch.currency.code],
      ['Opening Balance', money(sketch.opening, sketch.currency)],
      ['Closing Balance', money(closingOf(sketch, listed), sketch.currency)],
    ],
    columns: [
      { title: 'Date', left: 30, width: 80 },
      { title: 'Transaction ID', left: 115, width: 75 },
      { title: 'Type', left: 195, width: 120 },
      { title: 'Other Party', left: 318, width: 60 },
      { title: 'Amount', left: 385, width: 60, right: true },
      { title: 'Charges', left: 450, width: 45, right: true },
      { title: 'Balance', left: 500, width: 65, right: true },
    ],
    cells: ({ reference, on, time, details, amount, fee, balance }, { currency }) => [
      `${slashed(on)} ${time}`,
      reference,
      details,
      '25571***000',
      money(amount, currency),
      money(fee, currency),
      money(balance, currency),
    ],
    footer: (page, pages) => `${page}/${pages}`,
  },
  bank: {
    heading: 'ACCOUNT STATEMENT',
    newestFirst: false,
    head: (sketch) => [
      ['Account Name', sketch.owner],
      ['Account Number', '0150000000000'],
      ['Currency', sketch.currency.code],
      ['Statement Period', `${slashed(sketch.from)} to ${slashed(sketch.to)}`],
      ['Opening Balance', money(sketch.opening, sketch.currency)],
    ],
    columns: [
      { title: 'Posting Date', left: 30, width: 55 },
      { title: 'Value Date', left: 90, width: 50 },
      { title: 'Reference', left: 145, width: 60 },
      { title: 'Details', left: 210, width: 125 },
      { title: 'Debit', left: 340, width: 65, right: true },
      { title: 'Credit', left: 415, width: 65, right: true },
      { title: 'Balance', left: 490, width: 75, right: true },
    ],
    cells: ({ reference, on, details, amount, balance }, { currency }) => [
      slashed(on),
      slashed(on),
      reference,
      details,
      amount < 0n ? money(-amount, currency) : '',
      amount > 0n ? money(amount, currency) : '',
      money(balance, currency),
    ],
    carried: (balance, on, { currency }) => [slashed(on), '', '', 'Balance B/F', '', '', money(balance, currency)],
    footer: (page, pages, { to }) => `${slashed(to)} 08:15   Page ${page} of ${pages}`,
  },
}
