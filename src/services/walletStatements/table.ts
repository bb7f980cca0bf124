import { isCalendarDate, type LocalDate } from '../../domain/dates.ts'
import { invalidArgument } from '../../domain/errors.ts'
import type { Currency } from '../../domain/money.ts'
import type { Column, DateForm, Layout, Role } from './layouts.ts'
import { type Cell, type Line, type StatementText, textOf } from './text.ts'

/** A transaction of a statement. Minor units; `paidOut` includes the fee. */
export interface Row {
  /** From 1. */
  readonly page: number
  readonly on: LocalDate
  readonly reference: string
  readonly details: string
  readonly paidIn: bigint
  readonly paidOut: bigint
  readonly balance: bigint
}

/** The parts of a statement: the lines above the table, the rows as listed, and every other line. */
export interface Sheet {
  readonly head: readonly Line[]
  readonly rows: readonly Row[]
  readonly others: readonly Line[]
}

/** The place of a column: the extent of its title. */
interface Placed extends Cell {
  readonly role: Role
}

/** Divides a statement into its parts by a layout; null when its first page has no mark and table of that layout. */
export function takeApart(pages: StatementText, layout: Layout, currency: Currency): Sheet | null {
  const first = pages[0] ?? []
  const top = first.findIndex((line) => titlesOf(line, layout.columns) !== null)
  if (top === -1) return null
  const head = first.slice(0, top)
  if (!head.some((line) => layout.mark.test(textOf(line)))) return null
  const rows: Row[] = []
  const others: Line[] = [...head]
  let titles: readonly Placed[] = []
  /** True where the line above is a row, whose details may continue. */
  let open = false
  for (const [index, lines] of pages.entries())
    for (const line of index === 0 ? lines.slice(top) : lines) {
      const repeated = titlesOf(line, layout.columns)
      if (repeated) {
        titles = repeated
        continue
      }
      const row = readRow(line, titles, { layout, currency, page: index + 1 })
      const above = open ? rows.at(-1) : undefined
      if (row === null && above && isMoreDetails(line, titles)) {
        rows[rows.length - 1] = { ...above, details: `${above.details} ${textOf(line)}` }
        continue
      }
      open = row !== null && row !== 'moved nothing'
      if (row === null) others.push(line)
      else if (row !== 'moved nothing') rows.push(row)
    }
  return { head, rows, others }
}

/** Returns the columns of a line of titles; null for a line without every title that is not optional, in order. */
function titlesOf(line: Line, columns: readonly Column[]): readonly Placed[] | null {
  const found: Placed[] = []
  let next = 0
  for (const { role, title, optional } of columns) {
    const at = line.findIndex((cell, index) => index >= next && title.test(cell.text))
    if (at === -1 && !optional) return null
    if (at === -1) continue
    found.push({ ...line[at]!, role })
    next = at + 1
  }
  return found
}

/**
 * Reads a line as a transaction. A line with a date in the column of dates is a transaction or is refused, so that none
 * is lost.
 */
function readRow(
  line: Line,
  titles: readonly Placed[],
  { layout, currency, page }: { readonly layout: Layout; readonly currency: Currency; readonly page: number },
): Row | 'moved nothing' | null {
  const fields = fieldsOf(line, titles)
  const on = readDate(fields.get('date') ?? '', layout.dates)
  if (on === null || layout.furniture?.test(textOf(line))) return null
  const details = fields.get('details') ?? ''
  if (layout.carried?.test(details)) return 'moved nothing'
  if (layout.done && !layout.done.test(fields.get('status') ?? '')) return 'moved nothing'
  const amount = (role: Role): bigint | null => {
    const text = fields.get(role)
    return text === undefined || /^-*$/.test(text) ? 0n : readAmount(text, currency)
  }
  const paid = { in: amount('in'), out: amount('out'), amount: amount('amount'), fee: amount('fee') }
  const balance = fields.has('balance') ? amount('balance') : null
  if (balance === null || paid.in === null || paid.out === null || paid.amount === null || paid.fee === null)
    throw invalidArgument('statement', `has a line on page ${page}, of ${on}, whose amounts cannot be read`)
  const signed = layout.incoming?.test(fields.get('direction') ?? '') === false ? -magnitude(paid.amount) : paid.amount
  const moved = { in: paid.in + (signed > 0n ? signed : 0n), out: magnitude(paid.out) + (signed < 0n ? -signed : 0n) }
  const reference = fields.get('reference') ?? ''
  return { page, on, reference, details, paidIn: moved.in, paidOut: moved.out + magnitude(paid.fee), balance }
}

/** Returns whether a line has details alone, which then continue those of the line above. */
const isMoreDetails = (line: Line, titles: readonly Placed[]): boolean =>
  line.every((cell) => columnOf(cell, titles) === 'details')

function fieldsOf(line: Line, titles: readonly Placed[]): Map<Role, string> {
  const fields = new Map<Role, string>()
  for (const cell of line) {
    const role = columnOf(cell, titles)
    if (role === undefined) continue
    const text = fields.get(role)
    fields.set(role, text === undefined ? cell.text : `${text} ${cell.text}`)
  }
  return fields
}

