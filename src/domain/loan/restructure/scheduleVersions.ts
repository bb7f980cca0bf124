import type { Instant } from '../../dates.ts'
import type { Instalment } from '../../schedule/schedule.ts'
import type { Period } from '../allocation.ts'
import type { Replayable } from '../fold.ts'
import { foldOf, lastDaysAt, unreversedInOrder } from '../replay.ts'
import type { LoanTerms } from '../terms/terms.ts'
import type { CountsAs } from './carriedArrears.ts'
import { causeOf, planOf } from './plan.ts'

/** A version of the schedule of a loan. */
export interface ScheduleVersion<One extends Replayable = Replayable> {
  /** 1 for the schedule as it was lent, one more with each restructure. */
  readonly version: number
  /** The restructure that made it; null for the schedule as it was lent. */
  readonly made: { readonly entry: One; readonly countsAs: CountsAs } | null
  readonly lines: readonly Instalment[]
}

/**
 * Returns the versions of the schedule of a loan, in the order of the days from which they count; the last is in force. A
 * version has what is due by instalment without penalties, and the instalments that were paid in full by then. The fee of a
 * restructure is in its version.
 */
export function scheduleVersions<One extends Replayable>(
  terms: LoanTerms,
  entries: Iterable<One>,
  asOf: Instant,
): ScheduleVersion<One>[] {
  const versions: ScheduleVersion<One>[] = []
  foldOf(terms, unreversedInOrder(entries), lastDaysAt(terms, asOf), {
    begun: ({ periods }) => versions.push({ version: 1, made: null, lines: periods.map(lineOf) }),
    entry: ({ periods, restructured }, applied) => {
      const entry = applied as One
      const last = versions.at(-1)!
      if (planOf(entry.restructure) !== undefined && restructured?.ordinal === entry.ordinal) {
        const made = { entry, countsAs: restructured.countsAs }
        versions.push({ version: last.version + 1, made, lines: periods.map(lineOf) })
      } else if (causeOf(entry.restructure) === last.made?.entry.ordinal && last.made !== null)
        versions[versions.length - 1] = { ...last, lines: periods.map(lineOf) }
    },
  })
  return versions
}

const lineOf = ({ period, fromDate, dueDate, due: { principal, interest, fees } }: Period): Instalment => ({
  period,
  fromDate,
  dueDate,
  principal,
  interest,
  fees,
})
