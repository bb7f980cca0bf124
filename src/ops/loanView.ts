import type { LocalDate } from '../domain/dates.ts'
import type { DelinquencyNow } from '../domain/delinquency/position.ts'
import type { Entry } from '../domain/loan/entry.ts'
import { totalOf } from '../domain/loan/portions.ts'
import type { PenaltyRule } from '../domain/loan/rules/loanRules.ts'
import { paidOutOf, paidToOthers } from '../domain/loan/rules/topUp.ts'
import { dueInForce, type HeadTerms } from '../domain/loan/terms/terms.ts'
import { type Currency, largestIn, minorToText, rateToNumber } from '../domain/money.ts'
import { isUsualOrder } from '../domain/product/terms.ts'
import type { LoanWithDelinquency } from '../services/delinquency/loanDelinquency.ts'
import type { LoanNow } from '../services/loans/loans.ts'
import { type Column, toSecond, toTable } from './terminal/format.ts'

/** A line of a loan's schedule for operators; amounts are exact texts. */
interface PeriodView {
  readonly period: number
  readonly dueDate: LocalDate
  readonly principal: string
  readonly interest: string
  readonly fees: string
  readonly penalty: string
  readonly due: string
  readonly paid: string
  readonly owed: string
  readonly completedOn: LocalDate | null
}

/** A transaction of a loan, of any type, reversed or not. */
interface EntryView {
  readonly id: string
  readonly type: string
  readonly valueDate: LocalDate
  readonly postedAt: string
  readonly amount: string
  readonly principal: string
  readonly interest: string
  readonly fees: string
  readonly penalty: string
  readonly overpayment: string
  readonly reversedAt: string | null
  /** Of a single charge. */
  readonly dueDate: LocalDate | null
  readonly token: string | null
  readonly note: string | null
}

/** A loan with its schedule and all its entries, as of now. */
export function toLoanView({ loan, state }: LoanNow) {
  const { terms } = loan
  const { currency, zone } = terms
  const money = (minor: bigint) => minorToText(minor, currency)
  return {
    id: String(loan.id),
    externalId: loan.externalId,
    organizationId: loan.organizationId,
    customerId: String(loan.customerId),
    customerExternalId: loan.customerExternalId,
    productId: loan.productId,
    productName: loan.productName,
    status: state.status,
    currency: currency.code,
    principal: money(terms.principal),
    ...toRulesView(terms),
    disbursedAt: toSecond(terms.disbursedAt, zone),
    dueAt: toSecond(dueInForce(terms, state).dueAt, zone),
    totalPaid: money(state.totalPaid),
    totalOutstanding: money(state.totalOutstanding),
    totalOverdue: money(state.totalOverdue),
    totalOverpaid: money(state.totalOverpaid),
    totalWrittenOff: money(state.totalWrittenOff),
    totalRecovered: money(state.totalRecovered),
    daysOverdue: state.daysOverdue,
    chargedOffOn: state.chargedOffOn,
    closedOn: state.closedOn,
    version: loan.version,
    schedule: state.periods.map((period): PeriodView => {
      const { due, paid } = period
      return {
        period: period.period,
        dueDate: period.dueDate,
        principal: money(due.principal),
        interest: money(due.interest),
        fees: money(due.fees),
        penalty: money(due.penalty),
        due: money(totalOf(due)),
        paid: money(totalOf(paid)),
        owed: money(period.owed),
        completedOn: period.completedOn,
      }
    }),
    entries: loan.entries.map((entry: Entry): EntryView => {
      const outcome = state.outcomes.get(entry.ordinal)
      const part = (minor = 0n) => money(minor)
      return {
        id: String(entry.id),
        type: entry.type,
        valueDate: entry.valueDate,
        postedAt: toSecond(entry.postedAt, zone),
        amount: money(entry.amount),
        principal: part(outcome?.portions.principal),
        interest: part(outcome?.portions.interest),
        fees: part(outcome?.portions.fees),
        penalty: part(outcome?.portions.penalty),
        overpayment: part(outcome?.overpayment),
        reversedAt: toSecond(entry.reversedAt, zone) || null,
        dueDate: entry.dueOn ?? null,
        token: entry.token,
        note: entry.note,
      }
    }),
  }
}

