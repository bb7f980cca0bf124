import { invariant } from '../errors.ts'
import type { Method } from './contribution.ts'
import { PROVISION_SLOTS, type Slot, type SlotCodes } from './slots.ts'

/** The types of accounts. */
export const ACCOUNT_TYPES = ['asset', 'liability', 'equity', 'income', 'expense'] as const

export type AccountType = (typeof ACCOUNT_TYPES)[number]

/** An account of a lender's chart. */
export interface LedgerAccount {
  readonly code: string
  readonly name: string
  readonly type: AccountType
}

/** The accounts of a lender, the account of each slot, and how income is recognised. */
export interface Chart {
  readonly accounts: readonly LedgerAccount[]
  /** The code of the account of each slot. */
  readonly slots: SlotCodes
  /** The method of products that `productMethods` does not name, and of loans without a product. */
  readonly method: Method
  /** The methods of single products, by the id of the product. */
  readonly productMethods: ReadonlyMap<number, Method>
}

/** Returns the method by which loans of a product, or of none, are recognised. */
export const methodOf = ({ method, productMethods }: Chart, productId: number | null): Method =>
  (productId === null ? undefined : productMethods.get(productId)) ?? method

/** Returns the code of the account of a slot; undefined where the chart has none for it. */
export const codeIn = ({ slots }: Pick<Chart, 'slots'>, slot: Slot): string | undefined =>
  slots[slot] ?? (OWED_TO_OTHERS.includes(slot) ? slots.overpayments : undefined)

/** The slots that are on the account of `overpayments` where a chart leaves them out. */
const OWED_TO_OTHERS: readonly Slot[] = ['tax_payable', 'payments_in_suspense']

/** Returns the code of the account of a slot that has an amount. */
export function codeOf(chart: Pick<Chart, 'slots'>, slot: Slot): string {
  const code = codeIn(chart, slot)
  invariant(code !== undefined, `an account of the slot ${slot}, which has an amount`)
  return code
}

/** Returns the slots of provisions that a chart leaves out: without them, none can be booked. */
export const missingSlots = ({ slots }: Pick<Chart, 'slots'>): Slot[] =>
  PROVISION_SLOTS.filter((slot) => slots[slot] === undefined)

/** Returns whether balances of an account of a type are debits, as a rule. */
export const isDebitType = (type: AccountType): boolean => type === 'asset' || type === 'expense'

const ACCOUNTS: readonly (readonly [slot: Slot, code: string, name: string, type: AccountType])[] = [
  ['cash', '1000', 'Cash and mobile money', 'asset'],
  ['loan_portfolio', '1100', 'Loans to customers', 'asset'],
  ['interest_receivable', '1200', 'Interest receivable', 'asset'],
  ['fees_receivable', '1210', 'Fees receivable', 'asset'],
  ['penalties_receivable', '1220', 'Penalties receivable', 'asset'],
  ['loan_loss_allowance', '1300', 'Allowance for loan losses', 'asset'],
  ['overpayments', '2000', 'Overpayments owed to customers', 'liability'],
  ['unearned_interest', '2100', 'Unearned interest', 'liability'],
  ['tax_payable', '2200', 'Tax payable', 'liability'],
  ['payments_in_suspense', '2300', 'Payments in suspense', 'liability'],
  ['opening_equity', '3000', 'Opening equity', 'equity'],
  ['interest_income', '4000', 'Interest income', 'income'],
  ['fee_income', '4010', 'Fee income', 'income'],
  ['penalty_income', '4020', 'Penalty income', 'income'],
  ['recoveries', '4100', 'Recoveries of loans lost', 'income'],
  ['waivers', '5000', 'Waivers', 'expense'],
  ['write_offs', '5100', 'Loans written off', 'expense'],
  ['charge_offs', '5200', 'Loans charged off', 'expense'],
  ['provision_expense', '5300', 'Provisions for loan losses', 'expense'],
]

/** The chart of a lender that has set none: version 1. Income is recognised when it is paid. */
export const DEFAULT_CHART: Chart = {
  accounts: ACCOUNTS.map(([, code, name, type]) => ({ code, name, type })),
  slots: Object.fromEntries(ACCOUNTS.map(([slot, code]) => [slot, code])) as Record<Slot, string>,
  method: 'cash',
  productMethods: new Map(),
}
