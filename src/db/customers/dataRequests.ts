import type { DataRequestKind, DataRequestState } from '../../domain/customer/dataRequest.ts'
import type { Instant, LocalDate } from '../../domain/dates.ts'
import { type Author, auditRow, type TrailValues, trail, trailValues } from '../audit/trail.ts'
import type { DataRequest as Row } from '../generated/client.ts'
import type { Db } from '../postgres/client.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { cursorAt, type Found, type Position, sliceOf } from '../queries/cursor.ts'
import { type Parameter, type Queries, statement } from '../queries/statement.ts'
import { openTexts, sealFor } from './words.ts'

/** What a person asked of the lender, or the service proposes. */
export interface DataRequest {
  readonly organizationId: number
  readonly id: bigint
  readonly customerId: bigint
  readonly kind: DataRequestKind
  readonly state: DataRequestState
  /** Null: none was given, or the person was erased. */
  readonly reason: string | null
  readonly askedAt: Instant
  /** Null: the command line or, where proposed, the service itself. */
  readonly askedBy: number | null
  readonly proposed: boolean
  readonly dueOn: LocalDate
  readonly decidedAt: Instant | null
  readonly decidedBy: number | null
  /** The answer to the person; null: none was given, or the person was erased. */
  readonly note: string | null
  /** What kept an erasure from being made. */
  readonly obstacles: readonly string[]
}

/** The entity of the trail. */
export const DATA_REQUEST = 'data request'

/** The order of the list of requests. */
export const DATA_REQUESTS_ORDER = 'data-requests'

const toRequest = ({ kind, state, dueOn, askedAt, decidedAt, ...row }: Row): DataRequest => ({
  ...row,
  kind: kind as DataRequestKind,
  state: state as DataRequestState,
  dueOn: dueOn.toISOString().slice(0, 10),
  askedAt: askedAt.getTime(),
  decidedAt: decidedAt?.getTime() ?? null,
})

/** Finds a request of an organization, decided or not. */
export async function findDataRequest(db: Db, organizationId: number, id: bigint): Promise<DataRequest | undefined> {
  const row = await db.prisma.dataRequest.findUnique({ where: { organizationId_id: { organizationId, id } } })
  return (await openTexts(db, row ? [toRequest(row)] : [], () => organizationId))[0]
}

/** What a list of requests is asked for by. */
export interface DataRequestFilter {
  readonly customerId?: bigint | undefined
  readonly kind?: DataRequestKind | undefined
  readonly state?: DataRequestState | undefined
  /** Only those that are not decided, and due before this day. */
  readonly dueBefore?: LocalDate | undefined
}

/** Finds a part of the requests of an organization, in the order of their numbers. */
export async function findDataRequests(
  db: Db,
  organizationId: number,
  { customerId, kind, state, dueBefore }: DataRequestFilter,
  position: Position,
): Promise<Found<DataRequest>> {
  const where = {
    organizationId,
    ...(customerId !== undefined && { customerId }),
    ...(kind && { kind }),
    ...(state && { state }),
    ...(dueBefore && { decidedAt: null, dueOn: { lt: new Date(dueBefore) } }),
  }
  const isPage = 'page' in position
  const slice = isPage ? sliceOf(position) : { take: position.rows }
  const above = isPage ? {} : { id: { gt: position.cursor?.floor ?? 0n } }
  const rows = await db.prisma.dataRequest.findMany({
    where: { ...where, ...above },
    orderBy: { id: 'asc' },
    ...slice,
  })
  const items = await openTexts(db, rows.map(toRequest), () => organizationId)
  const total = isPage ? await db.prisma.dataRequest.count({ where }) : undefined
  return { items, total, next: cursorAt(DATA_REQUESTS_ORDER, items.at(-1)?.id) }
}

/** A request to be kept. */
export interface NewDataRequest
  extends Pick<DataRequest, 'customerId' | 'kind' | 'state' | 'reason' | 'proposed' | 'dueOn' | 'obstacles'> {}

interface RequestValues extends TrailValues, Omit<NewDataRequest, 'obstacles'> {
  readonly id: bigint
  readonly isDecided: boolean
  readonly obstacles: readonly string[]
}

const insert = statement<RequestValues>(
  'insert-data-request',
  (p) => `
  WITH made AS (
    INSERT INTO data_request (organization_id, id, customer_id, kind, state, reason, asked_at, asked_by, proposed, due_on, decided_at,
      decided_by, obstacles)
    OVERRIDING SYSTEM VALUE
    SELECT ${p('organizationId')}, ${p('id')}, ${p('customerId')}, ${p('kind')}, ${p('state')}, ${p('reason')}, ${p('changedAt')},
      ${p('accountId')}::int, ${p('proposed')}, ${p('dueOn')}::date, CASE WHEN ${p('isDecided')} THEN ${p('changedAt')}::timestamptz END,
      CASE WHEN ${p('isDecided')} THEN ${p('accountId')}::int END, ${p('obstacles')}::text[]
    ON CONFLICT (organization_id, customer_id) WHERE state = 'waiting' DO NOTHING
    RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'made', DATA_REQUEST)}
  SELECT id FROM made`,
)

const NEXT_ID = `SELECT nextval(pg_get_serial_sequence('data_request', 'id')) AS id`

/**
 * Keeps a request, with its row of the trail.
 * @returns its number; undefined where an erasure of the customer waits already
 * @throws LendingError `failed_precondition` for the reason of a person who was erased
 */
