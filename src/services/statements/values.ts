import { isCalendarDate, type LocalDate } from '../../domain/dates.ts'
import type { Currency } from '../../domain/money.ts'
import type { DateForm } from './layouts.ts'

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

/** Returns the currency of a code or sign; null for one that is not of the region. */
export const readCurrency = (text: string): string | null => SIGNS[text.replace(/[^a-z]/gi, '').toUpperCase()] ?? null

/** Country codes of phones, and the currency of wallets there. */
const COUNTRIES: Readonly<Record<string, string>> = {
  '254': 'KES',
  '255': 'TZS',
  '256': 'UGX',
  '250': 'RWF',
  '257': 'BIF',
  '251': 'ETB',
}

/** Returns the currency of a wallet by the country code of its phone; null without a country code. */
export const currencyOfPhone = (phone: string): string | null => {
  const digits = phone.replace(/[^\d*x]/gi, '')
  return digits.length >= 12 ? (COUNTRIES[digits.slice(0, 3)] ?? null) : null
}

const AMOUNT = /^(\d{1,3}(?:[, ]\d{3})+|\d{1,15})(?:\.(\d{1,2}))?$/

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
