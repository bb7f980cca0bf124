import type { Db } from '../postgres/client.ts'
import { isAlone, type Transaction } from '../postgres/transaction.ts'
import { type ColumnTypes, columnValues, tableOf } from '../queries/rows.ts'
import { statement } from '../queries/statement.ts'
import { SEALED_TRAIL, textsEach } from './sealedColumns.ts'
import { type TrailedRow, toTrailedRow, trailText } from './trailedChange.ts'

/** The end of an organization's chain: what was sealed last. */
export interface ChainEnd {
  /** Changes up to this row of the trail are sealed, and no receiver is told of them. */
  readonly openedAtChange: bigint
  /** The row of the trail that was sealed last; 0 before the first. */
  readonly changeId: bigint
  /** The number of the last event. */
  readonly sequence: bigint
  /** Empty before the first. */
  readonly hash: Uint8Array
  readonly keyId: string
  /** The stamps of the changes up to this one cannot be checked. */
  readonly stampsAfter: bigint
}

/** A row of the trail that is to be sealed. */
export interface UnsealedRow extends TrailedRow {
  readonly at: number
  /** Whether the change raised a credit limit. */
  readonly isRaised: boolean
  readonly isUnannounced: boolean
}

/** A row of `event`; its bytes in hexadecimal. */
export interface EventRow {
  readonly changeId: bigint
  readonly part: number
  readonly sequence: bigint | null
  readonly type: string
  readonly digest: string | null
  readonly marks: string
  readonly hash: string
}

/** The last number of a row of the trail that was drawn, by any transaction. */
export async function lastDrawn({ pool }: Pick<Db, 'pool'>): Promise<bigint> {
  const { rows } = await pool.query<{ last: bigint }>({
    name: 'last-change-drawn',
    text: `SELECT coalesce(pg_sequence_last_value('audit_entry_id_seq'), 0) AS last`,
  })
  return rows[0]!.last
}

/**
 * Finds the organizations that have rows of the trail to seal, up to a settled row. 0 is the service itself. It looks at one
 * row of each: asked whether such a row exists, the planner would pair all rows of a long trail with the organizations.
 * @param settled every row up to this is committed, or will never be there
 */
export async function findUnsealed({ pool }: Pick<Db, 'pool'>, settled: bigint): Promise<number[]> {
  const { rows } = await pool.query<{ id: number }>({
    name: 'find-unsealed',
    text: `SELECT o.id FROM (SELECT id FROM organization UNION ALL SELECT 0) AS o
      LEFT JOIN event_chain c ON c.organization_id = o.id
      CROSS JOIN LATERAL (SELECT FROM audit_entry a
        WHERE a.organization_id = o.id AND a.id > coalesce(c.change_id, 0) AND a.id <= $1 ORDER BY a.id LIMIT 1) AS next`,
    values: [settled],
  })
  return rows.map(({ id }) => id)
}

/**
 * Claims the chain of an organization until the end of the transaction, and makes one where there is none.
 * @returns undefined while another instance has claimed it
 */
export async function claimChain(transaction: Transaction, organizationId: number): Promise<ChainEnd | undefined> {
  const claimed = () =>
    transaction.query<ChainEnd>({
      name: 'claim-chain',
      text: `SELECT opened_at_change AS "openedAtChange", change_id AS "changeId", sequence, hash, key_id AS "keyId",
          stamps_after AS "stampsAfter"
        FROM event_chain WHERE organization_id = $1 FOR UPDATE SKIP LOCKED`,
      values: [organizationId],
    })
  const { rows } = await claimed()
  if (rows[0]) return rows[0]
  // The insert would wait until another instance that makes the same chain has sealed its first changes.
  if (!(await isAlone(transaction, 'chain', organizationId))) return undefined
  const made = await transaction.query({
    name: 'open-chain',
    text: `INSERT INTO event_chain (organization_id, opened_at_change, change_id, sequence, hash, key_id)
      VALUES ($1, 0, 0, 0, '', '') ON CONFLICT DO NOTHING`,
    values: [organizationId],
  })
  return made.rowCount === 1 ? (await claimed()).rows[0] : undefined
}

const hasHead = statement<{ organizationId: number; changeId: bigint; hash: Uint8Array }>(
  'has-head',
  (p) => `SELECT FROM event WHERE organization_id = ${p('organizationId')} AND change_id = ${p('changeId')}
    AND hash = ${p('hash')} LIMIT 1`,
)

