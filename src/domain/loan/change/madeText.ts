import type { Instant, LocalDate } from '../../dates.ts'
import type { Instalment } from '../../schedule/schedule.ts'
import { type StoredRules, toStoredRules } from '../rules/storedRules.ts'
import type { LoanTerms } from '../terms/terms.ts'

/** The most lines of a schedule that the change of a new loan says: five years of months. */
const MOST_LINES = 60

/** A loan that is made, with the terms of its contract. */
export interface NewContract {
  readonly customerId: bigint
  readonly externalId: string | null
  readonly accountNo: bigint
  readonly terms: LoanTerms
  /** Members of a record system, as they are stored. */
  readonly record?: object | undefined
}

/** The contract of a loan as its change says it. Amounts are texts of minor units. */
export interface MadeLoan {
  readonly customer: string
  readonly accountNo: string
  readonly externalId?: string | undefined
  readonly principal: string
  readonly rate: string
  readonly penalty?: string | undefined
  readonly repayments: number
  readonly disbursedAt: Instant
  readonly disbursedOn: LocalDate
  readonly dueAt: Instant
  readonly dueOn: LocalDate
  readonly rules?: StoredRules | undefined
  readonly record?: object | undefined
  /**
   * The lines by their period, apart by `;`: `due principal interest fees`, and the first day where it is not the due date before.
   * A line that differs from the one before in its due date alone has nothing but that.
   */
  readonly schedule: string
}

/** A line of a schedule in texts. */
export interface MadeLine {
  readonly fromDate: string
  readonly dueDate: string
  readonly principal: string
  readonly interest: string
  readonly fees: string
}

/**
 * Returns the contract of a new loan in the form in which its change says it; undefined for a schedule of more than 60 lines, or
 * whose periods do not count from 1: its rows are read for their seal.
 */
export function madeLoan({ customerId, externalId, accountNo, terms, record }: NewContract): MadeLoan | undefined {
  const { schedule, rules } = terms
  if (schedule.length > MOST_LINES || schedule.some(({ period }, index) => period !== index + 1)) return undefined
  return {
    customer: String(customerId),
    accountNo: String(accountNo),
    externalId: externalId ?? undefined,
    principal: String(terms.principal),
    rate: String(terms.ratePerPeriod),
    penalty: terms.penaltyAmount === null ? undefined : String(terms.penaltyAmount),
    repayments: terms.numberOfRepayments,
    disbursedAt: terms.disbursedAt,
    disbursedOn: terms.disbursedOn,
    dueAt: terms.dueAt,
    dueOn: terms.dueOn,
    rules: rules ? toStoredRules(rules) : undefined,
    record,
    schedule: linesToText(schedule, terms.disbursedOn),
  }
}

function linesToText(schedule: readonly Instalment[], disbursedOn: LocalDate): string {
  let text = ''
  let [before, amountsBefore] = [disbursedOn, '']
  for (const { fromDate, dueDate, principal, interest, fees } of schedule) {
    const amounts = ` ${principal} ${interest} ${fees}`
    if (text !== '') text += ';'
    text += dueDate
    if (fromDate !== before) text += `${amounts} ${fromDate}`
    else if (amounts !== amountsBefore) text += amounts
    before = dueDate
    amountsBefore = amounts
  }
  return text
}

/** Reads the lines of a schedule from their text; lines of a damaged text have empty texts. */
export function linesFromText(text: string, disbursedOn: string): MadeLine[] {
  let before: MadeLine = { fromDate: '', dueDate: disbursedOn, principal: '', interest: '', fees: '' }
  return text.split(';').map((line) => {
    const [dueDate = '', principal, interest = '', fees = '', fromDate = before.dueDate] = line.split(' ')
    const amounts = principal === undefined ? before : { principal, interest, fees }
    before = { fromDate, dueDate, principal: amounts.principal, interest: amounts.interest, fees: amounts.fees }
    return before
  })
}

/** The beginning of the text of a change that says the contract of its loan. */
const BEGINNING = '{"made":{'

/** Returns whether the text of a change says the contract of the loan that it made. No text within a change can begin so. */
export const saysContract = (text: string | null): boolean => text?.startsWith(BEGINNING) ?? false

/** Reads the contract from the text of a change; undefined where the change says none, and for a damaged text. */
export function madeFromText(text: string | null): Partial<MadeLoan> | undefined {
  if (text === null || !saysContract(text)) return undefined
  try {
    const { made } = JSON.parse(text) as { readonly made: Partial<MadeLoan> }
    return typeof made.schedule === 'string' && typeof made.disbursedOn === 'string' ? made : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
