import type { StoredLoan } from '../../db/loans/storedLoan.ts'
import { type KeptDayKey, listRightDays, readCellsOf } from '../../db/portfolio/keptDays.ts'
import { isUnavailable } from '../../db/postgres/errors.ts'
import type { Snapshot } from '../../db/postgres/transaction.ts'
import type { DelinquencyPolicy } from '../../domain/delinquency/policy.ts'
import { momentOf, positionsOn } from '../../domain/delinquency/position.ts'
import { type Cell, Cells, cellKeyOf, cellsToJson, sumsOf } from '../../domain/portfolio/cells.ts'
import { findPolicy } from '../delinquency/policies.ts'
import type { Deps } from '../deps.ts'
import type { CheckParts, Difference } from './checkParts.ts'

/** The kept days of an organization by one version of its policy, and what replay makes of them. */
interface CheckedDays {
  readonly policy: DelinquencyPolicy
  readonly days: readonly KeptDayKey[]
  readonly moments: readonly number[]
  readonly replayed: readonly Cells[]
}

/** Compares the kept days of portfolios with what replay makes of each loan. */
export interface KeptDaysCheck {
  /** Takes in the kept days of an organization by one version of its policy. */
  take(organizationId: number, days: CheckedDays): void
  /** Takes in a loan. */
  add(loan: StoredLoan): void
  /** Names the days that differ, once all loans are taken in. */
  differences(snapshot: Snapshot, parts: CheckParts): Promise<void>
}

/** Creates the check; it has no days yet. */
export function createKeptDaysCheck(): KeptDaysCheck {
  const checked = new Map<number, CheckedDays[]>()
  return {
    take: (organizationId, days) => checked.set(organizationId, [...(checked.get(organizationId) ?? []), days]),
    add: (loan) => {
      for (const one of checked.get(loan.organizationId) ?? []) addTo(one, loan)
    },
    async differences(snapshot, parts) {
      // One day after the other: all of them would fill the memory.
      for (const [organizationId, own] of checked)
        for (const { days, replayed } of own)
          for (const [place, day] of days.entries())
            await parts.run({ organizationId, of: `portfolio of ${day.day}` }, async (add) => {
              const cells = await readCellsOf(snapshot, day)
              differenceOf(day, cells, replayed[place]!.list()).forEach(add)
            })
    },
  }
}

/** Reads the kept days that no change has made stale, to be compared. */
export async function readKeptDays(
  { db, config: { zone }, now }: Pick<Deps, 'db' | 'config' | 'now'>,
  { snapshot, parts }: { readonly snapshot: Snapshot; readonly parts: CheckParts },
  check: KeptDaysCheck,
): Promise<void> {
  await parts.runForAll('the kept days of portfolios', async (one, add) => {
    const byPolicy = Map.groupBy(
      await listRightDays(snapshot, one),
      (day) => `${day.organizationId} ${day.policyVersion}`,
    )
    for (const days of byPolicy.values()) {
      const { organizationId: of, policyVersion: version } = days[0]!
      try {
        const { policy } = await findPolicy({ db }, of, version === 0 ? { knownAt: 0 } : { version })
        const moments = days.map(({ day }) => momentOf(day, now(of), zone))
        check.take(of, { policy, days, moments, replayed: days.map(() => new Cells()) })
      } catch (error) {
        if (isUnavailable(error)) throw error
        add({
          organizationId: of,
          of: `portfolio of ${days[0]!.day}`,
          message: `was kept by version ${version} of the policy, which is not there or is damaged: ${messageOf(error)}`,
        })
      }
    }
  })
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function addTo({ policy, days, moments, replayed }: CheckedDays, loan: StoredLoan): void {
  for (const [place, position] of positionsOn(loan, policy, moments).entries())
    if (typeof position !== 'string')
      replayed[place]!.add({ ...cellKeyOf(loan, days[place]!.day), index: position.index, ...sumsOf(position) })
}

/** Returns the difference of a kept day from what replay makes of it; none where there is none. */
function differenceOf(
  { organizationId, policyVersion, day }: KeptDayKey,
  cells: readonly Cell[] | undefined,
  replayed: readonly Cell[],
): Difference[] {
  const texts = (some: readonly Cell[]) => cellsToJson(some).map((cell) => JSON.stringify(cell))
  const [computed, kept] = [texts(replayed), cells && texts(cells)]
  const differing = kept && computed.find((cell, index) => cell !== kept[index])
  if (kept && differing === undefined && kept.length === computed.length) return []
  const what = `the kept sums by version ${policyVersion} of the policy`
  const first = kept?.find((cell, index) => cell !== computed[index])
  const message =
    kept === undefined
      ? `${what} cannot be read`
      : `${what} say ${first ?? 'nothing'}, and replay says ${differing ?? 'nothing'}`
  return [
    { organizationId, of: `portfolio of ${day}`, message: `${message}; delete the row, and it is computed again` },
  ]
}
