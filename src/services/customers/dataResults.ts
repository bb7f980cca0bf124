import { findContacts } from '../../db/collections/contacts.ts'
import { readAllHoldsOf, type StoredHold } from '../../db/collections/holds.ts'
import { readAllPromisesOf } from '../../db/collections/promises.ts'
import { type KeptDecision, listDecisions } from '../../db/credit/credit.ts'
import { type Consent, findConsents } from '../../db/customers/consents.ts'
import { findKnownCustomer, type KnownCustomer } from '../../db/customers/customers.ts'
import { type DataRequest, findDataRequests, noteResultRead, type ResultRead } from '../../db/customers/dataRequests.ts'
import { findPerson } from '../../db/customers/identities.ts'
import { openTexts } from '../../db/customers/words.ts'
import { readDocumentsOf, type StoredDocument } from '../../db/documents/documents.ts'
import { readToldLoans, type ToldLoan } from '../../db/exports/lines.ts'
import { type ListingNotice, readListingsOf } from '../../db/exports/listings.ts'
import { findLoansBy } from '../../db/loans/lists/loanList.ts'
import { readCollateralOf } from '../../db/loans/security/collateral.ts'
import { type GuarantorOfLoan, readGuaranteesOf, readGuarantorsOf } from '../../db/loans/security/guarantors.ts'
import { readParts } from '../../db/payments/parts.ts'
import { findPayments, type PaymentFilter } from '../../db/payments/payments.ts'
import type { BoostInputs, BoostResult, Scorecard } from '../../domain/credit/decision.ts'
import { fromStored } from '../../domain/credit/policyJson.ts'
import { requireAnswerable } from '../../domain/customer/dataRequest.ts'
import { type Identity, UNKNOWN } from '../../domain/customer/identity.ts'
import type { Instant } from '../../domain/dates.ts'
import { failedPrecondition, invariant } from '../../domain/errors.ts'
import { type Currency, currencyOf } from '../../domain/money.ts'
import type { Payment, PaymentStatus } from '../../domain/payments/payment.ts'
import type { Caller } from '../access/caller.ts'
import type { Contact } from '../collections/contacts.ts'
import type { JudgedPromise } from '../collections/promises.ts'
import type { Caches, Core, Writing } from '../deps.ts'
import type { ReadDispute } from '../exports/listings.ts'
import type { LoanNow } from '../loans/loans.ts'
import { readInSlices } from '../loans/readInSlices.ts'
import { type CollateralView, collateralFor } from '../loans/security/collateral.ts'
import type { GuarantorView } from '../loans/security/guarantors.ts'
import { getOrganization, type LenderDetails, lenderDetails } from '../organizations/organizations.ts'
import { payerOf } from '../payments/payer.ts'
import type { PaymentView } from '../payments/payments.ts'
import { getDataRequest } from './dataRequests.ts'

/** The most loans of a result, and the most records of any other kind, such as payments. */
export const MOST_LOANS_OF_RESULT = 1_000
export const MOST_RECORDS_OF_RESULT = 10_000
/** The most instalments and transactions of a result, together. */
export const MOST_LINES_OF_RESULT = 50_000

/** All that a lender knows of a person, besides the loans, which are given one after the other. */
export interface DataResult {
  readonly madeAt: Instant
  readonly lender: LenderDetails
  readonly request: DataRequest
  readonly customer: KnownCustomer
  readonly identity: Identity
  readonly consents: readonly Consent[]
  /** Who answers for the loans of the person; who they are is their own. */
  readonly guarantors: readonly GuarantorView[]
  /** The loans of others for which the person answers, or did. */
  readonly guarantees: readonly GuarantorView[]
  readonly collateral: readonly CollateralView[]
  /** Those of which a repayment is on a loan of the person, and those that named the person. */
  readonly payments: readonly PaymentView[]
  readonly decisions: readonly KnownDecision[]
  readonly documents: readonly StoredDocument[]
  readonly requests: readonly DataRequest[]
  /** What was told to the person before a listing, and what the person disputed, with its texts decrypted. */
  readonly notices: readonly ListingNotice[]
  readonly disputes: readonly ReadDispute[]
  /** What was said with the person, and promised, and what is held of its loans, with their words decrypted. */
  readonly contacts: readonly Contact[]
  readonly promises: readonly JudgedPromise[]
  readonly holds: readonly StoredHold[]
  /** The files for bureaux and supervisors that have loans of the person. */
  readonly files: readonly ToldLoan[]
}

/** A score or a limit that was decided of a person. */
export interface KnownDecision extends Omit<KeptDecision, 'customerId' | 'inputs' | 'result'> {
  readonly grade: string
  readonly score: number
  /** Minor units. */
  readonly creditLimit: bigint
  readonly currency: Currency
  /** What became of a statement that was to raise the limit; null of a score. */
  readonly outcome: BoostResult['boostStatus'] | null
  /** As they were given then. */
  readonly reasons: readonly string[]
  /** The facts by which it was decided, as they are kept. */
  readonly facts: KeptDecision['inputs']
}

