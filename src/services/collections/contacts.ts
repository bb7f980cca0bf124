import {
  CONTACT_ORDER,
  type Contact,
  findContact,
  findContacts,
  insertContact,
  readLatestContacts,
} from '../../db/collections/contacts.ts'
import type { CustomerRef } from '../../db/customers/identities.ts'
import { openTexts, sealedText } from '../../db/customers/words.ts'
import { hasPermission, requirePermission } from '../../domain/access/permissions.ts'
import { type ContactChannel, type ContactOutcome, requireContact } from '../../domain/collections/contact.ts'
import { requireKey } from '../../domain/customer/customer.ts'
import { dateIn, type Instant, type LocalDate } from '../../domain/dates.ts'
import { invalidArgument, notFound } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import { requireCustomerId } from '../customers/consents.ts'
import { noSuchCustomer } from '../customers/customers.ts'
import type { Core } from '../deps.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'

export type { Contact } from '../../db/collections/contacts.ts'

/** A contact that is told. */
export interface ContactRequest {
  readonly channel: ContactChannel
  readonly outcome: ContactOutcome
  readonly note?: string | undefined
  /** The loan that it was about; left out: all loans of the customer. */
  readonly loanId?: bigint | undefined
  /** Now, when left out. */
  readonly contactedAt?: Instant | undefined
  readonly nextOn?: LocalDate | undefined
}

/**
 * Records a contact with a customer. Its note is encrypted by the key of the customer.
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument`, `failed_precondition` for a customer who was erased, `aborted`
 */
export async function recordContact(
  deps: Core,
  caller: Caller,
  ref: CustomerRef,
  { channel, outcome, note, loanId = undefined, contactedAt, nextOn }: ContactRequest,
): Promise<Contact> {
  requirePermission(caller, 'collections.work')
  const { organizationId } = caller
  const now = deps.now(organizationId)
  const told = { contactedAt: contactedAt ?? now, nextOn: nextOn ?? null }
  requireContact(told, now, dateIn(deps.config.zone, now))
  const recording = insertContact(deps.db, caller, ref, {
    now,
    decide: (customer) => {
      const key = requireKey(customer)
      const sealed =
        note === undefined ? null : sealedText(deps.db.pool, { organizationId, id: customer.id }, note, key)
      return { channel, outcome, note: sealed, loanId: loanId ?? null, ...told }
    },
  })
  const recorded = await abortedWhereKeyTaken(recording)
  if (recorded === 'no customer') throw noSuchCustomer(ref)
  if (recorded === 'no loan') throw invalidArgument('loanId', 'must be a loan of the customer')
  return { ...recorded, note: note ?? null }
}

/** Returns rows with their words as a caller may read them: decrypted for those who work with borrowers, and none for others. */
export async function readable<Row extends object>(
  { db }: Pick<Core, 'db'>,
  caller: Caller,
  rows: readonly Row[],
  words: readonly (keyof Row)[],
): Promise<readonly Row[]> {
  if (hasPermission(caller, 'collections.work')) return openTexts(db, rows, () => caller.organizationId)
  const none = Object.fromEntries(words.map((word) => [word, null]))
  return rows.map((row) => ({ ...row, ...none }))
}

/** Returns a part of the contacts with a customer, as they were recorded. @throws LendingError `not_found`, `invalid_argument` */
export async function listContacts(
  deps: Core,
  caller: Caller,
  ref: CustomerRef,
  range: Range,
): Promise<Ranged<Contact>> {
  const { organizationId } = caller
  const position = positionOf(range, { arrival: CONTACT_ORDER })
  const ownerId = await requireCustomerId(deps, caller, ref)
  const part = rangedOf(await findContacts(deps.db, { organizationId, ownerId }, position))
  return { ...part, items: await readable(deps, caller, part.items, ['note']) }
}

/** Returns the last contacts with a customer, newest first. @param loanId those about this loan; null: all */
export async function latestContacts(
  deps: Core,
  caller: Caller,
  asked: { readonly customerId: bigint; readonly loanId: bigint | null; readonly most: number },
): Promise<readonly Contact[]> {
  const { organizationId } = caller
  return readable(deps, caller, await readLatestContacts(deps.db, { organizationId, ...asked }), ['note'])
}

/** Returns a contact. @throws LendingError `not_found` */
export async function getContact(deps: Core, caller: Caller, id: bigint): Promise<Contact> {
  const contact = await findContact(deps.db, caller.organizationId, id)
  if (!contact) throw notFound('the customer has no contact with that id')
  return (await readable(deps, caller, [contact], ['note']))[0]!
}
