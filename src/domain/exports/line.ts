import { type Currency, divideHalfEven } from '../money.ts'
import type { Fraction } from '../schedule/fraction.ts'
import { type ExportDay, type Figures, holds, sourceValue, type Value } from './figures.ts'
import { type AmountStyle, type DateStyle, type ExportField, type ExportFormat, LINE_ENDS } from './format.ts'

/** The rules that a value can break. */
export const LINE_RULES = ['required', 'map', 'currency', 'digits', 'longest', 'characters', 'amount'] as const
export type LineRule = (typeof LINE_RULES)[number]

/** What keeps a loan out of a file: a field, the rule that it breaks, and the value that does; null: there is none. */
export interface LineFault {
  readonly field: string
  readonly rule: LineRule
  readonly value: string | null
}

/** The constants of the lender for a file, by the names of the format's settings. */
export type Settings = Readonly<Record<string, string>>

/** A row of a file without the end of its line, or what keeps the loan out of the file. */
export type Line = { readonly text: string } | { readonly faults: readonly LineFault[] }

/** Writes the row of a loan; where any field breaks a rule, returns all that do. */
export function lineOf(format: ExportFormat, figures: Figures, settings: Settings): Line {
  const faults: LineFault[] = []
  const cells = format.fields.map((field) => {
    const cell = cellOf(field, { format, figures, settings })
    if (typeof cell === 'string') return cell
    faults.push(cell)
    return ''
  })
  return faults.length > 0 ? { faults } : { text: join(format, [...markOf(format.mark), ...cells]) }
}

const markOf = (mark: string | null): string[] => (mark === null ? [] : [mark])

/** Writes the first row of a file; undefined where the format has none. */
export function headerOf(
  format: ExportFormat,
  { asOf }: Pick<ExportDay, 'asOf'>,
  settings: Settings,
): string | undefined {
  const { header, fields, mark } = format
  if (header.kind === 'none') return undefined
  if (header.kind === 'names') return join(format, [...markOf(mark), ...fields.map(({ name }) => name)])
  const cells = header.fields.map(({ from }) => {
    if (from === null) return ''
    if ('constant' in from) return from.constant
    return 'setting' in from ? (settings[from.setting] ?? '') : dateText(asOf, format.dates)
  })
  return join(format, [...markOf(header.mark), ...cells])
}

/** Returns a row with the end of its line. */
export const ended = ({ lineEnd }: Pick<ExportFormat, 'lineEnd'>, row: string): string => row + LINE_ENDS[lineEnd]

const join = ({ separator, quotes }: ExportFormat, cells: readonly string[]): string =>
  (quotes === 'never' ? cells : cells.map((cell) => quoted(cell, separator))).join(separator)

const quoted = (cell: string, separator: string): string =>
  cell.includes(separator) || cell.includes('"') ? `"${cell.replaceAll('"', '""')}"` : cell

interface Place {
  readonly format: ExportFormat
  readonly figures: Figures
  readonly settings: Settings
}

/** Writes the value of a field; returns the rule that it breaks where it breaks one. */
function cellOf(field: ExportField, place: Place): string | LineFault {
  const { format, figures } = place
  const fault = (rule: LineRule, value: string | null): LineFault => ({ field: field.name, rule, value })
  const isNeeded = field.need === 'mandatory' || (field.need === 'conditional' && holds(field.when!, figures))
  if (field.need === 'conditional' && !isNeeded) return ''
  const { currency } = figures.loan.terms
  if (field.onlyCurrency !== undefined && field.onlyCurrency !== currency.code)
    return isNeeded ? fault('currency', currency.code) : ''
  const value = rawOf(field, place)
  if (value === null || value === '') return isNeeded ? fault('required', null) : ''
  const map = field.map === undefined ? undefined : format.maps[field.map]
  const mapped = map ? map[String(value)] : value
  if (mapped === undefined) return fault('map', String(value))
  const text = textOf(mapped, field, { format, currency })
  if (text === undefined) return fault('amount', String(value))
  const broken = brokenBy(text, field, format)
  return broken === undefined ? text : fault(broken, text)
}

function rawOf({ from }: ExportField, { format, figures, settings }: Place): Value {
  if (from === null) return null
  if ('constant' in from) return from.constant
  return 'setting' in from ? (settings[from.setting] ?? null) : sourceValue(from.source, figures, format)
}

/** Returns a value as the file has it; undefined for an amount that the file would have to round. */
function textOf(
  value: NonNullable<Value>,
  { type, decimals = 2 }: ExportField,
  { format, currency }: { readonly format: ExportFormat; readonly currency: Currency },
): string | undefined {
  if (typeof value === 'object') return percentText(value, decimals)
  if (typeof value === 'bigint') return amountText(value, format.amounts, currency)
  if (type === 'date') return dateText(String(value), format.dates)
  return String(value)
}

/** Returns a share in percent, rounded half to even. */
function percentText({ over, under }: Fraction, decimals: number): string {
  const digits = String(divideHalfEven(over * 100n * 10n ** BigInt(decimals), under)).padStart(decimals + 1, '0')
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

/** Returns an amount as the file has it; undefined where it would have to be rounded. */
function amountText(minor: bigint, style: AmountStyle, { decimals }: Currency): string | undefined {
  const unit = 10n ** BigInt(decimals)
  if (style === 'whole') return minor % unit === 0n ? String(minor / unit) : undefined
  const hundredths = String((minor * 100n) / unit)
  if (style === 'hundredths') return hundredths
  const padded = hundredths.padStart(3, '0')
  return `${padded.slice(0, -2)}.${padded.slice(-2)}`
}

/** Returns a day, YYYY-MM-DD, as the file has it. */
function dateText(day: string, style: DateStyle): string {
  const [year, month, date] = day.split('-')
  if (style === 'YYYY-MM-DD') return day
  return style === 'YYYYMMDD' ? `${year}${month}${date}` : `${date}/${month}/${year}`
}

/** Returns the rule that the text of a field breaks. */
function brokenBy(text: string, { type, longest }: ExportField, { quotes, separator }: ExportFormat) {
  if (type === 'digits' && !/^\d+$/.test(text)) return 'digits'
  if (longest !== undefined && [...text].length > longest) return 'longest'
  if (/\p{Cc}/u.test(text)) return 'characters'
  if (quotes === 'never' && (text.includes(separator) || text.includes('"'))) return 'characters'
  return undefined
}