/** Returns the column whose title a cell overlaps most; without an overlap, the column in which the cell begins. */
function columnOf(cell: Cell, titles: readonly Placed[]): Role | undefined {
  let best: Placed | undefined
  let most = 0
  for (const title of titles) {
    const overlap = Math.min(cell.right, title.right) - Math.max(cell.left, title.left)
    if (overlap > most) {
      best = title
      most = overlap
    }
  }
  return (best ?? titles.findLast((title) => title.left <= cell.left))?.role
}

const FORMS: Readonly<Record<DateForm, RegExp>> = {
  'yyyy-MM-dd': /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)\b/,
  'dd-MM-yyyy': /^(?<day>\d\d)-(?<month>\d\d)-(?<year>\d{4})\b/,
  'dd/MM/yyyy': /^(?<day>\d\d)\/(?<month>\d\d)\/(?<year>\d{4})\b/,
  'dd-MM-yy': /^(?<day>\d\d)-(?<month>\d\d)-(?<year>\d\d)\b/,
  'dd MMM yyyy': /^(?<day>\d{1,2}) (?<month>[A-Za-z]{3})[a-z]* (?<year>\d{4})\b/,
  'dd-MMM-yyyy': /^(?<day>\d{1,2})-(?<month>[A-Za-z]{3})-(?<year>\d{4})\b/,
  'dd-MMM-yy': /^(?<day>\d{1,2})-(?<month>[A-Za-z]{3})-(?<year>\d\d)\b/,
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** Codes and signs before or after an amount, and their currencies. */
const SIGNS: Readonly<Record<string, string>> = {
  TZS: 'TZS',
  TSH: 'TZS',
  KES: 'KES',
  KSH: 'KES',
  UGX: 'UGX',
  USH: 'UGX',
  RWF: 'RWF',
  RF: 'RWF',
  FRW: 'RWF',
  BIF: 'BIF',
  FBU: 'BIF',
  ETB: 'ETB',
  BR: 'ETB',
}

/** Country codes of phones, and the currency of wallets there. */
const COUNTRIES: Readonly<Record<string, string>> = {
  '254': 'KES',
  '255': 'TZS',
  '256': 'UGX',
  '250': 'RWF',
  '257': 'BIF',
  '251': 'ETB',
}

const AMOUNT = /^(\d{1,3}(?:[, ]\d{3})+|\d{1,15})(?:\.(\d{1,2}))?$/

/** Reads the date at the beginning of a text, in the first form that fits; null when there is none. */
export function readDate(text: string, forms: readonly DateForm[]): LocalDate | null {
  for (const form of forms) {
    const { year, month, day } = FORMS[form].exec(text)?.groups ?? {}
    if (year === undefined || month === undefined || day === undefined) continue
    const number = /\d/.test(month) ? month : String(MONTHS.indexOf(month.toLowerCase()) + 1).padStart(2, '0')
    const date = `${year.length === 2 ? `20${year}` : year}-${number}-${day.padStart(2, '0')}`
    if (isCalendarDate(date)) return date
  }
  return null
}

/** Returns the currency of a code or sign; null for one that is not of the region. */
export const readCurrency = (text: string): string | null => SIGNS[text.replace(/[^a-z]/gi, '').toUpperCase()] ?? null

/** Returns the currency of a wallet by the country code of its phone; null without a country code. */
export const currencyOfPhone = (phone: string): string | null => {
  const digits = phone.replace(/[^\d*x]/gi, '')
  return digits.length >= 12 ? (COUNTRIES[digits.slice(0, 3)] ?? null) : null
}

/**
 * Reads an amount of a statement, in minor units: thousands separated or not; negative by a sign before or after it,
 * brackets, or `DR`; with or without the currency. Null when the text is not an amount of the currency.
 */
export function readAmount(text: string, currency: Currency): bigint | null {
  let rest = text.trim()
  const bracketed = /^\((.+)\)$/.exec(rest)
  if (bracketed) rest = bracketed[1]!.trim()
  const debit = /\s?dr\.?$/i.test(rest)
  rest = rest.replace(/\s?[cd]r\.?$/i, '')
  const minus = /^-|-$/.test(rest)
  rest = rest.replace(/^[-+]\s?|\s?-$/g, '').replace(/^[A-Z]{2,3}h?\.?\s?|\s?[A-Z]{3}$/gi, '')
  // The sign may be on either side of the currency: -TZS 100, TZS -100.
  const inner = /^-/.test(rest)
  const match = AMOUNT.exec(rest.replace(/^-\s?/, ''))
  if (!match) return null
  const [, whole = '', cents = ''] = match
  const digits = cents.padEnd(currency.decimals, '0')
  // 1,000.00 UGX: decimals of a currency that has none must be 0.
  if (/[1-9]/.test(digits.slice(currency.decimals))) return null
  const minor = BigInt(whole.replace(/[, ]/g, '') + digits.slice(0, currency.decimals))
  return bracketed || debit || minus || inner ? -minor : minor
}

/** Returns an amount without its sign: some statements have negative amounts for money that goes out. */
export const magnitude = (amount: bigint): bigint => (amount < 0n ? -amount : amount)
