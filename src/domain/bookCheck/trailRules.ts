import { dateIn, type Instant } from '../dates.ts'
import type { Entry, EntryType } from '../loan/entry.ts'
import type { Loan } from '../loan/loan.ts'
import { type LoanState, replay } from '../loan/replay.ts'
import { type EarlierTerms, termsOfVersion } from '../loan/terms/versions.ts'
import { roleTextWords, roleWords } from './restructureRules.ts'

/** The fields of an audit row about a loan that can be compared with the loan; ids and amounts as exact text. */
export interface LoanTrail {
  readonly action: string
  readonly at: Instant
  /** The customer after a creation or an update; the product and the amount outstanding after a creation. */
  readonly customerId: string | null
  readonly productId: string | null
  readonly outstanding: string | null
  /** The principal and the dates after an update. */
  readonly principal: string | null
  readonly disbursedOn: string | null
  readonly dueOn: string | null
  readonly postedId: string | null
  readonly postedType: string | null
  readonly postedAmount: string | null
  readonly postedOn: string | null
  readonly postedNote: string | null
  readonly postedDueOn: string | null
  /** The role of the entry in a restructure, as its text. */
  readonly postedRestructure: string | null
  /** The last due date by the restructures after the change; null: none counted. */
  readonly restructuredDueOn: string | null
  readonly reversedId: string | null
}

/** The fields of a loan that the trail has too. */
export interface TrailedLoan extends Loan {
  readonly customerId: bigint
  readonly productId: number | null
  readonly version: number
  readonly updatedAt: Instant
}

/**
 * Compares a loan, its entries and their reversals with the rows of the audit trail, which were written with them.
 * @param trail all rows about the loan
 * @returns a sentence for each difference
 */
export function brokenByTrail(loan: TrailedLoan, trail: readonly LoanTrail[]): string[] {
  const count =
    trail.length === loan.version
      ? []
      : [`version is ${loan.version}, and the trail has ${trail.length} rows: one is written with each change`]
  const last = trail.at(-1)
  const time =
    last === undefined || last.at === loan.updatedAt
      ? []
      : [`updated_at is ${isoOf(loan.updatedAt)}, and the trail has its last change at ${isoOf(last.at)}`]
  return [
    ...count,
    ...time,
    ...brokenByCreation(loan, trail),
    ...brokenByPostings(loan, trail),
    ...brokenByReversals(loan, trail),
  ]
}

const isoOf = (instant: Instant): string => new Date(instant).toISOString()

function brokenByCreation(loan: TrailedLoan, trail: readonly LoanTrail[]): string[] {
  const created = trail.filter(({ action }) => action === 'create')
  const [creation] = created
  if (creation === undefined || created.length > 1) return [`the trail says ${created.length} times that it was made`]
  const update = trail.findLast(({ action }) => action === 'update')
  const { customerId } = update ?? creation
  const faults =
    customerId === String(loan.customerId)
      ? []
      : [`its customer is ${loan.customerId}, and the trail says ${customerId}`]
  if (creation.productId !== (loan.productId === null ? null : String(loan.productId)))
    faults.push(`its product is ${loan.productId ?? 'none'}, and the trail says ${creation.productId ?? 'none'}`)
  return [...faults, ...(update ? brokenByUpdate(loan, update) : brokenAtFirst(loan, creation))]
}

function brokenByUpdate({ terms }: TrailedLoan, update: LoanTrail): string[] {
  const is = `${terms.principal} from ${terms.disbursedOn} to ${terms.dueOn}`
  const said = `${update.principal} from ${update.disbursedOn} to ${update.dueOn}`
  return is === said ? [] : [`it is a loan of ${is}, and the trail says of ${said}`]
}

/**
 * Checks what was owed when the loan was made, where its terms were never modified: what it owes without its entries.
 */
