import type { Db } from '../postgres/client.ts'
import { type ColumnTypes, columnValues, moment, tableOf } from '../queries/rows.ts'
import { statement } from '../queries/statement.ts'

/** The states of an endpoint (contract 8). */
export const ENDPOINT_STATES = ['active', 'backing_off', 'disabled'] as const
export type EndpointState = (typeof ENDPOINT_STATES)[number]

/** The styles whose words events can have. */
export const EVENT_STYLES = ['partner', 'record'] as const
export type EventStyle = (typeof EVENT_STYLES)[number]

/** How far an endpoint is. */
export interface Progress {
  /** Every event up to this number was taken, given up or parked, or is of a type that is not wanted. */
  readonly position: bigint
  readonly state: EndpointState
  /** Why it is not active. */
  readonly stateReason: string | null
  /** Failures in a row, without a success. */
  readonly failures: number
  /** The step of the back-off; 0 while active. */
  readonly step: number
  /** Nothing is sent before. */
  readonly nextAttemptAt: number | null
}

/** An endpoint of which this process holds the lease. */
export interface LeasedEndpoint extends Progress {
  readonly organizationId: number
  readonly id: bigint
  readonly url: string
  readonly types: readonly string[]
  readonly style: EventStyle
  /** Encrypted. */
  readonly secret: string
  readonly previousSecret: string | null
  readonly previousUntil: number | null
  readonly version: number
}

/** An event that waits for another attempt, or behind one of the same subject that does. */
export interface ParkedEvent {
  readonly sequence: bigint
  readonly subject: string
  readonly type: string
  readonly attempts: number
  readonly dueAt: number | null
}

/** An attempt about to be stored. */
export interface NewAttempt {
  readonly sequence: bigint
  readonly type: string
  readonly attempt: number
  readonly at: number
  readonly state: 'delivered' | 'waiting' | 'exhausted'
  readonly status: number | null
  readonly ms: number
  readonly error: string | null
  readonly nextAttemptAt: number | null
}

const isAmong = (alias: string) => `(${alias}.organization_id, ${alias}.id)`

const lease = statement<{
  holder: string
  now: string | null
  until: string | null
  beyond: string | null
  most: number
  organizationIds: number[]
  ids: bigint[]
}>(
  'webhook-lease',
  (p) => `
  WITH due AS (
    SELECT e.organization_id, e.id FROM webhook_endpoint e JOIN event_chain c USING (organization_id)
    WHERE e.state <> 'disabled' AND (e.leased_until IS NULL OR e.leased_until <= ${p('now')} OR e.leased_by = ${p('holder')}
        OR e.leased_until > ${p('beyond')})
      AND (e.next_attempt_at IS NULL OR e.next_attempt_at <= ${p('now')})
      AND e.organization_id NOT IN (SELECT organization_id FROM absent_organization)
      AND ${isAmong('e')} NOT IN (SELECT * FROM unnest(${p('organizationIds')}::int[], ${p('ids')}::bigint[]))
      AND (c.sequence > e.position OR EXISTS (
        SELECT FROM webhook_parked k WHERE k.organization_id = e.organization_id AND k.endpoint_id = e.id
          AND (k.next_attempt_at <= ${p('now')} OR e.state = 'backing_off')))
    ORDER BY e.last_leased_at NULLS FIRST LIMIT ${p('most')} FOR NO KEY UPDATE OF e SKIP LOCKED
  )
  UPDATE webhook_endpoint e SET leased_by = ${p('holder')}, leased_until = ${p('until')}, last_leased_at = ${p('now')}
  FROM due WHERE ${isAmong('e')} = ${isAmong('due')}
  RETURNING e.organization_id AS "organizationId", e.id, e.url, e.types, e.style, e.secret,
    e.previous_secret AS "previousSecret", e.previous_until AS "previousUntil", e.version, e.position, e.state,
    e.state_reason AS "stateReason", e.failures, e.step, e.next_attempt_at AS "nextAttemptAt"`,
)

/** The lease that is asked for. */
export interface LeaseRequest {
  readonly holder: string
  readonly now: number
  readonly until: number
  readonly most: number
  /** Those that are held already. */
  readonly except: readonly { readonly organizationId: number; readonly id: bigint }[]
}

/**
 * Leases endpoints that have something to be sent, those first that were leased longest ago; those that another process
 * holds are left to it. A lease that would end later than any can is one of a clock that was ahead, and counts no more.
 */
export async function leaseEndpoints(db: Db, { except, ...asked }: LeaseRequest): Promise<LeasedEndpoint[]> {
  const { rows } = await db.pool.query<LeasedEndpoint>(
    lease({
      holder: asked.holder,
      now: moment(asked.now),
      until: moment(asked.until),
      beyond: moment(asked.until + (asked.until - asked.now)),
      most: asked.most,
      organizationIds: except.map(({ organizationId }) => organizationId),
      ids: except.map(({ id }) => id),
    }),
  )
  return rows
}

const held = statement<{ holder: string }>(
  'webhook-held',
  (p) => `
  SELECT organization_id AS "organizationId", id, version FROM webhook_endpoint WHERE leased_by = ${p('holder')}`,
)

/** The endpoints of which a process holds the lease, with the number of their changes by operators. */
export async function listHeld(
  db: Db,
  holder: string,
): Promise<Pick<LeasedEndpoint, 'organizationId' | 'id' | 'version'>[]> {
  return (await db.pool.query<Pick<LeasedEndpoint, 'organizationId' | 'id' | 'version'>>(held({ holder }))).rows
}

