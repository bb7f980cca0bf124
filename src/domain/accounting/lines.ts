import type { LocalDate } from '../dates.ts'
import { codeOf } from './chart.ts'
import { type Charts, chartOfVersion, chartOn } from './chartsInForce.ts'
import { SLOTS, type Slot } from './slots.ts'

/** Amounts of a posting by slot, as they are stored: minor units, a debit above zero, null where there is none. */
export type StoredAmounts = Readonly<Record<Slot, bigint | null>>

/** The move of amounts from the accounts of one chart to those of another. */
export interface Move {
  /** The versions of the charts. */
  readonly from: number
  readonly to: number
}

/** What decides the lines of a posting. */
export interface Lined {
  readonly bookedOn: LocalDate
  readonly amounts: StoredAmounts
  /** The code of the account on which the amount of `cash` is, instead of that of the chart; null: that of the chart. */
  readonly cashAccount: string | null
  /** Null: the amounts are debits and credits of the accounts that the chart in force has for the slots. */
  readonly move: Move | null
}

/** An amount on an account, minor units: either a debit or a credit, the other one is 0. */
export interface Line {
  /** The code of the account. */
  readonly account: string
  readonly debit: bigint
  readonly credit: bigint
}

/** Returns the line of an amount on an account. @param amount minor units; a debit above zero, a credit below */
export const lineOf = (account: string, amount: bigint): Line =>
  amount < 0n ? { account, debit: 0n, credit: -amount } : { account, debit: amount, credit: 0n }

/** Returns the lines of a posting in the order of the slots: one for each slot with an amount, two where amounts move. */
export function linesOf(charts: Charts, { bookedOn, amounts, cashAccount, move }: Lined): Line[] {
  const chart = (version: number) => chartOfVersion(charts, version)
  const [from, to] = move ? [chart(move.from), chart(move.to)] : [undefined, chartOn(charts, bookedOn).chart]
  return SLOTS.flatMap((slot) => {
    const amount = amounts[slot] ?? 0n
    if (amount === 0n) return []
    const entered = lineOf((slot === 'cash' ? cashAccount : null) ?? codeOf(to, slot), amount)
    return from ? [lineOf(codeOf(from, slot), -amount), entered] : [entered]
  })
}
