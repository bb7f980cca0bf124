import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { Compared, ComparedLine, LineKind } from '../../domain/payments/reconciliation.ts'
import { LARGEST_INT64 } from '../../toolbox/integers.ts'
import { type Author, TRAIL_COLUMNS, trailRow, trailRows } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { cursorAt, type Found, type Position } from '../queries/cursor.ts'
import { arrayOf, type ColumnTypes, columnsOf, moment, rowsOf, statementOver } from '../queries/rows.ts'
import { type Queries, statement } from '../queries/statement.ts'

/** The name of a comparison in the audit trail. */
export const RECONCILIATION = 'reconciliation'

/** How many lines of a kind there are, and what they sum to in minor units, as text. */
export type StoredFigures = Readonly<Record<LineKind, { readonly lines: number; readonly amount: string }>>

/** A comparison of a statement with the payments of a channel. Amounts in minor units. */
export interface Reconciliation {
  readonly organizationId: number
  readonly id: bigint
  readonly channelId: number
  readonly fromDate: LocalDate
  readonly toDate: LocalDate
  readonly layout: string
  /** SHA-256 over what was compared. */
  readonly digest: Uint8Array
  readonly opening: bigint | null
  readonly closing: bigint | null
  readonly figures: StoredFigures
  readonly balanced: boolean
  readonly difference: bigint
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly version: number
}

const COLUMNS = `r.organization_id AS "organizationId", r.id, r.channel_id AS "channelId", r.from_date AS "fromDate", r.to_date AS "toDate",
  r.layout, r.digest, r.opening, r.closing, r.figures, r.balanced, r.difference, r.created_at AS "createdAt", r.updated_at AS "updatedAt",
  r.version`

const SAVED: ColumnTypes = {
  organization_id: 'int',
  id: 'bigint',
  channel_id: 'int',
  from_date: 'date',
  to_date: 'date',
  layout: 'text',
  digest: 'text',
  opening: 'bigint',
  closing: 'bigint',
  figures: 'jsonb',
  balanced: 'boolean',
  difference: 'bigint',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  version: 'int',
}

const save = statementOver(
  'save-reconciliation',
  [SAVED, TRAIL_COLUMNS],
  (rows, trail) => `
  WITH saved AS (
    INSERT INTO reconciliation AS r (${Object.keys(SAVED).join(', ')})
    SELECT c.organization_id, c.id, c.channel_id, c.from_date, c.to_date, c.layout, decode(c.digest, 'hex'), c.opening, c.closing, c.figures,
      c.balanced, c.difference, c.created_at, c.updated_at, c.version
    FROM ${rows('c')}
    ON CONFLICT (organization_id, id) DO UPDATE SET figures = excluded.figures, balanced = excluded.balanced,
      difference = excluded.difference, updated_at = excluded.updated_at, version = r.version + 1
    RETURNING organization_id, id
  ), ${trailRows('saved', RECONCILIATION, trail)}
  SELECT id FROM saved`,
)

/** Saves a comparison as it is now, with its row of the trail. The transaction has locked the channel. */
export async function saveReconciliation(
  transaction: Transaction,
  author: Author,
  { run, currency }: { readonly run: Reconciliation; readonly currency: string },
): Promise<void> {
  const { organizationId, id, channelId, fromDate, toDate, layout, opening, closing } = run
  const { digest, figures, balanced, difference, createdAt, updatedAt, version } = run
  const hex = Buffer.from(digest).toString('hex')
  const amounts = { difference: String(difference), opening: opening?.toString(), closing: closing?.toString() }
  const after = { channelId, currency, from: fromDate, to: toDate, layout, sha256: hex, balanced, figures, ...amounts }
  const trace = { action: 'complete', before: null, after }
  await transaction.query(
    save(
      [
        [
          organizationId,
          id,
          channelId,
          fromDate,
          toDate,
          layout,
          hex,
          opening,
          closing,
          JSON.stringify(figures),
          String(balanced),
          difference,
          moment(createdAt),
          moment(updatedAt),
          version,
        ],
      ],
      [trailRow(transaction, author, updatedAt, { entity: RECONCILIATION, id }, { trace, transactionId: null })],
    ),
  )
}