function brokenAtFirst({ terms }: TrailedLoan, { at, outstanding }: LoanTrail): string[] {
  const { totalOutstanding } = replay(terms, [], at)
  return String(totalOutstanding) === outstanding
    ? []
    : [`${totalOutstanding} were owed when it was made, and the trail says ${outstanding}`]
}

function brokenByPostings({ entries }: TrailedLoan, trail: readonly LoanTrail[]): string[] {
  const { found, twice } = byId(trail, ({ postedId }) => postedId)
  const faults = twice.map((id) => `the trail says twice that entry ${id} was posted`)
  for (const entry of entries) {
    const row = found.get(String(entry.id))
    found.delete(String(entry.id))
    if (row === undefined) faults.push(`entry ${entry.id} is not in the trail`)
    else if (postingOf(row) !== wordsOf(entry))
      faults.push(`entry ${entry.id} is a ${wordsOf(entry)}, and the trail says a ${postingOf(row)}`)
  }
  return [
    ...faults,
    ...[...found.keys()].map((id) => `the trail says that entry ${id} was posted, and it is not there`),
  ]
}

const wordsOf = ({ type, amount, valueDate, dueOn, restructure, note }: Entry): string =>
  sentenceOf([type, String(amount), valueDate, dueOn ?? null, note], roleWords(restructure))
const postingOf = ({ postedType, postedAmount, postedOn, postedDueOn, postedRestructure, postedNote }: LoanTrail) =>
  sentenceOf([postedType, postedAmount, postedOn, postedDueOn, postedNote], roleTextWords(postedRestructure))
const sentenceOf = ([type, amount, on, dueOn, note]: readonly (string | null)[], role: string): string => {
  const due = dueOn === null ? '' : `, due on ${dueOn}`
  return `${type} of ${amount} on ${on}${due}${note === null ? '' : ` with the note ${JSON.stringify(note)}`}${role}`
}

function brokenByReversals({ entries }: TrailedLoan, trail: readonly LoanTrail[]): string[] {
  const { found, twice } = byId(trail, ({ reversedId }) => reversedId)
  const faults = twice.map((id) => `the trail says twice that entry ${id} was reversed`)
  for (const { id, reversedAt } of entries) {
    const row = found.get(String(id))
    found.delete(String(id))
    if ((row?.at ?? null) === reversedAt) continue
    if (row === undefined) faults.push(`entry ${id} is reversed, and the trail does not say so`)
    else
      faults.push(
        `the trail says that entry ${id} was reversed at ${row.at}, and it is marked ${reversedAt ?? 'as posted'}`,
      )
  }
  return [
    ...faults,
    ...[...found.keys()].map((id) => `the trail says that entry ${id} was reversed, and it is not there`),
  ]
}

/**
 * Compares the last due date by the restructures of a loan with what the last change of the loan told of it.
 * @param trail all rows about the loan, oldest first
 */
export function brokenByTold({ restructuredDueOn: is }: LoanState, trail: readonly LoanTrail[]): string[] {
  const last = trail.at(-1)
  if (last === undefined || last.restructuredDueOn === is) return []
  const words = (on: string | null) => on ?? 'none'
  return [`its last due date by its restructures is ${words(is)}, and the trail says ${words(last.restructuredDueOn)}`]
}

function byId(trail: readonly LoanTrail[], idOf: (row: LoanTrail) => string | null) {
  const found = new Map<string, LoanTrail>()
  const twice: string[] = []
  for (const row of trail) {
    const id = idOf(row)
    if (id === null) continue
    if (found.has(id)) twice.push(id)
    found.set(id, row)
  }
  return { found, twice }
}

const COMPUTED: readonly EntryType[] = ['Charge-off', 'Write-off', 'Settlement Waiver', 'Restructure']

/** Returns whether the amount of an entry follows from the loan, and is not one that a caller gave. */
const takesWhatIsOwed = ({ type }: Entry): boolean => COMPUTED.includes(type)

