import type { Db } from './client.ts'
import type { Histories, Known } from './histories.ts'
import type { Listed, Page } from './paging.ts'
import { type ColumnTypes, moment, statementOver } from './rows.ts'
import { columnsWhere, LOAN_COLUMNS, LOAN_SOURCES, type LoanRow, type StoredLoan, toStoredLoan } from './storedLoan.ts'

/** How a loan is named: by the service's number or by the partner's own id. */
export type LoanRef = { readonly id: bigint } | { readonly externalId: string }

/** Which loans to list, and in which order. */
export interface LoanFilter {
  readonly customerId?: bigint | undefined
  readonly customerExternalId?: string | undefined
  readonly status?: string | undefined
  readonly orderBy: 'id' | 'principal' | 'disbursedAt'
  readonly descending: boolean
}

/**
 * Loans by organization and number or external id, in no particular order; without the history where the loan is still
 * what is known of it. The moment is compared, too: where a database has lost its last commits, to a replica that was
 * behind or a backup, a version may come again with another history.
 */
const byKey = (by: 'id' | 'externalId', column: string, type: string) => {
  const key: ColumnTypes = { organization_id: 'int', [column]: type, version: 'int', updated_at: 'timestamptz' }
  const unknown = '(k.version, k.updated_at) IS DISTINCT FROM (l.version, l.updated_at)'
  return statementOver(
    `find-loans-by-${by}`,
    [key],
    (keys) => `SELECT ${columnsWhere(unknown)} FROM ${keys('k')}
    JOIN loan l ON l.organization_id = k.organization_id AND l.${column} = k.${column} ${LOAN_SOURCES}`,
  )
}

/** Each takes rows of an organization's id, the key, and the version and moment that is known, both null for none. */
export const LOANS_BY = { id: byKey('id', 'id', 'bigint'), externalId: byKey('externalId', 'external_id', 'text') }

/** All loans of some customers of an organization, in the order in which each borrowed. */
export const FIND_OF_CUSTOMERS = `
  SELECT ${LOAN_COLUMNS} FROM loan l ${LOAN_SOURCES}
  WHERE l.organization_id = $1 AND l.customer_id = ANY ($2::bigint[]) ORDER BY l.disbursed_at, l.id`

/** Which loan of whom, and the zone its days are counted in. */
export interface LoanKey {
  readonly organizationId: number
  readonly ref: LoanRef
  readonly zone: string
}

/**
 * Loans with their schedules and entries, in one round trip; in the order of the keys, undefined where there is none.
 * @param histories what need not be read again, and keeps what is read
 */
export async function readLoans(
  db: Db,
  keys: readonly LoanKey[],
  histories?: Histories,
): Promise<(StoredLoan | undefined)[]> {
  const asked = new Map(keys.map((key): [string, Asked] => [nameOf(key), { key, known: histories?.get(key) }]))
  const found = await Promise.all([findBy(db, 'id', asked), findBy(db, 'externalId', asked)])
  const rows = new Map(found.flat())
  return keys.map((key) => {
    const name = nameOf(key)
    const row = rows.get(name)
    const loan = row && toStoredLoan(row, key.zone, asked.get(name)?.known)
    if (loan) histories?.keep(key, loan)
    return loan
  })
}

/** A loan that is asked for, and what is known of it. */
interface Asked {
  readonly key: LoanKey
  readonly known: Known | undefined
}

/** A name for a loan, as it was asked for: no number is also an external id, whatever that looks like. */
export const nameOf = ({ organizationId, ref }: Pick<LoanKey, 'organizationId' | 'ref'>): string =>
  'id' in ref ? `${organizationId} id ${ref.id}` : `${organizationId} externalId ${ref.externalId}`

async function findBy(
  db: Db,
  by: keyof typeof LOANS_BY,
  asked: ReadonlyMap<string, Asked>,
): Promise<[string, LoanRow][]> {
  const wanted = [...asked.values()].filter(({ key }) => by in key.ref)
  if (wanted.length === 0) return []
  const { rows } = await db.pool.query<LoanRow>(
    LOANS_BY[by](
      wanted.map(({ key: { organizationId, ref }, known }) => [
        organizationId,
        'id' in ref ? ref.id : ref.externalId,
        known?.loan.version ?? null,
        moment(known?.loan.updatedAt ?? null),
      ]),
    ),
  )
  return rows.map((row) => {
    const ref = by === 'id' ? { id: row.id } : { externalId: row.external_id ?? '' }
    return [nameOf({ organizationId: row.organization_id, ref }), row]
  })
}

const ORDER: Readonly<Record<LoanFilter['orderBy'], string>> = {
  id: 'id',
  principal: 'principal',
  disbursedAt: 'disbursed_at',
}

/** A page of an organization's loans, each with its schedule and entries, and the true count of all that match. */
export async function listLoans(
  db: Db,
  zone: string,
  organizationId: number,
  filter: LoanFilter,
  { page, rows }: Page,
): Promise<Listed<StoredLoan>> {
  const conditions = ['f.organization_id = $1']
  const values: unknown[] = [organizationId]
  const where = (condition: string, value: unknown) => {
    values.push(value)
    conditions.push(condition.replace('?', `$${values.length}`))
  }
  if (filter.customerId !== undefined) where('f.customer_id = ?', filter.customerId)
  if (filter.customerExternalId !== undefined)
    where(
      'f.customer_id = (SELECT id FROM customer WHERE organization_id = $1 AND external_id = ?)',
      filter.customerExternalId,
    )
  if (filter.status !== undefined) where('f.status = ?', filter.status)
  const matching = `FROM loan f WHERE ${conditions.join(' AND ')}`
  const direction = filter.descending ? 'DESC' : 'ASC'
  const order = [...new Set([ORDER[filter.orderBy], 'id'])]
  const by = (alias: string) => order.map((column) => `${alias}.${column} ${direction}`).join(', ')
  const [counted, listed] = await Promise.all([
    db.pool.query<{ total: bigint }>(`SELECT count(*) AS total ${matching}`, values),
    db.pool.query<LoanRow>(
      `WITH page AS (SELECT f.id ${matching} ORDER BY ${by('f')} LIMIT ${rows} OFFSET ${(page - 1) * rows})
       SELECT ${LOAN_COLUMNS} FROM page JOIN loan l ON l.organization_id = $1 AND l.id = page.id ${LOAN_SOURCES}
       ORDER BY ${by('l')}`,
      values,
    ),
  ])
  return { items: listed.rows.map((row) => toStoredLoan(row, zone)), total: Number(counted.rows[0]!.total) }
}
