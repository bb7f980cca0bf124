import type { RestructureRole } from '../../../../src/domain/loan/restructure/plan.ts'
import type { Product } from '../../../../src/domain/product/product.ts'
import type { EarlySettlement, PenaltyTerms } from '../../../../src/domain/product/terms.ts'
import type { Instalment } from '../../../../src/domain/schedule/schedule.ts'
import { type Day, dayAt } from './calendar.ts'
import { type Debt, PARTS, type Part, share, total } from './debt.ts'

/** The types of transactions (contract 4.4, 10.11, 10.12). */
export type Kind =
  | 'Repayment'
  | 'Recovery Repayment'
  | 'Waive Interest'
  | 'Refund'
  | 'Credit Balance Refund'
  | 'Charge-off'
  | 'Write-off'
  | 'Fee'
  | 'Penalty'
  | 'Settlement Waiver'
  | 'Waive Fees'
  | 'Waive Penalty'
  | 'Restructure'

/** A transaction, with what the model reads of it. */
export interface Transaction {
  readonly type: Kind
  readonly valueDate: string
  readonly postedAt: number
  readonly ordinal: number
  readonly place: number
  readonly amount: bigint
  readonly reversedAt: number | null
  readonly dueOn?: string | null
  readonly restructure?: RestructureRole | null
}

/** What was lent, and the terms as they were asked for. */
export interface NaiveLoan {
  readonly product: Product
  /** Minor units. */
  readonly principal: bigint
  readonly disbursedAt: number
  readonly disbursedOn: Day
  readonly schedule: readonly Instalment[]
  readonly penalty: PenaltyTerms | null
  readonly earlySettlement: EarlySettlement
  /** The order in which money pays the parts of an instalment. */
  readonly order: readonly Part[]
  /** The most penalties; null: no penalty terms, and so no limit of theirs. */
  readonly mostPenalties: bigint | null
  /** The most interest, fees and penalties; null: no limit. */
  readonly mostCharges: bigint | null
  /** The fees that were kept back from what was paid out. */
  readonly deducted: bigint
}

export function naiveLoan(
  product: Product,
  principal: bigint,
  disbursedAt: number,
  schedule: readonly Instalment[],
): NaiveLoan {
  const { terms } = product
  const penalty = penaltyTermsOf(product)
  const totalCap = terms?.totalChargeCap ?? null
  return {
    ...{ product, principal, disbursedAt, disbursedOn: dayAt(disbursedAt), schedule, penalty },
    earlySettlement: terms?.earlySettlement ?? 'full_interest',
    order: terms?.allocation ?? PARTS,
    mostPenalties: penalty && mostPenaltiesOf(product, penalty, principal),
    mostCharges: totalCap === null ? null : share(principal, totalCap),
    deducted: deductedOf(product, principal),
  }
}

/** Returns the penalty terms; the single penalty of 4.3.4 is one of them (contract 10.8). */
function penaltyTermsOf({ terms, penaltyRate }: Product): PenaltyTerms | null {
  if (terms?.penalty) return terms.penalty
  if (penaltyRate === null) return null
  const unlimited = { graceDays: 0, maxTimes: null, capOfPrincipal: null } as const
  return { base: 'principal', value: penaltyRate, every: 'once', per: 'loan', ...unlimited }
}

/** 999,999,999,999.99, in minor units of the currency. */
const largest = ({ currency }: Product): bigint => 99_999_999_999_999n / (currency.decimals === 0 ? 100n : 1n)

function mostPenaltiesOf(product: Product, { capOfPrincipal }: PenaltyTerms, principal: bigint): bigint {
  const most = largest(product)
  if (capOfPrincipal === null) return most
  const cap = share(principal, capOfPrincipal)
  return cap < most ? cap : most
}

function deductedOf({ terms }: Product, principal: bigint): bigint {
  let sum = 0n
  for (const { treatment, base, value, tax } of terms?.fees ?? []) {
    const amount = base === 'fixed' ? value : share(principal, value)
    if (treatment === 'deducted') sum += amount + share(amount, tax?.rate ?? 0n)
  }
  return sum
}

/** Returns what the cap of all charges leaves; undefined: as much as is asked. */
export function roomForCharges({ mostCharges, deducted }: NaiveLoan, debt: Debt): bigint | undefined {
  if (mostCharges === null) return undefined
  const charged = total(debt, 'interest', 'due') + total(debt, 'fees', 'due') + total(debt, 'penalty', 'due')
  const room = mostCharges - deducted - charged
  return room > 0n ? room : 0n
}

/** Returns an amount of a penalty, cut to what the caps leave. */
export function cutPenalty(loan: NaiveLoan, debt: Debt, amount: bigint): bigint {
  const rooms = [roomForCharges(loan, debt)]
  if (loan.mostPenalties !== null) rooms.push(loan.mostPenalties - total(debt, 'penalty', 'due'))
  let left = amount
  for (const room of rooms) if (room !== undefined && room < left) left = room
  return left > 0n ? left : 0n
}
