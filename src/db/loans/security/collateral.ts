import type { Instant, LocalDate } from '../../../domain/dates.ts'
import type { CollateralKind } from '../../../domain/loan/security.ts'
import { type Author, type TrailValues, trail, trailValues } from '../../audit/trail.ts'
import type { Db } from '../../postgres/client.ts'
import { inTransaction } from '../../postgres/transaction.ts'
import { ownedList, ownedRow } from '../../queries/ownedList.ts'
import { type Parameter, type Queries, statement } from '../../queries/statement.ts'
import type { LoanRef } from '../loans.ts'
import { type LockedLoan, lockSecuredLoan, type Release } from './securedLoan.ts'

/** The name of collateral in the audit trail. */
export const COLLATERAL = 'collateral'

/** What is recorded of collateral. */
export interface NewCollateral {
  readonly kind: CollateralKind
  /** The details, encrypted by the key of the customer. */
  readonly details: string
  /** Minor units of the currency of the loan. */
  readonly value: bigint
  readonly valuedOn: LocalDate
}

/** What a loan is secured by. */
export interface Collateral extends Omit<NewCollateral, 'details'> {
  readonly id: bigint
  readonly loanId: bigint
  /** The customer by whose key the details are encrypted, and that key, encrypted; null once it was destroyed. */
  readonly customerId: bigint
  readonly personKey: string | null
  /** Null once the words of the customer were erased. */
  readonly details: string | null
  /** Null while the loan is secured by it. */
  readonly releasedOn: LocalDate | null
  readonly releaseReason: string | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

const COLUMNS = `t.id, t.loan_id AS "loanId", t.customer_id AS "customerId", t.kind, t.details, t.value, t.valued_on AS "valuedOn",
  t.released_on AS "releasedOn", t.release_reason AS "releaseReason", t.created_at AS "createdAt", t.updated_at AS "updatedAt",
  (SELECT c.person_key FROM customer c WHERE c.organization_id = t.organization_id AND c.id = t.customer_id) AS "personKey"`

/** The order of the list of collateral: as it was recorded. */
export const COLLATERAL_ORDER = 'collateral'

/** Finds the collateral of a loan, what was released, too. */
export const findCollateralOf = ownedList<Collateral>({
  table: 'collateral',
  owner: 'loan_id',
  columns: COLUMNS,
  order: COLLATERAL_ORDER,
})

const ofCustomer = statement<{ organizationId: number; customerId: bigint; most: number }>(
  'collateral-of-customer',
  (p) => `SELECT ${COLUMNS}, l.currency FROM loan l
    JOIN collateral t ON t.organization_id = l.organization_id AND t.loan_id = l.id
    WHERE l.organization_id = ${p('organizationId')} AND l.customer_id = ${p('customerId')} ORDER BY t.id LIMIT ${p('most')}`,
)

/** Reads what the loans of a customer are secured by, or were, each with the currency of its loan. */
export const readCollateralOf = async (
  { pool }: Queries,
  of: { readonly organizationId: number; readonly customerId: bigint; readonly most: number },
): Promise<(Collateral & { readonly currency: string })[]> =>
  (await pool.query<Collateral & { readonly currency: string }>(ofCustomer(of))).rows

/** Finds collateral of an organization. */
export const findCollateral = ownedRow<Collateral>({ table: 'collateral', columns: COLUMNS })

const countStanding = statement<{ organizationId: number; loanId: bigint }>(
  'count-collateral-that-stands',
  (p) => `SELECT count(*)::int AS standing FROM collateral
    WHERE organization_id = ${p('organizationId')} AND loan_id = ${p('loanId')} AND released_on IS NULL`,
)

const insert = statement<TrailValues & NewCollateral & { id: bigint; loanId: bigint; customerId: bigint }>(
  'insert-collateral',
  (p) => `
  WITH made AS (
    INSERT INTO collateral (organization_id, id, loan_id, customer_id, kind, details, value, valued_on, created_at, updated_at)
    VALUES (${p('organizationId')}, ${p('id')}, ${p('loanId')}, ${p('customerId')}, ${p('kind')}, ${p('details')}, ${p('value')},
      ${p('valuedOn')}, ${p('changedAt')}, ${p('changedAt')})
    RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'made', COLLATERAL)}
  SELECT id FROM made`,
)

const NEXT_ID = `SELECT nextval('collateral_id_seq') AS id`

/** Collateral that is to be recorded. */
export interface CollateralToAdd {
  /**
   * Says what is recorded, or refuses by throwing.
   * @param standing how much collateral the loan has
   */
  readonly decide: (loan: LockedLoan, standing: number) => NewCollateral
  readonly now: Instant
}

/** Records collateral of a loan; undefined when there is no such loan. */
export const insertCollateral = (
  db: Db,
  author: Author,
  ref: LoanRef,
  { decide, now }: CollateralToAdd,
): Promise<Collateral | undefined> =>
  inTransaction(db, async (transaction) => {
    const { organizationId } = author
    const loan = await lockSecuredLoan(transaction, organizationId, ref)
    if (!loan) return undefined
    const { id: loanId, customerId, personKey } = loan
    const counted = await transaction.query<{ standing: number }>(countStanding({ organizationId, loanId }))
    const added = decide(loan, counted.rows[0]!.standing)
    const { id } = (await transaction.query<{ id: bigint }>(NEXT_ID)).rows[0]!
    const trace = {
      action: 'create',
      before: null,
      after: { loanId: String(loanId), ...added, currency: loan.currency },
    }
    const values = trailValues(transaction, author, now, { entity: COLLATERAL, id }, trace)
    await transaction.query(insert({ ...values, ...added, id, loanId, customerId }))
    const made = { id, loanId, customerId, personKey, createdAt: now, updatedAt: now }
    return { ...added, ...made, releasedOn: null, releaseReason: null }
  })

const release = statement<TrailValues & Release & { id: bigint }>(
  'release-collateral',
  (p) => `
  WITH changed AS (
    UPDATE collateral SET released_on = ${p('releasedOn')}, release_reason = ${p('releaseReason')}, updated_at = ${p('changedAt')}
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'changed', COLLATERAL)}
  SELECT id FROM changed`,
)

/** A release: which, and how it is decided; undefined changes nothing. */
export interface CollateralToRelease {
  readonly id: bigint
  readonly decide: (collateral: Collateral) => Release | undefined
  readonly now: Instant
}

/** Releases collateral of a loan; undefined when there is no such loan, or it has no such collateral. */
export const releaseCollateralOf = (
  db: Db,
  author: Author,
  ref: LoanRef,
  { id, decide, now }: CollateralToRelease,
): Promise<Collateral | undefined> =>
  inTransaction(db, async (transaction) => {
    const { organizationId } = author
    const loan = await lockSecuredLoan(transaction, organizationId, ref)
    const collateral = loan && (await findCollateral({ pool: transaction }, organizationId, id))
    if (collateral?.loanId !== loan?.id) return undefined
    const released = collateral && decide(collateral)
    if (!released) return collateral
    const trace = { action: 'release', before: { releasedOn: null, releaseReason: null }, after: released }
    const values = trailValues(transaction, author, now, { entity: COLLATERAL, id }, trace)
    await transaction.query(release({ ...values, ...released, id }))
    return { ...collateral, ...released, updatedAt: now }
  })
