import type { ContactChannel, ContactOutcome } from '../../domain/collections/contact.ts'
import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { Author } from '../audit/trail.ts'
import { type CustomerRef, lockPerson, type StoredPerson } from '../customers/identities.ts'
import type { Db } from '../postgres/client.ts'
import { inTransaction } from '../postgres/transaction.ts'
import { ownedList, ownedRow } from '../queries/ownedList.ts'
import { moment } from '../queries/rows.ts'
import { type Queries, statement } from '../queries/statement.ts'
import { insertionInto, nextId, type Traced } from './traced.ts'

/** A contact with a customer. */
export interface Contact {
  readonly id: bigint
  readonly customerId: bigint
  /** The loan that it was about; null: all loans of the customer. */
  readonly loanId: bigint | null
  readonly channel: ContactChannel
  readonly outcome: ContactOutcome
  /** Encrypted by the key of the customer; null: nothing was noted. */
  readonly note: string | null
  readonly contactedAt: Instant
  /** The day of the next action; null: none. */
  readonly nextOn: LocalDate | null
  /** The account that recorded it; null: the command line. */
  readonly accountId: number | null
  readonly createdAt: Instant
}

const TRACED: Traced = {
  table: 'contact',
  columns: [
    'customer_id',
    'loan_id',
    'channel',
    'outcome',
    'note',
    'contacted_at',
    'next_on',
    'account_id',
    'created_at',
  ],
}

const COLUMNS = `t.id, t.customer_id AS "customerId", t.loan_id AS "loanId", t.channel, t.outcome, t.note, t.contacted_at AS "contactedAt",
  t.next_on AS "nextOn", t.account_id AS "accountId", t.created_at AS "createdAt"`

/** The order of the list of contacts: as they were recorded. */
export const CONTACT_ORDER = 'contacts'

/** Finds the contacts with a customer. */
export const findContacts = ownedList<Contact>({
  table: 'contact',
  owner: 'customer_id',
  columns: COLUMNS,
  order: CONTACT_ORDER,
})

/** Finds a contact of an organization. */
export const findContact = ownedRow<Contact>({ table: 'contact', columns: COLUMNS })

const latest = statement<{ organizationId: number; customerId: bigint; loanId: bigint | null; most: number }>(
  'latest-contacts',
  (
    p,
  ) => `SELECT ${COLUMNS} FROM contact t WHERE t.organization_id = ${p('organizationId')} AND t.customer_id = ${p('customerId')}
    AND (${p('loanId')}::bigint IS NULL OR t.loan_id IS NULL OR t.loan_id = ${p('loanId')}) ORDER BY t.id DESC LIMIT ${p('most')}`,
)

/** Reads the last contacts with a customer, newest first: all, or those that are about a loan. */
export const readLatestContacts = async (
  { pool }: Queries,
  of: {
    readonly organizationId: number
    readonly customerId: bigint
    readonly loanId: bigint | null
    readonly most: number
  },
): Promise<Contact[]> => (await pool.query<Contact>(latest(of))).rows

const hasLoan = statement<{ organizationId: number; customerId: bigint; loanId: bigint }>(
  'customer-has-loan',
  (p) => `SELECT id FROM loan WHERE organization_id = ${p('organizationId')} AND id = ${p('loanId')}
    AND customer_id = ${p('customerId')}`,
)

const insert = insertionInto(TRACED)

/** A contact that is to be recorded. */
export interface ContactToRecord {
  /** Says what is recorded, its note encrypted, or refuses by throwing. */
  readonly decide: (customer: StoredPerson) => Omit<Contact, 'id' | 'customerId' | 'accountId' | 'createdAt'>
  readonly now: Instant
}

/**
 * Records a contact with a customer, who is locked meanwhile.
 * @returns `no customer` when there is none, `no loan` when the customer does not have the loan
 */
export const insertContact = (
  db: Db,
  author: Author,
  ref: CustomerRef,
  { decide, now }: ContactToRecord,
): Promise<Contact | 'no customer' | 'no loan'> =>
  inTransaction(db, async (transaction): Promise<Contact | 'no customer' | 'no loan'> => {
    const { organizationId, accountId } = author
    const customer = await lockPerson(transaction, organizationId, ref)
    if (!customer) return 'no customer'
    const made = decide(customer)
    const { loanId, channel, outcome, note, nextOn } = made
    const customerId = customer.id
    if (loanId !== null) {
      const found = await transaction.query(hasLoan({ organizationId, customerId, loanId }))
      if (found.rowCount === 0) return 'no loan'
    }
    const contactedAt = moment(made.contactedAt)
    const id = await nextId(transaction, TRACED)
    const told = { channel, outcome, note, contactedAt, nextOn }
    const after = { customerId: String(customerId), ...(loanId !== null && { loanId: String(loanId) }), ...told }
    await insert(transaction, {
      author,
      now,
      id,
      values: {
        customer_id: customerId,
        loan_id: loanId,
        channel,
        outcome,
        note,
        contacted_at: contactedAt,
        next_on: nextOn,
        account_id: accountId,
        created_at: moment(now),
      },
      trace: { action: 'create', before: null, after },
    })
    return { ...made, id, customerId, accountId, createdAt: now }
  })
