import type { Deps } from '../../app/deps.ts'
import type { StoredLoan } from '../../db/loans/storedLoan.ts'
import { type KeptDayKey, listRightDays, readCellsOf } from '../../db/portfolio/keptDays.ts'
import type { Snapshot } from '../../db/postgres/transaction.ts'
import { momentOf } from '../../domain/delinquency/known.ts'
import type { DelinquencyPolicy } from '../../domain/delinquency/policy.ts'
import { positionsOn } from '../../domain/delinquency/position.ts'
import { type Cell, Cells, monthOf, sumsOf } from '../../domain/portfolio/cells.ts'
import { cellsToJson } from '../../domain/portfolio/storedCells.ts'
import { findPolicy } from '../delinquency/policies.ts'

/** The kept days of an organization by one version of its policy, and what replay makes of them. */
interface CheckedDays {
  readonly policy: DelinquencyPolicy
  readonly days: readonly KeptDayKey[]
  readonly moments: readonly number[]
  readonly replayed: readonly Cells[]
}

/** A difference of a kept day of a portfolio. */
interface DayDifference {
  readonly organizationId: number
  readonly of: string
  readonly message: string
}

/** Compares the kept days of portfolios with what replay makes of each loan. */
export interface KeptDaysCheck {
  /** Takes in a loan. */
  add(loan: StoredLoan): void
  /** Returns the days that differ, once all loans are taken in. */
  differences(): Promise<DayDifference[]>
}

/** Reads the kept days that no change has made stale, to be compared. */
export async function checkKeptDays(
  { db, config: { zone }, now }: Pick<Deps, 'db' | 'config' | 'now'>,
  snapshot: Snapshot,
  organizationId: number | undefined,
): Promise<KeptDaysCheck> {
  const byPolicy = Map.groupBy(
    await listRightDays(snapshot, organizationId),
    (day) => `${day.organizationId} ${day.policyVersion}`,
  )
  const checked = new Map<number, CheckedDays[]>()
  for (const days of byPolicy.values()) {
    const { organizationId: of, policyVersion: version } = days[0]!
    const { policy } = await findPolicy({ db }, of, version === 0 ? { knownAt: 0 } : { version })
    const moments = days.map(({ day }) => momentOf(day, now(of), zone))
    const one = { policy, days, moments, replayed: days.map(() => new Cells()) }
    checked.set(of, [...(checked.get(of) ?? []), one])
  }
  return {
    add: (loan) => {
      for (const one of checked.get(loan.organizationId) ?? []) addTo(one, loan)
    },
    differences: async () => {
      const found: DayDifference[] = []
      // One day after the other: all of them would fill the memory.
      for (const { days, replayed } of [...checked.values()].flat())
        for (const [place, day] of days.entries())
          found.push(...differenceOf(day, await readCellsOf(snapshot, day), replayed[place]!.list()))
      return found
    },
  }
}

function addTo({ policy, moments, replayed }: CheckedDays, { terms, entries, productId }: StoredLoan): void {
  const key = { productId, currency: terms.currency.code, month: monthOf(terms.disbursedOn) }
  for (const [place, position] of positionsOn({ terms, entries }, policy, moments).entries())
    if (typeof position !== 'string') replayed[place]!.add({ ...key, index: position.index, ...sumsOf(position) })
}

/** Returns the difference of a kept day from what replay makes of it; none where there is none. */
function differenceOf(
  { organizationId, policyVersion, day }: KeptDayKey,
  cells: readonly Cell[] | undefined,
  replayed: readonly Cell[],
): DayDifference[] {
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
