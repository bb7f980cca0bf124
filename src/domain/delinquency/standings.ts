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
  readonly isChargedOff: boolean
  /** What happened on the day, in the order in which it is applied. */
  readonly causes: readonly Cause[]
}

/** A loan at the end of a day on which something happened. */
interface Snapshot extends OwedIn {
  readonly day: LocalDate
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
    days.set(day, { ...owedIn(fold), day, causes })
  }
  foldOf(terms, unreversedInOrder(entries), through, {
    begun: (fold) => see(fold, terms.disbursedOn, 'disbursement'),
    entry: (fold, { valueDate, type }) => see(fold, valueDate, type),
    penalties: (fold, day) => see(fold, day, 'penalty'),
  })
  return [...days.values()]
}

/** What a fold owes. */
interface OwedIn {
  /** The instalments that owe anything. */
  readonly open: readonly Period[]
  /** The principal outstanding. */
  readonly principal: bigint
  readonly isChargedOff: boolean
  readonly isWrittenOff: boolean
}

function owedIn({ periods, totals, chargedOffOn, writtenOffOn }: Fold): OwedIn {
  const { due, paid, waived, writtenOff } = totals
  return {
    open: periods.filter(({ owed }) => owed > 0n),
    principal: due.principal - paid.principal - waived.principal - writtenOff.principal,
    isChargedOff: chargedOffOn !== null,
    isWrittenOff: writtenOffOn !== null,
  }
}

/** The arrears on a day: the due date of the oldest instalment that is overdue, null where none is, and their sum. */
function arrearsOn(open: readonly Period[], day: LocalDate): Pick<Standing, 'oldestDue' | 'overdue'> {
  let [oldestDue, overdue]: [LocalDate | null, bigint] = [null, 0n]
  for (const { dueDate, owed } of open) {
    if (dueDate >= day) continue
    if (oldestDue === null || dueDate < oldestDue) oldestDue = dueDate
    overdue += owed
  }
  return { oldestDue, overdue }
}

/**
 * Returns what a loan owes at a moment of a day: the last of its standings, without those before it.
 * @param entries dated up to the day
 */
export function standingAt(terms: LoanTerms, entries: Iterable<Replayable>, asOf: Instant): Omit<Standing, 'causes'> {
  const day = dateIn(terms.zone, asOf)
  const owed = owedIn(foldOf(terms, unreversedInOrder(entries), lastPenaltyDay(terms, asOf), {}))
  return { ...owed, from: day, state: stateOf(owed), ...arrearsOn(owed.open, day) }
}

const stateOf = ({ open, isWrittenOff }: OwedIn): Standing['state'] =>
  open.length > 0 ? 'open' : isWrittenOff ? 'written off' : 'closed'

/** Returns the standings of a snapshot: of its day, and of each day before `next` on which an instalment falls overdue. */
function standingsFrom({ day, causes, ...owed }: Snapshot, next: LocalDate): Standing[] {
  const { open, principal, isChargedOff } = owed
  const state = stateOf(owed)
  const overdueFrom = [...new Set(open.map(({ dueDate }) => dayAfter(dueDate)))].sort()
  const days = [day, ...overdueFrom.filter((from) => from > day && from < next)]
  return days.map((from) => {
    const passed: Cause[] = overdueFrom.includes(from) ? ['due date passed'] : []
    const all = from === day ? [...passed, ...causes] : passed
    return { from, state, ...arrearsOn(open, from), principal, isChargedOff, causes: all }
  })
}
