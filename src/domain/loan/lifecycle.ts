import type { LocalDate } from '../dates.ts'
import { failedPrecondition } from '../errors.ts'
import type { EntryType } from './entry.ts'

/** The states of a loan (contract 4.2). Charged off is a mark on an Active loan, not a state of its own. */
export const LOAN_STATUSES = ['Active', 'Closed (obligations met)', 'Closed (written off)', 'Overpaid'] as const

export type LoanStatus = (typeof LOAN_STATUSES)[number]

/** Returns the status of a loan after its entries (contract 4.3.7). A status is derived, never set. */
export function statusOf(folded: {
  readonly owed: bigint
  readonly overpaid: bigint
  readonly writtenOffOn: LocalDate | null
}): LoanStatus {
  if (folded.overpaid > 0n) return 'Overpaid'
  if (folded.owed > 0n) return 'Active'
  return folded.writtenOffOn === null ? 'Closed (obligations met)' : 'Closed (written off)'
}

/** The status of a loan; of an Active one, whether it is charged off too, because it then takes other entries. */
type LifecycleState = Exclude<LoanStatus, 'Active'> | 'Active' | 'Active and charged off'

/**
 * The entries that each state takes from a caller (contract 4.4): a settlement waiver follows from another entry, and waivers
 * of fees and penalties are posted with a restructure. Money that comes in after the loan is paid off is overpayment.
 */
const TAKES: Readonly<Record<LifecycleState, readonly EntryType[]>> = {
  Active: ['Repayment', 'Waive Interest', 'Refund', 'Charge-off', 'Write-off', 'Fee', 'Penalty', 'Restructure'],
  'Active and charged off': [
    ...(['Repayment', 'Recovery Repayment', 'Waive Interest', 'Refund', 'Write-off', 'Fee', 'Penalty'] as const),
  ],
  'Closed (obligations met)': ['Repayment'],
  'Closed (written off)': ['Recovery Repayment'],
  Overpaid: ['Repayment', 'Refund', 'Credit Balance Refund'],
}

const WORDS: Readonly<Record<EntryType, string>> = {
  Repayment: 'a repayment',
  'Recovery Repayment': 'a recovery',
  'Waive Interest': 'an interest waiver',
  Refund: 'a refund',
  'Credit Balance Refund': 'a credit balance refund',
  'Charge-off': 'a charge-off',
  'Write-off': 'a write-off',
  Fee: 'a single fee',
  Penalty: 'a single penalty',
  'Settlement Waiver': 'a settlement waiver',
  'Waive Fees': 'a waiver of fees',
  'Waive Penalty': 'a waiver of penalties',
  Restructure: 'a restructure',
}

/** The parts of a loan that its lifecycle state follows from. */
interface InState {
  readonly status: LoanStatus
  readonly chargedOffOn: LocalDate | null
}

/**
 * Returns why the state of a loan takes no entry of the type: the state of the loan, the states that the entry needs, and the
 * entries that the loan takes now. Undefined where it takes one.
 */
export function refusalByState(loan: InState, type: EntryType): string | undefined {
  const lifecycleState: LifecycleState =
    loan.status === 'Active' && loan.chargedOffOn !== null ? 'Active and charged off' : loan.status
  if (TAKES[lifecycleState].includes(type)) return undefined
  const needed = (Object.keys(TAKES) as LifecycleState[]).filter((candidate) => TAKES[candidate].includes(type))
  return (
    `the loan is ${lifecycleState}: ${WORDS[type]} needs a loan that is ${either(needed)}; ` +
    `this one takes ${either(TAKES[lifecycleState].map((allowed) => WORDS[allowed]))}`
  )
}

/**
 * Requires that the loan is in a state that takes an entry of the type.
 * @throws LendingError `failed_precondition`, as `refusalByState` says
 */
export function requireTakes(loan: InState, type: EntryType): void {
  const refusal = refusalByState(loan, type)
  if (refusal !== undefined) throw failedPrecondition(refusal)
}

const either = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
