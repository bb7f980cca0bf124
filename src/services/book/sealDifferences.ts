import { absent, SEALED, SEALED_TRAIL, type Texts } from '../../db/events/sealedColumns.ts'
import type { SealedRow } from '../../db/events/trailedChange.ts'
import { digestOf, fixedDigestOf, fixedRows, markOf, nameMarkOf, type ReadMarks } from '../events/seal.ts'

/** A difference between a row and the seal of the change that made it true. */
export interface RowDifference {
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

const equal = (one: Buffer | null, other: Buffer | null): boolean =>
  one === null || other === null ? one === other : one.equals(other)

/** Returns the name of a row in messages. */
export const nameOf = ({ table, key }: Pick<SealedRow, 'table' | 'key'>): string => `${table} ${key}`

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
    return [{ of: nameOf(row), message: `is not among the rows that change ${changeId} sealed` }]
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

const goneMessage = (changeId: bigint): string => `is not there, and change ${changeId} sealed it`
const changedMessage = (column: string, changeId: bigint): string => `${column} is not what change ${changeId} sealed`

/** The most lines that a schedule has. */
const MOST_LINES = 2_000

/** Names a line of a schedule that is not there: the one whose name has the mark. Any other row is named by its key. */
function lostLine(changeId: bigint, marks: RowMarks, rows: readonly SealedRow[]): RowDifference[] {
  const loan = rows.find(({ table }) => table === 'loan')
  if (loan === undefined) return []
  const there = new Set(rows.filter(({ table }) => table === 'loan_period').map(({ key }) => key))
  const lines = Array.from({ length: MOST_LINES }, (_, index) => `${loan.key}/${index + 1}`)
  const line = lines.find((key) => !there.has(key) && nameMarkOf({ table: 'loan_period', key }) === marks.name)
  return [{ of: nameOf({ table: 'loan_period', key: line ?? `${loan.key}/?` }), message: goneMessage(changeId) }]
}

/** Returns the columns of the trail's row whose marks are not those of the seal. */
export const changedTrailColumns = (trail: Texts, { trail: marks }: ReadMarks): string[] =>
  marks.flatMap((mark, index) => {
    const column = SEALED_TRAIL[index]
    return column === undefined || mark === markOf(column, trail[index] ?? null) ? [] : [column]
  })
