import type { Instant, LocalDate } from '../../../domain/dates.ts'
import { type Author, type TrailValues, trail, trailValues } from '../../audit/trail.ts'
import type { Db } from '../../postgres/client.ts'
import { inTransaction } from '../../postgres/transaction.ts'
import { ownedList, ownedRow } from '../../queries/ownedList.ts'
import { type Parameter, type Queries, statement } from '../../queries/statement.ts'
import type { LoanRef } from '../loans.ts'
import { type LockedLoan, lockSecuredLoan, type Release } from './securedLoan.ts'

/** The name of a guarantor in the audit trail. */
export const GUARANTOR = 'guarantor'

/** What is recorded of a guarantor. */
export interface NewGuarantor {
  /** The customer who answers for the loan; null: a person who is no customer. */
  readonly customerId: bigint | null
  /** The key of that person, and the identity, encrypted; null of a customer, and once the key was destroyed. */
  readonly personKey: string | null
  readonly identity: string | null
  readonly relationship: string
  /** Minor units; null: all of the loan. */
  readonly amount: bigint | null
  readonly fromDate: LocalDate
  readonly untilDate: LocalDate | null
}

/** Who answers for a loan. */
export interface Guarantor extends NewGuarantor {
  readonly id: bigint
  readonly loanId: bigint
  /** Null while the guarantor stands. */
  readonly releasedOn: LocalDate | null
  readonly releaseReason: string | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

const COLUMNS = `t.id, t.loan_id AS "loanId", t.customer_id AS "customerId", t.person_key AS "personKey", t.identity, t.relationship,
  t.amount, t.from_date AS "fromDate", t.until_date AS "untilDate", t.released_on AS "releasedOn", t.release_reason AS "releaseReason",
  t.created_at AS "createdAt", t.updated_at AS "updatedAt"`

/** The order of the list of guarantors: as they were recorded. */
export const GUARANTOR_ORDER = 'guarantors'

/** Finds the guarantors of a loan, those that were released, too. */
export const findGuarantors = ownedList<Guarantor>({
  table: 'guarantor',
  owner: 'loan_id',
  columns: COLUMNS,
  order: GUARANTOR_ORDER,
})

/** The guarantors of the loans of a customer, or the guarantees that a customer gave; `most` of them. */
interface OfCustomer {
  readonly organizationId: number
  readonly customerId: bigint
  readonly most: number
}

/** A guarantor, with the currency of its loan. */
export type GuarantorOfLoan = Guarantor & { readonly currency: string }

const ofCustomer = (name: string, owner: 'l' | 't') =>
  statement<OfCustomer>(
    name,
    (p) => `SELECT ${COLUMNS}, l.currency FROM loan l
    JOIN guarantor t ON t.organization_id = l.organization_id AND t.loan_id = l.id
    WHERE ${owner}.organization_id = ${p('organizationId')} AND ${owner}.customer_id = ${p('customerId')}
    ORDER BY t.id LIMIT ${p('most')}`,
  )
const ofBorrower = ofCustomer('guarantors-of-borrower', 'l')
const byCustomer = ofCustomer('guarantees-of-customer', 't')

/** Reads who answers for the loans of a customer, released ones too. */
export const readGuarantorsOf = async ({ pool }: Queries, of: OfCustomer): Promise<GuarantorOfLoan[]> =>
  (await pool.query<GuarantorOfLoan>(ofBorrower(of))).rows

/** Reads for which loans of others a customer answers, or did. */
export const readGuaranteesOf = async ({ pool }: Queries, of: OfCustomer): Promise<GuarantorOfLoan[]> =>
  (await pool.query<GuarantorOfLoan>(byCustomer(of))).rows

/** Finds a guarantor of an organization. */
export const findGuarantor = ownedRow<Guarantor>({ table: 'guarantor', columns: COLUMNS })

const standing = statement<{ organizationId: number; loanId: bigint }>(
  'guarantors-that-stand',
  (p) => `SELECT ${COLUMNS} FROM guarantor t
    WHERE t.organization_id = ${p('organizationId')} AND t.loan_id = ${p('loanId')} AND t.released_on IS NULL`,
)

const insert = statement<TrailValues & NewGuarantor & { id: bigint; loanId: bigint }>(
  'insert-guarantor',
  (p) => `
  WITH made AS (
    INSERT INTO guarantor (organization_id, id, loan_id, customer_id, person_key, identity, relationship, amount, from_date, until_date,
      created_at, updated_at)
    VALUES (${p('organizationId')}, ${p('id')}, ${p('loanId')}, ${p('customerId')}::bigint, ${p('personKey')}, ${p('identity')},
      ${p('relationship')}, ${p('amount')}::bigint, ${p('fromDate')}, ${p('untilDate')}::date, ${p('changedAt')}, ${p('changedAt')})
    RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'made', GUARANTOR)}
  SELECT id FROM made`,
)

const NEXT_ID = `SELECT nextval('guarantor_id_seq') AS id`

/** What the trail keeps of a guarantor: of the identity the text that nobody reads without the key. */
const traced = (
  { id, currency }: LockedLoan,
  { customerId, identity, relationship, amount, fromDate, untilDate }: NewGuarantor,
) => ({
  loanId: String(id),
  ...(customerId !== null && { customerId: String(customerId) }),
  ...(identity !== null && { identity }),
  relationship,
  ...(amount !== null && { amount, currency }),
  from: fromDate,
  ...(untilDate !== null && { until: untilDate }),
})

/** A guarantor that is to be recorded. */
export interface GuarantorToAdd {
  /** Says what is recorded, or refuses by throwing. @param id of the new guarantor @param standing those of the loan */
  readonly decide: (loan: LockedLoan, id: bigint, standing: readonly Guarantor[]) => NewGuarantor
  readonly now: Instant
}

/** Records a guarantor of a loan, and returns it with the loan; undefined when there is no such loan. */
export const insertGuarantor = (
  db: Db,
  author: Author,
  ref: LoanRef,
  { decide, now }: GuarantorToAdd,
): Promise<Guarantor | undefined> =>
  inTransaction(db, async (transaction) => {
    const { organizationId } = author
    const loan = await lockSecuredLoan(transaction, organizationId, ref)
    if (!loan) return undefined
    const loanId = loan.id
    const others = (await transaction.query<Guarantor>(standing({ organizationId, loanId }))).rows
    const { id } = (await transaction.query<{ id: bigint }>(NEXT_ID)).rows[0]!
    const added = decide(loan, id, others)
    const trace = { action: 'create', before: null, after: traced(loan, added) }
    const values = trailValues(transaction, author, now, { entity: GUARANTOR, id }, trace)
    await transaction.query(insert({ ...values, ...added, id, loanId }))
    return { ...added, id, loanId, releasedOn: null, releaseReason: null, createdAt: now, updatedAt: now }
  })

const release = statement<TrailValues & Release & { id: bigint }>(
  'release-guarantor',
  (p) => `
  WITH changed AS (
    UPDATE guarantor SET released_on = ${p('releasedOn')}, release_reason = ${p('releaseReason')}, updated_at = ${p('changedAt')}
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'changed', GUARANTOR)}
  SELECT id FROM changed`,
)

/** A release: which, and how it is decided; undefined changes nothing. */
export interface GuarantorToRelease {
  readonly id: bigint
  readonly decide: (guarantor: Guarantor) => Release | undefined
  readonly now: Instant
}

/** Releases a guarantor of a loan; undefined when there is no such loan, or it has no such guarantor. */
export const releaseGuarantorOf = (
  db: Db,
  author: Author,
  ref: LoanRef,
  { id, decide, now }: GuarantorToRelease,
): Promise<Guarantor | undefined> =>
  inTransaction(db, async (transaction) => {
    const { organizationId } = author
    const loan = await lockSecuredLoan(transaction, organizationId, ref)
    const guarantor = loan && (await findGuarantor({ pool: transaction }, organizationId, id))
    if (guarantor?.loanId !== loan?.id) return undefined
    const released = guarantor && decide(guarantor)
    if (!released) return guarantor
    const trace = { action: 'release', before: { releasedOn: null, releaseReason: null }, after: released }
    const values = trailValues(transaction, author, now, { entity: GUARANTOR, id }, trace)
    await transaction.query(release({ ...values, ...released, id }))
    return { ...guarantor, ...released, updatedAt: now }
  })
