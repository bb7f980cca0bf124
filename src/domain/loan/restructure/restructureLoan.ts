import { dateIn, dayAfter, daysBetween, type Instant, LAST_DATE, type LocalDate } from '../../dates.ts'
import { failedPrecondition, invalidArgument, invariant, notFound } from '../../errors.ts'
import { type Decimal, minorToText, RATE_UNIT, rateToNumber, toMinor } from '../../money.ts'
import type { Distance, RestructureLimits } from '../../product/terms.ts'
import { MOST_INSTALMENTS } from '../../schedule/schedule.ts'
import type { Entry, EntryType, NewEntry } from '../entry.ts'
import { requireTakes } from '../lifecycle.ts'
import { append, type Decision, type Loan, requireUnreversed, reversalOf, stateOf, without } from '../loan.ts'
import { totalOf } from '../portions.ts'
import { requireValueDate } from '../postingRules.ts'
import { type LoanState, restructuredOf } from '../replay.ts'
import { lastPenaltyDay, penaltyOf } from '../rules/penalties.ts'
import {
  type AddedInterest,
  causeOf,
  planOf,
  type RestructureReason,
  type RestructureRole,
  restructuresIn,
  type ScheduleChange,
} from './plan.ts'

/** The change that a request asks for: that of the plan, with an amount as it was sent. */
export type AskedChange =
  | Exclude<ScheduleChange, { kind: 'instalmentAmount' }>
  | { readonly kind: 'instalmentAmount'; readonly amount: Decimal }

/** How the fee of a restructure is collected: on its day, or with the first instalment after it. */
export const RESTRUCTURE_FEE_TREATMENTS = ['due_now', 'added'] as const

/** A fee of a restructure. */
export interface RestructureFee {
  readonly name: string
  readonly amount: Decimal
  readonly treatment: (typeof RESTRUCTURE_FEE_TREATMENTS)[number]
}

/** The components that a restructure may waive, with the types of the waivers. */
export const WAIVERS = { penalty: 'Waive Penalty', fees: 'Waive Fees', interest: 'Waive Interest' } as const

/** The most entries that are posted with a restructure: a waiver of each component, and a fee. */
export const MOST_PARTS = 4

/** A request to restructure a loan. */
export interface RestructureRequest {
  /** Undefined: today. */
  readonly effectiveDate: LocalDate | undefined
  readonly change: AskedChange
  readonly interest: AddedInterest
  readonly fee: RestructureFee | null
  readonly waive: Readonly<Partial<Record<keyof typeof WAIVERS, Decimal>>>
  readonly reason: RestructureReason
  readonly note: string | null
}

/** What a restructure is decided by besides the loan. */
export interface RestructureTerms {
  /** The distance of the instalments of the loan. */
  readonly every: Distance
  readonly limits: RestructureLimits | null
}

/**
 * Decides a restructure: the waivers first, then the restructure, then its fee. Each is decided on what the one before leaves.
 * Checks, in this order: the effective date, the state of the loan, the change, the bounds of the product, the waivers, what
 * follows from the change, the fee.
 * @returns the decisions in the order in which they are saved
 * @throws LendingError `invalid_argument` or `failed_precondition`
 */
export function restructureLoan(
  loan: Loan,
  request: RestructureRequest,
  { every, limits }: RestructureTerms,
  now: Instant,
): Decision[] {
  const { terms } = loan
  const on = request.effectiveDate ?? dateIn(terms.zone, now)
  const before = stateOf(loan, now)
  requireEffectiveDate(loan, on, now)
  requireTakes(before, 'Restructure')
  const change = changeOf(loan, before, request.change, dateIn(terms.zone, now))
  requireWithinTimes(loan, before, limits)
  const steps = new Steps(loan, on, now)
  const waivers = (Object.keys(WAIVERS) as (keyof typeof WAIVERS)[]).flatMap((component) => {
    const asked = request.waive[component]
    return asked ? [{ type: WAIVERS[component], amount: toMinor(asked, terms.currency, `waive.${component}`) }] : []
  })
  const of = steps.nextOrdinal + waivers.length
  for (const { type, amount } of waivers) steps.post({ type, amount, restructure: { of, isDueNow: false } })
  const { interest, reason, note } = request
  steps.post({ type: 'Restructure', amount: 0n, note, restructure: { plan: { change, every, interest, reason } } })
  requireSound(loan, { change, on, after: steps.state, limits, now })
  const { fee } = request
  if (fee) {
    const amount = toMinor(fee.amount, terms.currency, 'fee.amount')
    const isDueNow = fee.treatment === 'due_now'
    const dueOn = isDueNow ? dueNow(loan, now) : dayAfter(dateIn(terms.zone, now))
    steps.post({ type: 'Fee', amount, note: fee.name, dueOn, restructure: { of, isDueNow } })
  }
  requireRaisedKept(before, steps.state, on)
  return steps.decisions
}

