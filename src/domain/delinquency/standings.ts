import { dateIn, dayAfter, type Instant, type LocalDate } from '../dates.ts'
import type { Period } from '../loan/allocation.ts'
import type { EntryType } from '../loan/entry.ts'
import type { Fold, Replayable } from '../loan/fold.ts'
import { foldOf, unreversedInOrder } from '../loan/replay.ts'
import { lastPenaltyDay } from '../loan/rules/penalties.ts'
import type { LoanTerms } from '../loan/terms.ts'

/** What can change how late a loan is. */
export type Cause = 'disbursement' | 'due date passed' | 'penalty' | EntryType

/** What a loan owes at the end of a day, and of each day after it until the next standing. Amounts in minor units. */
export interface Standing {
  readonly from: LocalDate
  readonly state: 'open' | 'closed' | 'written off'
  /** The due date of the oldest instalment that is overdue; null: none is. */
  readonly oldestDue: LocalDate | null
  readonly overdue: bigint
  readonly principal: bigint
  /** What happened on the day, in the order in which it is applied. */
  readonly causes: readonly Cause[]
}

/** A loan at the end of a day on which something happened. */
interface Snapshot {
  readonly day: LocalDate
  readonly open: readonly Period[]
  readonly principal: bigint
  readonly isWrittenOff: boolean
  readonly causes: Cause[]
}

/**
 * Returns what a loan owed at the end of the day of disbursement, and of each day on which that or its arrears changed, up
 * to the day of a moment.
 */
export function standingsOf(terms: LoanTerms, entries: Iterable<Replayable>, asOf: Instant): Standing[] {
  const today = dateIn(terms.zone, asOf)
  const snapshots = snapshotsOf(terms, entries, asOf)
  return snapshots.flatMap((snapshot, index) => {
    const next = snapshots[index + 1]?.day ?? dayAfter(today)
    return standingsFrom(snapshot, next)
  })
}

function snapshotsOf(terms: LoanTerms, entries: Iterable<Replayable>, asOf: Instant): Snapshot[] {
  const through = lastPenaltyDay(terms, asOf)
  const days = new Map<LocalDate, Snapshot>()
  const see = (fold: Fold, day: LocalDate, cause: Cause) => {
    const causes = [...(days.get(day)?.causes ?? []), cause]
    const { due, paid, waived, writtenOff } = fold.totals
    const principal = due.principal - paid.principal - waived.principal - writtenOff.principal
    const open = fold.periods.filter(({ owed }) => owed > 0n)
    days.set(day, { day, open, principal, isWrittenOff: fold.writtenOffOn !== null, causes })
  }
  foldOf(terms, unreversedInOrder(entries), through, {
    begun: (fold) => see(fold, terms.disbursedOn, 'disbursement'),
    entry: (fold, { valueDate, type }) => see(fold, valueDate, type),
    penalties: (fold, day) => see(fold, day, 'penalty'),
  })
  return [...days.values()]
}

/** Returns the standings of a snapshot: of its day, and of each day before `next` on which an instalment falls overdue. */
function standingsFrom({ day, open, principal, isWrittenOff, causes }: Snapshot, next: LocalDate): Standing[] {
  const state = open.length > 0 ? 'open' : isWrittenOff ? 'written off' : 'closed'
  const overdueFrom = [...new Set(open.map(({ dueDate }) => dayAfter(dueDate)))].sort()
  const days = [day, ...overdueFrom.filter((from) => from > day && from < next)]
  return days.map((from) => {
    let [oldestDue, overdue]: [LocalDate | null, bigint] = [null, 0n]
    for (const { dueDate, owed } of open) {
      if (dueDate >= from) continue
      if (oldestDue === null || dueDate < oldestDue) oldestDue = dueDate
      overdue += owed
    }
    const passed: Cause[] = overdueFrom.includes(from) ? ['due date passed'] : []
    return { from, state, oldestDue, overdue, principal, causes: from === day ? [...passed, ...causes] : passed }
  })
}
