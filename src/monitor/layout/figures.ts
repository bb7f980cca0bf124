import { type Currency, currencyOf, minorToText } from '../../domain/money.ts'
import { shareOf } from '../../domain/portfolio/share.ts'

/** Writes an amount for people: thousands apart, with the decimals of its currency. */
export function money(minor: bigint, currency: Currency | string): string {
  const [whole = '', fraction] = minorToText(
    minor,
    typeof currency === 'string' ? currencyOf(currency) : currency,
  ).split('.')
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? apart : `${apart}.${fraction}`
}

/** Writes a share of a whole in percent, to one decimal; a dash when the whole is 0. */
export const percent = (part: bigint, whole: bigint): string =>
  whole === 0n ? '–' : `${(Number((part * 10_000n) / whole) / 100).toFixed(1)} %`

/** Writes a share of a whole in percent, to two decimals as the answers over HTTP have it. */
export const share = (part: bigint, whole: bigint): string =>
  whole === 0n ? '–' : `${shareOf(part, whole).toFixed(2)} %`

/** Writes a large number in few characters, for an axis: 1.2M. */
export function short(value: number): string {
  const [size, letter] = [
    [1e9, 'B'],
    [1e6, 'M'],
    [1e3, 'k'],
  ].find(([from]) => value >= Number(from)) ?? [1, '']
  return `${Number((value / Number(size)).toPrecision(3))}${letter}`
}

/** Writes the time since an instant, in the largest unit that fits. */
export function ago(then: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - then) / 1000))
  if (seconds < 90) return `${seconds} s ago`
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds / 3_600)} h ago`
}
