import { type Currency, minorToText } from '../money.ts'
import type { CreditHistory } from './history.ts'
import type { CreditPolicy, Grade, GradeLimit } from './policy.ts'

/** A scored customer. `limit` in minor units of the policy's currency. */
export interface CreditScore {
  /** 0–1000. */
  readonly score: number
  readonly grade: Grade
  readonly limit: bigint
  /** Sentences about what raised and lowered the score, strongest first. */
  readonly reasons: readonly string[]
  readonly policyVersion: string
}

/** The effect of one fact on the score. */
interface Effect {
  /** Added to the score; negative when taken off. */
  readonly points: number
  readonly words: string
  /** True where the words are shown even for 0 points. */
  readonly isShown?: boolean
}

/**
 * Scores a customer by a policy (contract 4.5): base and points, less the points for delays, at most a ceiling after a
 * loss. Every step is monotonic in its fact, so that under any policy an instalment paid on time never lowers a score
 * and a longer delay never raises one.
 *
 * A customer is unscored (`XX`, 0, 0) as long as no loan is closed or lost and no instalment has fallen due or was paid
 * before.
 */
export function scoreCustomer(history: CreditHistory, policy: CreditPolicy): CreditScore {
  const policyVersion = policy.version
  if (!isScorable(history)) {
    const reasons = ['nothing to score yet: no loan was repaid and no instalment has fallen due']
    return { score: 0, grade: 'XX', limit: 0n, reasons, policyVersion }
  }
  const effects = [...raising(history, policy), ...lowering(history, policy)].filter(
    ({ points, isShown }) => points !== 0 || isShown,
  )
  const sum = effects.reduce((total, { points }) => total + points, policy.score.base)
  const held = ceilingsOf(history, policy)
  const score = Math.max(0, Math.min(sum, ...held.map(({ ceiling }) => ceiling), 1000))
  const grade = gradeOf(score, policy)
  return {
    score,
    grade,
    limit: grade === 'XX' ? 0n : limitOf(history.largestRepaid, policy.limits[grade], policy.step),
    reasons: [
      // Ceilings come first: they outweigh any points.
      ...held.toSorted((a, b) => a.ceiling - b.ceiling).map(({ words }) => words),
      ...effects.toSorted((a, b) => Math.abs(b.points) - Math.abs(a.points)).map(say),
    ],
    policyVersion,
  }
}

const isScorable = (history: CreditHistory): boolean =>
  history.loansClosed +
    history.loansChargedOff +
    history.loansWrittenOff +
    history.loansRecovered +
    history.instalmentsDue >
  0

function raising(history: CreditHistory, { score, currency }: CreditPolicy): Effect[] {
  const { instalmentsDue, instalmentsOnTime, loansClosed, monthsOfHistory, largestRepaid } = history
  const { onTime } = score
  return [
    {
      points: share(onTime.weight, instalmentsOnTime, instalmentsDue + onTime.prior),
      words: `${instalmentsOnTime === 0 ? 'none' : instalmentsOnTime} of ${counted(instalmentsDue, 'instalment')} paid by the due date`,
      isShown: instalmentsDue > 0,
    },
    {
      points: share(score.loansClosed.weight, loansClosed, score.loansClosed.full),
      words: `${counted(loansClosed, 'loan')} repaid in full`,
    },
    {
      points: share(score.months.weight, monthsOfHistory, score.months.full),
      words: `${counted(monthsOfHistory, 'month')} of history`,
    },
    {
      points: share(score.largestRepaid.weight, largestRepaid, score.largestRepaid.full),
      words: `the largest loan repaid was of ${inWords(largestRepaid, currency)}`,
    },
  ]
}

function lowering({ worstDaysOverdue, daysOverdueNow }: CreditHistory, { score }: CreditPolicy): Effect[] {
  const { worstDelay, overdueNow } = score
  const growing = share(overdueNow.most - overdueNow.first, daysOverdueNow, overdueNow.fullDays)
  return [
    {
      points: -share(worstDelay.most, worstDaysOverdue, worstDelay.fullDays),
      words: `an instalment was once ${counted(worstDaysOverdue, 'day')} overdue`,
    },
    {
      points: daysOverdueNow > 0 ? -(overdueNow.first + growing) : 0,
      words: `${counted(daysOverdueNow, 'day')} overdue now`,
    },
  ]
}

/** Returns the ceilings that losses put on the score. */
function ceilingsOf(history: CreditHistory, { score, currency }: CreditPolicy) {
  const { writtenOff, chargedOff, recovered } = score.ceilings
  const { loansWrittenOff, loansChargedOff, loansRecovered } = history
  const missing = inWords(history.writtenOff, currency)
  const owed = inWords(history.chargedOff, currency)
  return [
    { loans: loansWrittenOff, ceiling: writtenOff, what: `written off, ${missing} never recovered` },
    { loans: loansChargedOff, ceiling: chargedOff, what: `charged off, ${owed} still owed` },
    { loans: loansRecovered, ceiling: recovered, what: 'paid only after being charged off or written off' },
  ]
    .filter(({ loans }) => loans > 0)
    .map(({ loans, ceiling, what }) => ({
      ceiling,
      words: `held at ${ceiling} at most: ${counted(loans, 'loan')} ${what}`,
    }))
}

const gradeOf = (score: number, { grades }: CreditPolicy): Grade =>
  score >= grades.A ? 'A' : score >= grades.B ? 'B' : score >= grades.C ? 'C' : 'D'

function limitOf(largestRepaid: bigint, { percent, least, most }: GradeLimit, step: bigint): bigint {
  const earned = (largestRepaid * BigInt(percent)) / 100n
  const bounded = earned < least ? least : earned > most ? most : earned
  return bounded - (bounded % step)
}

/** Returns `weight × part / full` in whole points, at most the weight. */
function share<T extends number | bigint>(weight: number, part: T, full: T): number {
  if (part >= full) return part > 0 ? weight : 0
  return Number((BigInt(weight) * BigInt(part)) / BigInt(full))
}

function say({ points, words }: Effect): string {
  if (points === 0) return `not raised: ${words}`
  return points > 0 ? `raised by ${points}: ${words}` : `lowered by ${-points}: ${words}`
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Returns an amount for people, `250,000 TZS`, with cents only where there are any. */
export function inWords(minor: bigint, currency: Currency): string {
  const [whole = '', cents = ''] = minorToText(minor, currency).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return `${grouped}${/[1-9]/.test(cents) ? `.${cents}` : ''} ${currency.code}`
}