/** The places in the trail at which entries were posted and reversed, by the id of the entry. */
interface Places {
  readonly posted: ReadonlyMap<string, number>
  readonly reversed: ReadonlyMap<string, number>
}

/**
 * Checks the dates and amounts of a loan's entries against their postings: no entry is dated after the day of its posting,
 * none is reversed before its posting, and an unreversed charge-off or write-off has the amount that was owed at its place
 * when it was posted, an unreversed settlement waiver the amount that was forgiven, and an unreversed restructure the interest
 * that was added. What was before is what the trail
 * has before: the clock of a machine may go back by some milliseconds. What is not in the trail is a fault of `brokenByTrail`.
 * @param trail all rows about the loan, oldest first
 * @param earlierTerms returns the terms that the loan had before, in the order of their versions
 * @returns a sentence for each rule that an entry breaks
 */
export function brokenByMarks(
  loan: Loan,
  trail: readonly LoanTrail[],
  earlierTerms: () => readonly EarlierTerms[] = () => [],
): string[] {
  const { zone } = loan.terms
  const places = placesIn(trail)
  return loan.entries.flatMap((entry) => {
    const { id, valueDate, postedAt, reversedAt } = entry
    const postedOn = dateIn(zone, postedAt)
    const [posted, reversed] = [places.posted.get(String(id)), places.reversed.get(String(id))]
    const isBefore = posted !== undefined && reversed !== undefined && reversed < posted
    return [
      ...(valueDate > postedOn ? [`entry ${id} is dated ${valueDate}, after the day it was posted, ${postedOn}`] : []),
      ...(isBefore ? [`entry ${id} is reversed before it was posted`] : []),
      ...(takesWhatIsOwed(entry) && reversedAt === null
        ? brokenAmount(loan, entry, { trail, places, earlierTerms })
        : []),
    ]
  })
}

function placesIn(trail: readonly LoanTrail[]): Places {
  const posted = new Map<string, number>()
  const reversed = new Map<string, number>()
  for (const [place, { postedId, reversedId }] of trail.entries()) {
    if (postedId !== null) posted.set(postedId, place)
    if (reversedId !== null) reversed.set(reversedId, place)
  }
  return { posted, reversed }
}

/** What a loan was when its entries were posted. */
interface Past {
  readonly trail: readonly LoanTrail[]
  readonly places: Places
  readonly earlierTerms: () => readonly EarlierTerms[]
}

function brokenAmount(loan: Loan, entry: Entry, { trail, places, earlierTerms }: Past): string[] {
  const place = places.posted.get(String(entry.id))
  if (place === undefined) return []
  // A settlement waiver is saved before the change that settles the loan: what that change reverses does not count for it.
  const isBeforeCause = entry.type === 'Settlement Waiver' && trail[place + 1]?.at === trail[place]?.at
  const last = isBeforeCause ? place + 1 : place
  // The terms may have changed since: the row at a place made the version after it.
  const terms = termsOfVersion(loan.terms, earlierTerms(), place + 1)
  const owed = owedAt({ ...loan, terms }, entry, (one) => (places.reversed.get(String(one.id)) ?? Infinity) > last)
  if (owed === entry.amount) return []
  const was = entry.type === 'Restructure' ? 'was added' : 'was owed'
  return [`the ${entry.type.toLowerCase()} ${entry.id} is marked with ${entry.amount}, and ${owed} ${was}`]
}

/**
 * Returns what was owed at the entry's place when it was posted, by the entries that were unreversed then.
 * @param counted whether an entry that is reversed by now was not yet
 */
function owedAt({ terms, entries }: Loan, entry: Entry, counted: (one: Entry) => boolean): bigint | undefined {
  const then = entries
    .filter(({ ordinal }) => ordinal <= entry.ordinal)
    .map((one) => (one.reversedAt !== null && counted(one) ? { ...one, reversedAt: null } : one))
  return replay(terms, then, entry.postedAt).outcomes.get(entry.ordinal)?.amount
}