/** Decisions on a loan, each on what the one before left. */
class Steps {
  readonly decisions: Decision[] = []
  private readonly on: LocalDate
  private readonly now: Instant
  private loan: Loan

  constructor(loan: Loan, on: LocalDate, now: Instant) {
    this.loan = loan
    this.on = on
    this.now = now
  }

  get nextOrdinal(): number {
    return this.loan.entries.length + 1
  }

  get state(): LoanState {
    return stateOf(this.loan, this.now)
  }

  post(part: {
    readonly type: EntryType
    readonly amount: bigint
    readonly restructure: RestructureRole
    readonly note?: string | null
    readonly dueOn?: LocalDate
  }): void {
    const ordinal = this.nextOrdinal
    const entry: NewEntry = {
      type: part.type,
      amount: part.amount,
      valueDate: this.on,
      postedAt: this.now,
      ordinal,
      place: ordinal,
      token: null,
      note: part.note ?? null,
      replaces: null,
      reversedAt: null,
      record: null,
      paymentMethod: null,
      dueOn: part.dueOn ?? null,
      restructure: part.restructure,
    }
    const decision = append(this.loan, entry, this.now)
    this.decisions.push(decision)
    // The database gives the ids; nothing is decided by them here.
    const posted: Entry = { ...entry, amount: decision.outcome?.amount ?? entry.amount, id: 0n }
    this.loan = { terms: this.loan.terms, entries: [...this.loan.entries, posted] }
  }
}

/** Requires a day from disbursement and the last restructure on, and not in the future. @throws LendingError `invalid_argument` */
function requireEffectiveDate(loan: Loan, on: LocalDate, now: Instant): void {
  const { terms, entries } = loan
  requireValueDate(terms, on, now, 'effectiveDate')
  const last = restructuresIn(entries).reduce<LocalDate>((day, one) => (one.valueDate > day ? one.valueDate : day), '')
  if (on < last) throw invalidArgument('effectiveDate', `must be on or after the last restructure of the loan, ${last}`)
}

/** Returns the change that is asked for. @throws LendingError `invalid_argument` or `failed_precondition` */
function changeOf({ terms }: Loan, before: LoanState, asked: AskedChange, today: LocalDate): ScheduleChange {
  switch (asked.kind) {
    case 'newFirstDueDate':
      requireLater('change.newFirstDueDate', asked.on, today)
      return asked
    case 'until': {
      const open = before.periods.filter(({ owed }) => owed > 0n)
      requireLater('change.until', asked.on, today)
      if (open.length > 1)
        throw failedPrecondition(
          `the loan has ${open.length} instalments that owe something: a roll-over needs a loan that has one left; newFirstDueDate moves all of them`,
          'change.until',
        )
      if (open[0] && asked.on <= open[0].dueDate)
        throw invalidArgument('change.until', `must be after the due date of the instalment, ${open[0].dueDate}`)
      return asked
    }
    case 'instalmentAmount':
      return { kind: asked.kind, amount: toMinor(asked.amount, terms.currency, 'change.instalmentAmount') }
    default:
      return asked
  }
}

function requireLater(role: `change.${string}`, day: LocalDate, today: LocalDate): void {
  if (day <= today) throw invalidArgument(role, `must be after today, ${today}`)
}

/** Requires that the product lets the loan be restructured once more. @throws LendingError `failed_precondition` */
function requireWithinTimes(loan: Loan, before: LoanState, limits: RestructureLimits | null): void {
  if (limits === null) return
  const { maxTimes, minPaidPercent } = limits
  const times = restructuresIn(loan.entries).length
  if (maxTimes !== null && times >= maxTimes)
    throw failedPrecondition(
      maxTimes === 0
        ? 'loans of the product cannot be restructured: its restructuring.maxTimes is 0'
        : `the loan was restructured ${times === 1 ? 'once' : `${times} times`}, and its product allows no more`,
    )
  const { currency, principal } = loan.terms
  const repaid = before.paid.principal
  if (minPaidPercent !== null && repaid * RATE_UNIT < principal * minPaidPercent)
    throw failedPrecondition(
      `${minorToText(repaid, currency)} ${currency.code} of the principal is repaid, and the product asks for ${rateToNumber(minPaidPercent)} percent of ${minorToText(principal, currency)} ${currency.code} before a loan is restructured`,
    )
}