/** The parts that the result of a data request is read with. */
export type ResultDeps = Core & Caches & Pick<Writing, 'people' | 'paymentBox'>

interface Whose {
  readonly organizationId: number
  readonly customerId: bigint
}

/**
 * Reads all that the lender knows of the person who asked for it, and notes in the trail who has read it; for an ADMIN. Nothing of
 * it is kept.
 * @param visit is called for one loan after the other, so that they are never in memory as a whole
 * @throws LendingError `permission_denied`, `not_found`, `failed_precondition` for a request of another kind or one that is not to be
 *   answered, for a person who was erased, and for one of whom more is known than a result holds; `resource_exhausted`, `unavailable`
 */
export async function readDataResult(
  deps: ResultDeps,
  caller: Caller,
  { id, format }: ResultRead,
  visit: (now: LoanNow) => void,
): Promise<DataResult> {
  const request = await getDataRequest(deps, caller, id)
  requireAnswerable(request)
  const { organizationId } = caller
  const whose = { organizationId, customerId: request.customerId }
  const { externalId } = await requireKnown(deps, whose)
  const madeAt = deps.now(organizationId)
  const loans = await readLoansOf(deps, whose, visit)
  const person = await findPerson(deps.db, organizationId, { id: whose.customerId })
  const records = await readRecords(deps, caller, whose)
  const listings = await readListings(deps, whose, { loans: [...loans], personKey: person?.personKey ?? null })
  const collections = await readCollections(deps, whose, [...loans])
  const payments = await readPayments(deps, whose, { externalId, loans })
  // Somebody may have erased the person meanwhile: then nothing is known any more.
  const customer = await requireKnown(deps, whose)
  await noteResultRead(deps.db, caller, { id, format }, madeAt)
  const identity = (person && deps.people.open({ organizationId, id: person.id }, person)) ?? UNKNOWN
  return {
    madeAt,
    lender: await lenderDetails(deps, caller),
    request,
    customer,
    identity,
    ...collections,
    payments,
    ...listings,
    ...records,
  }
}

/** Returns a customer who was not erased. @throws LendingError `failed_precondition` */
async function requireKnown({ db }: Pick<Core, 'db'>, { organizationId, customerId }: Whose): Promise<KnownCustomer> {
  const customer = await findKnownCustomer(db, organizationId, customerId)
  invariant(customer, 'the customer of a data request')
  if (customer.isErased) throw failedPrecondition('the person was erased, and nothing is known of it any more')
  return customer
}

const tooMany = (most: number, things: string) =>
  failedPrecondition(
    `more than ${most} ${things} are known of the person, the most that a result has: give statements of the loans instead, and parts of an export of the book`,
  )

/** Returns rows of which there may be no more than the most of a result. @throws LendingError `failed_precondition` */
function bounded<T>(rows: readonly T[], things: string): readonly T[] {
  if (rows.length > MOST_RECORDS_OF_RESULT) throw tooMany(MOST_RECORDS_OF_RESULT, things)
  return rows
}

/** Reads the loans of a customer, each as it is now. @returns their numbers */
async function readLoansOf(
  deps: ResultDeps,
  { organizationId, customerId }: Whose,
  visit: (now: LoanNow) => void,
): Promise<ReadonlySet<bigint>> {
  const asked = { organizationId, filter: { customerId }, position: { page: 1, rows: MOST_LOANS_OF_RESULT } }
  const { items, total = 0 } = await findLoansBy(deps, asked, { by: 'id', descending: false })
  if (total > MOST_LOANS_OF_RESULT) throw tooMany(MOST_LOANS_OF_RESULT, 'loans')
  const lines = items.reduce((sum, { weight }) => sum + weight, 0)
  if (lines > MOST_LINES_OF_RESULT) throw tooMany(MOST_LINES_OF_RESULT, 'instalments and transactions')
  await readInSlices(deps, organizationId, items, visit)
  return new Set(items.map(({ id }) => id))
}

/** One more than a result may have: it is seen where there are more. */
const MOST = MOST_RECORDS_OF_RESULT + 1
const FIRST = { page: 1, rows: MOST } as const

function knownOf({ id, at, kind, policyVersion, inputs, result }: KeptDecision, currency: Currency): KnownDecision {
  const kept = { id, at, kind, policyVersion, currency, facts: inputs }
  if (kind === 'boost') {
    const { score, grade } = fromStored(inputs) as BoostInputs
    const { creditLimit, boostStatus } = fromStored(result) as BoostResult
    return { ...kept, score, grade, creditLimit, outcome: boostStatus, reasons: [] }
  }
  const { score, grade, creditLimit, reasons } = fromStored(result) as Scorecard
  return { ...kept, score, grade, creditLimit, outcome: null, reasons }
}

