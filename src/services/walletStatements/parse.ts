import { createHash } from 'node:crypto'
import { addPeriods, dayAfter, type LocalDate, wholeMonths } from '../../domain/dates.ts'
import { invalidArgument } from '../../domain/errors.ts'
import { type Currency, min, sum } from '../../domain/money.ts'
import { LAYOUTS, type Layout } from './layouts.ts'
import {
  currencyOfPhone,
  magnitude,
  type Row,
  readAmount,
  readCurrency,
  readDate,
  type Sheet,
  takeApart,
} from './table.ts'
import { type Line, type StatementText, textOf } from './text.ts'

/** A month of a statement: its income, and the balance at its end. Minor units. */
export interface StatementMonth {
  readonly from: LocalDate
  readonly to: LocalDate
  readonly inflow: bigint
  readonly closingBalance: bigint
}

/** The figures of a statement. Amounts in minor units of the organization's currency. */
export interface StatementFigures {
  readonly layout: string
  readonly owner: string
  /** The phone number as on the statement, masked or not; null where such statements have none. */
  readonly phone: string | null
  readonly from: LocalDate
  readonly to: LocalDate
  /** Whole months, counted back from the last day; earlier days are in no month. */
  readonly months: number
  /** The latest month first. */
  readonly monthly: readonly StatementMonth[]
  /** Rounded down; 0 without a whole month. */
  readonly averageMonthlyInflow: bigint
  readonly leastMonthlyInflow: bigint
  readonly openingBalance: bigint
  readonly closingBalance: bigint
  readonly transactions: number
  /** A digest of the transactions, equal for every file of the same statement. */
  readonly fingerprint: string
}

/** The longest statement, because the months are computed one by one. */
const LONGEST_MONTHS = 120

/**
 * Reads a statement's figures from its text, by the first layout that fits.
 * @throws LendingError `invalid_argument` on `statement`, saying which part could not be read or does not agree
 */
export function parseStatement(pages: StatementText, currency: Currency): StatementFigures {
  for (const layout of LAYOUTS) {
    const sheet = takeApart(pages, layout, currency)
    if (sheet) return figuresOf(sheet, layout, currency)
  }
  const known = LAYOUTS.map(({ name }) => name).join(', ')
  throw invalidArgument('statement', `fits no layout of the statements that are read: ${known}`)
}

function figuresOf(sheet: Sheet, layout: Layout, currency: Currency): StatementFigures {
  const owner = required(findLabelled(sheet.head, layout.owner)?.[0], layout, 'owner')
  const phone = layout.phone && required(findLabelled(sheet.head, layout.phone)?.[0], layout, 'phone number')
  const period = findLabelled(sheet.head, layout.period)?.map((text) => readDate(text, layout.dates)) ?? []
  const from = required(period[0], layout, 'period')
  const to = required(period[1], layout, 'period')
  if (from > to || wholeMonths(from, to) > LONGEST_MONTHS)
    throw invalidArgument('statement', `has a period that cannot be right: ${from} to ${to}`)
  requireCurrency(sheet, layout, phone, currency)

  const rows = oldestFirst(sheet.rows, layout)
  const first = rows[0]
  const last = rows.at(-1)
  if (!first || !last) throw invalidArgument('statement', 'lists no transactions')
  const totals = amountsOf(sheet.others, layout.totals, currency)
  requireSums(rows, {
    from,
    to,
    opening: amountsOf(sheet.others, layout.opening, currency)?.[0] ?? null,
    closing: amountsOf(sheet.others, layout.closing, currency)?.[0] ?? null,
    totals: totals ? { paidIn: totals[0]!, paidOut: magnitude(totals[1]!) } : null,
  })
  const monthly = monthsOf(rows, from, to, layout)
  const inflows = monthly.map(({ inflow }) => inflow)
  return {
    layout: layout.id,
    owner,
    phone,
    from,
    to,
    months: monthly.length,
    monthly,
    averageMonthlyInflow: inflows.length === 0 ? 0n : sum(inflows) / BigInt(inflows.length),
    leastMonthlyInflow: inflows.length === 0 ? 0n : inflows.reduce(min),
    openingBalance: openingOf(first),
    closingBalance: last.balance,
    transactions: rows.length,
    fingerprint: fingerprintOf(rows, layout),
  }
}

/** The longest name or number that is returned. */
const LONGEST_LABELLED = 200

/**
 * Returns the groups of the first line that a label matches: in a cell, in two cells side by side, or in the whole
 * line.
 */
function findLabelled(lines: readonly Line[], label: RegExp): string[] | null {
  for (const line of lines) {
    const pairs = line.slice(1).map((cell, index) => `${line[index]!.text} ${cell.text}`)
    for (const text of [...line.map((cell) => cell.text), ...pairs, textOf(line)]) {
      const match = label.exec(text)
      if (match) return match.slice(1).map((group) => group.slice(0, LONGEST_LABELLED).trim())
    }
  }
  return null
}