const parked = statement<{ organizationId: number; id: bigint }>(
  'webhook-parked',
  (p) => `
  SELECT sequence, subject, type, attempts, next_attempt_at AS "dueAt" FROM webhook_parked
  WHERE organization_id = ${p('organizationId')} AND endpoint_id = ${p('id')} ORDER BY sequence`,
)

/** The parked events of an endpoint, ascending. */
export async function listParked(
  db: Db,
  { organizationId, id }: { readonly organizationId: number; readonly id: bigint },
): Promise<ParkedEvent[]> {
  return (await db.pool.query<ParkedEvent>(parked({ organizationId, id }))).rows
}

const PARKED: ColumnTypes = {
  parked_sequence: 'bigint',
  subject: 'text',
  parked_type: 'text',
  attempts: 'int',
  due_at: 'timestamptz',
}
const ATTEMPTS: ColumnTypes = {
  sequence: 'bigint',
  type: 'text',
  attempt: 'int',
  at: 'timestamptz',
  state: 'text',
  status: 'int',
  ms: 'int',
  error: 'text',
  next_at: 'timestamptz',
}

/** What is saved of an endpoint. */
export interface ProgressToSave extends Progress {
  readonly organizationId: number
  readonly id: bigint
  readonly version: number
  readonly holder: string
  /** Null gives the lease back. */
  readonly leasedUntil: number | null
  readonly parked: readonly ParkedEvent[]
  /** The sequences of events that are not parked any more. */
  readonly unparked: readonly bigint[]
  /** In the order in which they were made. */
  readonly attempts: readonly NewAttempt[]
  readonly now: number
}

const save = statement<Record<string, unknown>>(
  'webhook-save',
  (p) => `
  WITH held AS (
    UPDATE webhook_endpoint SET position = ${p('position')}, state = ${p('endpointState')}, state_reason = ${p('stateReason')},
      failures = ${p('failures')}, step = ${p('step')}, next_attempt_at = ${p('nextAttemptAt')},
      leased_until = ${p('leasedUntil')}, leased_by = CASE WHEN ${p('leasedUntil')}::timestamptz IS NULL THEN NULL ELSE leased_by END,
      updated_at = CASE WHEN state = ${p('endpointState')} THEN updated_at ELSE ${p('now')} END
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} AND version = ${p('version')} AND leased_by = ${p('holder')}
      AND ${p('position')}::bigint <= coalesce((SELECT c.sequence FROM event_chain c WHERE c.organization_id = ${p('organizationId')}), 0)
    RETURNING organization_id, id
  ), kept AS (
    INSERT INTO webhook_parked (organization_id, endpoint_id, sequence, subject, type, attempts, next_attempt_at)
    SELECT held.organization_id, held.id, k.parked_sequence, k.subject, k.parked_type, k.attempts, k.due_at
    FROM held CROSS JOIN ${tableOf('k', PARKED, p)}
    ON CONFLICT (organization_id, endpoint_id, sequence)
      DO UPDATE SET attempts = excluded.attempts, next_attempt_at = excluded.next_attempt_at
  ), removed AS (
    DELETE FROM webhook_parked USING held
    WHERE webhook_parked.organization_id = held.organization_id AND endpoint_id = held.id
      AND sequence = ANY (${p('unparked')}::bigint[])
  ), before AS (
    UPDATE webhook_attempt SET state = 'retried' FROM held
    WHERE webhook_attempt.organization_id = held.organization_id AND endpoint_id = held.id AND webhook_attempt.state = 'waiting'
      AND sequence = ANY (${p('again')}::bigint[])
  ), made AS (
    INSERT INTO webhook_attempt (organization_id, endpoint_id, sequence, type, attempt, at, state, status, ms, error, next_attempt_at)
    SELECT held.organization_id, held.id, a.sequence, a.type, a.attempt, a.at, a.state, a.status, a.ms, a.error, a.next_at
    FROM held CROSS JOIN ${tableOf('a', ATTEMPTS, p)}
  )
  SELECT FROM held`,
)

/**
 * Saves how far an endpoint is, in one statement.
 * @returns false where the lease is lost, the endpoint was changed or deleted, or a restore has lost the events: nothing
 *   is saved then
 */
export async function saveProgress(db: Db, progress: ProgressToSave): Promise<boolean> {
  const { parked: kept, unparked, attempts, state, nextAttemptAt, leasedUntil, now, ...rest } = progress
  // Of several attempts of one event, all but the last were followed by another.
  const last = new Map(attempts.map(({ sequence }, index) => [sequence, index]))
  const rows = attempts.map((one, index) => [
    one.sequence,
    one.type,
    one.attempt,
    moment(one.at),
    one.state === 'waiting' && last.get(one.sequence) !== index ? 'retried' : one.state,
    one.status,
    one.ms,
    one.error,
    moment(one.nextAttemptAt),
  ])
  const { rowCount } = await db.pool.query(
    save({
      ...rest,
      endpointState: state,
      nextAttemptAt: moment(nextAttemptAt),
      leasedUntil: moment(leasedUntil),
      now: moment(now),
      unparked,
      again: [...last.keys()],
      ...columnValues(
        PARKED,
        kept.map((one) => [one.sequence, one.subject, one.type, one.attempts, moment(one.dueAt)]),
      ),
      ...columnValues(ATTEMPTS, rows),
    }),
  )
  return rowCount === 1
}
