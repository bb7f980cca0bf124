import type { LocalDate } from '../../domain/dates.ts'
import type { LineKind } from '../../domain/exports/vocabulary.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { arrayOf, type ColumnTypes, columnsOf, rowsOf } from '../queries/rows.ts'
import { type Queries, statement } from '../queries/statement.ts'

/** A loan of a file. */
export interface ExportLine {
  readonly loanId: bigint
  readonly customerId: bigint
  readonly kind: LineKind
  /** Why it is left out. */
  readonly reason: string | null
  /** The line, or the faults as JSON. */
  readonly content: string | null
  /** Whether the content is encrypted by the key of the customer. */
  readonly isSealed: boolean
  /** A keyed hash of the line that the receiver has once the file is accepted. */
  readonly hash: Uint8Array | null
}

/** A loan of a file, with the key of its customer. */
export interface KeyedLine extends ExportLine {
  /** Null: the customer has none, or it was destroyed. */
  readonly personKey: string | null
}

const LINE: ColumnTypes = {
  loan_id: 'bigint',
  customer_id: 'bigint',
  kind: 'text',
  reason: 'text',
  content: 'text',
  is_sealed: 'boolean',
  hash: 'text',
}

/** Stores lines of a file. */
export async function insertLines(
  transaction: Transaction,
  { organizationId, id }: { readonly organizationId: number; readonly id: bigint },
  lines: readonly ExportLine[],
): Promise<void> {
  const rows = lines.map(({ loanId, customerId, kind, reason, content, isSealed, hash }) => [
    loanId,
    customerId,
    kind,
    reason,
    content,
    isSealed,
    hash === null ? null : Buffer.from(hash).toString('hex'),
  ])
  await transaction.query({
    name: 'insert-export-lines',
    text: `INSERT INTO export_line (organization_id, export_id, loan_id, customer_id, kind, reason, content, is_sealed, hash)
      SELECT ($1::text[])[1]::int, ($1::text[])[2]::bigint, l.loan_id, l.customer_id, l.kind, l.reason, l.content, l.is_sealed,
        decode(l.hash, 'hex') FROM ${rowsOf('l', LINE, 2)}`,
    values: [[String(organizationId), String(id)], ...columnsOf(LINE, rows)],
  })
}

interface LinesOf {
  readonly organizationId: number
  readonly id: bigint
  readonly kind: LineKind
  readonly above: bigint
  readonly most: number
}

const COLUMNS = `e.loan_id AS "loanId", e.customer_id AS "customerId", e.kind, e.reason, e.content, e.is_sealed AS "isSealed", e.hash`

/** The customer is read for each line: joined freely, all customers would be read for each part of a file. */
const ofKind = statement<LinesOf>(
  'export-lines-of-kind',
  (p) => `
  SELECT ${COLUMNS}, c.person_key AS "personKey" FROM (
    SELECT * FROM export_line WHERE organization_id = ${p('organizationId')} AND export_id = ${p('id')} AND kind = ${p('kind')}
      AND loan_id > ${p('above')} ORDER BY loan_id LIMIT ${p('most')}
  ) AS e LEFT JOIN LATERAL (
    SELECT person_key FROM customer WHERE organization_id = e.organization_id AND id = e.customer_id OFFSET 0
  ) AS c ON true ORDER BY e.loan_id`,
)

/** Reads the lines of a kind after a loan, in the order of the loans. */
export async function readLinesOf({ pool }: Queries, of: LinesOf): Promise<KeyedLine[]> {
  return (await pool.query<KeyedLine>(ofKind(of))).rows
}

const hashes = statement<{ organizationId: number; id: bigint; loanIds: string }>(
  'export-line-hashes',
  (p) => `SELECT loan_id AS "loanId", hash FROM export_line WHERE organization_id = ${p('organizationId')}
    AND export_id = ${p('id')} AND loan_id = ANY (${p('loanIds')}::bigint[]) AND hash IS NOT NULL`,
)

/** Reads the hashes of the lines that the receiver of a file has, by loan. */
export async function readHashes(
  { pool }: Queries,
  { organizationId, id }: { readonly organizationId: number; readonly id: bigint },
  loanIds: readonly bigint[],
): Promise<ReadonlyMap<bigint, Uint8Array>> {
  const { rows } = await pool.query<{ loanId: bigint; hash: Uint8Array }>(
    hashes({ organizationId, id, loanIds: arrayOf(loanIds) }),
  )
  return new Map(rows.map(({ loanId, hash }) => [loanId, hash]))
}

const erased = statement<{ organizationId: number; id: bigint }>(
  'count-erased-export-lines',
  (p) => `SELECT count(*)::int AS erased FROM export_line e
    LEFT JOIN customer c ON c.organization_id = e.organization_id AND c.id = e.customer_id
    WHERE e.organization_id = ${p('organizationId')} AND e.export_id = ${p('id')} AND e.kind = 'accepted' AND e.is_sealed
      AND c.person_key IS NULL`,
)

/** Counts the lines of a file that nobody can read any more: the key of the customer was destroyed. */
export async function countErased(
  { pool }: Queries,
  of: { readonly organizationId: number; readonly id: bigint },
): Promise<number> {
  return (await pool.query<{ erased: number }>(erased({ organizationId: of.organizationId, id: of.id }))).rows[0]!
    .erased
}

/** A file that has a line of a loan. */
export interface ToldLoan {
  readonly exportId: bigint
  readonly format: string
  readonly asOf: LocalDate
  readonly mode: string
  readonly isAccepted: boolean
  readonly loanId: bigint
}

const told = statement<{ organizationId: number; loanIds: string; most: number }>(
  'files-that-have-loans',
  (
    p,
  ) => `SELECT f.id AS "exportId", f.format, f.as_of AS "asOf", f.mode, f.state = 'accepted' AS "isAccepted", e.loan_id AS "loanId"
    FROM export_file f JOIN export_line e ON e.organization_id = f.organization_id AND e.export_id = f.id
      AND e.loan_id = ANY (${p('loanIds')}::bigint[]) AND e.kind = 'accepted'
    WHERE f.organization_id = ${p('organizationId')} AND f.state IN ('ready', 'accepted') ORDER BY f.id, e.loan_id LIMIT ${p('most')}`,
)

/** Reads the files that have lines of loans, oldest first: to whom the loans may have been told. */
export async function readToldLoans(
  { pool }: Queries,
  of: { readonly organizationId: number; readonly most: number },
  loanIds: readonly bigint[],
): Promise<ToldLoan[]> {
  if (loanIds.length === 0) return []
  const { organizationId, most } = of
  return (await pool.query<ToldLoan>(told({ organizationId, most, loanIds: arrayOf(loanIds) }))).rows
}
