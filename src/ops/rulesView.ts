import type { PenaltyRule } from '../domain/loan/rules/loanRules.ts'
import type { HeadTerms } from '../domain/loan/terms.ts'
import { type Currency, largestIn, minorToText, rateToNumber } from '../domain/money.ts'
import { isUsualOrder } from '../domain/product/terms.ts'

/** The rules of a loan for operators, besides its schedule; each member is null where the loan has the usual rule. */
export interface RulesView {
  readonly netDisbursed: string | null
  readonly feesDeducted: string | null
  /** The penalties in words. */
  readonly penalty: string | null
  /** The most interest, fees and penalties together. */
  readonly chargeCap: string | null
  readonly earlySettlement: string | null
  readonly allocation: string | null
}

/** Returns the rules of a loan in the words of its product's terms. */
export function toRulesView({ rules, penaltyAmount, principal, currency }: HeadTerms): RulesView {
  const money = (minor: bigint) => minorToText(minor, currency)
  const single = penaltyAmount === null ? null : `${money(penaltyAmount)} once, per loan`
  if (rules === null)
    return {
      netDisbursed: null,
      feesDeducted: null,
      penalty: single,
      chargeCap: null,
      earlySettlement: null,
      allocation: null,
    }
  const { deducted, penalty, mostCharges, earlySettlement, allocation } = rules
  return {
    netDisbursed: deducted === 0n ? null : money(principal - deducted),
    feesDeducted: deducted === 0n ? null : money(deducted),
    penalty: penalty === null ? single : penaltyText(penalty, currency),
    chargeCap: mostCharges === null ? null : money(mostCharges),
    earlySettlement: earlySettlement === 'full_interest' ? null : earlySettlement,
    allocation: isUsualOrder(allocation) ? null : allocation.join(', '),
  }
}

/** Writes a rule such as `0.5 % of overdue_total every day after 3 days, at most 30 times, at most 500.00, per loan`. */
function penaltyText({ base, value, every, graceDays, maxTimes, most, per }: PenaltyRule, currency: Currency): string {
  const amount = base === 'fixed' ? minorToText(value, currency) : `${rateToNumber(value)} % of ${base}`
  const often = every === null ? 'once' : `every ${every.every === 1 ? '' : `${every.every} `}${unitOf(every)}`
  const limits = [
    ...(maxTimes === null ? [] : [`at most ${maxTimes} times`]),
    ...(most === largestIn(currency) ? [] : [`at most ${minorToText(most, currency)}`]),
  ]
  const after = graceDays === 0 ? '' : ` after ${graceDays} day${graceDays === 1 ? '' : 's'}`
  return [`${amount} ${often}${after}`, ...limits, `per ${per}`].join(', ')
}

const unitOf = ({ every, unit }: NonNullable<PenaltyRule['every']>): string =>
  every === 1 ? unit.replace(/s$/, '') : unit
