import type { LocalDate } from '../dates.ts'
import { currencyOf, minorToText } from '../money.ts'
import { codeOf, isDebitType, type LedgerAccount } from './chart.ts'
import { accountsAsOf, type Charts, chartOn } from './chartsInForce.ts'
import { type Lined, linesOf } from './lines.ts'
import { onCashAccount, type Slot, type SummedSlot } from './slots.ts'

/** The ways to ask for balances: as the books were kept, or as the value dates say (contract 9.3). */
export const BASES = ['booked', 'economic'] as const
export type Basis = (typeof BASES)[number]

/** The debits and credits of a slot, minor units. */
export interface SlotSum {
  readonly currency: string
  readonly slot: SummedSlot
  /** The last day up to the booked days of the sum on which a chart begins to count; null: none does. */
  readonly bookedFrom: LocalDate | null
  readonly debit: bigint
  readonly credit: bigint
}

/** A posting that moves amounts between accounts. */
export interface Transfer extends Lined {
  readonly currency: string
}

/** What was posted up to a day: the sums of postings by slot, and the transfers, which no sum has. */
export interface Posted {
  readonly sums: readonly SlotSum[]
  readonly transfers: readonly Transfer[]
}

/** All that was posted on an account, minor units. */
export interface Turnover {
  readonly debit: bigint
  readonly credit: bigint
}

/** An account of a trial balance. `balance` is above zero on the side where the type of the account has it. */
export interface AccountBalance extends LedgerAccount, Turnover {
  readonly balance: bigint
}

/** The accounts of a lender in one currency, by code. Amounts in minor units. */
export interface TrialBalance {
  readonly accounts: readonly AccountBalance[]
  readonly totalDebit: bigint
  readonly totalCredit: bigint
}

/** The turnovers of accounts: by currency, and there by the code of the account. */
export type Turnovers = ReadonlyMap<string, ReadonlyMap<string, Turnover>>

/** Returns what was posted on each account. */
export function turnoversOf(charts: Charts, { sums, transfers }: Posted): Turnovers {
  const byCurrency = new Map<string, Map<string, Turnover>>()
  const add = (currency: string, account: string, { debit, credit }: Turnover) => {
    const accounts = byCurrency.get(currency) ?? new Map<string, Turnover>()
    byCurrency.set(currency, accounts)
    const before = accounts.get(account) ?? { debit: 0n, credit: 0n }
    accounts.set(account, { debit: before.debit + debit, credit: before.credit + credit })
  }
  for (const { currency, slot, bookedFrom, ...turnover } of sums)
    add(currency, onCashAccount(slot) ?? codeOf(chartOn(charts, bookedFrom).chart, slot as Slot), turnover)
  for (const transfer of transfers)
    for (const { account, ...turnover } of linesOf(charts, transfer)) add(transfer.currency, account, turnover)
  return byCurrency
}

/**
 * Returns the trial balance of one currency: the accounts of the chart in force on a day, and those of other charts that
 * have postings.
 */
export function trialBalanceOf(
  charts: Charts,
  turnovers: Turnovers,
  { currency, asOf }: { readonly currency: string; readonly asOf: LocalDate },
): TrialBalance {
  const posted = turnovers.get(currency) ?? new Map<string, Turnover>()
  const inForce = new Set(chartOn(charts, asOf).chart.accounts.map(({ code }) => code))
  const accounts = [...accountsAsOf(charts, asOf).values()]
    .filter(({ code }) => inForce.has(code) || posted.has(code))
    .toSorted(byCode)
    .map((account) => balanced(account, posted.get(account.code) ?? { debit: 0n, credit: 0n }))
  return {
    accounts,
    totalDebit: accounts.reduce((sum, { debit }) => sum + debit, 0n),
    totalCredit: accounts.reduce((sum, { credit }) => sum + credit, 0n),
  }
}

function balanced({ code, name, type }: LedgerAccount, { debit, credit }: Turnover): AccountBalance {
  return { code, name, type, debit, credit, balance: isDebitType(type) ? debit - credit : credit - debit }
}

const byCode = (a: { readonly code: string }, b: { readonly code: string }) => compare(a.code, b.code)
const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b))

/**
 * Writes turnovers as the text of which the hash of a closed period is made: a line `currency,code,debit,credit` for each
 * account that has a posting, amounts in major units with all decimals of the currency, sorted by currency and by code as
 * ASCII, a line feed after each line.
 */
export const turnoversText = (turnovers: Turnovers): string =>
  [...turnovers]
    .toSorted(([a], [b]) => compare(a, b))
    .flatMap(([currency, accounts]) =>
      [...accounts]
        .filter(([, { debit, credit }]) => debit !== 0n || credit !== 0n)
        .toSorted(([a], [b]) => compare(a, b))
        .map(([code, { debit, credit }]) => {
          const text = (amount: bigint) => minorToText(amount, currencyOf(currency))
          return `${currency},${code},${text(debit)},${text(credit)}\n`
        }),
    )
    .join('')
