import { fullName, type Identity } from '../customer/identity.ts'
import { addPeriods, daysBetween, type Instant, type LocalDate } from '../dates.ts'
import type { DelinquencyPolicy } from '../delinquency/policy.ts'
import { datedUpTo, type Position, positionsOn, restructuredOn } from '../delinquency/position.ts'
import type { Period } from '../loan/allocation.ts'
import { byValueDate, isCustomerRepayment } from '../loan/entry.ts'
import type { Replayable } from '../loan/fold.ts'
import { isNotDue } from '../loan/recognition.ts'
import { type LoanState, replay } from '../loan/replay.ts'
import type { LoanTerms } from '../loan/terms/terms.ts'
import { RATE_UNIT } from '../money.ts'
import { dividedBy, type Fraction, fraction, times } from '../schedule/fraction.ts'
import { type RatedProduct, UNIT_OF_RATE } from '../schedule/periodRates.ts'
import { convert } from '../schedule/scheduleUnits.ts'
import type { Condition } from './conditions.ts'
import { classOf, type ExportFormat, namesPeople } from './format.ts'
import type { SourceName } from './sources.ts'

/** The product of a loan, as far as files tell of it. */
export interface ExportedProduct extends Omit<RatedProduct, 'ratePerPeriod'> {
  readonly id: number
  readonly name: string
}

/** A loan and its borrower, as they are known. */
export interface ExportedLoan {
  readonly id: bigint
  readonly accountNo: bigint
  readonly externalId: string | null
  readonly customerId: bigint
  readonly customerAccountNo: bigint
  readonly terms: LoanTerms
  /** Those that are known, dated after the day of the file, too. */
  readonly entries: readonly Replayable[]
  /** Null: of a record system. */
  readonly product: ExportedProduct | null
  /** Null: nothing is known. */
  readonly identity: Identity | null
  /** Whether the borrower was erased. */
  readonly isErased: boolean
  /** Whether the borrower has agreed by the day of the file that bureaux are told. */
  readonly hasConsent: boolean
  /** The day of the first notice to the borrower that the loan will be listed; null: none was sent by the day of the file. */
  readonly noticeSentOn: LocalDate | null
  /** The day on which the dispute was opened that is open on the day of the file; null: none is. */
  readonly disputedOn: LocalDate | null
  /** Whether a hold of its listing counts on the day of the file. */
  readonly isHeld: boolean
}

/** The day of a file, and the moment that it ends. */
export interface ExportDay {
  readonly asOf: LocalDate
  readonly moment: Instant
  readonly policy: DelinquencyPolicy
}

/** A loan on the day of a file. */
export interface Figures {
  readonly loan: ExportedLoan
  readonly day: ExportDay
  readonly state: LoanState
  /** The instalment that is owed and due first; the last one where nothing is owed. */
  readonly instalment: Period
  /** The day on which nothing was owed any more; null: something is. */
  readonly endedOn: LocalDate | null
  readonly lastPaid: Replayable | null
  readonly restructuredOn: LocalDate | null
}

/** Returns a loan as it was at the end of a day; undefined where it was not lent by then. */
export function figuresOf(loan: ExportedLoan, day: ExportDay): Figures | undefined {
  const { terms } = loan
  if (day.asOf < terms.disbursedOn) return undefined
  const entries = datedUpTo(day.asOf, loan.entries)
  const state = replay(terms, entries, day.moment)
  const payments = entries.filter(({ type, reversedAt }) => reversedAt === null && isCustomerRepayment(type))
  return {
    loan,
    day,
    state,
    instalment: state.periods.find(({ owed }) => owed > 0n) ?? state.periods.at(-1)!,
    endedOn: state.totalOutstanding > 0n ? null : (state.closedOn ?? lastCompletedOn(state)),
    lastPaid: payments.toSorted(byValueDate).at(-1) ?? null,
    restructuredOn: restructuredOn(entries),
  }
}

/** Returns the day on which the last instalment was paid: an overpaid loan is not closed, and owes nothing. */
const lastCompletedOn = ({ periods }: LoanState): LocalDate | null =>
  periods.reduce<LocalDate | null>(
    (last, { completedOn }) => (completedOn !== null && (last === null || completedOn > last) ? completedOn : last),
    null,
  )

const isWrittenOff = ({ state }: Figures): boolean => state.status === 'Closed (written off)'

/** The conditions, and since when each holds; null: it does not. */
const SINCE: Readonly<Record<Condition, (figures: Figures) => LocalDate | null>> = {
  always: ({ loan }) => loan.terms.disbursedOn,
  open: ({ loan, endedOn }) => (endedOn === null ? loan.terms.disbursedOn : null),
  ended: ({ endedOn }) => endedOn,
  paid_off: (figures) => (isWrittenOff(figures) ? null : figures.endedOn),
  written_off: (figures) => (isWrittenOff(figures) ? figures.endedOn : null),
  charged_off: ({ state }) => state.chargedOffOn,
  overdue: ({ state }) => (state.totalOverdue > 0n ? state.overdueSince : null),
  paid: ({ lastPaid }) => lastPaid?.valueDate ?? null,
  restructured: (figures) => figures.restructuredOn,
  not_restructured: (figures) => (figures.restructuredOn === null ? figures.loan.terms.disbursedOn : null),
  disputed: ({ loan }) => loan.disputedOn,
}

