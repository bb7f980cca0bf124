import type { ConsentChannel, ConsentPurpose, GivenConsent } from '../../domain/customer/consent.ts'
import type { Instant } from '../../domain/dates.ts'
import { type Author, type TrailValues, trail, trailValues } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'
import { inTransaction, type Transaction } from '../postgres/transaction.ts'
import { ownedList, ownedRow } from '../queries/ownedList.ts'
import { arrayOf, moment } from '../queries/rows.ts'
import { type Parameter, type Queries, statement } from '../queries/statement.ts'
import { type CustomerRef, findPerson, lockPerson } from './identities.ts'

/** The name of a consent in the audit trail. */
export const CONSENT = 'consent'

/** What a customer agreed to. */
export interface Consent extends GivenConsent {
  readonly id: bigint
  readonly customerId: bigint
  /** Null while it stands. */
  readonly withdrawnAt: Instant | null
  /** How the customer withdrew it; null while it stands, and where nobody said. */
  readonly withdrawnBy: ConsentChannel | null
  /** When it was recorded, and when last. */
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

const COLUMNS = `t.id, t.customer_id AS "customerId", t.purpose, t.channel, t.given_at AS "givenAt", t.withdrawn_at AS "withdrawnAt",
  t.withdrawn_by AS "withdrawnBy", t.created_at AS "createdAt", t.updated_at AS "updatedAt"`

/** The order of the list of consents: as they were recorded. */
export const CONSENT_ORDER = 'consents'

/** Finds the consents of a customer, those that were withdrawn, too. */
export const findConsents = ownedList<Consent>({
  table: 'consent',
  owner: 'customer_id',
  columns: COLUMNS,
  order: CONSENT_ORDER,
})

/** Finds a consent of an organization. */
export const findConsent = ownedRow<Consent>({ table: 'consent', columns: COLUMNS })

const ofPurpose = statement<{
  organizationId: number
  customerId: bigint
  purpose: string
  channel: string
  givenAt: string | null
}>('read-consents-of-purpose', (p) => {
  const own = `organization_id = ${p('organizationId')} AND customer_id = ${p('customerId')} AND purpose = ${p('purpose')}`
  return `
  SELECT ${COLUMNS}, t.channel = ${p('channel')} AND t.given_at = ${p('givenAt')} AS "isSame" FROM consent t WHERE t.${own}
    AND (t.channel = ${p('channel')} AND t.given_at = ${p('givenAt')} OR t.id = (SELECT max(id) FROM consent WHERE ${own}))
  ORDER BY t.id DESC LIMIT 2`
})

const insert = statement<
  TrailValues & Omit<GivenConsent, 'givenAt'> & { id: bigint; customerId: bigint; givenAt: string | null }
>(
  'insert-consent',
  (p) => `
  WITH made AS (
    INSERT INTO consent (organization_id, id, customer_id, purpose, channel, given_at, created_at, updated_at)
    VALUES (${p('organizationId')}, ${p('id')}, ${p('customerId')}, ${p('purpose')}, ${p('channel')}, ${p('givenAt')},
      ${p('changedAt')}, ${p('changedAt')})
    RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'made', CONSENT)}
  SELECT id FROM made`,
)

const NEXT_ID = `SELECT nextval('consent_id_seq') AS id`

/** A consent that is to be recorded. */
export interface ConsentToGive {
  readonly given: GivenConsent
  /** Refuses by throwing. @param latest the newest consent of the same purpose */
  readonly require: (latest: Consent | undefined) => void
  readonly now: Instant
}

/**
 * Records a consent, with the customer locked. The same purpose, channel and time again is the consent that is there.
 * @returns undefined when there is no such customer
 */
export const insertConsent = (
  db: Db,
  author: Author,
  ref: CustomerRef,
  { given, require, now }: ConsentToGive,
): Promise<Consent | undefined> =>
  inTransaction(db, async (transaction) => {
    const { organizationId } = author
    const customerId = (await lockPerson(transaction, organizationId, ref))?.id
    if (customerId === undefined) return undefined
    const { purpose, channel } = given
    const givenAt = moment(given.givenAt)
    const asked = { organizationId, customerId, purpose, channel, givenAt }
    const known = (await transaction.query<Consent & { isSame: boolean }>(ofPurpose(asked))).rows
    const same = known.find(({ isSame }) => isSame)
    if (same) {
      const { isSame: _, ...consent } = same
      return consent
    }
    require(known[0])
    const { id } = (await transaction.query<{ id: bigint }>(NEXT_ID)).rows[0]!
    const trace = {
      action: 'create',
      before: null,
      after: { customerId: String(customerId), purpose, channel, givenAt },
    }
    const traced = trailValues(transaction, author, now, { entity: CONSENT, id }, trace)
    await transaction.query(insert({ ...traced, id, customerId, purpose, channel, givenAt }))
    return { ...given, id, customerId, withdrawnAt: null, withdrawnBy: null, createdAt: now, updatedAt: now }
  })

const withdraw = statement<TrailValues & { id: bigint; withdrawnAt: string | null; withdrawnBy: string | null }>(
  'withdraw-consent',
  (p) => `
  WITH changed AS (
    UPDATE consent SET withdrawn_at = ${p('withdrawnAt')}, withdrawn_by = ${p('withdrawnBy')}, updated_at = ${p('changedAt')}
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'changed', CONSENT)}
  SELECT id FROM changed`,
)

/** The end of a consent. */
export type ConsentEnd = Pick<Consent, 'withdrawnBy'> & { readonly withdrawnAt: Instant }

/** A consent that is to be withdrawn. */
export interface ConsentToWithdraw {
  readonly id: bigint
  /** Says how the consent ends; undefined changes nothing. */
  readonly decide: (consent: Consent) => ConsentEnd | undefined
  readonly now: Instant
}

/**
 * Withdraws a consent of a customer as `decide` says, with the customer locked.
 * @returns undefined when there is no such customer, or the customer has no such consent
 */
export const withdrawConsentOf = (
  db: Db,
  author: Author,
  ref: CustomerRef,
  { id, decide, now }: ConsentToWithdraw,
): Promise<Consent | undefined> =>
  inTransaction(db, async (transaction) => {
    const consent = await lockConsent(transaction, author.organizationId, ref, id)
    const end = consent && decide(consent)
    if (!end) return consent
    const [withdrawnAt, { withdrawnBy }] = [moment(end.withdrawnAt), end]
    const before = { withdrawnAt: null, withdrawnBy: null }
    const trace = { action: 'withdraw', before, after: { withdrawnAt, withdrawnBy } }
    const traced = trailValues(transaction, author, now, { entity: CONSENT, id }, trace)
    await transaction.query(withdraw({ ...traced, id, withdrawnAt, withdrawnBy }))
    return { ...consent, ...end, updatedAt: now }
  })

async function lockConsent(
  transaction: Transaction,
  organizationId: number,
  ref: CustomerRef,
  id: bigint,
): Promise<Consent | undefined> {
  const customer = await lockPerson(transaction, organizationId, ref)
  const consent = customer && (await findConsent({ pool: transaction }, organizationId, id))
  return consent?.customerId === customer?.id ? consent : undefined
}

/** Returns the number of a customer; undefined when there is none. */
export const findCustomerId = async (db: Db, organizationId: number, ref: CustomerRef): Promise<bigint | undefined> =>
  (await findPerson(db, organizationId, ref))?.id

const standing = statement<{ organizationId: number; customerIds: string; purpose: string; asOf: string | null }>(
  'consents-that-stand',
  (p) => `
  SELECT DISTINCT customer_id AS id FROM consent
  WHERE organization_id = ${p('organizationId')} AND customer_id = ANY (${p('customerIds')}::bigint[]) AND purpose = ${p('purpose')}
    AND given_at <= ${p('asOf')}::timestamptz AND (withdrawn_at IS NULL OR withdrawn_at > ${p('asOf')}::timestamptz)`,
)

/** Returns those of some customers whose consent for a purpose stood at an instant. */
export async function consentStands(
  { pool }: Queries,
  organizationId: number,
  customerIds: readonly bigint[],
  { purpose, asOf }: { readonly purpose: ConsentPurpose; readonly asOf: Instant },
): Promise<ReadonlySet<bigint>> {
  const asked = { organizationId, customerIds: arrayOf(customerIds), purpose, asOf: moment(asOf) }
  return new Set((await pool.query<{ id: bigint }>(standing(asked))).rows.map(({ id }) => id))
}