const lockChannel = statement<{ organizationId: number; channelId: number }>(
  'lock-payment-channel',
  (p) =>
    `SELECT FROM payment_channel WHERE organization_id = ${p('organizationId')} AND id = ${p('channelId')} FOR NO KEY UPDATE`,
)

const byDigest = statement<{ organizationId: number; channelId: number; digest: string }>(
  'reconciliation-by-digest',
  (
    p,
  ) => `SELECT ${COLUMNS} FROM reconciliation r WHERE r.organization_id = ${p('organizationId')} AND r.channel_id = ${p('channelId')}
    AND r.digest = decode(${p('digest')}, 'hex')`,
)

/** Locks the comparisons of a channel until the end of the transaction, and finds the one of a digest. */
export async function lockReconciliation(
  transaction: Transaction,
  { organizationId, channelId, digest }: Pick<Reconciliation, 'organizationId' | 'channelId' | 'digest'>,
): Promise<Reconciliation | undefined> {
  await transaction.query(lockChannel({ organizationId, channelId }))
  const asked = { organizationId, channelId, digest: Buffer.from(digest).toString('hex') }
  return (await transaction.query<Reconciliation>(byDigest(asked))).rows[0]
}

const read = statement<{ organizationId: number; id: bigint }>(
  'read-reconciliation',
  (p) =>
    `SELECT ${COLUMNS} FROM reconciliation r WHERE r.organization_id = ${p('organizationId')} AND r.id = ${p('id')}`,
)

/** Reads a comparison of an organization. */
export async function readReconciliation(
  { pool }: Queries,
  organizationId: number,
  id: bigint,
): Promise<Reconciliation | undefined> {
  return (await pool.query<Reconciliation>(read({ organizationId, id }))).rows[0]
}

/** The order of the list of comparisons: as they were first made. */
export const RECONCILIATION_ORDER = 'reconciliations'

const list = statement<{ organizationId: number; channelId: number | null; above: bigint; skip: number; rows: number }>(
  'list-reconciliations',
  (
    p,
  ) => `SELECT ${COLUMNS} FROM reconciliation r WHERE r.organization_id = ${p('organizationId')} AND r.id > ${p('above')}
    AND (${p('channelId')}::int IS NULL OR r.channel_id = ${p('channelId')}) ORDER BY r.id OFFSET ${p('skip')} LIMIT ${p('rows')}`,
)

const count = statement<{ organizationId: number; channelId: number | null }>(
  'count-reconciliations',
  (p) => `SELECT count(*)::int AS total FROM reconciliation r WHERE r.organization_id = ${p('organizationId')}
    AND (${p('channelId')}::int IS NULL OR r.channel_id = ${p('channelId')})`,
)

/** Finds comparisons in the order in which they were first made. */
export async function findReconciliations(
  { pool }: Pick<Db, 'pool'>,
  { organizationId, channelId }: { readonly organizationId: number; readonly channelId: number | null },
  position: Position,
): Promise<Found<Reconciliation>> {
  const of = { organizationId, channelId }
  const isPage = 'page' in position
  const above = isPage ? 0n : (position.cursor?.floor ?? 0n)
  const skip = isPage ? (position.page - 1) * position.rows : 0
  const { rows } = await pool.query<Reconciliation>(list({ ...of, above, skip, rows: position.rows }))
  const total = isPage ? (await pool.query<{ total: number }>(count(of))).rows[0]!.total : undefined
  return { items: rows, total, next: cursorAt(RECONCILIATION_ORDER, rows.at(-1)?.id) }
}

/** The order of the list that begins with the newest comparison. */
export const NEWEST_RECONCILIATIONS = 'newest-reconciliations'

const newest = statement<{ organizationId: number; channelId: number | null; below: bigint; rows: number }>(
  'newest-reconciliations',
  (
    p,
  ) => `SELECT ${COLUMNS} FROM reconciliation r WHERE r.organization_id = ${p('organizationId')} AND r.id < ${p('below')}
    AND (${p('channelId')}::int IS NULL OR r.channel_id = ${p('channelId')}) ORDER BY r.id DESC LIMIT ${p('rows')}`,
)