/** Returns whether a condition holds of a loan on the day of the file. */
export const holds = (condition: Condition, figures: Figures): boolean => SINCE[condition](figures) !== null

/** A value of a source: what a field writes; null: none is known. */
export type Value = string | number | bigint | Fraction | null

/** Returns the status of a loan: the first of the format's whose condition holds, and since when. */
function statusOf({ statuses }: ExportFormat, figures: Figures) {
  for (const { when, code } of statuses) {
    const since = SINCE[when](figures)
    if (since !== null) return { code, since }
  }
  return null
}

/** Returns what the rate of a loan comes to in a year: 12 months, 52 weeks or 360 days (contract 10.2). */
function annualRateOf({ terms: { ratePerPeriod }, product }: ExportedLoan): Fraction | null {
  if (product === null) return null
  const { interestRate = ratePerPeriod, ratePer = 'period' } = product.terms ?? {}
  const rate = fraction(interestRate, RATE_UNIT)
  const inYear = (unit: Parameters<typeof convert>[2]) => convert(fraction(1n), 'years', unit)
  if (ratePer !== 'period') return times(rate, inYear(UNIT_OF_RATE[ratePer]))
  return dividedBy(times(rate, inYear(product.repayUnit)), product.repayEvery)
}

/** Returns the fewest whole months that reach from the disbursement to the last due date. */
function termMonths({ terms }: ExportedLoan, maturesOn: LocalDate): number {
  let months = Math.max(0, Math.floor(daysBetween(terms.disbursedOn, maturesOn) / 31) - 1)
  while (addPeriods(terms.disbursedOn, months, 'months') < maturesOn) months++
  return months
}

const maturesOn = ({ state }: Figures): LocalDate => state.periods.at(-1)!.dueDate

/** Returns how late a loan is by the lender's own policy; null where it owes nothing. */
function positionOf({ loan, day }: Figures): Position | null {
  const [position] = positionsOn(loan, day.policy, [day.moment])
  return position === undefined || typeof position === 'string' ? null : position
}

const bucketOf = (figures: Figures) => {
  const position = positionOf(figures)
  return position && figures.day.policy.buckets[position.index]!
}

const yesNo = (is: boolean): string => (is ? 'yes' : 'no')

type IdType = NonNullable<Identity['idType']>

const documentOf =
  (type: IdType): Get =>
  ({ loan: { identity } }) =>
    identity?.idType === type ? identity.idNumber : null

const ofIdentity =
  (member: Exclude<keyof Identity, 'verification'>): Get =>
  ({ loan }) =>
    loan.identity?.[member] ?? null

const fullNameOf: Get = ({ loan: { identity } }) => (identity && fullName(identity)) || null

type Get = (figures: Figures, format: ExportFormat) => Value

