import type { Instant } from '../dates.ts'
import type { Entry } from '../loan/entry.ts'
import type { Loan } from '../loan/loan.ts'
import { replay } from '../loan/replay.ts'

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

const wordsOf = ({ type, amount, valueDate, note }: Entry): string => sentenceOf(type, String(amount), valueDate, note)
const postingOf = ({ postedType, postedAmount, postedOn, postedNote }: LoanTrail): string =>
  sentenceOf(postedType, postedAmount, postedOn, postedNote)
const sentenceOf = (...[type, amount, on, note]: (string | null)[]): string =>
  `${type} of ${amount} on ${on}${note === null ? '' : ` with the note ${JSON.stringify(note)}`}`

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
