import type { StoredPart } from '../../db/events/sealedChain.ts'
import { absent, SEALED, SEALED_TRAIL, type Texts } from '../../db/events/sealedColumns.ts'
import type { RowInText } from '../../db/events/sealedRows.ts'
import type { SealedRow, TrailedChange } from '../../db/events/trailedChange.ts'
import { untoldTypeOf } from '../../domain/events/changeEvents.ts'
import { EVENT_TYPES } from '../../domain/events/eventTypes.ts'
import { MOST_INSTALMENTS } from '../../domain/schedule/schedule.ts'
import {
  type ChainSecret,
  digestOf,
  fixedDigestOf,
  fixedRows,
  hashOf,
  markOf,
  marksOf,
  nameMarkOf,
  type ReadMarks,
  readMarks,
} from '../events/seal.ts'

/** A part whose hash is not what its columns make, until the next part says why. */
interface Doubtful {
  readonly name: string
  /** The hash that the columns of the part make. */
  readonly computed: Buffer
}

/** A walk along the chain of one organization. */
export interface PartWalk {
  readonly organizationId: number
  /** Undefined: the chain was made with another secret, and its hashes cannot be computed. */
  readonly secret: ChainSecret | undefined
  readonly fault: (of: string, message: string) => void
  /** The last hash, as it is stored; undefined where a part before is gone. */
  before: Uint8Array | undefined
  /** The last number of an event. */
  sequence: bigint
  doubtful: Doubtful | undefined
  /** The number that a part had before it was changed. */
  former: Pick<StoredPart, 'sequence'>
}

export const startWalk = (of: Pick<PartWalk, 'organizationId' | 'secret' | 'fault' | 'sequence'>): PartWalk => ({
  ...of,
  before: new Uint8Array(0),
  doubtful: undefined,
  former: { sequence: null },
})

/** The columns of `event` that a hash covers. */
type Column = 'sequence' | 'type' | 'digest' | 'marks'

/** Returns the name of a part in messages. */
export const partName = ({ changeId, part }: Pick<StoredPart, 'changeId' | 'part'>): string =>
  `event ${changeId}/${part}`

/**
 * Checks a part of the chain: its number, and its hash over the hash before it.
 * @param change the row of the trail; undefined where it is not there
 * @param rows that the change made true
 * @returns the column of the part that was changed, where it is known
 */
export function checkPart(
  walk: PartWalk,
  stored: StoredPart,
  change: TrailedChange | undefined,
  rows: readonly SealedRow[],
): Column | undefined {
  const changed = checkHash(walk, stored, change, rows)
  const due = walk.sequence + 1n
  if (stored.sequence !== null && stored.sequence !== due && changed !== 'sequence')
    walk.fault(partName(stored), `sequence is ${stored.sequence}, and ${due} is the next`)
  // A number that was changed is counted as what it was, so that the parts after it are not named, too.
  const { sequence } = changed === 'sequence' ? walk.former : stored
  walk.sequence = sequence ?? walk.sequence
  walk.before = stored.hash
  return changed
}

function checkHash(
  walk: PartWalk,
  stored: StoredPart,
  change: TrailedChange | undefined,
  rows: readonly SealedRow[],
): Column | undefined {
  const { secret, before } = walk
  if (stored.part === 0 && change === undefined) return skip(walk)
  const made = (key: ChainSecret, hash: Uint8Array, part: StoredPart) =>
    hashOf(key, hash, { ...walk, changeId: stored.changeId, trail: trailOf(part, change) }, part)
  const makes = (hash: Uint8Array, part: StoredPart) =>
    secret !== undefined && made(secret, hash, part).equals(stored.hash)
  if (before !== undefined && makes(before, stored)) return settle(walk, 'stands')
  if (walk.doubtful && makes(walk.doubtful.computed, stored)) return settle(walk, 'hash')
  settle(walk, 'unknown')
  const known =
    before && secret ? changedColumn(walk, stored, { rows, change, makes: (part) => makes(before, part) }) : undefined
  if (known) {
    walk.fault(partName(stored), `${known} was changed after it was sealed`)
    return known
  }
  const marks = readMarks(stored.marks)
  const columns = change && stored.part === 0 && marks ? changedTrailColumns(change.trail, marks) : []
  for (const column of columns) walk.fault(`audit_entry ${stored.changeId}`, `${column} is not what was sealed`)
  if (columns.length === 0 && before && secret)
    walk.doubtful = { name: partName(stored), computed: made(secret, before, stored) }
  return undefined
}