export async function insertDataRequest(
  transaction: Transaction,
  author: Author,
  request: NewDataRequest,
  now: number,
): Promise<bigint | undefined> {
  const { organizationId } = author
  const { customerId, kind, state, proposed, dueOn, obstacles } = request
  const { id } = (await transaction.query<{ id: bigint }>(NEXT_ID)).rows[0]!
  const reason = await sealed(transaction, { organizationId, id: customerId }, request.reason)
  const after = { customerId: String(customerId), kind, state, proposed, dueOn, obstacles, ...(reason && { reason }) }
  const trace = { action: 'create', before: null, after }
  const traced = trailValues(transaction, author, now, { entity: DATA_REQUEST, id }, trace)
  const isDecided = state === 'refused'
  const { rows } = await transaction.query(insert({ ...traced, ...request, id, reason, isDecided }))
  return rows.length === 0 ? undefined : id
}

async function sealed(
  transaction: Transaction,
  whose: { readonly organizationId: number; readonly id: bigint },
  text: string | null,
): Promise<string | null> {
  if (text === null) return null
  return (await sealFor({ pool: transaction }, [whose]))(whose, text)
}

const lock = statement<{ organizationId: number; id: bigint }>(
  'lock-data-request',
  (
    p,
  ) => `SELECT organization_id AS "organizationId", id, customer_id AS "customerId", kind, state, asked_by AS "askedBy", proposed
    FROM data_request WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} FOR UPDATE`,
)

/** A request whose row is locked. */
export type LockedDataRequest = Pick<
  DataRequest,
  'organizationId' | 'id' | 'customerId' | 'kind' | 'state' | 'askedBy' | 'proposed'
>

/** Locks a request, so that nobody else decides it meanwhile; undefined where there is none. */
export async function lockDataRequest(
  transaction: Transaction,
  organizationId: number,
  id: bigint,
): Promise<LockedDataRequest | undefined> {
  return (await transaction.query<LockedDataRequest>(lock({ organizationId, id }))).rows[0]
}

const end = statement<TrailValues & { id: bigint; state: string; note: string | null }>(
  'end-data-request',
  (p) => `
  WITH ended AS (
    UPDATE data_request SET state = ${p('state')}, note = ${p('note')}, decided_at = ${p('changedAt')}, decided_by = ${p('accountId')}::int
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'ended', DATA_REQUEST)}
  SELECT id FROM ended`,
)

/** How a request ends. */
export interface DataRequestEnding {
  readonly request: LockedDataRequest
  readonly state: DataRequestState
  /** The action of the trail. */
  readonly action: string
  readonly note: string | null
}

/** Ends a request that is locked, with its row of the trail. */
export async function endDataRequest(
  transaction: Transaction,
  author: Author,
  { request, state, action, note: given }: DataRequestEnding,
  now: number,
): Promise<void> {
  const { organizationId, id, customerId } = request
  const note = await sealed(transaction, { organizationId, id: customerId }, given)
  const trace = { action, before: { state: request.state }, after: { state, ...(note && { note }) } }
  const traced = trailValues(transaction, author, now, { entity: DATA_REQUEST, id }, trace)
  await transaction.query(end({ ...traced, id, state, note }))
}

/** How the result of a request was read. */
export interface ResultRead {
  readonly id: bigint
  /** Such as `json`. */
  readonly format: string
}

/** Adds a row to the trail that says who has read the result of a request; its transaction has its number before, as every insert. */
export async function noteResultRead(db: Db, author: Author, { id, format }: ResultRead, now: number): Promise<void> {
  const trace = { action: 'read', before: null, after: { format } }
  const data = auditRow(db.pool, author, now, { entity: DATA_REQUEST, id }, trace)
  await db.prisma.$transaction([
    db.prisma.$queryRaw`SELECT pg_current_xact_id()::text`,
    db.prisma.auditEntry.create({ data }),
  ])
}

const proposable = statement<{
  organizationId: number
  borrowersBefore: LocalDate
  othersBefore: LocalDate
  most: number
}>(
  'find-customers-past-retention',
  (p) => `
  SELECT c.id FROM customer c
  WHERE c.organization_id = ${p('organizationId')} AND c.erased_at IS NULL AND c.updated_at < ${p('othersBefore')}::date
    AND NOT EXISTS (SELECT FROM data_request r WHERE r.organization_id = c.organization_id AND r.customer_id = c.id
      AND r.kind = 'erasure' AND (r.state = 'waiting' OR r.proposed))
    AND CASE WHEN EXISTS (SELECT FROM loan l WHERE l.organization_id = c.organization_id AND l.customer_id = c.id)
      THEN NOT EXISTS (SELECT FROM loan l WHERE l.organization_id = c.organization_id AND l.customer_id = c.id
        AND (l.closed_on IS NULL OR l.closed_on >= ${p('borrowersBefore')}::date))
      ELSE c.status = 'Closed' END
  ORDER BY c.id LIMIT ${p('most')}`,
)

/** The days before which the last loan of a borrower has to be closed, and others have to be told of last. */
export interface PastRetention {
  readonly borrowersBefore: LocalDate
  readonly othersBefore: LocalDate
}

/**
 * Finds customers whose time is over, and of whom no erasure was proposed: borrowers whose last loan was closed long ago, and Closed
 * customers who never borrowed.
 */
export async function findPastRetention(
  { pool }: Queries,
  organizationId: number,
  past: PastRetention,
  most: number,
): Promise<bigint[]> {
  const { rows } = await pool.query<{ id: bigint }>(proposable({ organizationId, ...past, most }))
  return rows.map(({ id }) => id)
}
