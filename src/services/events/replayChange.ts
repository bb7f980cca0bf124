import type { Deps } from '../../app/deps.ts'
import { countChangesOf } from '../../db/events/eventList.ts'
import { dateIn } from '../../domain/dates.ts'
import { balancesFromText, balancesToText, type KeptBalances } from '../../domain/events/keptBalances.ts'
import { replay } from '../../domain/loan/replay.ts'

/** A row of the trail that tells of a loan. */
export interface ChangeOfLoan {
  readonly id: bigint
  readonly at: number
  readonly entity: string
  readonly entityId: string
}

/**
 * Computes the balances after a change of a loan whose row of the trail does not have them: the version before this one
 * made the change. What was posted with the change counts from its value date.
 * @returns undefined where the loan is not there
 */
export async function replayChange(
  { db, config, loanBatches }: Pick<Deps, 'db' | 'config' | 'loanBatches'>,
  organizationId: number,
  change: ChangeOfLoan,
): Promise<KeptBalances | undefined> {
  const ref = { id: BigInt(change.entityId) }
  const loan = await loanBatches.readLoan({ organizationId, ref, zone: config.zone })
  if (!loan) return undefined
  const then = loan.entries
    .filter(({ postedAt }) => postedAt <= change.at)
    .map((entry) => ({ ...entry, reversedAt: (entry.reversedAt ?? Infinity) <= change.at ? entry.reversedAt : null }))
  const state = replay(loan.terms, then, change.at)
  const posted = then.findLast(({ postedAt }) => postedAt === change.at)
  const outcome = posted && state.outcomes.get(posted.ordinal)
  const reversed = loan.entries.find(({ reversedAt }) => reversedAt === change.at)
  const on = (posted ?? reversed)?.valueDate ?? dateIn(config.zone, change.at)
  const version = await countChangesOf(db, organizationId, change)
  return balancesFromText(balancesToText(state, { version, outcome, on, isImported: false }))
}