/** Returns the columns of the trail that the seal has: those that were known when the change was sealed. */
function trailOf({ part, marks }: StoredPart, change: TrailedChange | undefined): Texts | null {
  if (part > 0 || change === undefined) return null
  return marks.length === 0 ? change.trail : change.trail.slice(0, marks[0])
}

/** Passes a part whose row of the trail is gone: its hash cannot be computed. */
function skip(walk: PartWalk): undefined {
  settle(walk, 'unknown')
}

/** Says of the doubtful part what the next part has shown: that its hash alone was changed, or that more was. */
export function settle(walk: PartWalk, shown: 'hash' | 'stands' | 'unknown'): undefined {
  const { doubtful } = walk
  walk.doubtful = undefined
  if (doubtful === undefined) return
  if (shown === 'hash') walk.fault(doubtful.name, 'hash was changed after it was sealed')
  else walk.fault(doubtful.name, 'does not follow from the part before: a part was changed, removed or added')
}

/** Finds the one column of a part with whose former value the hash is right. */
function changedColumn(
  walk: PartWalk,
  stored: StoredPart,
  {
    rows,
    change,
    makes,
  }: {
    readonly rows: readonly SealedRow[]
    readonly change: TrailedChange | undefined
    readonly makes: (part: StoredPart) => boolean
  },
): Column | undefined {
  const former = [walk.sequence + 1n, null].find((sequence) => makes({ ...stored, sequence }))
  if (former !== undefined) {
    walk.former = { sequence: former }
    return 'sequence'
  }
  const types = change ? [...EVENT_TYPES, untoldTypeOf(change)] : EVENT_TYPES
  if (types.some((type) => makes({ ...stored, type }))) return 'type'
  if (stored.part > 0 || change === undefined) {
    if (makes({ ...stored, digest: null })) return 'digest'
    return makes({ ...stored, marks: Buffer.alloc(0) }) ? 'marks' : undefined
  }
  if (makes({ ...stored, digest: digestOf(rows) })) return 'digest'
  return makes({ ...stored, marks: marksOf(change.trail, rows) }) ? 'marks' : undefined
}

/** A change of the trail, of a seal, or of both. */
export interface CheckedChange {
  readonly id: bigint
  readonly change: TrailedChange | undefined
  /** The rows of which the seal has a digest, as they are now. */
  readonly rows: readonly SealedRow[]
  /** The rows that the text of the change has. */
  readonly inText: readonly RowInText[]
  /** The same rows as they are now. */
  readonly current: readonly SealedRow[]
  readonly isChangedLater: boolean
}

/** A difference between a row and the seal of the change that made it true. */
interface RowDifference {
  /** `loan 4000000000000001`. */
  readonly of: string
  readonly message: string
}

/** The marks of one row. */
type RowMarks = ReadMarks['rows'][number]

/** A row as it was sealed and as it is now, where each is there. */
interface Pair {
  readonly marks: RowMarks | undefined
  readonly row: SealedRow | undefined
}

/**
 * Compares the rows that a change made true with its seal.
 * @param of.digest, of.marks of the seal
 * @param of.isChangedLater whether the rows that can change were changed again: those are not compared
 */
export function differencesOfRows(
  changeId: bigint,
  rows: readonly SealedRow[],
  of: { readonly digest: Buffer | null; readonly marks: ReadMarks; readonly isChangedLater: boolean },
): RowDifference[] {
  const pairs = pairsOf(of.marks.rows, rows)
  const isSealed = of.isChangedLater
    ? equal(fixedDigestOf(of.digest, rows), digestOf(fixedRows(rows)))
    : equal(of.digest, digestOf(rows))
  if (isSealed) return []
  const compared = of.isChangedLater ? pairs.filter(({ row }) => row && !SEALED[row.table].isMutable) : pairs
  const differences = compared.flatMap(({ marks, row }) => differencesOf(changeId, marks, row, rows))
  if (differences.length > 0) return differences
  const first = rows[0]
  const name = first ? nameOf(first) : `event ${changeId}/0`
  return [
    { of: name, message: `is not what change ${changeId} sealed, and the marks do not tell which column was changed` },
  ]
}

/**
 * Compares rows with the text of a change, which is sealed.
 * @param of.isChangedLater whether the rows that can change were changed again: those are not compared
 */
