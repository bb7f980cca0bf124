import fc from 'fast-check'
import { dayAt, plusDays } from './calendar.ts'
import { owedOf } from './debt.ts'
import { type Kind, outcomeOf, total } from './history.ts'
import type { SentAmount } from './rules.ts'
import type { Model } from './system.ts'

// Requests to the service, in terms of the loan as it is, so that many of them are at the edges.

/** An amount as a share of the most that the loan has of it: the edges are the interesting amounts. */
export interface Amount {
  readonly percent: bigint
  /** Cents to add. */
  readonly and: bigint
  readonly tooFine?: true
}

export const anyAmount: fc.Arbitrary<Amount> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ percent: fc.bigInt(1n, 100n), and: fc.constant(0n) }) },
  { weight: 5, arbitrary: fc.record({ percent: fc.constant(100n), and: fc.constantFrom(0n, 0n, -1n, 1n, 500_00n) }) },
  { weight: 2, arbitrary: fc.record({ percent: fc.constant(0n), and: fc.bigInt(0n, 20_000_00n) }) },
  { weight: 1, arbitrary: fc.constant<Amount>({ percent: 1n, and: 0n, tooFine: true }) },
)

/** A value date by its place; the model computes the day. */
export type When =
  | { readonly is: 'left out' | 'due' | 'too early' | 'too late' }
  | { readonly is: 'back'; readonly days: number }
  | { readonly is: 'as'; readonly nth: number }

export const anyDay: fc.Arbitrary<When> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<When>({ is: 'left out' }) },
  { weight: 5, arbitrary: fc.record({ is: fc.constant('back' as const), days: fc.nat(60) }) },
  { weight: 4, arbitrary: fc.record({ is: fc.constant('as' as const), nth: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.constantFrom<When>({ is: 'due' }, { is: 'too early' }, { is: 'too late' }) },
)

/** Returns the amount in cents. @param more cents that an adjustment frees */
export function amountIn({ loan, now }: Model, kind: Kind, { percent, and, tooFine }: Amount, more = 0n): SentAmount {
  if (tooFine) return 'too fine'
  const { rows, overpaid } = outcomeOf(loan.debt, loan.history, now)
  const owed = total(rows, owedOf)
  const most: Readonly<Record<Kind, bigint>> = {
    Repayment: owed,
    'Recovery Repayment': owed + total(rows, (row) => row.writtenOff - row.recovered),
    'Waive Interest': total(rows, (row) => (row.part === 'interest' ? owedOf(row) : 0n)),
    Refund: overpaid > 0n ? overpaid : total(rows, (row) => row.paid),
    'Credit Balance Refund': overpaid,
    'Charge-off': owed,
    'Write-off': owed,
  }
  return ((most[kind] + more) * percent) / 100n + and
}

export function dayIn({ loan, now }: Model, when: When): string | undefined {
  const { disbursedOn, dueDays } = loan.debt
  const today = dayAt(now)
  const inRange = (day: string) => (day < disbursedOn ? disbursedOn : day > today ? today : day)
  switch (when.is) {
    case 'left out':
      return undefined
    case 'due':
      return inRange(dueDays.at(-1)!)
    case 'too early':
      return plusDays(disbursedOn, -1)
    case 'too late':
      return plusDays(today, 1)
    case 'back':
      return inRange(plusDays(today, -when.days))
    case 'as':
      return loan.history.length === 0 ? disbursedOn : loan.history[when.nth % loan.history.length]!.day
  }
}

/** Writes an amount digit by digit, as a careful client does. */
function amountText(amount: SentAmount): string {
  if (amount === 'too fine') return '1.005'
  const digits = (amount < 0n ? -amount : amount).toString().padStart(3, '0')
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

export function bodyOf(amount: SentAmount | null, fields: Record<string, unknown>): string {
  const rest = JSON.stringify(fields).slice(1, -1)
  return `{${[amount === null ? '' : `"transactionAmount":${amountText(amount)}`, rest].filter(Boolean).join(',')}}`
}
