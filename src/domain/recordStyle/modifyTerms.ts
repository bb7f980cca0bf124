import type { LocalDate } from '../dates.ts'
import { type FaultRole, failedPrecondition, invalidArgument, invariant, LendingError } from '../errors.ts'
import { type Decision, stateOf } from '../loan/loan.ts'
import { changeTerms, type LoanBeforeChange, whyTermsAreClosed } from '../loan/terms/changeTerms.ts'
import { summaryOf } from '../loan/terms/versions.ts'
import { minorToText, parseDecimal } from '../money.ts'
import { readDurationPeriod } from '../schedule/recordTerms.ts'
import { type ExtendedBody, type LoanRecord, type RecordProduct, type Source, TERM_ROLES } from './loanRecord.ts'
import {
  type Agreed,
  agree,
  type Duration,
  type LoanContent,
  type LoanRequest,
  sameLoan,
  sameSource,
  sameSources,
} from './recordLoan.ts'

/** A client's update of a loan; a field that is left out does not change (contract 5, PUT). */
export interface LoanUpdate {
  readonly borrowerId?: bigint | undefined
  readonly principal?: Source | undefined
  readonly releasedOn?: LocalDate | undefined
  readonly dueOn?: LocalDate | undefined
  readonly duration?: number | undefined
  readonly durationPeriod?: string | undefined
  /** Empty: none. */
  readonly loanType?: string | undefined
  readonly description?: string | undefined
  readonly products?: readonly RecordProduct[] | undefined
  /** Terms of the extended body. An update cannot change them: each has to equal the stored one. */
  readonly storedTerms?: { readonly [Term in keyof ExtendedBody]?: Source | undefined }
}

/** The fields that a loan without a record of its own is shown with; a client may send them back. */
export interface Shown extends Duration {
  readonly loanType: string
}

/** A loan before an update. */
export interface ModifiableLoan extends LoanBeforeChange {
  readonly record: LoanRecord | null
}

const EMPTY_RECORD: LoanRecord = {
  loanType: null,
  description: null,
  duration: null,
  durationPeriod: null,
  products: [],
  extended: null,
}

/**
 * Modifies the terms of a loan: computes its schedule again and replays its repayments (contract 5.4). Refuses, in this
 * order: a loan whose terms can no longer change; invalid terms; terms that contradict repayments; a borrower who may
 * not be lent more.
 * @param shown the fields with which the loan is shown where no record system sent them
 * @returns undefined when the update changes nothing
 * @throws LendingError `failed_precondition` or `invalid_argument`, naming the field
 */
export function modifyTerms(loan: ModifiableLoan, update: LoanUpdate, now: number, shown: Shown): Decision | undefined {
  requireStoredTerms(loan, update)
  const borrowerId = update.borrowerId ?? loan.customerId
  const modifies = hasOtherTerms(loan, update, shown)
  if (modifies || borrowerId !== loan.customerId) requireOpenTerms(loan, now)
  const agreed = modifies ? agreeWithChanges(loan, update, now) : { terms: loan.terms, record: respelt(loan, update) }
  const { loanType, description, products, extended } = recordOf(loan)
  const record: LoanRecord = {
    ...agreed.record,
    loanType: update.loanType === undefined || update.loanType === shown.loanType ? loanType : update.loanType || null,
    description: update.description === undefined ? description : update.description || null,
    products: update.products ?? products,
  }
  if (unchanged(loan, { ...contentOf(loan), ...summaryOf(agreed.terms), borrowerId, record })) return undefined
  invariant((record.extended === null) === (extended === null), 'a loan keeps the shape of its body')
  return changeTerms(loan, { terms: agreed.terms, customerId: borrowerId, record }, now)
}

/**
 * Requires that terms of the extended body equal the loan's.
 * @throws LendingError `invalid_argument` naming the term
 */
function requireStoredTerms(loan: ModifiableLoan, { storedTerms = {} }: LoanUpdate): void {
  const { extended } = recordOf(loan)
  for (const [name, value] of Object.entries(storedTerms)) {
    const term = name as keyof ExtendedBody
    if (extended !== null && sameSource(value, extended[term])) continue
    const role = TERM_ROLES[term]
    const instead = UPDATE_ROLES[role]
    throw invalidArgument(role, (nameOf) => {
      const advice = instead === undefined ? '' : `; change ${nameOf(instead)} instead`
      return `cannot be changed: leave it out, or send it as the loan has it${advice}`
    })
  }
}

const recordOf = ({ record }: ModifiableLoan): LoanRecord => record ?? EMPTY_RECORD

/**
 * Returns whether an update has a term that differs from the loan's; a record system may send all of its fields each
 * time.
 */
