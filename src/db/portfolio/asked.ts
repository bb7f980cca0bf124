import { addPeriods, type Instant, type LocalDate } from '../../domain/dates.ts'
import type { DelinquencyPolicy } from '../../domain/delinquency/policy.ts'
import { followsFromDay } from '../../domain/delinquency/position.ts'
import type { Snapshot } from '../postgres/transaction.ts'
import { moment } from '../queries/rows.ts'
import type { Parameter } from '../queries/statement.ts'

/** The loans that are asked for: those of an organization, as they were on some days and known at an instant. */
export interface PortfolioAsked {
  readonly organizationId: number
  readonly policy: DelinquencyPolicy
  /** Ascending, at least one, none after today. */
  readonly days: readonly LocalDate[]
  /** Undefined: now. */
  readonly knownAt: Instant | undefined
  readonly now: Instant
  readonly today: LocalDate
}

/** Returns the first and the last of the days. */
export const boundsOf = ({ days }: PortfolioAsked) => ({ first: days[0]!, last: days.at(-1)! })

/** The parameters of `movingOf`. */
export interface MovingValues {
  readonly organizationId: number
  readonly now: string | null
  readonly knownAt: string | null
  /** The day after which no entry may be dated. */
  readonly since: LocalDate
  readonly last: LocalDate
}

/** Returns the parameters of `movingOf`. */
export function movingValues(asked: PortfolioAsked): MovingValues {
  const { organizationId, policy, knownAt, now } = asked
  const { first, last } = boundsOf(asked)
  return {
    organizationId,
    now: moment(now),
    knownAt: knownAt === undefined ? null : moment(knownAt),
    since: addPeriods(first, -policy.cureDays, 'days'),
    last,
  }
}

/** SQL for the loans whose columns do not say how late they were on each of the days. */
interface Moving {
  /** Joins the loans with an entry dated after a day. Looked up loan by loan, they would take many times as long. */
  readonly join: string
  /** True of such a loan. Conditions that no loan can meet are left out, so that an index leads to the others. */
  readonly condition: string
}

/**
 * Returns the loans whose columns do not say how late they were on each of the days: the sweep has not saved what time
 * changed, an entry is dated after the first day, the loan was changed after the instant, or the days before a day count.
 */
export function movingOf(asked: PortfolioAsked, p: Parameter<MovingValues>): Moving {
  const { policy, knownAt, today } = asked
  const dayDecides = followsFromDay(policy) && policy.materiality === null
  // Nothing is dated after today.
  const isJoined = boundsOf(asked).first < today || policy.cureDays > 0
  const conditions = [
    `l.next_change_at <= ${p('now')}::timestamptz`,
    ...(isJoined ? ['moved.loan_id IS NOT NULL'] : []),
    ...(knownAt === undefined ? [] : [`l.updated_at > ${p('knownAt')}::timestamptz`]),
    ...(dayDecides ? [] : [`l.overdue_since <= ${p('last')}::date`]),
  ]
  return {
    join: isJoined
      ? `LEFT JOIN (
          SELECT DISTINCT e.loan_id FROM loan_entry e
          WHERE e.organization_id = ${p('organizationId')} AND e.value_date > ${p('since')}::date AND e.reversed_at IS NULL
        ) AS moved ON moved.loan_id = l.id`
      : '',
    condition: `(${conditions.join(' OR ')})`,
  }
}

/** Milliseconds that a statement about a whole portfolio may take: more than any other statement of the service. */
const PATIENCE_MS = 120_000

/**
 * Prepares a snapshot for statements about a whole portfolio: the sums of a large book then fit into the memory of one, and a
 * cursor is planned for all of its rows.
 */
export const preparePortfolio = async (snapshot: Snapshot): Promise<void> => {
  await snapshot.query(
    `SET LOCAL work_mem = '64MB'; SET LOCAL cursor_tuple_fraction = 1; SET LOCAL statement_timeout = ${PATIENCE_MS}`,
  )
}

/** Gives a statement the time that one about a whole portfolio may take. */
export const patiently = <Sent extends { readonly text: string; readonly values: unknown[] }>(sent: Sent) => ({
  ...sent,
  query_timeout: PATIENCE_MS + 2_000,
})
