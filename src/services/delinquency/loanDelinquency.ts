import { readEarlierTerms } from '../../db/loans/earlierTerms.ts'
import type { LoanRef } from '../../db/loans/loans.ts'
import type { StoredLoan } from '../../db/loans/storedLoan.ts'
import { dateIn, type Instant, type LocalDate, toRfc3339 } from '../../domain/dates.ts'
import {
  type DelinquencyNow,
  datedUpTo,
  delinquencyNow,
  knownThen,
  momentOf,
} from '../../domain/delinquency/position.ts'
import { type Span, spansOf } from '../../domain/delinquency/segments.ts'
import { invalidArgument } from '../../domain/errors.ts'
import type { LoanState } from '../../domain/loan/replay.ts'
import { cacheOf } from '../../domain/loan/replayCache.ts'
import type { LoanTerms } from '../../domain/loan/terms/terms.ts'
import { termsKnownAt } from '../../domain/loan/terms/versions.ts'
import type { Caller } from '../access/caller.ts'
import type { Core } from '../deps.ts'
import { getLoan, type LoanRead, type ReadDeps } from '../loans/loans.ts'
import { findPolicy, findPolicyInForce, type NamedPolicy, namedBy } from './policies.ts'

/** What is asked about the arrears of a loan. */
export interface DelinquencyRequest {
  /** The last day that is looked at; left out: the day of `knownAt`, or today. */
  readonly asOf?: LocalDate | undefined
  /** The instant by whose knowledge is answered; left out: now. */
  readonly knownAt?: Instant | undefined
  /** The name of a preset, or a version of the lender's policies in digits; left out: the one in force at `knownAt`. */
  readonly policy?: string | undefined
}

/** The history of a loan's arrears by a policy. */
export interface Delinquency {
  readonly loan: StoredLoan
  readonly asOf: LocalDate
  readonly knownAt: Instant | undefined
  readonly policy: NamedPolicy
  readonly spans: readonly Span[]
}

/** A loan as it is now, and how late it is by the policy in force. */
export interface LoanWithDelinquency extends LoanRead {
  /** Null where nothing is owed. */
  readonly delinquency: DelinquencyNow | null
}

/** Returns a loan as it is now, with how late it is by the policy in force. @throws LendingError `not_found` */
export async function getLoanWithDelinquency(
  deps: ReadDeps,
  caller: Caller,
  ref: LoanRef,
): Promise<LoanWithDelinquency> {
  const [read, policy] = await Promise.all([getLoan(deps, caller, ref), findPolicyInForce(deps, caller.organizationId)])
  const owesNothing = read.state.totalOutstanding === 0n
  return { ...read, delinquency: owesNothing ? null : delinquencyOf(read, policy) }
}

const known = cacheOf<LoanState, Pick<NamedPolicy, 'version'> & { delinquency: DelinquencyNow | null }>('delinquency')

/** Returns how late a loan is. It is kept with the state of the loan, which holds for no longer than a day, by the policy. */
function delinquencyOf({ loan, state, at }: LoanRead, { version, policy }: NamedPolicy): DelinquencyNow | null {
  const before = known.get(state)
  if (before?.version === version) return before.delinquency
  const delinquency = delinquencyNow(loan, policy, at)
  known.set(state, { version, delinquency })
  return delinquency
}

/**
 * Returns how late a loan was on each day up to one, as it was known at an instant (contract 11).
 * @throws LendingError `not_found`; `invalid_argument` for a day, an instant or a policy
 */
export async function getDelinquency(
  deps: ReadDeps,
  caller: Caller,
  ref: LoanRef,
  { asOf, knownAt, policy: asked }: DelinquencyRequest,
): Promise<Delinquency> {
  const { loan } = await getLoan(deps, caller, ref)
  const policy = await findPolicy(deps, loan.organizationId, { ...namedBy(asked), knownAt })
  const now = deps.now(loan.organizationId)
  const terms = knownAt === undefined ? loan.terms : await findTermsKnown(deps, loan, knownAt, now)
  const latest = dateIn(terms.zone, knownAt ?? now)
  const day = asOf ?? latest
  if (day < terms.disbursedOn || day > latest)
    throw invalidArgument('asOf', `must be from the day of disbursement, ${terms.disbursedOn}, to ${latest}`)
  const moment = momentOf(day, knownAt ?? now, terms.zone)
  const entries = datedUpTo(day, knownAt === undefined ? loan.entries : knownThen(loan.entries, knownAt))
  return { loan, asOf: day, knownAt, policy, spans: spansOf(terms, entries, policy.policy, moment) }
}

/**
 * Returns the terms of a loan as they were known at an instant.
 * @throws LendingError `invalid_argument` where the loan was not there
 */
async function findTermsKnown({ db }: Core, loan: StoredLoan, at: Instant, now: Instant): Promise<LoanTerms> {
  const { organizationId, id } = loan
  const { zone } = loan.terms
  if (at < loan.createdAt || at > now)
    throw invalidArgument('knownAt', `must be from ${toRfc3339(loan.createdAt, zone)}, when the loan was made, to now`)
  const earlier = (await readEarlierTerms(db, organizationId, [id], at)).get(id) ?? []
  return termsKnownAt(loan.terms, earlier, at)
}