function hasOtherTerms(loan: ModifiableLoan, update: LoanUpdate, shown: Duration): boolean {
  const { principal, currency, disbursedOn, dueOn } = loan.terms
  const { duration, durationPeriod } = recordOf(loan)
  const known = {
    principal: minorToText(principal, currency),
    releasedOn: disbursedOn,
    dueOn,
    duration: duration ?? shown.duration,
    durationPeriod: durationPeriod ?? shown.durationPeriod,
  }
  return Object.entries(known).some(([term, value]) => {
    const given = update[term as keyof typeof known]
    if (given === undefined || sameSource(given, value)) return false
    return term !== 'durationPeriod' || unitOf(given) !== unitOf(value)
  })
}

/** Returns the loan's record, with the unit of its duration in the spelling of the update, if the record has a unit. */
function respelt(loan: ModifiableLoan, { durationPeriod }: LoanUpdate): LoanRecord {
  const { extended, ...record } = recordOf(loan)
  if (durationPeriod === undefined || record.durationPeriod === null) return recordOf(loan)
  return { ...record, durationPeriod, extended: extended && withTerms(extended, { durationPeriod }) }
}

/** Returns the unit that a text spells: `months` for `Month`; undefined for another text. */
const unitOf = (durationPeriod: unknown) => readDurationPeriod(String(durationPeriod))

function requireOpenTerms(loan: ModifiableLoan, now: number): void {
  if (loan.productId !== null) throw onlyRemarks('the loan came from a product, which sets its terms')
  const closed = whyTermsAreClosed(stateOf(loan, now))
  if (closed !== undefined) throw onlyRemarks(closed)
}

const onlyRemarks = (why: string) =>
  failedPrecondition((nameOf) => {
    const [loanType, description, products] = (['loanType', 'description', 'products'] as const).map(nameOf)
    return `${why}: only ${loanType}, ${description} and ${products} can be changed`
  })

/** The loan with the changes, agreed as a new one is; on the same day it was released at the same moment. */
function agreeWithChanges(loan: ModifiableLoan, update: LoanUpdate, now: number): Agreed {
  const { currency, zone, disbursedOn, disbursedAt } = loan.terms
  const request = requestWith(loan, update)
  const releasedOn = update.releasedOn ?? disbursedOn
  return inRolesOfUpdate(() => agree(request, currency, zone, releasedOn === disbursedOn ? disbursedAt : now))
}

/** The terms of the extended body that an update gives under another role. */
const UPDATE_ROLES: Readonly<Partial<Record<FaultRole, FaultRole>>> = {
  termPrincipal: 'principal',
  termReleasedOn: 'releasedOn',
  termDuration: 'duration',
  termDurationPeriod: 'durationPeriod',
}

function inRolesOfUpdate<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof LendingError)) throw error
    const faults = error.faults.map(({ role, wording }) => ({ role: UPDATE_ROLES[role] ?? role, wording }))
    throw new LendingError(error.code, error.wording, faults)
  }
}

/** Returns the request that would have made the loan with the changes. */
function requestWith({ terms, ...loan }: ModifiableLoan, update: LoanUpdate): LoanRequest {
  const record = recordOf({ terms, ...loan })
  const { loanType, description, products, extended } = record
  const remarks = { loanType, description, products }
  if (extended !== null) return { extended: withTerms(extended, update), dueOn: update.dueOn, remarks }
  const duration = update.duration ?? record.duration
  const durationPeriod = update.durationPeriod ?? record.durationPeriod
  invariant(duration !== null && durationPeriod !== null, 'a loan without a product has a duration')
  const releasedOn = update.releasedOn ?? terms.disbursedOn
  const dueOn = update.dueOn ?? terms.dueOn
  // The fault is of the date that the client sent.
  if (update.dueOn === undefined && dueOn < releasedOn)
    throw invalidArgument('releasedOn', (nameOf) => `must not be after ${nameOf('dueOn')}, ${dueOn}`)
  const principal = parseDecimal(update.principal ?? minorToText(terms.principal, terms.currency))
  invariant(principal, 'a number that was read before')
  return { basic: { principal, releasedOn, dueOn, duration, durationPeriod }, remarks }
}

/** Returns the extended body as if it had been sent with the new terms. */
const withTerms = (sent: ExtendedBody, update: LoanUpdate): ExtendedBody => ({
  ...sent,
  ...(update.principal !== undefined && { loan_principal_amount: update.principal }),
  ...(update.releasedOn !== undefined && { loan_released_date: JSON.stringify(update.releasedOn) }),
  ...(update.duration !== undefined && { loan_duration: String(update.duration) }),
  ...(update.durationPeriod !== undefined && { loan_duration_period: JSON.stringify(update.durationPeriod) }),
})

const contentOf = (loan: ModifiableLoan): LoanContent => ({
  ...summaryOf(loan.terms),
  borrowerId: loan.customerId,
  record: recordOf(loan),
})

const unchanged = (loan: ModifiableLoan, content: LoanContent): boolean => {
  const [before, after] = [recordOf(loan).products, content.record?.products ?? []]
  return (
    sameLoan(contentOf(loan), content) &&
    before.length === after.length &&
    before.every((product, index) => sameSources(product, after[index]!))
  )
}
