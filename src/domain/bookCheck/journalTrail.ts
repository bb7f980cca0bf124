import { postingKindOf } from '../accounting/postingKinds.ts'
import type { Instant, LocalDate } from '../dates.ts'

/** How far a journal goes, with what the trail and the events say of it. */
export interface CheckedHead {
  readonly changeId: bigint
  readonly sequence: bigint
  readonly openFrom: LocalDate | null
  readonly chartVersion: number
  readonly walkedTo: bigint | null
  /** The last change that is sealed; 0 before the first. */
  readonly sealedTo: bigint
  /** The number of the last event up to `changeId`; 0 where there is none. */
  readonly told: bigint
  /** The entity of the change with the id `changeId`; null where the trail has no such change. */
  readonly entity: string | null
  /** The highest change among the postings; 0 where there is none. */
  readonly postedTo: bigint
  /** The newest chart that the trail has up to `changeId`; 1 where it has none. */
  readonly chartSet: number
}

const CHARTING = 'accounting chart'

/**
 * Returns a sentence for each part of the head of a journal that does not follow from the trail.
 * @param openFrom the first open day by the closes in the trail
 */
export function brokenByHead(head: CheckedHead, openFrom: LocalDate | null): string[] {
  const { changeId, sealedTo, entity, walkedTo, postedTo, chartVersion, chartSet } = head
  const broken: string[] = []
  const rule = (holds: boolean, message: string) => {
    if (!holds) broken.push(message)
  }
  rule(changeId === 0n || entity !== null, `has come to change ${changeId}, which is not in the trail`)
  rule(changeId <= sealedTo, `has come to change ${changeId}, and the seal to ${sealedTo}`)
  rule(postedTo <= changeId, `has come to change ${changeId}, and has a posting of change ${postedTo}`)
  rule(
    head.sequence === head.told,
    `has come to event ${head.sequence}, and the last one up to its last change is ${head.told}`,
  )
  rule(head.openFrom === openFrom, `is open from ${day(head.openFrom)}, and by the closes from ${day(openFrom)}`)
  rule(chartVersion === chartSet, `has version ${chartVersion} of the chart, and the trail has version ${chartSet}`)
  rule(
    walkedTo === null || entity === CHARTING,
    `has come to loan ${walkedTo} of a walk, which nothing in the trail began`,
  )
  return broken
}

const day = (date: LocalDate | null): string => date ?? 'the beginning'

/** A close in the trail with the month that it closes; a part that is missing is null. */
export interface CheckedMonth {
  /** `2026-01` */
  readonly month: string
  readonly changeId: bigint | null
  readonly at: Instant | null
  /** The number of the event of the close. */
  readonly told: bigint | null
  readonly isThere: boolean
  readonly closedAt: Instant | null
  readonly closeSequence: bigint | null
  readonly trialBalanceHash: string | null
  /** The last change that the journal has. */
  readonly keptTo: bigint
}

/** Returns why a month is not what the trail says; undefined where it is. */
export function brokenMonth(checked: CheckedMonth): string | undefined {
  const { changeId, at, told, closedAt, closeSequence, trialBalanceHash, keptTo } = checked
  if (changeId === null) return 'has no close in the trail'
  if (!checked.isThere) return 'was closed by the trail, and is not among the months'
  if (changeId > keptTo) {
    const isOpen = closedAt === null && closeSequence === null && trialBalanceHash === null
    return isOpen ? undefined : 'is closed, and the journal has not come to its close'
  }
  if (closedAt !== at) return `was closed at ${moment(closedAt)}, and by the trail at ${moment(at)}`
  if (closeSequence === null || (told !== null && closeSequence !== told))
    return `was closed at event ${closeSequence ?? 'none'}, and the event of its close is ${told ?? 'not there'}`
  return trialBalanceHash === null ? 'is closed, and has no hash' : undefined
}

const moment = (instant: Instant | null): string => (instant === null ? 'no time' : new Date(instant).toISOString())

/** A chart that the trail says was set, with its row; null where there is no row. */
export interface CheckedChart {
  readonly version: number
  readonly changeId: bigint
  readonly takenUp: boolean | null
  readonly countsFrom: LocalDate | null
  /** The last change that the journal has. */
  readonly keptTo: bigint
}

