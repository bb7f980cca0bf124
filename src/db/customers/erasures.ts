import { pseudonymOf } from '../../domain/customer/customer.ts'
import type { ErasureFacts } from '../../domain/customer/erasure.ts'
import type { LocalDate } from '../../domain/dates.ts'
import type { Payment } from '../../domain/payments/payment.ts'
import { type Author, type Trace, type TrailValues, trail, trailValues } from '../audit/trail.ts'
import { erasePayments } from '../payments/payerWords.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { type Parameter, statement } from '../queries/statement.ts'
import type { Keyed } from './words.ts'

interface Named {
  readonly organizationId: number
  readonly id: bigint
}

const lock = statement<Named>(
  'lock-erasable',
  (p) => `
  SELECT a.id, a.external_id AS "externalId", a.status, a.person_key AS "personKey", a.words AS sealed, a.identity,
    a.erased_at IS NOT NULL AS "isErased", a.updated_at AS "updatedAt"
  FROM customer a WHERE a.organization_id = ${p('organizationId')} AND a.id = ${p('id')} FOR UPDATE`,
)

/** A customer whose row is locked for an erasure. */
export interface Erasable extends Keyed {
  readonly id: bigint
  readonly externalId: string | null
  readonly status: string
  readonly identity: string | null
  readonly isErased: boolean
  readonly updatedAt: number
}

/** Locks a customer, so that no loan is made for it meanwhile; undefined where there is none. */
export async function lockErasable(transaction: Transaction, customer: Named): Promise<Erasable | undefined> {
  return (await transaction.query<Erasable>(lock(customer))).rows[0]
}

const readFacts = statement<Named & { externalId: string | null }>(
  'read-erasure-facts',
  (p) => `
  SELECT count(*) > 0 AS "hasLoans", max(l.closed_on) AS "lastLoanClosedOn",
    coalesce(array_agg(l.id ORDER BY l.id) FILTER (WHERE l.status IN ('Active', 'Overpaid')), '{}') AS "openLoans",
    coalesce(bool_or(EXISTS (SELECT FROM pending_action w WHERE w.organization_id = l.organization_id AND w.loan_id = l.id
      AND w.state = 'pending')), false) AS "hasPendingAction",
    EXISTS (SELECT FROM guarantor g JOIN loan t ON t.organization_id = g.organization_id AND t.id = g.loan_id
      AND t.status IN ('Active', 'Overpaid') WHERE g.organization_id = ${p('organizationId')} AND g.customer_id = ${p('id')}
      AND g.released_on IS NULL) AS "answersForLoan",
    EXISTS (SELECT FROM payment m WHERE m.organization_id = ${p('organizationId')} AND m.reference = ${p('externalId')}
      AND m.status IN ('received', 'partly_allocated', 'unmatched')) AS "hasMoneyInSuspense"
  FROM loan l WHERE l.organization_id = ${p('organizationId')} AND l.customer_id = ${p('id')}`,
)

/** The facts of a customer that are in other rows than its own. */
export type FactsOfLoans = Omit<ErasureFacts, 'isErased' | 'lastToldOn'>

/** Reads what the loans and the payments of a customer have against an erasure. */
export async function readErasureFacts(
  { pool }: { readonly pool: Pick<Transaction, 'query'> },
  customer: Named & { readonly externalId: string | null },
): Promise<FactsOfLoans> {
  return (await pool.query<FactsOfLoans>(readFacts(customer))).rows[0]!
}

const erase = statement<TrailValues & Named & { pseudonym: string; today: LocalDate; hashes: string }>(
  'erase-customer',
  (p) => `
  WITH erased AS (
    UPDATE customer SET external_id = ${p('pseudonym')}, words = NULL, person_key = NULL, identity = NULL,
      identity_hashes = ${p('hashes')}::bigint[], business_name = NULL, phone = NULL, email = NULL, address = NULL, type = NULL,
      region = NULL, country = NULL, close_reason = NULL, status = 'Closed', closed_on = coalesce(closed_on, ${p('today')}::date),
      erased_at = ${p('changedAt')}::timestamptz, updated_at = ${p('changedAt')}::timestamptz
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')}
    RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'erased', 'customer')}
  SELECT id FROM erased`,
)

