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
 * The oldest due date with anything owed: time alone never moves it, so it needs no sweep. Of a restructured loan whose
 * instalments are due later, that of the arrears which it carries.
 */
const find = unprepared<FindValues>(
  (p) => `
  SELECT "dueOn", id FROM (
  (SELECT l.next_due_on AS "dueOn", l.id FROM loan l
  WHERE l.organization_id = ${p('organizationId')} AND l.status = 'Active' AND l.next_due_on < ${p('today')}::date
    AND l.next_due_on BETWEEN coalesce(${p('dueFrom')}::date, '-infinity') AND coalesce(${p('dueTo')}::date, 'infinity')
    AND (l.next_due_on, l.id) > (coalesce(${p('afterDueOn')}::date, '-infinity'), coalesce(${p('afterId')}::bigint, 0))
  ORDER BY l.next_due_on, l.id LIMIT ${p('most')})
  UNION ALL
  (SELECT l.overdue_since - 1, l.id FROM loan l
  WHERE l.organization_id = ${p('organizationId')} AND l.id IN (SELECT e.loan_id FROM loan_entry e
      WHERE e.organization_id = ${p('organizationId')} AND e.type = 'Restructure' AND e.reversed_at IS NULL)
    AND l.status = 'Active' AND l.next_due_on >= ${p('today')}::date
    AND l.overdue_since - 1 BETWEEN coalesce(${p('dueFrom')}::date, '-infinity') AND coalesce(${p('dueTo')}::date, 'infinity')
    AND (l.overdue_since - 1, l.id) > (coalesce(${p('afterDueOn')}::date, '-infinity'), coalesce(${p('afterId')}::bigint, 0))
  ORDER BY 1, 2 LIMIT ${p('most')})) AS overdue
  ORDER BY "dueOn", id LIMIT ${p('most')}`,
)

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
  ORDER BY l.next_due_on, l.id`,
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