const toDelinquencyView = (
  { daysPastDue, bucket, since, provision, restructuredOn }: DelinquencyNow,
  currency: Currency,
) => ({
  daysPastDue,
  bucket: bucket.name,
  since,
  class: bucket.class,
  stage: bucket.stage,
  provision: provision === null ? null : minorToText(provision, currency),
  ...(restructuredOn !== null && { restructuredOn }),
})

/** A loan as `toLoanView` writes it, with how late it is by the policy in force; null where nothing is owed. */
export const toShownLoan = ({ delinquency, ...now }: LoanWithDelinquency) => ({
  ...toLoanView(now),
  delinquency: delinquency && toDelinquencyView(delinquency, now.loan.terms.currency),
})

export type LoanPicture = ReturnType<typeof toShownLoan>

const PERIODS: readonly Column<PeriodView>[] = [
  ['#', (line) => line.period, 'right'],
  ['due date', (line) => line.dueDate],
  ['principal', (line) => line.principal, 'right'],
  ['interest', (line) => line.interest, 'right'],
  ['fees', (line) => line.fees, 'right'],
  ['penalty', (line) => line.penalty, 'right'],
  ['due', (line) => line.due, 'right'],
  ['paid', (line) => line.paid, 'right'],
  ['owed', (line) => line.owed, 'right'],
  ['completed', (line) => line.completedOn],
]

const ENTRIES: readonly Column<EntryView>[] = [
  ['id', (line) => line.id, 'right'],
  ['type', (line) => line.type],
  ['value date', (line) => line.valueDate],
  ['amount', (line) => line.amount, 'right'],
  ['principal', (line) => line.principal, 'right'],
  ['interest', (line) => line.interest, 'right'],
  ['fees', (line) => line.fees, 'right'],
  ['penalty', (line) => line.penalty, 'right'],
  ['overpayment', (line) => line.overpayment, 'right'],
  ['posted', (line) => line.postedAt],
  ['reversed', (line) => line.reversedAt],
  ['token', (line) => line.token],
  ['note', (line) => line.note],
]

/** Writes a loan for people: the loan in a few lines, its schedule and its entries as tables. */
export function toLoanText(loan: LoanPicture): string {
  const { currency } = loan
  const facts: (readonly [string, string | number | null])[] = [
    ['loan', `${loan.id}${loan.externalId === null ? '' : ` (${loan.externalId})`}`],
    ['customer', `${loan.customerId}${loan.customerExternalId === null ? '' : ` (${loan.customerExternalId})`}`],
    ['product', loan.productId === null ? null : `${loan.productId} ${loan.productName}`],
    ['status', `${loan.status}${loan.chargedOffOn === null ? '' : `, charged off ${loan.chargedOffOn}`}`],
    ['principal', `${loan.principal} ${currency}, disbursed ${loan.disbursedAt}`],
    ['net', loan.netDisbursed && `${loan.netDisbursed} ${currency}${netText(loan)}`],
    ['penalty', loan.penalty],
    ['charge cap', loan.chargeCap && `${loan.chargeCap} ${currency}`],
    ['settlement', loan.earlySettlement],
    ['allocation', loan.allocation],
    ['outstanding', loan.totalOutstanding],
    ['paid', loan.totalPaid],
    ['overdue', loan.daysOverdue === 0 ? null : `${loan.totalOverdue}, ${loan.daysOverdue} days`],
    ['delinquency', delinquencyText(loan)],
    ['overpaid', nonZero(loan.totalOverpaid)],
    ['written off', nonZero(loan.totalWrittenOff)],
    ['recovered', nonZero(loan.totalRecovered)],
    ['closed', loan.closedOn],
  ]
  const lines = facts.filter(([, value]) => value !== null).map(([name, value]) => `${name.padEnd(12)}${value}`)
  return [...lines, '', toTable(loan.schedule, PERIODS), '', toTable(loan.entries, ENTRIES)].join('\n')
}

