import type { ContactChannel, ContactOutcome } from '../../domain/collections/contact.ts'
import type { HoldKind } from '../../domain/collections/hold.ts'
import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { StoredPerson } from '../customers/identities.ts'
import type { Snapshot } from '../postgres/transaction.ts'
import { type Parameter, statement, unprepared } from '../queries/statement.ts'

/** The orders of the work list. */
export const WORKLIST_ORDERS = ['daysPastDue', 'overdue', 'brokenPromises', 'nextOn'] as const
export type WorklistOrder = (typeof WORKLIST_ORDERS)[number]

/** What is asked of the work list of an organization. */
export interface WorklistAsked {
  readonly organizationId: number
  readonly today: LocalDate
  /** The first instant of the day, as RFC 3339. */
  readonly start: string
  /** The account of an officer; 0: loans that nobody has; null: all. */
  readonly assignedTo: number | null
  /** Null: all. */
  readonly productId: number | null
  /** The name of a bucket, as it was told at the beginning of the day; null: all. */
  readonly bucket: string | null
  /** The name of the best bucket, which loans are in of which nothing was told. */
  readonly bestBucket: string
  readonly skip: number
  readonly rows: number
}

/** SQL for the newest contact about a loan `l`. */
const LATEST = (p: Parameter<WorklistAsked>) => `
  LEFT JOIN LATERAL (SELECT t.next_on, t.contacted_at, t.channel, t.outcome FROM contact t
    WHERE t.organization_id = ${p('organizationId')} AND t.customer_id = l.customer_id AND (t.loan_id IS NULL OR t.loan_id = l.id)
    ORDER BY t.id DESC LIMIT 1) AS latest ON true`

/** The SQL of each order: the first to work at comes first. */
const ORDERS: Readonly<Record<WorklistOrder, string>> = {
  daysPastDue: `"dueOn" NULLS LAST, id`,
  overdue: '"overdue" DESC, id',
  brokenPromises: '"broken" DESC, "dueOn" NULLS LAST, id',
  nextOn: '"nextOn" NULLS LAST, "dueOn" NULLS LAST, id',
}

/**
 * The loans to work at: those that are overdue, as saved or by time that waits for the sweep; and those, written off too, whose next
 * action is due.
 */
const listBy = (order: WorklistOrder) =>
  unprepared<WorklistAsked>(
    (p) => `
  SELECT *, count(*) OVER ()::int AS total FROM (
    SELECT l.id, CASE WHEN l.is_overdue THEN l.overdue_since - 1 WHEN l.next_due_on < ${p('today')}::date THEN l.next_due_on END AS "dueOn",
      l.total_overdue AS overdue, latest.next_on AS "nextOn", latest.contacted_at AS "contactedAt", latest.channel, latest.outcome,
      a.account_id AS "assignedTo",
      (SELECT count(*)::int FROM promise t WHERE t.organization_id = l.organization_id AND t.loan_id = l.id AND t.state = 'broken') AS broken
    FROM loan l
    LEFT JOIN loan_assignment a ON a.organization_id = l.organization_id AND a.loan_id = l.id AND a.ended_at IS NULL
    LEFT JOIN loan_bucket b ON b.organization_id = l.organization_id AND b.loan_id = l.id
    ${LATEST(p)}
    WHERE l.organization_id = ${p('organizationId')} AND (
      l.status = 'Active' AND (l.is_overdue OR l.next_due_on < ${p('today')}::date AND l.next_change_at <= ${p('start')}::timestamptz)
      OR l.status IN ('Active', 'Closed (written off)') AND latest.next_on <= ${p('today')}::date
        AND l.customer_id IN (SELECT t.customer_id FROM contact t
          WHERE t.organization_id = ${p('organizationId')} AND t.next_on <= ${p('today')}::date))
      AND (${p('assignedTo')}::int IS NULL OR coalesce(a.account_id, 0) = ${p('assignedTo')})
      AND (${p('productId')}::int IS NULL OR l.product_id = ${p('productId')})
      AND (${p('bucket')}::text IS NULL OR coalesce(b.bucket, ${p('bestBucket')}) = ${p('bucket')})
  ) AS work
  ORDER BY ${ORDERS[order]} OFFSET ${p('skip')} LIMIT ${p('rows')}`,
  )

const LIST = Object.fromEntries(WORKLIST_ORDERS.map((order) => [order, listBy(order)])) as Readonly<
  Record<WorklistOrder, ReturnType<typeof listBy>>
>

/** A loan to work at, as far as the order of the list depends on it. */
export interface WorkPlace {
  readonly id: bigint
  /** The newest contact about the loan; null: there is none. */
  readonly contactedAt: Instant | null
  readonly channel: ContactChannel | null
  readonly outcome: ContactOutcome | null
  /** The day of the next action, as the newest contact has it; null: none. */
  readonly nextOn: LocalDate | null
  readonly assignedTo: number | null
  /** The broken promises. */
  readonly broken: number
}

/** Finds a page of the work list. */
export async function findWork(
  snapshot: Snapshot,
  order: WorklistOrder,
  asked: WorklistAsked,
): Promise<{ readonly places: readonly WorkPlace[]; readonly total: number }> {
  const { rows } = await snapshot.query<WorkPlace & { total: number }>(LIST[order](asked))
  return { places: rows, total: rows[0]?.total ?? 0 }
}

/** The next open promise on a loan, and what is held of it. */
export interface WorkDetails {
  readonly loanId: bigint
  readonly promiseId: bigint | null
  readonly promised: bigint | null
  readonly by: LocalDate | null
  readonly held: readonly HoldKind[]
}

const details = statement<{ organizationId: number; ids: readonly bigint[]; today: LocalDate }>(
  'details-of-work',
  (p) => `
  SELECT l.id AS "loanId", t.id AS "promiseId", t.amount AS promised, t.by_date AS by,
    coalesce((SELECT array_agg(DISTINCT h.what) FROM loan_hold h WHERE h.organization_id = ${p('organizationId')} AND h.loan_id = l.id
      AND ${p('today')}::date BETWEEN h.from_date AND h.until_date
      AND (h.released_on IS NULL OR h.released_on > ${p('today')}::date)), '{}') AS held
  FROM unnest(${p('ids')}::bigint[]) AS l (id)
  LEFT JOIN LATERAL (SELECT * FROM promise o WHERE o.organization_id = ${p('organizationId')} AND o.loan_id = l.id AND o.state = 'open'
    ORDER BY o.by_date, o.id LIMIT 1) AS t ON true`,
)

/** Reads the next open promises on loans, and what is held of these today. */
export const readWorkDetails = async (
  snapshot: Snapshot,
  of: { readonly organizationId: number; readonly ids: readonly bigint[]; readonly today: LocalDate },
): Promise<WorkDetails[]> => (await snapshot.query<WorkDetails>(details(of))).rows

const people = statement<{ organizationId: number; ids: readonly bigint[] }>(
  'people-of-work',
  (p) => `SELECT id, person_key AS "personKey", identity FROM customer
    WHERE organization_id = ${p('organizationId')} AND id = ANY (${p('ids')}::bigint[]) AND identity IS NOT NULL`,
)

/** Reads who some customers are, encrypted; those of whom nothing is known are left out. */
export const readPeopleOf = async (
  snapshot: Snapshot,
  of: { readonly organizationId: number; readonly ids: readonly bigint[] },
): Promise<StoredPerson[]> => (await snapshot.query<StoredPerson>(people(of))).rows