function amountsOf(lines: readonly Line[], label: RegExp | null, currency: Currency): bigint[] | null {
  const texts = label && findLabelled(lines, label)
  const amounts = texts?.map((text) => readAmount(text, currency)).filter((amount) => amount !== null)
  return amounts && amounts.length === texts?.length ? amounts : null
}

/** Requires a statement in the organization's currency, in which limits are. */
function requireCurrency(sheet: Sheet, layout: Layout, phone: string | null, currency: Currency): void {
  const written = layout.currency && findLabelled(sheet.others, layout.currency)?.[0]
  const found = written ? (readCurrency(written) ?? written) : phone && currencyOfPhone(phone)
  if (found && found !== currency.code)
    throw invalidArgument('statement', `is in ${found}: limits here are in ${currency.code}`)
}

/**
 * Returns the rows with the oldest first. Their dates decide, else the layout: some issuers let the customer choose the
 * order.
 */
function oldestFirst(rows: readonly Row[], { newestFirst }: Layout): readonly Row[] {
  const first = rows[0]?.on ?? ''
  const last = rows.at(-1)?.on ?? ''
  return (first === last ? newestFirst : first > last) ? rows.toReversed() : rows
}

/** Returns the whole months of a statement, counted back from the last day. */
function monthsOf(rows: readonly Row[], from: LocalDate, to: LocalDate, layout: Layout): StatementMonth[] {
  const end = dayAfter(to)
  const months: StatementMonth[] = []
  for (;;) {
    const start = addPeriods(end, -months.length - 1, 'months')
    const stop = addPeriods(end, -months.length, 'months')
    if (start < from) return months
    const within = rows.filter((row) => row.on >= start && row.on < stop)
    months.push({
      from: start,
      to: addPeriods(stop, -1, 'days'),
      inflow: sum(within.filter((row) => !layout.notIncome.test(row.details)).map((row) => row.paidIn)),
      closingBalance: rows.findLast((row) => row.on < stop)?.balance ?? openingOf(rows[0]!),
    })
  }
}

function fingerprintOf(rows: readonly Row[], layout: Layout): string {
  const hash = createHash('sha256').update(layout.id)
  for (const row of rows) hash.update(`\n${row.on} ${row.reference} ${row.paidIn} ${row.paidOut} ${row.balance}`)
  return hash.digest('hex')
}

function required<T>(value: T | null | undefined, layout: Layout, what: string): T {
  if (value === undefined || value === null || value === '')
    throw invalidArgument(
      'statement',
      `looks like a statement of the layout ${layout.name}, but its ${what} cannot be read`,
    )
  return value
}

/** The period, balances and totals that a statement declares, in minor units; null where it declares none. */
export interface Declared {
  readonly from: LocalDate
  readonly to: LocalDate
  readonly opening: bigint | null
  readonly closing: bigint | null
  readonly totals: { readonly paidIn: bigint; readonly paidOut: bigint } | null
}

/**
 * Requires that a statement agrees with itself: each balance is the one before plus the amount, the first and last
 * balances follow from the opening and closing ones, the totals are the sums, and every transaction is in the period.
 * This finds a line that was changed, added or left out, and a missing page.
 * @param rows oldest first
 * @throws LendingError `invalid_argument` on `statement`, saying what does not agree and where
 */
export function requireSums(rows: readonly Row[], declared: Declared): void {
  const first = rows[0]
  const last = rows.at(-1)
  if (!first || !last) return
  let balance = declared.opening ?? openingOf(first)
  for (const row of rows) {
    if (row.on < declared.from || row.on > declared.to)
      throw disagrees(`a transaction on page ${row.page}, of ${row.on}, is outside its period`)
    balance += row.paidIn - row.paidOut
    if (row.balance !== balance)
      throw disagrees(
        row === first
          ? `the first balance, of ${row.on} on page ${row.page}, does not follow from the opening balance`
          : `the balance of ${row.on} on page ${row.page} does not follow from the one before it and the amount`,
      )
  }
  if (declared.closing !== null && declared.closing !== last.balance)
    throw disagrees('the closing balance is not that of the last transaction')
  const { totals } = declared
  if (!totals) return
  const paidIn = sum(rows.map((row) => row.paidIn))
  const paidOut = sum(rows.map((row) => row.paidOut))
  if (totals.paidIn !== paidIn || totals.paidOut !== paidOut)
    throw disagrees('its totals are not the sums of its transactions')
}

/** Returns the balance before a transaction. */
export const openingOf = ({ balance, paidIn, paidOut }: Row): bigint => balance - paidIn + paidOut

const disagrees = (what: string) =>
  invalidArgument('statement', `does not agree with itself, as if it had been altered: ${what}`)
