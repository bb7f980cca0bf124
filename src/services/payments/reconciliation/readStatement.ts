import { isUtf8 } from 'node:buffer'
import { type Info, parse } from 'csv-parse/sync'
import type { Channel } from '../../../db/payments/channels.ts'
import { fromRfc3339, type Instant, isCalendarDate, startOfDay } from '../../../domain/dates.ts'
import { invalidArgument } from '../../../domain/errors.ts'
import { currencyOf, parseDecimal, toMinor } from '../../../domain/money.ts'
import { readTime } from '../../../domain/payments/adapters/times.ts'
import { at as nodeAt, type Tree, textAt } from '../../../domain/payments/adapters/tree.ts'
import type { Statement, StatementLine } from '../../../domain/payments/reconciliation.ts'
import { CSV_LAYOUTS, type CsvLayout, type StatementLayout } from '../../../domain/payments/statementLayouts.ts'
import { LONGEST_TOLD } from '../../../domain/payments/told.ts'
import { readXml } from '../inbound/messageBody.ts'

/** The most lines of a statement. */
export const MOST_STATEMENT_LINES = 50_000
/** The rows among which the names of the columns are: some providers say first whose statement it is. */
const ROWS_OF_HEAD = 30

type Of = Pick<Channel, 'currency' | 'zone'>

/** Returns the refusal of a statement. @param where the line, the entry or the balance at fault; null: the statement as a whole */
const wrong = (where: string | null, message: string) =>
  invalidArgument('statement', where === null ? message : `${where}: ${message}`)

/**
 * Reads a provider's statement in a layout. Lines that did not complete are left out.
 * @throws LendingError `invalid_argument` naming the line of the file, or the entry or the balance of the document, that cannot be read
 */
export function readStatement(bytes: Uint8Array, layout: StatementLayout, channel: Of): Statement {
  if (!isUtf8(bytes)) throw wrong(null, 'must be a text in UTF-8')
  const text = Buffer.from(bytes)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
  const statement = layout === 'camt053' ? fromCamt(text, channel) : fromCsv(text, CSV_LAYOUTS[layout], channel)
  if (statement.lines.length > MOST_STATEMENT_LINES)
    throw wrong(
      null,
      `has ${statement.lines.length} lines, and at most ${MOST_STATEMENT_LINES} are compared: divide it by days`,
    )
  return statement
}

/** A row of CSV, and the line of the file in which it ends. */
interface Row {
  readonly record: readonly string[]
  readonly info: Pick<Info, 'lines'>
}

function fromCsv(text: string, layout: CsvLayout, channel: Of): Statement {
  let rows: readonly Row[]
  try {
    const options = { relax_column_count: true, skip_empty_lines: true, trim: true, info: true }
    // The types of the library do not know what `info` makes of a row.
    rows = parse(text, options) as unknown as Row[]
  } catch (error) {
    throw wrong(null, `must be CSV: ${(error as Error).message}`)
  }
  const head = rows.slice(0, ROWS_OF_HEAD).findIndex(({ record }) => record.includes(layout.receipt))
  if (head === -1) throw wrong(null, `must have a column ${layout.receipt}`)
  const names = rows[head]!.record
  const columns = [layout.at, ...(typeof layout.amount === 'string' ? [layout.amount] : Object.values(layout.amount))]
  const missing = columns.find((name) => !names.includes(name))
  if (missing !== undefined) throw wrong(null, `must have a column ${missing}`)
  const lines = rows.slice(head + 1).flatMap(({ record, info }) => {
    const cell = (name: string | undefined) => (name === undefined ? '' : (record[names.indexOf(name)] ?? ''))
    return csvLine(cell, layout, { channel, where: `line ${info.lines}` })
  })
  return { lines, opening: null, closing: null }
}

/** Reads a row: a line, or none where the row says that nothing moved. */
function csvLine(
  cell: (name: string | undefined) => string,
  layout: CsvLayout,
  { channel, where }: { readonly channel: Of; readonly where: string },
): StatementLine[] {
  const { only, amount: from } = layout
  if (only && cell(only.column) !== only.is) return []
  const amount =
    typeof from === 'string'
      ? signedOf(cell(from), channel, where)
      : signedOf(cell(from.in), channel, where) - absolute(signedOf(cell(from.out), channel, where))
  if (amount === 0n) return []
  const at = readTime(cell(layout.at), layout.times, channel.zone)
  if (at === undefined) throw wrong(where, `${layout.at} must be a time such as 2026-02-10 09:29:40`)
  const names = { receipt: cell(layout.receipt), reference: cell(layout.reference), reverses: cell(layout.reverses) }
  return [lineOf(names, { at, amount, where })]
}

const absolute = (amount: bigint): bigint => (amount < 0n ? -amount : amount)