/** Finds the newest comparisons, or those before a place in that order. */
export async function findNewest(
  { pool }: Pick<Db, 'pool'>,
  of: { readonly organizationId: number; readonly channelId: number | null },
  position: Position,
): Promise<Found<Reconciliation>> {
  const below = 'page' in position ? LARGEST_INT64 : (position.cursor?.floor ?? LARGEST_INT64)
  const { rows } = await pool.query<Reconciliation>(newest({ ...of, below, rows: position.rows }))
  return { items: rows, next: cursorAt(NEWEST_RECONCILIATIONS, rows.at(-1)?.id) }
}

const LINE: ColumnTypes = {
  line: 'int',
  kind: 'text',
  receipt: 'text',
  at: 'timestamptz',
  amount: 'bigint',
  reference: 'text',
  reverses: 'text',
  payment_id: 'bigint',
}

/** Lines that are stored in one statement. */
const LINES_AT_ONCE = 5_000

/** Stores the lines of a comparison in place of those that it had. */
export async function saveLines(
  transaction: Transaction,
  { organizationId, id }: Pick<Reconciliation, 'organizationId' | 'id'>,
  {
    lines,
    onProgress,
  }: {
    readonly lines: readonly ComparedLine[]
    readonly onProgress?: ((done: number, total: number) => void) | undefined
  },
): Promise<void> {
  await transaction.query('DELETE FROM reconciliation_line WHERE organization_id = $1 AND reconciliation_id = $2', [
    organizationId,
    id,
  ])
  for (let from = 0; from < lines.length; from += LINES_AT_ONCE) {
    const rows = lines.slice(from, from + LINES_AT_ONCE).map((one, index) => {
      const { kind, receipt, at, amount, reference, reverses, paymentId } = one
      return [from + index + 1, kind, receipt, moment(at), amount, reference, reverses, paymentId]
    })
    await transaction.query({
      name: 'insert-reconciliation-lines',
      text: `INSERT INTO reconciliation_line (organization_id, reconciliation_id, ${Object.keys(LINE).join(', ')})
        SELECT ($1::text[])[1]::int, ($1::text[])[2]::bigint, l.* FROM ${rowsOf('l', LINE, 2)}`,
      values: [[String(organizationId), String(id)], ...columnsOf(LINE, rows)],
    })
    onProgress?.(from + rows.length, lines.length)
  }
}

/** A line of a comparison, with its place. */
export interface StoredLine extends ComparedLine {
  readonly line: number
}

const lines = statement<{
  organizationId: number
  id: bigint
  kinds: readonly string[] | null
  above: bigint
  rows: number
}>(
  'reconciliation-lines',
  (p) => `
  SELECT line, kind, receipt, at, amount, reference, reverses, payment_id AS "paymentId" FROM reconciliation_line
  WHERE organization_id = ${p('organizationId')} AND reconciliation_id = ${p('id')} AND line > ${p('above')}
    AND (${p('kinds')}::text[] IS NULL OR kind = ANY (${p('kinds')}::text[]))
  ORDER BY line LIMIT ${p('rows')}`,
)

/** Reads lines of a comparison after a place, in their order; of some kinds, where those are given. */
export async function readLines(
  { pool }: Queries,
  { organizationId, id }: Pick<Reconciliation, 'organizationId' | 'id'>,
  { kinds, above, rows }: { readonly kinds: readonly LineKind[] | null; readonly above: bigint; readonly rows: number },
): Promise<StoredLine[]> {
  return (await pool.query<StoredLine>(lines({ organizationId, id, kinds, above, rows }))).rows
}

