import { dateIn } from '../../../src/domain/dates.ts'
import { LendingError } from '../../../src/domain/errors.ts'
import { ENTRY_TYPES, type Entry, isOfRestructures, type PostableType } from '../../../src/domain/loan/entry.ts'
import type { LoanStatus } from '../../../src/domain/loan/lifecycle.ts'
import { adjust, type Decision, post, reverse } from '../../../src/domain/loan/loan.ts'
import { type LoanTerms, termsFor } from '../../../src/domain/loan/terms/terms.ts'
import { currencyOf, type Decimal } from '../../../src/domain/money.ts'
import type { ExtendedBody, LoanRecord } from '../../../src/domain/recordStyle/loanRecord.ts'
import { modifyTerms } from '../../../src/domain/recordStyle/modifyTerms.ts'
import { agree } from '../../../src/domain/recordStyle/recordLoan.ts'
import { BookedLoan } from './bookedLoan.ts'

export const ZONE = 'Africa/Nairobi'
/** 31 January 2026, 09:30 in Nairobi. */
export const BEGIN = Date.UTC(2026, 0, 31, 6, 30)
export const DAY_MS = 86_400_000

/** A loan to make: numbers of any size, of which the remainder counts. */
export interface NewLoan {
  readonly kind: 'product' | 'fees' | 'basic' | 'extended'
  readonly currency: 'TZS' | 'UGX' | 'KES'
  readonly principal: number
  readonly instalments: number
  readonly unit: 'days' | 'weeks' | 'months'
  readonly ratePercent: number
  readonly penaltyPercent: number
  readonly method: string
  /** Days from the release to the moment when the loan is entered, of a record system. */
  readonly releasedAgo: number
}

/** A command to give: what it means depends on the loan then. */
export interface Command {
  readonly does: 'post' | 'reverse' | 'adjust' | 'restate' | 'time'
  readonly type: PostableType
  /** Of what is owed, paid in or overpaid, in thousandths: up to 1,200. */
  readonly share: number
  readonly isToTheCent: boolean
  readonly daysAgo: number
  readonly target: number
}

/** A loan without a product has the record of its body, by which it can be restated. */
export class RandomLoan extends BookedLoan {
  record: LoanRecord | null = null
}

/** Makes a loan at a moment. */
export function loanOf(made: NewLoan, at: number): RandomLoan {
  const currency = currencyOf(made.currency)
  const principal = BigInt(made.principal)
  if (made.kind === 'product' || made.kind === 'fees') {
    const product = {
      ...{ id: 1, name: 'Any', currency, principalMin: 1n, principalMax: 10n ** 14n, retired: false },
      ...{ repayEvery: 1, repayUnit: made.unit, ratePerPeriod: BigInt(made.ratePercent) * 1_000_000n },
      ...{ totalMultipleOf: null, terms: null, enforceCreditLimit: false, numberOfRepayments: made.instalments },
      penaltyRate: made.penaltyPercent === 0 ? null : BigInt(made.penaltyPercent) * 1_000_000n,
    }
    const terms = termsFor(product, principal, at, ZONE)
    return new RandomLoan(made.kind === 'fees' ? withFees(terms) : terms)
  }
  const releasedOn = dateIn(ZONE, at - made.releasedAgo * DAY_MS)
  const amount: Decimal = { units: principal, scale: currency.decimals }
  const dueOn = dateIn(ZONE, at + made.instalments * 9 * DAY_MS)
  const basic = { principal: amount, releasedOn, dueOn, duration: made.instalments, durationPeriod: 'Weeks' }
  const request = made.kind === 'basic' ? { basic } : { extended: extendedOf(made, releasedOn) }
  const { terms, record } = agree(request, currency, ZONE, at)
  const loan = new RandomLoan(terms)
  loan.record = record
  return loan
}

/** Returns terms with a fee in each second instalment. */
const withFees = (terms: LoanTerms): LoanTerms => ({
  ...terms,
  schedule: terms.schedule.map((line, index) => ({ ...line, fees: index % 2 === 0 ? line.principal / 50n + 1n : 0n })),
})

const extendedOf = (made: NewLoan, releasedOn: string): ExtendedBody => ({
  loan_principal_amount: String(made.currency === 'UGX' ? made.principal : made.principal / 100),
  loan_released_date: JSON.stringify(releasedOn),
  loan_interest_method: JSON.stringify(made.method),
  loan_interest_type: '"percentage"',
  loan_interest_period: '"Month"',
  loan_interest: String(made.ratePercent),
  loan_duration_period: '"Months"',
  loan_duration: String(made.instalments),
  loan_payment_scheme_id: '3',
  loan_num_of_repayments: String(made.instalments),
})

