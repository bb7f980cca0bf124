import type { LocalDate } from '../../domain/dates.ts'
import { invalidArgument } from '../../domain/errors.ts'
import { sum } from '../../domain/money.ts'
import type { Row } from './table.ts'

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