/** Reads an amount with its sign; nothing is 0. */
function signedOf(text: string, { currency }: Of, where: string): bigint {
  const plain = text.replaceAll(/[,\s]/g, '')
  if (plain === '' || plain === '-') return 0n
  const isOut = plain.startsWith('-')
  const decimal = parseDecimal(isOut ? plain.slice(1) : plain)
  if (!decimal) throw wrong(where, 'must have amounts such as 5,000.00')
  const amount = toMinor(decimal, currencyOf(currency), 'statement', { zeroAllowed: true })
  return isOut ? -amount : amount
}

function lineOf(
  { receipt, reference, reverses }: Readonly<Record<'receipt' | 'reference' | 'reverses', string>>,
  { at, amount, where }: { readonly at: Instant; readonly amount: bigint; readonly where: string },
): StatementLine {
  if (receipt === '' || receipt.length > LONGEST_TOLD.receipt)
    throw wrong(where, `must have a receipt of 1 to ${LONGEST_TOLD.receipt} characters`)
  return {
    receipt,
    at,
    amount,
    reference: reference === '' ? null : reference.slice(0, LONGEST_TOLD.reference),
    // A payment that came in names no other.
    reverses: reverses === '' || amount > 0n ? null : reverses.slice(0, LONGEST_TOLD.receipt),
  }
}

const listOf = (tree: Tree | undefined): readonly Tree[] =>
  tree === undefined ? [] : Array.isArray(tree) ? (tree as readonly Tree[]) : [tree as Tree]

/** Reads the statement of a bank (ISO 20022, camt.053): its booked entries and balances. */
function fromCamt(text: string, channel: Of): Statement {
  const body = readXml(text)
  if ('why' in body) throw wrong(null, body.why)
  const statements = listOf(nodeAt(body.tree, 'Document.BkToCstmrStmt.Stmt'))
  if (statements.length === 0) throw wrong(null, 'must be a camt.053: it has no Document/BkToCstmrStmt/Stmt')
  const entries = statements.flatMap((one) => listOf(nodeAt(one, 'Ntry')))
  const lines = entries.flatMap((entry, index) => camtLine(entry, channel, `entry ${index + 1}`))
  const balance = (code: string): bigint | null => {
    const found = statements
      .flatMap((one) => listOf(nodeAt(one, 'Bal')))
      .find((one) => textAt(one, ['Tp.CdOrPrtry.Cd']) === code)
    if (found === undefined || statements.length > 1) return null
    const amount = signedOf(textAt(found, ['Amt']) ?? '', channel, `balance ${code}`)
    return textAt(found, ['CdtDbtInd']) === 'DBIT' ? -amount : amount
  }
  return { lines, opening: balance('OPBD'), closing: balance('CLBD') }
}

function camtLine(entry: Tree, channel: Of, where: string): StatementLine[] {
  const status = textAt(entry, ['Sts.Cd', 'Sts'])
  if (status !== undefined && status !== 'BOOK') return []
  const details = listOf(nodeAt(entry, 'NtryDtls')).flatMap((one) => listOf(nodeAt(one, 'TxDtls')))
  // An entry of several transactions is booked as one sum: each is a line of its own.
  const isBatch = details.length > 1 && details.every((one) => textAt(one, AMOUNTS_OF_PART) !== undefined)
  return (isBatch ? details : [details[0] ?? null]).flatMap((one) =>
    camtPart(entry, one, {
      channel,
      where,
      amount: textAt(isBatch ? one : entry, isBatch ? AMOUNTS_OF_PART : ['Amt']) ?? '',
      isBatch,
    }),
  )
}

const AMOUNTS_OF_PART = ['Amt', 'AmtDtls.TxAmt.Amt']

interface CamtPart {
  readonly channel: Of
  readonly where: string
  readonly amount: string
  readonly isBatch: boolean
}

function camtPart(entry: Tree, details: Tree, { channel, where, amount: text, isBatch }: CamtPart): StatementLine[] {
  const amount = signedOf(text, channel, where)
  if (amount === 0n) return []
  const isOut = textAt(entry, ['CdtDbtInd']) === 'DBIT'
  const refs = (names: readonly string[]) =>
    textAt(
      details,
      names.map((name) => `Refs.${name}`),
    ) ?? ''
  const own = refs(['AcctSvcrRef', 'TxId', 'EndToEndId'])
  const receipt = isBatch ? own : (textAt(entry, ['AcctSvcrRef']) ?? own)
  const reference = textAt(details, ['RmtInf.Ustrd', 'RmtInf.Strd.CdtrRefInf.Ref']) ?? ''
  const isReversal = isOut && textAt(entry, ['RvslInd']) === 'true'
  const reverses = isReversal ? refs(['EndToEndId', 'TxId']) : ''
  const day = textAt(entry, ['BookgDt.DtTm', 'BookgDt.Dt', 'ValDt.DtTm', 'ValDt.Dt']) ?? ''
  const at = isCalendarDate(day) ? startOfDay(day, channel.zone) : fromRfc3339(day)
  if (at === undefined) throw wrong(where, 'must have a booking date')
  return [lineOf({ receipt, reference, reverses }, { at, amount: isOut ? -amount : amount, where })]
}