async function readRecords(deps: ResultDeps, caller: Caller, whose: Whose) {
  const { db } = deps
  const { organizationId, customerId } = whose
  const of = { organizationId, customerId, most: MOST }
  const currency = currencyOf((await getOrganization(deps, caller)).currency)
  const [consents, guarantors, guarantees, collateral, decisions, documents, requests] = await Promise.all([
    findConsents(db, { organizationId, ownerId: customerId }, FIRST),
    readGuarantorsOf(db, of),
    readGuaranteesOf(db, of),
    readCollateralOf(db, of),
    listDecisions(db, organizationId, customerId, FIRST),
    readDocumentsOf(db, of),
    findDataRequests(db, organizationId, { customerId }, FIRST),
  ])
  return {
    consents: bounded(consents.items, 'consents'),
    guarantors: bounded(guarantors, 'guarantors').map(withoutIdentity),
    guarantees: bounded(guarantees, 'guarantees').map(withoutIdentity),
    collateral: bounded(collateral, 'pieces of collateral').map((one) =>
      collateralFor(deps, caller, one, one.currency),
    ),
    decisions: bounded(decisions.items, 'decisions')
      .toReversed()
      .map((kept) => knownOf(kept, currency)),
    documents: bounded(documents, 'documents'),
    requests: bounded(requests.items, 'data requests'),
  }
}

/** Reads what was told of the loans of a person to others, what the person was told of it, and what it disputed. */
async function readListings(
  { db, people }: ResultDeps,
  { organizationId, customerId }: Whose,
  { loans, personKey }: { readonly loans: readonly bigint[]; readonly personKey: string | null },
) {
  const { notices, disputes } = await readListingsOf(db, { organizationId, customerId, most: MOST }, loans)
  const files = await readToldLoans(db, { organizationId, most: MOST }, loans)
  const open = (text: string) =>
    personKey === null ? '' : people.openText({ organizationId, id: customerId }, text, personKey)
  return {
    notices: bounded(notices, 'notices'),
    disputes: bounded(disputes, 'disputes').map((one) => ({
      ...one,
      reason: open(one.reason),
      resolution: one.resolution === null ? undefined : open(one.resolution),
    })),
    files: bounded(files, 'lines of files'),
  }
}

/** Reads what was said with a person, and promised, and what is held of its loans. */
async function readCollections(
  { db }: ResultDeps,
  { organizationId, customerId }: Whose,
  loanIds: readonly bigint[],
): Promise<Pick<DataResult, 'contacts' | 'promises' | 'holds'>> {
  const of = { organizationId, loanIds, most: MOST }
  const [contacts, promises, holds] = await Promise.all([
    findContacts(db, { organizationId, ownerId: customerId }, FIRST),
    readAllPromisesOf(db, of),
    readAllHoldsOf(db, of),
  ])
  const open = <Row extends object>(rows: readonly Row[]) => openTexts(db, rows, () => organizationId)
  return {
    contacts: await open(bounded(contacts.items, 'contacts')),
    promises: (await open(bounded(promises, 'promises'))).map((one) => ({
      ...one,
      currency: currencyOf(one.currency),
    })),
    holds: await open(bounded(holds, 'holds')),
  }
}

const withoutIdentity = (guarantor: GuarantorOfLoan): GuarantorView => {
  const { currency } = guarantor
  return { guarantor, currency, identity: undefined }
}

/** Payments of which the parts are read at once. */
const PAYMENTS = 1_000

/** The statuses of payments that are found by what they named alone: those that wait, and those that are gone. */
const NAMED: readonly (readonly PaymentStatus[])[] = [
  ['received', 'partly_allocated', 'unmatched'],
  ['returned', 'reversed'],
]

/** Reads payments with their parts on loans of the person alone: another part may be on the loan of somebody else. */
async function readPayments(
  { db, paymentBox }: ResultDeps,
  { organizationId, customerId }: Whose,
  { externalId, loans }: { readonly externalId: string | null; readonly loans: ReadonlySet<bigint> },
): Promise<PaymentView[]> {
  const find = async (filter: PaymentFilter) => (await findPayments(db, organizationId, filter, FIRST)).items
  const named = externalId === null ? [] : NAMED.map((statuses) => find({ reference: externalId, statuses }))
  const found = (await Promise.all([find({ customerId }), ...named])).flat()
  const payments = bounded([...new Map(found.map((payment) => [payment.id, payment])).values()], 'payments')
  const views: PaymentView[] = []
  for (let at = 0; at < payments.length; at += PAYMENTS) {
    const some = payments.slice(at, at + PAYMENTS)
    const parts = await readParts({ pool: db.pool }, organizationId, some.map(idOf))
    const own = Map.groupBy(
      parts.filter(({ loanId }) => loans.has(loanId)),
      ({ paymentId }) => paymentId,
    )
    for (const payment of some)
      views.push({
        payment,
        payer: payerOf(paymentBox, payment),
        parts: own.get(payment.id) ?? [],
        candidates: [],
      })
  }
  return views
}

const idOf = ({ id }: Payment): bigint => id