const findPayments = statement<Named & { externalId: string | null }>(
  'find-payments-to-erase',
  (p) => `
  SELECT e.payment_id AS id FROM loan l
  JOIN loan_entry e ON e.organization_id = l.organization_id AND e.loan_id = l.id AND e.payment_id IS NOT NULL
  WHERE l.organization_id = ${p('organizationId')} AND l.customer_id = ${p('id')}
  UNION SELECT m.id FROM payment m WHERE m.organization_id = ${p('organizationId')} AND m.reference = ${p('externalId')}
    AND m.status IN ('returned', 'reversed')`,
)

interface BesideValues extends Named {
  readonly payments: readonly bigint[]
  readonly externalId: string | null
}

/** Takes the words of a person from what is kept beside the books: messages, statements, documents, guarantors and kept answers. */
const BESIDE = [
  statement<BesideValues>(
    'erase-guarantors',
    (p) => `UPDATE guarantor g SET person_key = NULL FROM loan l WHERE l.organization_id = ${p('organizationId')}
      AND l.customer_id = ${p('id')} AND g.organization_id = l.organization_id AND g.loan_id = l.id AND g.person_key IS NOT NULL`,
  ),
  statement<BesideValues>(
    'erase-messages',
    (p) => `UPDATE payment_inbox SET message = ''
      WHERE organization_id = ${p('organizationId')} AND payment_id = ANY (${p('payments')}::bigint[])`,
  ),
  statement<BesideValues>(
    'erase-compared-lines',
    (p) => `UPDATE reconciliation_line SET reference = NULL
      WHERE organization_id = ${p('organizationId')} AND payment_id = ANY (${p('payments')}::bigint[])`,
  ),
  statement<BesideValues>(
    'erase-unknown-lines',
    (p) => `UPDATE reconciliation_line SET reference = NULL
      WHERE organization_id = ${p('organizationId')} AND payment_id IS NULL AND reference = ${p('externalId')}`,
  ),
  statement<BesideValues>(
    'erase-documents',
    (
      p,
    ) => `UPDATE document d SET borrower = 'erased-' || l.customer_id FROM loan l WHERE l.organization_id = ${p('organizationId')}
      AND l.customer_id = ${p('id')} AND d.organization_id = l.organization_id AND d.loan_id = l.id`,
  ),
  statement<BesideValues>(
    'erase-kept-answers',
    (p) => `DELETE FROM idempotency_key k WHERE k.organization_id = ${p('organizationId')}
      AND (k.entity = 'customer' AND k.entity_id = ${p('id')} OR k.entity = 'loan' AND k.entity_id IN (
        SELECT id FROM loan WHERE organization_id = ${p('organizationId')} AND customer_id = ${p('id')}))`,
  ),
]

/** What an erasure sets. */
export interface Erasing {
  readonly today: LocalDate
  readonly now: number
  /** The hash by which the person is recognised whose externalId comes again: an array literal, empty where it had none. */
  readonly hashes: string
}

/**
 * Erases a person, in the transaction that has locked the customer: destroys its key, gives it a pseudonym, and takes its words from its
 * payments, the messages and statements about them, its documents and the kept answers. No amount and no day changes.
 */
export async function eraseCustomer(
  transaction: Transaction,
  author: Author,
  customer: Erasable,
  { today, now, hashes }: Erasing,
): Promise<void> {
  const { organizationId } = author
  const { id, status, sealed, identity, externalId } = customer
  const after = { status: 'Closed', externalId: pseudonymOf(id), words: null, identity: null, erasedAt: new Date(now) }
  const trace: Trace = { action: 'erase', before: { status, words: sealed, identity }, after }
  const traced = trailValues(transaction, author, now, { entity: 'customer', id }, trace)
  await transaction.query(erase({ ...traced, id, pseudonym: pseudonymOf(id), today, hashes }))
  const { rows } = await transaction.query<Pick<Payment, 'id'>>(findPayments({ organizationId, id, externalId }))
  const payments = rows.map((row) => row.id)
  const { claim: _, ...again } = author
  await erasePayments(transaction, again, payments, now)
  const beside = { organizationId, id, payments, externalId }
  for (const text of BESIDE) await transaction.query(text(beside))
}
