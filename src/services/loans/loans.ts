import { setTimeout as pause } from 'node:timers/promises'
import type { Customer } from '../../db/customers/customers.ts'
import type { Applicant, Applicants } from '../../db/loans/applicants.ts'
import { type LoanRef, nameOf, readLoans, readStamp } from '../../db/loans/loans.ts'
import type { StoredLoan } from '../../db/loans/storedLoan.ts'
import { backoffMs } from '../../db/postgres/errors.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import type { Instant } from '../../domain/dates.ts'
import { alreadyExists, failedPrecondition, invalidArgument, notFound } from '../../domain/errors.ts'
import { stateOf } from '../../domain/loan/loan.ts'
import { type LoanState, replay } from '../../domain/loan/replay.ts'
import { termsThatSettle } from '../../domain/loan/rules/topUp.ts'
import { termsOf } from '../../domain/loan/terms/terms.ts'
import type { Decimal } from '../../domain/money.ts'
import type { Product } from '../../domain/product/product.ts'
import type { Caller } from '../access/caller.ts'
import type { Caches, Core, Writing } from '../deps.ts'
import { countPosted, type SavedChange } from './changes/changeLoan.ts'
import { changedByOthers, MOST_TRIES } from './changes/queue.ts'
import { weightOf } from './heavyReads.ts'
import { lockedInsert } from './lockedInsert.ts'
import { makeLoan } from './makeLoan.ts'

export type { LoanRef } from '../../db/loans/loans.ts'
export type { StoredLoan } from '../../db/loans/storedLoan.ts'

/** A loan and its state at the moment of the request. */
export interface LoanNow {
  readonly loan: StoredLoan
  readonly state: LoanState
}

/** A loan as it was read, and the moment of its state. */
export interface LoanRead extends LoanNow {
  readonly at: Instant
}

/** A partner's request for a loan; every other term comes from the product. */
export interface LoanApplication {
  readonly customerExternalId: string
  readonly productId: number
  readonly principal: Decimal
  readonly externalId?: string | undefined
  /** The external ids of loans of the customer that are paid off out of the principal. */
  readonly settles?: readonly string[] | undefined
}

/**
 * Submits, approves and disburses a loan in one call (contract 4.2), and pays off the loans that the application names, in the
 * same transaction (a top-up).
 * @throws LendingError `not_found` for the customer, the product or a loan to pay off; `failed_precondition` for a customer that is
 *   not Active, a retired product, a principal above the available credit limit where the product enforces it, or a loan that
 *   cannot be paid off; `invalid_argument` for the principal; `already_exists` for the external id; `aborted` when other
 *   changes of the loans to pay off were saved first every time
 */
export async function createLoan(deps: Core & Writing, caller: Caller, application: LoanApplication): Promise<LoanNow> {
  requirePermission(caller, 'loans.write')
  const { organizationId } = caller
  const { customerExternalId, productId, settles = [] } = application
  const wanted = { organizationId, customerExternalId, productId }
  const { customer, product } = requireApplicants(await deps.loanBatches.findApplicants(wanted), customerExternalId)
  if (customer.status !== 'Active') throw notActive(customer)
  for (let tries = 1; ; tries++) {
    const toSettle = settles.length === 0 ? NO_LOANS : await readToSettle(deps, caller, customer, settles)
    const now = deps.now(organizationId)
    const terms = termsThatSettle(termsOf(product, application.principal, now, deps.config.zone), toSettle, now)
    const state = replay(terms, [], now)
    const externalId = application.externalId ?? null
    const fresh = { author: caller, customerId: customer.id, productId: product.id, externalId, terms, state, at: now }
    const { enforceCreditLimit: isLimited } = product
    const paidOff = (changes: readonly SavedChange[]) => {
      for (const change of changes) countPosted(deps.listener, change)
    }
    const isLocked = isLimited || toSettle.length > 0
    const insert = isLocked ? lockedInsert(deps, { customer, isLimited, settles: toSettle }, paidOff) : undefined
    const made = await makeLoan(deps, fresh, insert)
    if (!('refused' in made)) {
      deps.listener.loanDisbursed({ organizationId, currency: terms.currency.code, amount: terms.principal })
      return { loan: asStored(organizationId, made, { customer, product }, fresh), state }
    }
    if (made.refused !== 'stale')
      throw made.refused === 'externalIdTaken' ? externalIdTaken() : notActive({ status: 'Closed' })
    if (tries === MOST_TRIES) throw changedByOthers()
    await pause(backoffMs(tries))
  }
}

const NO_LOANS: readonly StoredLoan[] = []

/** The most loans that one new loan pays off. */
export const MOST_SETTLED = 10

