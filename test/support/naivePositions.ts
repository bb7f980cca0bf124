import type { StoredLoan } from '../../src/db/loans/storedLoan.ts'
import { addPeriods, dateIn, daysBetween, startOfDay } from '../../src/domain/dates.ts'
import { bucketIndex, type DelinquencyPolicy, isMaterial } from '../../src/domain/delinquency/policy.ts'
import { replay } from '../../src/domain/loan/replay.ts'

/** A loan at the end of a day, as counting day by day finds it. */
export interface NaiveDay {
  readonly day: string
  /** The index of the bucket; null: nothing is owed. */
  readonly index: number | null
  readonly days: number
  readonly principal: bigint
  readonly isChargedOff: boolean
  readonly status: string
}

/** Counts a loan's days past due day by day, each by a replay of the entries dated up to that day. */
export function naiveDays(
  { terms, entries }: Pick<StoredLoan, 'terms' | 'entries'>,
  policy: DelinquencyPolicy,
  now: number,
): NaiveDay[] {
  const found: NaiveDay[] = []
  const today = dateIn(terms.zone, now)
  let [run, held, better]: [number, number | null, number] = [0, null, 0]
  for (let day = terms.disbursedOn; day <= today; day = addPeriods(day, 1, 'days')) {
    const dated = entries.filter(({ valueDate }) => valueDate <= day)
    const end = day === today ? now : startOfDay(addPeriods(day, 1, 'days'), terms.zone) - 1
    const { periods, totalOverdue, totalOutstanding, outstanding, chargedOffOn, status } = replay(terms, dated, end)
    const facts = { principal: outstanding.principal, isChargedOff: chargedOffOn !== null, status }
    if (totalOutstanding === 0n) {
      ;[run, held, better] = [0, null, 0]
      found.push({ day, index: held, days: 0, ...facts })
      continue
    }
    const isLate = isMaterial(policy, totalOverdue, terms.principal)
    run = isLate ? run + 1 : 0
    const oldest = periods
      .filter(({ owed }) => owed > 0n)
      .map(({ dueDate }) => dueDate)
      .sort()[0]!
    const days = !isLate ? 0 : policy.countFrom === 'first_arrears' ? run : daysBetween(oldest, day)
    const index = bucketIndex(policy, days)
    if (held === null || index >= held || ++better > policy.cureDays) [held, better] = [index, 0]
    found.push({ day, index: held, days, ...facts })
  }
  return found
}