/** The values of the sources. */
const GET: Readonly<Record<SourceName, Get>> = {
  'identity.firstName': ofIdentity('firstName'),
  'identity.middleName': ofIdentity('middleName'),
  'identity.lastName': ofIdentity('lastName'),
  'identity.fullName': fullNameOf,
  'identity.dateOfBirth': ofIdentity('dateOfBirth'),
  'identity.gender': ofIdentity('gender'),
  'identity.nationality': ofIdentity('nationality'),
  'identity.idType': ofIdentity('idType'),
  'identity.idNumber': ofIdentity('idNumber'),
  'identity.nationalId': documentOf('national_id'),
  'identity.passport': documentOf('passport'),
  'identity.drivingLicence': documentOf('driving_licence'),
  'identity.voterId': documentOf('voter_id'),
  'identity.phone': ofIdentity('phone'),
  'identity.email': ofIdentity('email'),
  'identity.address': ofIdentity('address'),
  'customer.id': ({ loan }) => String(loan.customerId),
  'customer.accountNo': ({ loan }) => String(loan.customerAccountNo),
  'consent.bureau': ({ loan }) => yesNo(loan.hasConsent),
  'notice.sent': ({ loan }) => yesNo(loan.noticeSentOn !== null),
  'loan.id': ({ loan }) => String(loan.id),
  'loan.accountNo': ({ loan }) => String(loan.accountNo),
  'loan.externalId': ({ loan }) => loan.externalId,
  'loan.currency': ({ loan }) => loan.terms.currency.code,
  'loan.principal': ({ loan }) => loan.terms.principal,
  'loan.disbursedOn': ({ loan }) => loan.terms.disbursedOn,
  'loan.firstDueOn': ({ state }) => state.periods[0]!.dueDate,
  'loan.maturesOn': maturesOn,
  'loan.instalmentDueOn': ({ instalment }) => instalment.dueDate,
  'loan.instalmentAmount': ({ instalment: { due } }) => due.principal + due.interest + due.fees,
  'loan.instalments': ({ state }) => state.periods.length,
  'loan.instalmentsLeft': ({ state }) => state.periods.filter(({ owed }) => owed > 0n).length,
  'loan.termDays': (figures) => daysBetween(figures.loan.terms.disbursedOn, maturesOn(figures)),
  'loan.termMonths': (figures) => termMonths(figures.loan, maturesOn(figures)),
  'loan.annualRate': ({ loan }) => annualRateOf(loan),
  'loan.interestMethod': ({ loan: { product } }) => product && (product.terms?.interestMethod ?? 'flat'),
  'loan.outstanding': ({ state }) => state.totalOutstanding,
  'loan.principalOutstanding': ({ state }) => state.outstanding.principal,
  'loan.interestOutstanding': ({ state }) => state.outstanding.interest,
  'loan.feesOutstanding': ({ state }) => state.outstanding.fees,
  'loan.penaltyOutstanding': ({ state }) => state.outstanding.penalty,
  'loan.overdue': ({ state }) => state.totalOverdue,
  'loan.paid': ({ state }) => state.totalPaid,
  'loan.writtenOff': ({ state }) => state.totalWrittenOff,
  'loan.lastPaidOn': ({ lastPaid }) => lastPaid?.valueDate ?? null,
  'loan.lastPaidAmount': ({ lastPaid }) => lastPaid?.amount ?? 0n,
  'loan.status': (figures, format) => statusOf(format, figures)?.code ?? null,
  'loan.statusOn': (figures, format) => statusOf(format, figures)?.since ?? null,
  'loan.endedOn': ({ endedOn }) => endedOn,
  'loan.end': (figures) => figures.endedOn && (isWrittenOff(figures) ? 'written_off' : 'paid_off'),
  'loan.restructured': (figures) => yesNo(figures.restructuredOn !== null),
  'loan.restructuredOn': (figures) => figures.restructuredOn,
  'product.id': ({ loan: { product } }) => product && String(product.id),
  'product.name': ({ loan: { product } }) => product?.name ?? null,
  'arrears.days': ({ state }) => state.daysOverdue,
  'arrears.since': ({ state }) => state.overdueSince,
  'arrears.instalments': ({ state, day }) =>
    state.periods.filter((one) => one.owed > 0n && !isNotDue(one, day.asOf)).length,
  'arrears.class': ({ state }, format) => classOf(format, state.daysOverdue),
  'policy.bucket': (figures) => bucketOf(figures)?.name ?? null,
  'policy.class': (figures) => bucketOf(figures)?.class ?? null,
  'policy.stage': (figures) => bucketOf(figures)?.stage ?? null,
  'policy.provision': (figures) => positionOf(figures)?.provision ?? null,
  'export.asOf': ({ day }) => day.asOf,
}

/** Returns the value that a source has for a loan; null where none is known. */
export const sourceValue = (source: SourceName, figures: Figures, format: ExportFormat): Value =>
  GET[source](figures, format)

/** Why a loan is left out of a file. */
export const EXCLUSIONS = [
  'ended_before',
  'person_erased',
  'no_consent',
  'disputed',
  'on_hold',
  'below_listing_amount',
  'notice_missing',
  'unchanged',
] as const
export type Exclusion = (typeof EXCLUSIONS)[number]

/** Returns why a format leaves a loan out; null where it does not. */
export function exclusionOf(format: ExportFormat, figures: Figures): Exclusion | null {
  const { exclude } = format
  const { loan, day, endedOn } = figures
  const { endedBefore, consent, disputed } = exclude
  if (endedBefore !== null && endedOn !== null) {
    const first = endedBefore === 'month' ? `${day.asOf.slice(0, 7)}-01` : day.asOf
    if (endedOn < first) return 'ended_before'
  }
  if (loan.isErased && namesPeople(format)) return 'person_erased'
  if (consent && !loan.hasConsent) return 'no_consent'
  if (disputed && loan.disputedOn !== null) return 'disputed'
  if (loan.isHeld && namesPeople(format)) return 'on_hold'
  return exclusionByNotice(exclude.notice, figures)
}

/** Returns why a loan may not be named as one that is not paid; null where it may, and where it is paid. */
function exclusionByNotice(rule: ExportFormat['exclude']['notice'], figures: Figures): Exclusion | null {
  const { state, loan, day } = figures
  if (rule === null || (state.daysOverdue < rule.fromDays && !isWrittenOff(figures))) return null
  const { code, decimals } = loan.terms.currency
  const unpaid = state.totalOutstanding + state.totalWrittenOff - state.totalRecovered
  const isSmall = rule.upTo !== null && rule.currency === code && unpaid <= BigInt(rule.upTo) * 10n ** BigInt(decimals)
  if (isSmall) return 'below_listing_amount'
  const isNotified = loan.noticeSentOn !== null && addPeriods(loan.noticeSentOn, rule.days, 'days') <= day.asOf
  return isNotified ? null : 'notice_missing'
}
