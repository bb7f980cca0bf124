import type { LocalDate } from '../../domain/dates.ts'
import type { Snapshot } from '../postgres/transaction.ts'
import { unprepared } from '../queries/statement.ts'
import { PORTFOLIO_COLUMNS, type PortfolioLoan, type PortfolioRow, toPortfolioLoan } from './positions.ts'

/** The place of an overdue loan in the list of them: the oldest first. */
export interface OverduePlace {
  /** The due date of its oldest instalment that is unpaid. */
  readonly dueOn: LocalDate
  readonly id: bigint
}

/** The overdue loans of an organization that are asked for. */
export interface OverdueAsked {
  readonly organizationId: number
  readonly today: LocalDate
  /** The first instant of the day, as RFC 3339. */
  readonly start: string
  /** Bounds of the due date of the oldest instalment that is unpaid, both inclusive; null: none. */
  readonly dueFrom: LocalDate | null
  readonly dueTo: LocalDate | null
  /** The place after which the list goes on; null: its beginning. */
  readonly after: OverduePlace | null
  readonly most: number
}

interface FindValues extends Omit<OverdueAsked, 'after'> {
  readonly afterDueOn: LocalDate | null
  readonly afterId: bigint | null
}

/**
 * Those that were saved as overdue, of which the oldest due date with anything owed, or with the arrears that a restructure left, is
 * the day before; and those that time has made overdue since they were saved, which wait for the sweep. Time alone never moves
 * the due date itself.
 */
const find = unprepared<FindValues>((p) => {
  const placed = (dueOn: string, days = 0) => `l.organization_id = ${p('organizationId')} AND l.status = 'Active'
      AND ${dueOn} < ${p('today')}::date + ${days}
      AND ${dueOn} BETWEEN coalesce(${p('dueFrom')}::date + ${days}, '-infinity') AND coalesce(${p('dueTo')}::date + ${days}, 'infinity')
      AND (${dueOn}, l.id) > (coalesce(${p('afterDueOn')}::date + ${days}, '-infinity'), coalesce(${p('afterId')}::bigint, 0))`
  return `
  (SELECT l.overdue_since - 1 AS "dueOn", l.id FROM loan l
    WHERE ${placed('l.overdue_since', 1)} AND l.is_overdue
    ORDER BY l.overdue_since, l.id LIMIT ${p('most')})
  UNION ALL
  (SELECT l.next_due_on, l.id FROM loan l
    WHERE ${placed('l.next_due_on')} AND NOT l.is_overdue AND l.next_change_at <= ${p('start')}::timestamptz
    ORDER BY l.next_due_on, l.id LIMIT ${p('most')})
  ORDER BY 1, 2 LIMIT ${p('most')}`
})

/** Finds the overdue loans of an organization, the oldest first, whatever the sweep has saved. */
export async function findOverdue(
  snapshot: Snapshot,
  { after, ...asked }: OverdueAsked,
): Promise<readonly OverduePlace[]> {
  const values = { ...asked, afterDueOn: after?.dueOn ?? null, afterId: after?.id ?? null }
  return (await snapshot.query<OverduePlace>(find(values))).rows
}

/** An overdue loan, with the names of its customer and its product. */
export interface OverdueLoan extends PortfolioLoan {
  readonly externalId: string | null
  readonly customerId: bigint
  readonly customerExternalId: string | null
  readonly customerBusinessName: string | null
  readonly customerPhone: string | null
  readonly productName: string | null
}

interface OverdueRow extends PortfolioRow {
  readonly external_id: string | null
  readonly customer_external_id: string | null
  readonly customer_business_name: string | null
  readonly customer_phone: string | null
  readonly product_name: string | null
}

const read = unprepared<{ organizationId: number; ids: readonly bigint[] }>(
  (p) => `
  SELECT ${PORTFOLIO_COLUMNS}, l.external_id, c.external_id AS customer_external_id, c.business_name AS customer_business_name,
    c.phone AS customer_phone, pr.name AS product_name
  FROM loan l JOIN customer c ON c.organization_id = l.organization_id AND c.id = l.customer_id
    LEFT JOIN loan_product pr ON pr.organization_id = l.organization_id AND pr.id = l.product_id
  WHERE l.organization_id = ${p('organizationId')} AND l.id = ANY(${p('ids')}::bigint[])
  ORDER BY coalesce(l.overdue_since - 1, l.next_due_on), l.id`,
)

/** Reads overdue loans by their ids, in the order of their places. */
export async function readOverdue(
  snapshot: Snapshot,
  zone: string,
  asked: { readonly organizationId: number; readonly ids: readonly bigint[] },
): Promise<OverdueLoan[]> {
  const { rows } = await snapshot.query<OverdueRow>(read(asked))
  return rows.map((row) => ({
    ...toPortfolioLoan(row, zone),
    externalId: row.external_id,
    customerId: row.customer_id,
    customerExternalId: row.customer_external_id,
    customerBusinessName: row.customer_business_name,
    customerPhone: row.customer_phone,
    productName: row.product_name,
  }))
}
