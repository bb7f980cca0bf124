import { LARGEST_INT64 } from '../../toolbox/integers.ts'
import type { Db } from '../postgres/client.ts'
import type { Found, Position } from '../queries/cursor.ts'
import { cursorAt } from '../queries/cursor.ts'
import { conditionsOf, statement } from '../queries/statement.ts'

/** The states of an attempt: `retried` was followed by another attempt, and `exhausted` was the last one. */
export const ATTEMPT_STATES = ['delivered', 'waiting', 'retried', 'exhausted'] as const

/** An attempt to send an event to an endpoint. */
export interface Attempt {
  readonly id: bigint
  readonly sequence: bigint
  readonly type: string
  /** 1 is the first. */
  readonly attempt: number
  readonly at: number
  readonly state: (typeof ATTEMPT_STATES)[number]
  /** Null: there was no answer, and `error` says why. */
  readonly status: number | null
  readonly ms: number
  readonly error: string | null
  readonly nextAttemptAt: number | null
}

/** The order of the list of attempts: newest first. */
export const ATTEMPTS_ORDER = 'deliveries'

const COLUMNS = 'id, sequence, type, attempt, at, state, status, ms, error, next_attempt_at AS "nextAttemptAt"'

/** The attempts to read of an endpoint. */
export interface AttemptFilter {
  readonly organizationId: number
  readonly endpointId: bigint
  readonly state?: string | undefined
}

const CONDITIONS: Readonly<Record<keyof AttemptFilter, string>> = {
  organizationId: 'organization_id = ?',
  endpointId: 'endpoint_id = ?',
  state: 'state = ?',
}

/** Finds attempts, newest first. A walk goes back from where it began: what is attempted meanwhile is not in it. */
export async function findAttempts(db: Db, filter: AttemptFilter, position: Position): Promise<Found<Attempt>> {
  const { texts, values } = conditionsOf(CONDITIONS, filter, { texts: [], values: [] })
  const where = texts.join(' AND ')
  const read = async (more: string, sent: readonly unknown[]) => {
    const { rows } = await db.pool.query<Attempt>(`SELECT ${COLUMNS} FROM webhook_attempt WHERE ${where} ${more}`, [
      ...values,
      ...sent,
    ])
    return { items: rows, next: cursorAt(ATTEMPTS_ORDER, rows.at(-1)?.id) }
  }
  const [first, second] = [1, 2].map((more) => `$${values.length + more}`)
  if (!('page' in position)) {
    const below = position.cursor?.floor ?? LARGEST_INT64
    return read(`AND id < ${first} ORDER BY id DESC LIMIT ${second}`, [below, position.rows])
  }
  const { page, rows } = position
  const [counted, listed] = await Promise.all([
    db.pool.query<{ total: bigint }>(`SELECT count(*) AS total FROM webhook_attempt WHERE ${where}`, [...values]),
    read(`ORDER BY id DESC OFFSET ${first} LIMIT ${second}`, [(page - 1) * rows, rows]),
  ])
  return { ...listed, total: Number(counted.rows[0]!.total) }
}

const above = statement<{ organizationId: number; id: bigint; above: bigint; most: number }>(
  'webhook-attempts-above',
  (p) => `
  SELECT ${COLUMNS} FROM webhook_attempt
  WHERE organization_id = ${p('organizationId')} AND endpoint_id = ${p('id')} AND id > ${p('above')}
  ORDER BY id LIMIT ${p('most')}`,
)

/** Finds the attempts at an endpoint after one of them, oldest first. */
export async function findAttemptsAbove(
  db: Db,
  asked: { readonly organizationId: number; readonly id: bigint; readonly above: bigint; readonly most: number },
): Promise<Attempt[]> {
  return (await db.pool.query<Attempt>(above(asked))).rows
}

const trim = statement<{ organizationId: number; id: bigint; keep: number; most: number }>(
  'webhook-trim',
  (p) => `
  DELETE FROM webhook_attempt WHERE organization_id = ${p('organizationId')} AND endpoint_id = ${p('id')} AND id IN (
    SELECT id FROM webhook_attempt
    WHERE organization_id = ${p('organizationId')} AND endpoint_id = ${p('id')} AND id <= (
      SELECT id FROM webhook_attempt WHERE organization_id = ${p('organizationId')} AND endpoint_id = ${p('id')}
      ORDER BY id DESC OFFSET ${p('keep')} LIMIT 1)
    ORDER BY id LIMIT ${p('most')})`,
)

/** Deletes attempts of an endpoint but for the latest, the oldest first. @returns how many */
export async function trimAttempts(
  db: Db,
  { organizationId, id }: { readonly organizationId: number; readonly id: bigint },
  { keep, most }: { readonly keep: number; readonly most: number },
): Promise<number> {
  return (await db.pool.query(trim({ organizationId, id, keep, most }))).rowCount ?? 0
}
