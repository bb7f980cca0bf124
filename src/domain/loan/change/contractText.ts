import type { Instant, LocalDate } from '../../dates.ts'
import type { Instalment } from '../../schedule/schedule.ts'
import { type StoredRules, toStoredRules } from '../rules/storedRules.ts'
import type { LoanTerms } from '../terms/terms.ts'

/** The most lines of a schedule that stand in the text of a change: 60 monthly instalments. */
const MOST_LINES_IN_CHANGE = 60

/** A loan that is made. */
export interface ContractedLoan {
  readonly customerId: bigint
  readonly externalId: string | null
  readonly accountNo: bigint
  readonly terms: LoanTerms
  /** Members of a record system, as they are stored. */
  readonly record?: object | undefined
}

/** The contract of a new loan as the text of its change has it. Amounts are texts of minor units. */
export interface Contract {
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
   * The lines by their period, separated by `;`: `due principal interest fees from`. The first day is left out where it is the due date of
   * the line before; the amounts, too, where they are those of the line before.
   */
  readonly schedule: string
}

/** A line of a schedule in texts. */
export interface ContractLine {
  readonly fromDate: string
  readonly dueDate: string
  readonly principal: string
  readonly interest: string
  readonly fees: string
}

/**
 * Returns the contract of a new loan for the text of its change; undefined for a schedule of more than 60 lines, or whose periods do not
 * count from 1: the seal of the change then has a digest of the rows.
 */
export function contractOf({ customerId, externalId, accountNo, terms, record }: ContractedLoan): Contract | undefined {
  const { schedule, rules } = terms
  if (schedule.length > MOST_LINES_IN_CHANGE || schedule.some(({ period }, index) => period !== index + 1))
    return undefined
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
export function linesFromText(text: string, disbursedOn: string): ContractLine[] {
  let before: ContractLine = { fromDate: '', dueDate: disbursedOn, principal: '', interest: '', fees: '' }
  return text.split(';').map((line) => {
    const [dueDate = '', principal, interest = '', fees = '', fromDate = before.dueDate] = line.split(' ')
    const amounts = principal === undefined ? before : { principal, interest, fees }
    before = { fromDate, dueDate, principal: amounts.principal, interest: amounts.interest, fees: amounts.fees }
    return before
  })
}

/** The beginning of the text of a change that has the contract of its loan. */
const BEGINNING = '{"made":{'

/** Returns whether the text of a change has the contract of the loan that it made. `changeToText` alone writes a text that begins so. */
export const hasContract = (text: string | null): boolean => text?.startsWith(BEGINNING) ?? false

/** A contract that was read from a text, which may be damaged: the schedule and its first day are texts, of the rest nothing is sure. */
export type ReadContract = Partial<Contract> & Pick<Contract, 'schedule' | 'disbursedOn'>

/** Reads the contract from the text of a change; undefined where it has none, and for a damaged text. */
export function contractFromText(text: string | null): ReadContract | undefined {
  if (text === null || !hasContract(text)) return undefined
  try {
    const { made } = JSON.parse(text) as { readonly made?: ReadContract | null }
    return typeof made?.schedule === 'string' && typeof made.disbursedOn === 'string' ? made : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
