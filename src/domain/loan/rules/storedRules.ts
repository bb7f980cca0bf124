import { isPeriodUnit } from '../../dates.ts'
import { invariant } from '../../errors.ts'
import { digits, fromStoredTax, isCount, type StoredTax, toStoredTax } from '../../product/storedTerms.ts'
import { EARLY_SETTLEMENTS, PENALTY_SCOPES } from '../../product/terms.ts'
import { COMPONENTS } from '../portions.ts'
import type { AfterDueRule, LoanRules, LoanTaxes, PenaltyRule, SettledLoan } from './loanRules.ts'

/** Rules as they are stored: amounts and rates in digits, which JSON keeps exactly. */
export type StoredRules = Omit<LoanRules, 'deducted' | 'penalty' | 'mostCharges' | 'afterDue' | 'taxes' | 'settled'> & {
  readonly deducted: string
  readonly penalty: (Omit<PenaltyRule, 'value' | 'most'> & { readonly value: string; readonly most: string }) | null
  readonly mostCharges: string | null
  /** Left out: no interest runs on. */
  readonly afterDue?: Omit<AfterDueRule, 'rate'> & { readonly rate: string }
  /** Left out: none. */
  readonly taxes?: StoredTaxes
  /** Left out: none. */
  readonly settled?: readonly StoredSettled[]
}

interface StoredTaxes {
  readonly interest: StoredTax | null
  readonly fees: readonly { readonly name: string; readonly added: string; readonly deducted: string }[]
}

type StoredSettled = Omit<SettledLoan, 'loanId' | 'amount'> & { readonly loanId: string; readonly amount: string }

/** Returns rules in the form in which they are stored, with the members always in the same order. */
export const toStoredRules = (rules: LoanRules): StoredRules => ({
  deducted: rules.deducted.toString(),
  penalty: rules.penalty && toStoredPenalty(rules.penalty),
  allocation: rules.allocation,
  earlySettlement: rules.earlySettlement,
  interestGrace: rules.interestGrace,
  mostCharges: rules.mostCharges?.toString() ?? null,
  ...(rules.afterDue && { afterDue: { rate: rules.afterDue.rate.toString(), maxDays: rules.afterDue.maxDays } }),
  ...(rules.taxes && { taxes: toStoredTaxes(rules.taxes) }),
  ...(rules.settled.length > 0 && { settled: rules.settled.map(toStoredSettled) }),
})

const toStoredTaxes = ({ interest, fees }: LoanTaxes): StoredTaxes => ({
  interest: interest && toStoredTax(interest),
  fees: fees.map(({ name, added, deducted }) => ({ name, added: added.toString(), deducted: deducted.toString() })),
})

const toStoredSettled = ({ loanId, externalId, amount }: SettledLoan): StoredSettled => ({
  loanId: loanId.toString(),
  externalId,
  amount: amount.toString(),
})

const toStoredPenalty = ({ base, value, every, graceDays, maxTimes, most, per }: PenaltyRule) => ({
  base,
  value: value.toString(),
  every: every && { every: every.every, unit: every.unit },
  graceDays,
  maxTimes,
  most: most.toString(),
  per,
})

const BASES: readonly string[] = ['fixed', 'overdue_principal', 'overdue_total']

/** Returns the rules of their stored form. @throws InvariantError for a value that `toStoredRules` did not make */
export function fromStoredRules(stored: unknown): LoanRules | null {
  if (stored === null || stored === undefined) return null
  const {
    deducted,
    penalty,
    allocation,
    earlySettlement,
    interestGrace,
    mostCharges,
    afterDue,
    taxes,
    settled = [],
  } = stored as StoredRules
  invariant(
    EARLY_SETTLEMENTS.includes(earlySettlement) &&
      isCount(interestGrace) &&
      Array.isArray(allocation) &&
      allocation.length === COMPONENTS.length &&
      COMPONENTS.every((one) => allocation.includes(one)),
    'stored rules with an order of allocation and a rule of settlement',
  )
  return {
    deducted: digits(deducted),
    penalty: penalty && penaltyFrom(penalty),
    allocation,
    earlySettlement,
    interestGrace,
    mostCharges: mostCharges === null ? null : digits(mostCharges),
    afterDue: afterDue ? afterDueFrom(afterDue) : null,
    taxes: taxes ? taxesFrom(taxes) : null,
    settled: settled.map(({ loanId, externalId, amount }) => ({
      loanId: digits(loanId),
      externalId,
      amount: digits(amount),
    })),
  }
}

function afterDueFrom({ rate, maxDays }: NonNullable<StoredRules['afterDue']>): AfterDueRule {
  invariant(isCount(maxDays), 'stored interest after the due date with a number of days')
  return { rate: digits(rate), maxDays }
}

function taxesFrom({ interest, fees }: StoredTaxes): LoanTaxes {
  invariant(Array.isArray(fees), 'stored taxes of interest and fees')
  return {
    interest: fromStoredTax(interest),
    fees: fees.map(({ name, added, deducted }) => ({ name, added: digits(added), deducted: digits(deducted) })),
  }
}

function penaltyFrom(stored: NonNullable<StoredRules['penalty']>): PenaltyRule {
  const { base, value, every, graceDays, maxTimes, most, per } = stored
  invariant(
    BASES.includes(base) &&
      PENALTY_SCOPES.includes(per) &&
      isCount(graceDays) &&
      (maxTimes === null || isCount(maxTimes)) &&
      (every === null || (isCount(every.every) && every.every > 0 && isPeriodUnit(every.unit))),
    'a stored penalty with a base and a time',
  )
  return { base, value: digits(value), every, graceDays, maxTimes, most: digits(most), per }
}