/** Writes why less than the principal was paid out. */
const netText = ({ feesDeducted, settled }: RulesView): string =>
  [feesDeducted && `fees of ${feesDeducted} were deducted`, settled && `${settled} paid off other loans`]
    .filter((part) => part !== null)
    .map((part) => `, ${part}`)
    .join('')

/** Writes a line such as `watch (Watch), 33 days past due, since 2026-03-31, provision 3000.00`. */
function delinquencyText({ delinquency }: LoanPicture): string | null {
  if (delinquency === null) return null
  const { daysPastDue, bucket, since, class: ofClass, stage, provision } = delinquency
  const more = [...(ofClass === null ? [] : [ofClass]), ...(stage === null ? [] : [`stage ${stage}`])].join(', ')
  const parts = [
    more === '' ? bucket : `${bucket} (${more})`,
    `${daysPastDue} day${daysPastDue === 1 ? '' : 's'} past due`,
    `since ${since}`,
    ...(provision === null ? [] : [`provision ${provision}`]),
  ]
  return parts.join(', ')
}

const nonZero = (text: string): string | null => (/[1-9]/.test(text) ? text : null)

/** The rules of a loan for operators, besides its schedule; each member is null where the loan has the usual rule. */
interface RulesView {
  readonly netDisbursed: string | null
  readonly feesDeducted: string | null
  /** What paid off other loans. */
  readonly settled: string | null
  /** The penalties in words. */
  readonly penalty: string | null
  /** The most interest, fees and penalties together. */
  readonly chargeCap: string | null
  readonly earlySettlement: string | null
  readonly allocation: string | null
}

/** Returns the rules of a loan in the words of its product's terms. */
function toRulesView({ rules, penaltyAmount, principal, currency }: HeadTerms): RulesView {
  const money = (minor: bigint) => minorToText(minor, currency)
  const single = penaltyAmount === null ? null : `${money(penaltyAmount)} once, per loan`
  if (rules === null)
    return {
      netDisbursed: null,
      feesDeducted: null,
      settled: null,
      penalty: single,
      chargeCap: null,
      earlySettlement: null,
      allocation: null,
    }
  const { deducted, penalty, mostCharges, earlySettlement, allocation } = rules
  const settled = paidToOthers(rules)
  return {
    netDisbursed: deducted + settled === 0n ? null : money(paidOutOf({ principal, rules })),
    feesDeducted: deducted === 0n ? null : money(deducted),
    settled: settled === 0n ? null : money(settled),
    penalty: penalty === null ? single : penaltyText(penalty, currency),
    chargeCap: mostCharges === null ? null : money(mostCharges),
    earlySettlement: earlySettlement === 'full_interest' ? null : earlySettlement,
    allocation: isUsualOrder(allocation) ? null : allocation.join(', '),
  }
}

/** Writes a rule such as `0.5 % of overdue_total every day after 3 days, at most 30 times, at most 500.00, per loan`. */
function penaltyText({ base, value, every, graceDays, maxTimes, most, per }: PenaltyRule, currency: Currency): string {
  const amount = base === 'fixed' ? minorToText(value, currency) : `${rateToNumber(value)} % of ${base}`
  const often = every === null ? 'once' : `every ${every.every === 1 ? '' : `${every.every} `}${unitOf(every)}`
  const limits = [
    ...(maxTimes === null ? [] : [`at most ${maxTimes} times`]),
    ...(most === largestIn(currency) ? [] : [`at most ${minorToText(most, currency)}`]),
  ]
  const after = graceDays === 0 ? '' : ` after ${graceDays} day${graceDays === 1 ? '' : 's'}`
  return [`${amount} ${often}${after}`, ...limits, `per ${per}`].join(', ')
}

const unitOf = ({ every, unit }: NonNullable<PenaltyRule['every']>): string =>
  every === 1 ? unit.replace(/s$/, '') : unit
