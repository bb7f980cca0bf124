import type { LoanRef } from '../../db/loans/loans.ts'
import type { StoredLoan } from '../../db/loans/storedLoan.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { decideAction, type LoanActionRequest } from '../../domain/approvals/pendingAction.ts'
import type { Instant } from '../../domain/dates.ts'
import { notFound } from '../../domain/errors.ts'
import type { Entry } from '../../domain/loan/entry.ts'
import { type Saving, stateOf } from '../../domain/loan/loan.ts'
import type { LoanState } from '../../domain/loan/replay.ts'
import { distanceIn } from '../../domain/loan/restructure/plan.ts'
import {
  MOST_PARTS,
  type RestructureRequest,
  type RestructureTerms,
} from '../../domain/loan/restructure/restructureLoan.ts'
import { type ScheduleVersion, scheduleVersions } from '../../domain/loan/restructure/scheduleVersions.ts'
import type { Caller } from '../access/caller.ts'
import { limitOf, onLoan, type Waits, type Wanted, waitForSecond, wantedOf } from '../approvals/waiting.ts'
import type { Caches, Core, Writing } from '../deps.ts'
import { getOrganization } from '../organizations/organizations.ts'
import { getProduct } from '../organizations/products.ts'
import { type Change, changeLoan, countPosted } from './changes/changeLoan.ts'
import { previewDecision } from './changes/preview.ts'
import { getLoan, noSuchLoan, type ReadDeps } from './loans.ts'

/** A loan with the versions of its schedule, the last of which is in force. */
export interface RestructuredLoan {
  readonly loan: StoredLoan
  readonly state: LoanState
  readonly versions: readonly ScheduleVersion<Entry>[]
}

/** The parts that a restructure works with. */
type RestructureDeps = Core & Writing & ReadDeps & Pick<Caches, 'organizations'>

const withVersions = (loan: StoredLoan, state: LoanState, at: Instant): RestructuredLoan => ({
  loan,
  state,
  versions: scheduleVersions(loan.terms, loan.entries, at),
})

/** Returns a loan with the versions of its schedule. @throws LendingError `not_found` */
export async function getSchedules(deps: ReadDeps, caller: Caller, ref: LoanRef): Promise<RestructuredLoan> {
  const { loan, state, at } = await getLoan(deps, caller, ref)
  return withVersions(loan, state, at)
}

/** Returns a version of the schedule of a loan. @throws LendingError `not_found` for the loan, or where it has no such version */
export async function getSchedule(
  deps: ReadDeps,
  caller: Caller,
  ref: LoanRef,
  version: number,
): Promise<{ readonly loan: StoredLoan; readonly found: ScheduleVersion<Entry> }> {
  const { loan, versions } = await getSchedules(deps, caller, ref)
  const found = versions.find((one) => one.version === version)
  if (!found)
    throw notFound(
      versions.length === 1
        ? 'the loan has one version of its schedule, 1'
        : `the loan has the versions 1 to ${versions.length} of its schedule`,
    )
  return { loan, found }
}

/**
 * Returns what a restructure of a loan is decided by: the bounds of its product, and the distance of its instalments, which
 * a loan of a record system has in its schedule.
 */
async function termsFor(deps: RestructureDeps, caller: Caller, ref: LoanRef): Promise<RestructureTerms> {
  const { loan } = await getLoan(deps, caller, ref)
  if (loan.productId === null) return { every: distanceIn(loan.terms), limits: null }
  const product = await getProduct(deps, caller, BigInt(loan.productId))
  return {
    every: { every: product.repayEvery, unit: product.repayUnit },
    limits: product.restructuring ?? null,
  }
}

/** Returns the decision of a restructure on a loan, as it was read. @throws LendingError `not_found` */
export async function restructureDecision(
  deps: RestructureDeps,
  caller: Caller,
  ref: LoanRef,
  request: RestructureRequest,
): Promise<(loan: StoredLoan, now: Instant) => Saving> {
  const action: LoanActionRequest = { kind: 'restructure', request, terms: await termsFor(deps, caller, ref) }
  return (loan, now) => decideAction(loan, action, now)
}

/**
 * Restructures a loan; operators only. Above the amount of the organization it waits: what is outstanding counts.
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument`, `failed_precondition`
 */
export async function restructure(
  deps: RestructureDeps,
  caller: Caller,
  ref: LoanRef,
  request: RestructureRequest,
): Promise<RestructuredLoan | Waits> {
  requirePermission(caller, 'loans.restructure')
  const terms = await termsFor(deps, caller, ref)
  return change(deps, { author: caller, ref, moreEntries: MOST_PARTS }, caller, { kind: 'restructure', request, terms })
}

/**
 * Returns a loan as a restructure would leave it, and changes nothing; operators only.
 * @throws LendingError as `restructure` does
 */
export async function previewRestructure(
  deps: RestructureDeps,
  caller: Caller,
  ref: LoanRef,
  request: RestructureRequest,
): Promise<RestructuredLoan> {
  requirePermission(caller, 'loans.restructure')
  const decide = await restructureDecision(deps, caller, ref, request)
  const { changed, after, at } = await previewDecision(deps, caller, ref, decide)
  return withVersions(changed, after, at)
}

/**
 * Reverses a restructure, with the waivers and the fee that were posted with it; operators only. Above the amount of the
 * organization it waits.
 * @throws LendingError `permission_denied`, `not_found`, `failed_precondition`
 */
export async function reverseRestructureOf(
  deps: RestructureDeps,
  caller: Caller,
  { ref, transactionId }: { readonly ref: LoanRef; readonly transactionId: bigint },
  note: string | null,
): Promise<RestructuredLoan | Waits> {
  requirePermission(caller, 'loans.restructure')
  return change(deps, { author: caller, ref }, caller, { kind: 'reverse-restructure', transactionId, note })
}

async function change(
  deps: RestructureDeps,
  asked: Change,
  caller: Caller,
  request: LoanActionRequest,
): Promise<RestructuredLoan | Waits> {
  const limit = limitOf(await getOrganization(deps, caller), caller)
  const changed = await changeLoan<Wanted>(deps, asked, (loan, now) => {
    const saving = decideAction(loan, request, now)
    const wanted = wantedOf(limit, loan, request, { saving, postedToday: () => false })
    return wanted ? { answer: wanted } : saving
  })
  if (!changed) throw noSuchLoan(asked.ref)
  if ('answer' in changed) return waitForSecond(deps, caller, onLoan(changed.loan), changed.answer)
  countPosted(deps.listener, changed)
  const { loan, at } = await getLoan(deps, caller, asked.ref)
  return withVersions(loan, stateOf(loan, at), at)
}