/** Returns whether a chain has the hash that it had at a change. */
export const hasHash = async (
  transaction: Transaction,
  head: { readonly organizationId: number; readonly changeId: bigint; readonly hash: Uint8Array },
): Promise<boolean> => (await transaction.query(hasHead(head))).rowCount === 1

const readMode = statement<{ organizationId: number }>(
  'read-mode',
  (p) => `SELECT mode FROM organization WHERE id = ${p('organizationId')}`,
)

/** Returns whether an organization is a test organization, whose book can be emptied. */
export const isTest = async (transaction: Transaction, organizationId: number): Promise<boolean> =>
  (await transaction.query<{ mode: string }>(readMode({ organizationId }))).rows[0]?.mode === 'test'

const readUnsealedRows = statement<{ organizationId: number; above: bigint; settled: bigint; most: number }>(
  'read-unsealed',
  (p) => `
  SELECT id, at, entity = 'customer' AND after ->> 'boostStatus' = 'raised' IS TRUE, ${textsEach(SEALED_TRAIL, 'a')}
  FROM audit_entry a
  WHERE organization_id = ${p('organizationId')} AND id > ${p('above')} AND id <= ${p('settled')}
  ORDER BY id LIMIT ${p('most')}`,
)

/** A row of `readUnsealedRows`: its number, its time, whether it raised a limit, and the texts of `SEALED_TRAIL`. */
type UnsealedTexts = [id: bigint, at: number, isRaised: boolean, ...trail: (string | null)[]]

/** Reads the next rows of the trail to seal, in their order. */
export async function readUnsealed(
  transaction: Transaction,
  organizationId: number,
  { above, settled, most }: { readonly above: bigint; readonly settled: bigint; readonly most: number },
): Promise<UnsealedRow[]> {
  const prepared = readUnsealedRows({ organizationId, above, settled, most })
  const { rows } = await transaction.query<UnsealedTexts>({ ...prepared, rowMode: 'array' })
  return rows.map(([id, at, isRaised, ...trail]) => {
    const row = toTrailedRow({ id, trail })
    return { ...row, at, isRaised, isUnannounced: trailText(row, 'unannounced') === 'true' }
  })
}

const EVENT: ColumnTypes = {
  change_id: 'bigint',
  part: 'int',
  sequence: 'bigint',
  type: 'text',
  digest: 'text',
  marks: 'text',
  hash: 'text',
}

/** The end to which a chain moves. */
export type MovedEnd = Omit<ChainEnd, 'openedAtChange' | 'stampsAfter'>

interface ExtendValues extends MovedEnd {
  readonly organizationId: number
  readonly sealedAt: string | null
}

const EVENTS = 'event.'

const extend = statement<ExtendValues & Record<string, unknown>>(
  'extend-chain',
  (p) => `
  WITH last AS (
    SELECT max(sealed_at) AS sealed_at FROM (SELECT sealed_at FROM event
      WHERE organization_id = ${p('organizationId')} ORDER BY change_id DESC, part DESC LIMIT 1) AS before
  ), added AS (
    INSERT INTO event (organization_id, sealed_at, change_id, part, sequence, type, digest, marks, hash)
    SELECT ${p('organizationId')}::int, greatest(${p('sealedAt')}::timestamptz, last.sealed_at), e.change_id, e.part, e.sequence, e.type,
      decode(e.digest, 'hex'), decode(e.marks, 'hex'), decode(e.hash, 'hex')
    FROM ${tableOf('e', EVENT, (column) => p(EVENTS + column))} CROSS JOIN last
  )
  UPDATE event_chain SET change_id = ${p('changeId')}, sequence = ${p('sequence')}, hash = ${p('hash')}, key_id = ${p('keyId')}
  WHERE organization_id = ${p('organizationId')}`,
)

/** Adds events to a claimed chain, and moves its end. Where a clock went back, the time of the last event is kept. */
export async function extendChain(
  transaction: Transaction,
  organizationId: number,
  events: readonly EventRow[],
  { end, sealedAt }: { readonly end: MovedEnd; readonly sealedAt: string | null },
): Promise<void> {
  const rows = events.map((event) => [
    event.changeId,
    event.part,
    event.sequence,
    event.type,
    event.digest,
    event.marks,
    event.hash,
  ])
  const values = { organizationId, sealedAt, ...end, hash: Buffer.from(end.hash) }
  await transaction.query(extend({ ...values, ...columnValues(EVENT, rows, EVENTS) }))
}