/** A restructure as it was decided, with the loan after it. */
interface Decided {
  readonly change: ScheduleChange
  readonly on: LocalDate
  readonly after: LoanState
  readonly limits: RestructureLimits | null
  readonly now: Instant
}

/**
 * Requires that the schedule of a restructure is sound: nothing of it is due in the past, and it ends in time and within the
 * bound of the product.
 * @throws LendingError `invalid_argument` or `failed_precondition`
 */
function requireSound({ terms }: Loan, { change, on, after, limits, now }: Decided): void {
  const restructured = restructuredOf(after)
  if (restructured === null || restructured.on !== on) throw failedPrecondition(`nothing was owed on ${on}`)
  const today = dateIn(terms.zone, now)
  const open = after.periods.filter(({ owed }) => owed > 0n)
  const passed = open.find(({ dueDate }) => dueDate <= today)
  if (passed)
    throw invalidArgument(
      'effectiveDate',
      `must be later: by the change, an instalment would be due on ${passed.dueDate}, and today is ${today}`,
    )
  const { dueOn } = restructured
  if (dueOn.length !== LAST_DATE.length || dueOn > LAST_DATE)
    throw invalidArgument(`change.${change.kind}`, `must end the loan by ${LAST_DATE}`)
  const added = daysBetween(terms.dueOn, dueOn)
  if (limits !== null && limits.maxDaysAdded !== null && added > limits.maxDaysAdded)
    throw failedPrecondition(
      `the loan would end on ${dueOn}, ${added} days after the ${terms.dueOn} on which it was to end; its product allows ${limits.maxDaysAdded} days`,
      `change.${change.kind}`,
    )
  if (change.kind !== 'instalmentAmount') return
  const largest = open.reduce((most, { due, paid, waived, writtenOff }) => {
    const owed = totalOf(due) - totalOf(paid) - totalOf(waived) - totalOf(writtenOff) - (due.penalty - paid.penalty)
    return owed > most ? owed : most
  }, 0n)
  if (open.length >= MOST_INSTALMENTS || largest > change.amount)
    throw invalidArgument(
      'change.instalmentAmount',
      `must be larger: instalments of it do not repay the loan within ${MOST_INSTALMENTS}`,
    )
}

/**
 * Requires that a restructure takes no penalty and no interest after the due date away that was raised, and raises none in the past.
 * @throws LendingError `failed_precondition`
 */
function requireRaisedKept(before: LoanState, after: LoanState, on: LocalDate): void {
  const isKept = after.charged.penalty === before.charged.penalty && after.interestAfterDue === before.interestAfterDue
  if (isKept) return
  const what = after.charged.penalty === before.charged.penalty ? 'interest after the last due date' : 'penalties'
  throw failedPrecondition(
    `${what} follow from the days after ${on}, and a restructure from that day would change them: a later date leaves them as they are`,
    'effectiveDate',
  )
}

/** Returns the day of a fee that is due now: today, or tomorrow where the penalties of today are raised already. */
function dueNow({ terms }: Loan, now: Instant): LocalDate {
  const today = dateIn(terms.zone, now)
  return penaltyOf(terms) !== null && lastPenaltyDay(terms, now) === today ? dayAfter(today) : today
}

/**
 * Decides the reversal of a restructure, with all that was posted with it: the loan becomes what it would be without them.
 * @returns the decisions in the order in which they are saved, that about the restructure last
 * @throws LendingError `not_found`, `failed_precondition` for one that is reversed already
 */
export function reverseRestructure(loan: Loan, entryId: bigint, now: Instant, reason: string | null): Decision[] {
  const asked = loan.entries.find(({ id, restructure }) => id === entryId && planOf(restructure) !== undefined)
  if (!asked) throw notFound('no restructure of this loan has that id')
  if (asked.reversedAt !== null) throw failedPrecondition('the restructure is reversed already')
  const parts = loan.entries.filter(
    ({ restructure, reversedAt }) => reversedAt === null && causeOf(restructure) === asked.ordinal,
  )
  const decisions: Decision[] = []
  let current = loan
  for (const { id } of [...parts.toReversed(), asked]) {
    const entry = requireUnreversed(current, id)
    decisions.push(reversalOf(current, entry, now, reason))
    current = without(current, entry, now)
  }
  invariant(decisions.length > 0, 'a reversal reverses an entry')
  return decisions
}
