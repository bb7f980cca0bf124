import { type Currency, minorToText } from '../money.ts'

/** A value that JSON can hold. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** The names of the amounts among the facts and results of decisions. */
const AMOUNTS: ReadonlySet<string> = new Set([
  'chargedOff',
  'writtenOff',
  'borrowed',
  'repaid',
  'largestRepaid',
  'outstanding',
  'limit',
  'creditLimit',
  'availableLimit',
  'currentLimit',
  'statementLimit',
  'inflow',
  'averageMonthlyInflow',
  'leastMonthlyInflow',
  'openingBalance',
  'closingBalance',
])

/** Returns a value as it is stored: the same shape, amounts as decimal text (`"250000.00"`). */
export function toStored(value: unknown, currency: Currency): Json {
  if (typeof value === 'bigint') return minorToText(value, currency)
  if (Array.isArray(value)) return value.map((one) => toStored(one, currency))
  if (typeof value !== 'object' || value === null) return value as Json
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, toStored(part, currency)]))
}

/** Reads a decision's facts or result from what `toStored` wrote. */
export function fromStored(json: Json): unknown {
  if (Array.isArray(json)) return json.map(fromStored)
  if (typeof json !== 'object' || json === null) return json
  return Object.fromEntries(
    Object.entries(json).map(([name, part]) => [
      name,
      // All decimals of the currency are written, so the digits without the point are minor units.
      AMOUNTS.has(name) && typeof part === 'string' ? BigInt(part.replace('.', '')) : fromStored(part),
    ]),
  )
}