export function differencesFromText(
  changeId: bigint,
  { inText, current, isChangedLater }: Pick<CheckedChange, 'inText' | 'current' | 'isChangedLater'>,
): RowDifference[] {
  const isCompared = ({ table }: Pick<SealedRow, 'table'>) => !(isChangedLater && SEALED[table].isMutable)
  const left = new Map(current.map((row) => [nameOf(row), row]))
  const differences = inText.filter(isCompared).flatMap((one) => {
    const row = left.get(nameOf(one))
    left.delete(nameOf(one))
    if (!row || isAbsent(row)) return [{ of: nameOf(one), message: goneMessage(changeId) }]
    const { columns } = SEALED[one.table]
    const changed = columns.filter(
      (_, index) => one.values[index] !== undefined && one.values[index] !== row.values[index],
    )
    return changed.map((column) => ({ of: nameOf(one), message: changedMessage(column, changeId) }))
  })
  const tables = new Set(inText.map(({ table }) => table))
  const more = [...left.values()].filter((row) => isCompared(row) && tables.has(row.table))
  return [...differences, ...more.map((row) => ({ of: nameOf(row), message: notAmongMessage(changeId) }))]
}

const equal = (one: Buffer | null, other: Buffer | null): boolean =>
  one === null || other === null ? one === other : one.equals(other)

/** Returns the name of a row in messages. */
const nameOf = ({ table, key }: Pick<SealedRow, 'table' | 'key'>): string => `${table} ${key}`

/** Pairs the marks of rows with the rows: by their names, where they are not the same ones in the same order. */
function pairsOf(marks: readonly RowMarks[], rows: readonly SealedRow[]): Pair[] {
  const names = rows.map(nameMarkOf)
  if (marks.length === rows.length && marks.every(({ name }, index) => name === names[index]))
    return rows.map((row, index) => ({ marks: marks[index], row }))
  const left = [...marks]
  const paired = rows.map((row, index): Pair => {
    const at = left.findIndex(({ name }) => name === names[index])
    return { marks: at === -1 ? undefined : left.splice(at, 1)[0], row }
  })
  return [...paired, ...left.map((one) => ({ marks: one, row: undefined }))]
}

/** Returns whether a row is not there. */
export const isAbsent = ({ values }: SealedRow): boolean => values.every((value) => value === null)

function differencesOf(
  changeId: bigint,
  marks: RowMarks | undefined,
  row: SealedRow | undefined,
  rows: readonly SealedRow[],
): RowDifference[] {
  if (row === undefined) return marks ? lostLine(changeId, marks, rows) : []
  if (marks === undefined) {
    if (isAbsent(row)) return [{ of: nameOf(row), message: goneMessage(changeId) }]
    // A decision is found by its customer and time, and not by its key.
    if (row.table === 'credit_decision') return [{ of: nameOf(row), message: changedMessage('id', changeId) }]
    return [{ of: nameOf(row), message: notAmongMessage(changeId) }]
  }
  const { table, values } = row
  const wasAbsent = absent(table).every((_, index) => sealedAs(table, marks, index, null))
  if (isAbsent(row)) return wasAbsent ? [] : [{ of: nameOf(row), message: goneMessage(changeId) }]
  return values.flatMap((value, index) =>
    sealedAs(table, marks, index, value)
      ? []
      : [{ of: nameOf(row), message: changedMessage(SEALED[table].columns[index]!, changeId) }],
  )
}

const sealedAs = (table: SealedRow['table'], marks: RowMarks, index: number, value: string | null): boolean =>
  marks.values[index] === markOf(SEALED[table].columns[index]!, value)

const notAmongMessage = (changeId: bigint): string => `is not among the rows that change ${changeId} sealed`
const goneMessage = (changeId: bigint): string => `is not there, and change ${changeId} sealed it`
const changedMessage = (column: string, changeId: bigint): string => `${column} is not what change ${changeId} sealed`

/** Names a line of a schedule that is not there: the one whose name has the mark. Any other row is named by its key. */
function lostLine(changeId: bigint, marks: RowMarks, rows: readonly SealedRow[]): RowDifference[] {
  const loan = rows.find(({ table }) => table === 'loan')
  if (loan === undefined) return []
  const there = new Set(rows.filter(({ table }) => table === 'loan_period').map(({ key }) => key))
  const lines = Array.from({ length: MOST_INSTALMENTS }, (_, index) => `${loan.key}/${index + 1}`)
  const line = lines.find((key) => !there.has(key) && nameMarkOf({ table: 'loan_period', key }) === marks.name)
  return [{ of: nameOf({ table: 'loan_period', key: line ?? `${loan.key}/?` }), message: goneMessage(changeId) }]
}

/** Returns the columns of the trail's row whose marks are not those of the seal. */
const changedTrailColumns = (trail: Texts, { trail: marks }: ReadMarks): string[] =>
  marks.flatMap((mark, index) => {
    const column = SEALED_TRAIL[index]
    return column === undefined || mark === markOf(column, trail[index] ?? null) ? [] : [column]
  })