const amountsHere = statement<{ organizationId: number; id: bigint; channelId: number; lines: string }>(
  'amounts-here',
  (p) => `
  SELECT l.line, coalesce(p.amount, -v.amount) AS amount FROM reconciliation_line l
  LEFT JOIN payment p ON p.organization_id = l.organization_id AND p.id = l.payment_id AND l.amount > 0
  LEFT JOIN payment_reversal v ON v.organization_id = l.organization_id AND v.channel_id = ${p('channelId')}
    AND v.receipt = l.receipt AND l.amount < 0 AND l.kind IN ('reversal', 'amount_differs', 'missing_there')
  WHERE l.organization_id = ${p('organizationId')} AND l.reconciliation_id = ${p('id')} AND l.line = ANY (${p('lines')}::int[])`,
)

/** Reads what the payments and the known reversals of lines came to, by the places of the lines; null where there is none. */
export async function readAmountsHere(
  { pool }: Queries,
  { organizationId, id, channelId }: Pick<Reconciliation, 'organizationId' | 'id' | 'channelId'>,
  places: readonly number[],
): Promise<ReadonlyMap<number, bigint | null>> {
  const asked = { organizationId, id, channelId, lines: arrayOf(places.map(String)) }
  const { rows } = await pool.query<{ line: number; amount: bigint | null }>(amountsHere(asked))
  return new Map(rows.map(({ line, amount }) => [line, amount]))
}

/** A channel, and receipts of it. */
interface Receipts {
  readonly organizationId: number
  readonly channelId: number
  readonly receipts: readonly string[]
}

/** Selects payments, and what was taken back of some, that meet a condition on the receipt or the moment. */
const comparedBy = (channel: string, condition: (receipt: string, at: string) => string): string => `
  SELECT id, receipt, amount, paid_at AS at, reference, NULL AS reverses FROM payment
    WHERE ${channel} AND ${condition('receipt', 'paid_at')}
  UNION ALL
  SELECT payment_id, receipt, -amount, reversed_at, NULL, reverses FROM payment_reversal
    WHERE ${channel} AND ${condition('receipt', 'reversed_at')}`

const named = statement<Omit<Receipts, 'receipts'> & { receipts: string }>('compared-by-receipt', (p) => {
  const channel = `organization_id = ${p('organizationId')} AND channel_id = ${p('channelId')}`
  return comparedBy(channel, (receipt) => `${receipt} = ANY (${p('receipts')}::text[])`)
})

/** Reads the payments and the reversals of a channel that have one of some receipts. */
export async function readNamed({ pool }: Queries, of: Receipts): Promise<Compared[]> {
  return (await pool.query<Compared>(named({ ...of, receipts: arrayOf(of.receipts) }))).rows
}

const ofDays = statement<{ organizationId: number; channelId: number; from: string | null; before: string | null }>(
  'compared-of-days',
  (p) => {
    const channel = `organization_id = ${p('organizationId')} AND channel_id = ${p('channelId')}`
    const between = (at: string) => `${at} >= ${p('from')} AND ${at} < ${p('before')}`
    return `${comparedBy(channel, (_, at) => between(at))} ORDER BY id, receipt`
  },
)

/** Reads the payments and the reversals of a channel that were made from an instant on and before another. */
export async function readOfDays(
  { pool }: Queries,
  { from, before, ...of }: Omit<Receipts, 'receipts'> & { readonly from: Instant; readonly before: Instant },
): Promise<Compared[]> {
  return (await pool.query<Compared>(ofDays({ ...of, from: moment(from), before: moment(before) }))).rows
}

const lockUnconfirmed = statement<{ organizationId: number; ids: string }>(
  'lock-unconfirmed',
  (
    p,
  ) => `SELECT id FROM payment WHERE organization_id = ${p('organizationId')} AND unconfirmed AND id = ANY (${p('ids')}::bigint[])
    ORDER BY id FOR NO KEY UPDATE`,
)

/** Locks those of some payments that wait for the statement, until the end of the transaction. */
export async function lockAwaiting(
  transaction: Transaction,
  organizationId: number,
  ids: readonly bigint[],
): Promise<bigint[]> {
  const { rows } = await transaction.query<{ id: bigint }>(lockUnconfirmed({ organizationId, ids: arrayOf(ids) }))
  return rows.map(({ id }) => id)
}
