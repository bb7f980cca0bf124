import { dateIn, dayAfter, dayBefore, type Instant, type LocalDate } from '../dates.ts'
import type { Period } from '../loan/allocation.ts'
import type { EntryType } from '../loan/entry.ts'
import type { Fold, Replayable } from '../loan/fold.ts'
import { foldOf, lastDaysAt, unreversedInOrder } from '../loan/replay.ts'
import { type CarriedArrears, carriedArrears } from '../loan/restructure/carriedArrears.ts'
import type { LoanTerms } from '../loan/terms/terms.ts'

/** What can change how late a loan is. */
export type Cause = 'disbursement' | 'due date passed' | 'penalty' | 'interest' | EntryType

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

/** What a fold owes. */
interface Owing extends Pick<Standing, 'state' | 'principal' | 'isChargedOff'> {
  /** The instalments by due date, from the first one on of which something may be owed. */
  readonly periods: readonly Period[]
  /** What was overdue before a restructure, and still counts. */
  readonly carried: CarriedArrears | null
}

/** A loan at the end of a day on which something happened. */
interface Snapshot extends Owing {
  readonly day: LocalDate
  readonly causes: readonly Cause[]
}

/**
 * Returns what a loan owed at the end of the day of disbursement, and of each day on which that or its arrears changed, up
 * to the day of a moment. One walk computes all days, and looks at the instalments once a day: a loan may have thousands
 * of entries.
 */
export function standingsOf(terms: LoanTerms, entries: Iterable<Replayable>, asOf: Instant): Standing[] {
  const unreversed = unreversedInOrder(entries)
  const standings: Standing[] = []
  let last: Snapshot | undefined
  let causes: Cause[] = []
  /** Adds what happened; `isEnd` says that no entry of the day comes after it. */
  const see = (fold: Fold, { day, cause, isEnd = true }: { day: LocalDate; cause: Cause; isEnd?: boolean }) => {
    if (last && last.day < day) {
      standings.push(...standingsFrom(last, day))
      last = undefined
      causes = []
    }
    causes.push(cause)
    if (isEnd) last = { ...owingIn(fold), day, causes }
  }
  const ends = new Set(unreversed.filter(({ valueDate }, index) => unreversed[index + 1]?.valueDate !== valueDate))
  foldOf(terms, unreversed, lastDaysAt(terms, asOf), {
    begun: (fold) => see(fold, { day: terms.disbursedOn, cause: 'disbursement' }),
    entry: (fold, entry) => see(fold, { day: entry.valueDate, cause: entry.type, isEnd: ends.has(entry) }),
    penalties: (fold, day) => see(fold, { day, cause: 'penalty' }),
    interest: (fold, day) => see(fold, { day, cause: 'interest' }),
  })
  if (last) standings.push(...standingsFrom(last, dayAfter(dateIn(terms.zone, asOf))))
  return standings
}

function owingIn(fold: Fold): Owing {
  const { due, paid, waived, writtenOff } = fold.totals
  return {
    state: fold.owed > 0n ? 'open' : fold.writtenOffOn !== null ? 'written off' : 'closed',
    principal: due.principal - paid.principal - waived.principal - writtenOff.principal,
    isChargedOff: fold.chargedOffOn !== null,
    periods: fold.periods.slice(fold.firstOwing),
    carried: fold.owed > 0n ? carriedArrears(fold) : null,
  }
}

/**
 * Returns what a loan owes at a moment of a day: the last of its standings, without those before it.
 * @param entries dated up to the day
 */
export function standingAt(terms: LoanTerms, entries: Iterable<Replayable>, asOf: Instant): Omit<Standing, 'causes'> {
  const day = dateIn(terms.zone, asOf)
  const fold = foldOf(terms, unreversedInOrder(entries), lastDaysAt(terms, asOf), {})
  const { periods, carried, ...owing } = owingIn(fold)
  return { ...owing, from: day, ...withCarried(arrearsOn(periods, day), carried) }
}

/** The arrears on a day, and what falls overdue after it. */
interface Arrears extends Pick<Standing, 'oldestDue' | 'overdue'> {
  /** Whether an instalment that owes something was due on the day before. */
  readonly hasPassed: boolean
  /** What is due on the day or later, and before `before`, by due date, in order. */
  readonly later: ReadonlyMap<LocalDate, bigint>
}

function arrearsOn(periods: readonly Period[], day: LocalDate, before: LocalDate = day): Arrears {
  let [oldestDue, overdue]: [LocalDate | null, bigint] = [null, 0n]
  let hasPassed = false
  const dayEarlier = dayBefore(day)
  const later = new Map<LocalDate, bigint>()
  for (const { dueDate, owed } of periods) {
    if (dueDate >= day && dueDate >= before) break
    if (owed === 0n) continue
    if (dueDate >= day) {
      later.set(dueDate, (later.get(dueDate) ?? 0n) + owed)
      continue
    }
    oldestDue ??= dueDate
    overdue += owed
    hasPassed ||= dueDate === dayEarlier
  }
  return { oldestDue, overdue, hasPassed, later }
}

/**
 * Returns arrears by the schedule in force together with those of before a restructure, which are a part of the same debt: the
 * older due date, and the larger amount.
 */
function withCarried(arrears: Pick<Arrears, 'oldestDue' | 'overdue'>, carried: CarriedArrears | null) {
  if (carried === null) return arrears
  const { oldestDue, overdue } = arrears
  return {
    oldestDue: oldestDue !== null && oldestDue < carried.oldestDue ? oldestDue : carried.oldestDue,
    overdue: overdue > carried.overdue ? overdue : carried.overdue,
  }
}

/** Returns the standings of a snapshot: of its day, and of each day before `next` on which an instalment falls overdue. */
function standingsFrom({ day, periods, carried, causes, ...owing }: Snapshot, next: LocalDate): Standing[] {
  const { hasPassed, later, ...arrears } = arrearsOn(periods, day, dayBefore(next))
  let { oldestDue, overdue } = arrears
  const standings: Standing[] = [
    {
      ...owing,
      from: day,
      ...withCarried({ oldestDue, overdue }, carried),
      causes: hasPassed ? ['due date passed', ...causes] : causes,
    },
  ]
  for (const [dueDate, owed] of later) {
    oldestDue ??= dueDate
    overdue += owed
    const arrears = withCarried({ oldestDue, overdue }, carried)
    standings.push({ ...owing, from: dayAfter(dueDate), ...arrears, causes: ['due date passed'] })
  }
  return standings
}