/** Reads the loans of a customer that a new one is to pay off. @throws LendingError `not_found`, `invalid_argument` */
async function readToSettle(
  { db, config: { zone } }: Core,
  { organizationId }: Caller,
  customer: Pick<Customer, 'id'>,
  settles: readonly string[],
): Promise<StoredLoan[]> {
  const repeated = settles.find((externalId, index) => settles.indexOf(externalId) !== index)
  if (repeated !== undefined) throw invalidArgument('settles', `has the loan ${repeated} twice`)
  const keys = settles.map((externalId) => ({ organizationId, ref: { externalId }, zone }))
  return (await readLoans(db, keys)).map((loan, index) => {
    if (loan?.customerId === customer.id) return loan
    throw notFound(
      (nameOf) => `no loan of the customer has the externalId ${settles[index]}, given in ${nameOf('settles')}`,
    )
  })
}

const externalIdTaken = () => alreadyExists('externalId', 'a loan with that externalId exists already')

/** Returns the customer and the product of a new loan. @throws LendingError `not_found` where one does not exist */
export function requireApplicants({ customer, product }: Applicants, customerExternalId: string) {
  if (!customer) throw noSuchCustomer(customerExternalId)
  if (!product) throw notFound((nameOf) => `no loan product has that id, given as ${nameOf('productId')}`)
  return { customer, product }
}

/**
 * Returns the refusal, with a hint for a number: it may be the customer's id, but the field takes the externalId
 * (contract 4.2).
 */
const noSuchCustomer = (externalId: string) => {
  const hint = /^\d+$/.test(externalId) ? '; it takes the externalId of a customer, not the number that is its id' : ''
  return notFound((nameOf) => `no customer has that externalId, given as ${nameOf('customerId')}${hint}`)
}

/** Returns the refusal for a customer that may not borrow. */
export const notActive = (customer: Pick<Customer, 'status'>) =>
  failedPrecondition(`the customer is ${customer.status}, and only an Active customer can take a loan`)

const asStored = (
  organizationId: number,
  { id, accountNo }: Pick<StoredLoan, 'id' | 'accountNo'>,
  { customer, product }: { readonly customer: Applicant; readonly product: Product },
  fresh: Pick<StoredLoan, 'externalId' | 'terms'> & { state: LoanState; at: Instant },
): StoredLoan => ({
  organizationId,
  id,
  externalId: fresh.externalId,
  accountNo,
  version: 1,
  createdAt: fresh.at,
  updatedAt: fresh.at,
  nextChangeAt: fresh.state.nextChangeAt,
  customerId: customer.id,
  customerExternalId: customer.externalId,
  customerBusinessName: customer.businessName,
  customerStatus: customer.status,
  productId: product.id,
  productName: product.name,
  record: null,
  terms: fresh.terms,
  entries: [],
})

/** The parts that a read of a whole loan works with; a large loan is read in its turn. */
export type ReadDeps = Core & Pick<Writing, 'loanBatches'> & Pick<Caches, 'heavyReads'>

/** Returns a loan and its state now. @throws LendingError `not_found` */
export async function getLoan(deps: ReadDeps, caller: Caller, ref: LoanRef): Promise<LoanRead> {
  const { organizationId } = caller
  const name = nameOf({ organizationId, ref })
  return deps.heavyReads.run(organizationId, deps.heavyReads.weightOf(name), async () => {
    const loan = await readOrHeld(deps, { organizationId, ref, zone: deps.config.zone })
    if (!loan) throw noSuchLoan(ref)
    const at = deps.now(organizationId)
    return { loan, state: stateOf(loan, at), at }
  })
}

/**
 * Reads a loan. A heavy one that was read lately, and has not changed since, is the same object with all that was computed
 * from it: to read and replay 20,000 entries would hold the process for some 60 ms each time.
 */
async function readOrHeld(
  { db, loanBatches, heavyReads }: ReadDeps,
  key: Parameters<typeof readStamp>[1],
): Promise<StoredLoan | undefined> {
  const name = nameOf(key)
  // The stamp is read before the loan: what changes in between makes the next stamp another one.
  const stamp = heavyReads.weightOf(name) > 0 ? await readStamp(db, key) : undefined
  const held = stamp === undefined ? undefined : heavyReads.heldLoan(name, stamp)
  if (held) return held
  const loan = await loanBatches.readLoan(key)
  if (loan) heavyReads.setWeight(name, weightOf(loan))
  if (loan && stamp !== undefined) heavyReads.hold(name, { stamp, loan })
  return loan
}

/** Returns the refusal for a loan that the organization does not have. */
export const noSuchLoan = (ref: LoanRef) => notFound(`no loan has that ${'id' in ref ? 'id' : 'externalId'}`, 'loan')
