import type { Deps } from '../../app/deps.ts'
import { countChangesOf } from '../../db/events/eventList.ts'
import { dateIn, type Instant, type LocalDate } from '../../domain/dates.ts'
import { balancesFromText, balancesToText, type KeptBalances } from '../../domain/events/keptBalances.ts'
import type { Outcome } from '../../domain/loan/outcomes.ts'
import { type LoanState, replay } from '../../domain/loan/replay.ts'
import type { LoanTerms } from '../../domain/loan/terms.ts'

/** A row of the trail that tells of a loan. */
export interface ChangeOfLoan {
  readonly at: number
  /** What the trail calls it, such as `create` or `time`. */
  readonly action: string
  readonly entityId: string
}

/** A loan right after a change. */
export interface ReplayedChange {
  readonly state: LoanState
  /** The day from which the change counts. */
  readonly on: LocalDate
  /** The effect of the entry that the change posted. */
  readonly outcome: Outcome | undefined
}

type ReplayDeps = Pick<Deps, 'db' | 'config' | 'loanBatches'>

/**
 * Computes the state of a loan after a change whose row of the trail does not tell it: the version before this one made
 * the change.
 * @returns undefined where the loan is not there
 */
export async function replayChange(
  { config: { zone }, loanBatches }: Pick<ReplayDeps, 'config' | 'loanBatches'>,
  organizationId: number,
  { at, action, entityId }: ChangeOfLoan,
): Promise<ReplayedChange | undefined> {
  const loan = await loanBatches.readLoan({ organizationId, ref: { id: BigInt(entityId) }, zone })
  if (!loan) return undefined
  const then = loan.entries
    .filter(({ postedAt }) => postedAt <= at)
    .map((entry) => ({ ...entry, reversedAt: (entry.reversedAt ?? Infinity) <= at ? entry.reversedAt : null }))
  const state = replay(loan.terms, then, at)
  const posted = then.findLast(({ postedAt }) => postedAt === at)
  const reversed = loan.entries.find(({ reversedAt }) => reversedAt === at)
  const on = (posted ?? reversed)?.valueDate ?? dayOf(loan.terms, action, at)
  return { state, on, outcome: posted && state.outcomes.get(posted.ordinal) }
}

/** Returns the day from which a change counts that posted and reversed nothing: of time, the last due date that was over. */
function dayOf({ zone, schedule, disbursedOn }: LoanTerms, action: string, at: Instant): LocalDate {
  if (action !== 'time') return disbursedOn
  const today = dateIn(zone, at)
  return schedule.findLast(({ dueDate }) => dueDate < today)?.dueDate ?? disbursedOn
}

/** Computes the balances that the trail would keep of a change; see `replayChange`. */
export async function replayedBalances(
  deps: ReplayDeps,
  organizationId: number,
  change: ChangeOfLoan & { readonly id: bigint },
): Promise<KeptBalances | undefined> {
  const replayed = await replayChange(deps, organizationId, change)
  if (!replayed) return undefined
  const { state, on, outcome } = replayed
  const version = await countChangesOf(deps.db, organizationId, change)
  return balancesFromText(balancesToText(state, { version, outcome, on, isImported: false }))
}