/** Decides on a command as the service does. @returns undefined where it is refused or changes nothing */
export function decide(loan: RandomLoan, command: Command, now: number): Decision | undefined {
  try {
    return decision(loan, command, now)
  } catch (error) {
    if (error instanceof LendingError) return undefined
    throw error
  }
}

/** The types of entries that a caller posts: a settlement waiver follows from another entry. */
export const POSTED_TYPES = ENTRY_TYPES.filter((type) => type !== 'Settlement Waiver' && !isOfRestructures(type))

/** What a loan takes, by its status: most commands are for that, and a few are refused. */
const FITTING: Readonly<Record<LoanStatus, readonly PostableType[]>> = {
  Active: [
    'Repayment',
    'Repayment',
    'Repayment',
    'Waive Interest',
    'Refund',
    'Charge-off',
    'Write-off',
    'Fee',
    'Penalty',
  ],
  'Closed (obligations met)': ['Repayment'],
  'Closed (written off)': ['Recovery Repayment'],
  Overpaid: ['Repayment', 'Refund', 'Credit Balance Refund', 'Credit Balance Refund'],
}

/** Returns the command with a type that the loan takes; every fifth stays as it is. */
function fitting(loan: RandomLoan, command: Command, now: number): Command {
  if (command.does !== 'post' || command.share % 5 === 0) return command
  const { status } = loan.stateAt(now)
  const types = FITTING[status]
  return { ...command, type: types[command.target % types.length]! }
}

function decision(loan: RandomLoan, given: Command, now: number): Decision | undefined {
  const command = fitting(loan, given, now)
  const whole = loan.whole()
  const valueDate = dateIn(ZONE, now - command.daysAgo * DAY_MS)
  const target = unreversed(loan.entries, command.target)
  switch (command.does) {
    case 'post': {
      const isMark = command.type === 'Charge-off' || command.type === 'Write-off'
      const amount = isMark ? null : amountOf(loan, command, now)
      return post(whole, { type: command.type, amount, valueDate, token: null, note: null }, now)
    }
    case 'reverse':
      return target && reverse(whole, target.id, now, null)
    case 'adjust': {
      const dated = command.isToTheCent ? undefined : valueDate
      return (
        target && adjust(whole, target.id, { amount: amountOf(loan, command, now), valueDate: dated, note: null }, now)
      )
    }
    case 'restate':
      return restated(loan, command, now)
    case 'time':
      return undefined
  }
}

const unreversed = (entries: readonly Entry[], target: number): Entry | undefined => {
  const open = entries.filter(({ reversedAt }) => reversedAt === null)
  return open[target % open.length]
}

/** Returns an amount in proportion to what an entry of the type is about. */
function amountOf(loan: RandomLoan, { type, share, isToTheCent }: Command, now: number): Decimal {
  const { totalOutstanding, totalPaid, totalOverpaid, outstanding, totalWrittenOff } = loan.stateAt(now)
  const about = {
    ...{ Repayment: totalOutstanding, 'Waive Interest': outstanding.interest, Refund: totalPaid + totalOverpaid },
    ...{ 'Credit Balance Refund': totalOverpaid, 'Recovery Repayment': totalOutstanding + totalWrittenOff },
    ...{ 'Charge-off': totalOutstanding, 'Write-off': totalOutstanding, 'Settlement Waiver': outstanding.interest },
    ...{ Fee: outstanding.principal, Penalty: outstanding.principal },
  }[type]
  const units = isToTheCent ? about : (about * BigInt(share)) / 1000n + 1n
  return { units: units === 0n ? 1n : units, scale: loan.terms.currency.decimals }
}

function restated(loan: RandomLoan, { share, isToTheCent, daysAgo }: Command, now: number): Decision | undefined {
  const { terms, record } = loan
  const { currency, principal, dueOn, disbursedOn } = terms
  const least = loan.stateAt(now).paid.principal
  const minor = least + (principal * BigInt(share)) / 1000n + 1n
  const source = String(currency.decimals === 0 ? minor : Number(minor) / 100)
  const isBasic = record?.extended === null
  const update = {
    ...(isToTheCent || daysAgo % 3 === 0 ? { principal: source } : {}),
    ...(isBasic && daysAgo % 2 === 1 ? { dueOn: dateIn(ZONE, Date.parse(dueOn) + (share - 600) * 1_000_000) } : {}),
    ...(daysAgo % 5 === 4 ? { releasedOn: dateIn(ZONE, Date.parse(disbursedOn) - daysAgo * DAY_MS) } : {}),
  }
  const modifiable = {
    customerId: 1n,
    customerStatus: 'Active' as const,
    productId: record === null ? 1 : null,
    record,
  }
  const shown = { duration: 1, durationPeriod: 'Months', loanType: '' }
  const decided = modifyTerms({ ...loan.whole(), ...modifiable }, update, now, shown)
  if (decided?.modifiedTerms) loan.record = decided.modifiedTerms.record as LoanRecord
  return decided
}
