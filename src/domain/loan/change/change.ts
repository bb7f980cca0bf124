import { dateIn, type Instant, type LocalDate } from '../../dates.ts'
import { consequencesOf, eventsOfTime, FRESH } from '../../events/consequences.ts'
import type { EventType } from '../../events/eventTypes.ts'
import type { Balances } from '../balances.ts'
import type { Entry } from '../entry.ts'
import type { Decision } from '../loan.ts'
import type { Outcome } from '../outcomes.ts'
import type { HeadTerms } from '../terms/terms.ts'
import { termsCanChange, type VersionedTerms } from '../terms/versions.ts'

/** The terms of a loan that may change later, without the schedule; and the customer, who may change with them. */
export interface ChangeableTerms extends Omit<VersionedTerms, 'schedule'> {
  readonly customerId: bigint
}

/**
 * A change of a loan: all that the trail, the events, the seal, the journal and the portfolio follow from. It is made where
 * the change is decided, and saved as it is.
 */
export interface LoanChanged {
  /** The version of the loan after the change: 1 when it is made, one more with each change. */
  readonly version: number
  /** The action of the trail: `create`, `update`, `hold`, `time`, `reverse`, `adjust`, `change` of a bucket, or the type of the entry posted. */
  readonly action: string
  /** The day from which the change counts: the value date of the entry, the day of disbursement, or the day that was over. */
  readonly on: LocalDate
  /** Whether the change was made by an import of a book that was kept elsewhere. */
  readonly isImported: boolean
  /** Null for a loan that is made. */
  readonly before: Balances | null
  readonly after: Balances
  /** Of an adjustment to another value date: the loan without the original entry, on the day of that entry. */
  readonly between: { readonly balances: Balances; readonly on: LocalDate } | null
  readonly posted: Entry | null
  readonly reversed: Entry | null
  /** Why an entry was reversed, in the operator's words. */
  readonly reason: string | null
  /** The outcome of the posted entry. */
  readonly outcome: Outcome | undefined
  /** The product of the loan; null of a loan that a record system made. */
  readonly productId: number | null
  /** The code of the currency of the loan. */
  readonly currency: string
  /** Of a loan whose terms may change later. */
  readonly terms: ChangeableTerms | null
  /** What followed from the change, in the order in which it is told. */
  readonly consequences: readonly EventType[]
}

/** A loan that changes, as far as its changes depend on it. */
export interface ChangingLoan {
  readonly productId: number | null
  readonly customerId: bigint
  readonly terms: HeadTerms
}

/** Returns the terms that are told with each change of a loan whose terms may change later. */
export const changeableTermsOf = (loan: ChangingLoan): ChangeableTerms | null =>
  termsCanChange(loan) ? { ...loan.terms, customerId: loan.customerId } : null

/** Returns the members of a change that are of the loan, whatever has changed. */
const ofLoan = (loan: ChangingLoan): Pick<LoanChanged, 'productId' | 'currency' | 'terms'> => ({
  productId: loan.productId,
  currency: loan.terms.currency.code,
  terms: changeableTermsOf(loan),
})

/** Returns the day from which a change counts that time alone made: the day at whose end the loan was to be reviewed. */
export const dayThatWasOver = (
  { terms, nextChangeAt }: { readonly terms: HeadTerms; readonly nextChangeAt: Instant | null },
  at: Instant,
): LocalDate => dateIn(terms.zone, Math.max(terms.disbursedAt, (nextChangeAt ?? at) - 1))

const NOTHING_ELSE = {
  isImported: false,
  between: null,
  posted: null,
  reversed: null,
  reason: null,
  outcome: undefined,
} as const

/** Returns the change that makes a loan. */
export const loanMade = (loan: ChangingLoan, after: Balances, isImported: boolean): LoanChanged => ({
  ...NOTHING_ELSE,
  version: 1,
  action: 'create',
  on: loan.terms.disbursedOn,
  isImported,
  before: null,
  after,
  ...ofLoan(loan),
  consequences: consequencesOf(FRESH, after),
})

/** Returns a change that time alone made. @param on the day from which it counts */
export const loanReviewed = (
  loan: ChangingLoan,
  { version, on, before, after }: Pick<LoanChanged, 'version' | 'on' | 'after'> & { readonly before: Balances },
): LoanChanged => ({
  ...NOTHING_ELSE,
  version,
  action: 'time',
  on,
  before,
  after,
  ...ofLoan(loan),
  consequences: eventsOfTime(before, after),
})

/**
 * Returns a change of terms.
 * @param stored the balances that the columns of the loan say, which time may have changed since
 */
export const termsChanged = (
  loan: ChangingLoan,
  { before, state: after }: Decision,
  {
    version,
    terms,
    stored,
  }: Pick<LoanChanged, 'version'> & {
    readonly terms: ChangeableTerms
    readonly stored: Balances
  },
): LoanChanged => ({
  ...NOTHING_ELSE,
  version,
  action: 'update',
  on: terms.disbursedOn,
  before,
  after,
  ...ofLoan(loan),
  terms,
  consequences: consequencesOf(stored, after),
})

/**
 * Returns the change of a decision that posts an entry, reverses one, or both.
 * @param posted the entry with its id
 */
export function entriesChanged(
  loan: ChangingLoan,
  { before, between, reason, reversed, state: after, outcome }: Decision,
  { version, posted, isImported }: Pick<LoanChanged, 'version' | 'posted' | 'isImported'>,
): LoanChanged {
  const entry = posted ?? reversed
  if (!entry) throw new Error('a change of entries posts or reverses one')
  return {
    version,
    action: reversed ? (posted ? 'adjust' : 'reverse') : entry.type,
    on: entry.valueDate,
    isImported,
    before,
    after,
    between: between && reversed ? { balances: between, on: reversed.valueDate } : null,
    posted,
    reversed,
    reason,
    outcome,
    ...ofLoan(loan),
    consequences: consequencesOf(before, after),
  }
}

/** Returns a change of the days on which no penalty is raised. @param on the day from which the change counts */
export const holdsChanged = (
  loan: ChangingLoan,
  { before, state: after }: Decision,
  { version, on }: Pick<LoanChanged, 'version' | 'on'>,
): LoanChanged => ({
  ...NOTHING_ELSE,
  version,
  action: 'hold',
  on,
  before,
  after,
  ...ofLoan(loan),
  consequences: consequencesOf(before, after),
})

/** Returns a loan of which something is told, such as another bucket: nothing of the loan itself has changed. */
export const loanTold = (
  loan: ChangingLoan,
  { version, on, after }: Pick<LoanChanged, 'version' | 'on' | 'after'>,
): LoanChanged => ({
  ...NOTHING_ELSE,
  version,
  action: 'change',
  on,
  before: after,
  after,
  ...ofLoan(loan),
  consequences: [],
})