/**
 * Returns why a chart is not what the trail says; undefined where it is.
 * @param openFrom the first day that was open when the chart was set
 */
export function brokenChart(
  { changeId, takenUp, countsFrom, keptTo }: CheckedChart,
  openFrom: LocalDate | null,
): string | undefined {
  if (takenUp === null) return 'was set by the trail, and is not there'
  const isReached = changeId <= keptTo
  if (takenUp !== isReached)
    return isReached ? 'is not taken up, and the journal has come to it' : 'is taken up before the journal came to it'
  const expected = isReached ? openFrom : null
  if (countsFrom === expected) return undefined
  return `counts from ${day(countsFrom)}, and by the closes it must count from ${day(expected)}`
}

/** The change of a posting, as the trail and the events have it. */
export interface TrailedChange {
  readonly at: Instant
  readonly action: string
  readonly postedId: string | null
  readonly postedType: string | null
  readonly reversedId: string | null
  readonly reversedType: string | null
  /** The number of its first event; null where no receiver is told. */
  readonly first: bigint | null
}

/** A posting of a loan, as far as it repeats what the trail has. */
export interface TrailedPosting {
  readonly id: bigint
  readonly changeId: bigint | null
  readonly sequence: bigint
  readonly transactionId: bigint | null
  readonly kind: string
  readonly method: string | null
  readonly postedAt: Instant
  /** Null where the trail has no such change of the loan. */
  readonly change: TrailedChange | null
}

/** Returns a sentence for each posting of a loan that repeats the trail otherwise than it is. @param postings in their order */
export function brokenByChanges(postings: readonly TrailedPosting[]): string[] {
  let last = 0n
  return postings.flatMap((posting, index) => {
    const { id, changeId, change } = posting
    // An adjustment to another day has two: without the original entry, and with its replacement.
    const isSecond = changeId === last && change?.action === ADJUST && postings[index - 2]?.changeId !== changeId
    const isFirst = change?.action === ADJUST && postings[index + 1]?.changeId === changeId
    const isLater = changeId === null || changeId > last || isSecond
    last = changeId ?? last
    const faults =
      change === null
        ? unchanged(posting, postings[index - 1])
        : differencesFrom(posting, change, isFirst ? 'first' : isSecond ? 'second' : 'only')
    if (!isLater) faults.push(`is of change ${changeId}, and a posting before it of that one or a later one`)
    return faults.map((message) => `posting ${id} ${message}`)
  })
}

/** Says what is wrong with a posting of no change: only the walks through the loans make some. */
function unchanged({ changeId, kind, method }: TrailedPosting, before: TrailedPosting | undefined): string[] {
  if (changeId !== null) return [`is of change ${changeId}, which is no change of the loan`]
  if (kind !== 'method_changed') return [`is of no change, and of the kind ${kind}`]
  return before?.method === method ? ['is of another method, and the method is that of the posting before it'] : []
}

/** The action of the trail that reverses an entry and posts another. */
const ADJUST = 'adjust'

/**
 * @param step whether the posting is the first of the two that an adjustment may have, of the original entry; the second, of its
 *   replacement; or the only one, which is of the one or the other: a step that moves no amount has no posting
 */
function differencesFrom(posting: TrailedPosting, change: TrailedChange, step: 'first' | 'second' | 'only'): string[] {
  const { kind, sequence, transactionId, postedAt } = posting
  const faults: string[] = []
  const expected = postingKindOf(change)
  // The rules of the amounts say whether an opening is one.
  if (kind !== 'opening' && kind !== expected) faults.push(`is a ${kind}, and by the trail a ${expected}`)
  const transaction = step === 'first' ? change.reversedId : (change.postedId ?? change.reversedId)
  const isOfOriginal = step === 'only' && change.action === ADJUST && String(transactionId) === change.reversedId
  if (String(transactionId) !== String(transaction) && !isOfOriginal)
    faults.push(`is of transaction ${transactionId ?? 'none'}, and by the trail of ${transaction ?? 'none'}`)
  if (postedAt !== change.at)
    faults.push(`was posted at ${moment(postedAt)}, and by the trail the change was made at ${moment(change.at)}`)
  if (change.first !== null && sequence !== change.first)
    faults.push(`is numbered ${sequence}, and the event of its change ${change.first}`)
  return faults
}
