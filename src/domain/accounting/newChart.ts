import { type Fault, LendingError } from '../errors.ts'
import { hasInvisible, hasVisible } from '../visibleText.ts'
import type { AccountType, Chart, LedgerAccount } from './chart.ts'
import { METHODS, type Method } from './contribution.ts'
import { isOptional, SLOTS, type Slot, type SlotCodes } from './slots.ts'

/** A request for a chart. */
export interface NewChart {
  readonly accounts: readonly LedgerAccount[]
  /** The code of the account of each slot. */
  readonly slots: Readonly<Record<string, string | undefined>>
  /** How income is recognised: of all loans, or as a rule and of single products by their ids. */
  readonly method:
    | string
    | { readonly default: string; readonly products?: Readonly<Record<string, string>> | undefined }
}

/** The most accounts of a chart. */
export const MOST_ACCOUNTS = 500
/** The most characters of a code and of a name. */
export const LONGEST_CODE = 20
export const LONGEST_NAME = 100

/** The characters of a code. */
export const CODE_PATTERN = `^[A-Za-z0-9._-]{1,${LONGEST_CODE}}$`
const CODE = new RegExp(CODE_PATTERN)

const NAME_WORDS = `must be 1 to ${LONGEST_NAME} characters that can be seen, and spaces: no control characters, no invisible ones, and none that turn the text around`

/** The faults that a refusal lists at most. */
const MOST_FAULTS = 20

const INCOME: readonly AccountType[] = ['income']
const ASSET: readonly AccountType[] = ['asset']

/** The types of the account of each slot. */
const TYPES: Readonly<Record<Slot, readonly AccountType[]>> = {
  cash: ASSET,
  loan_portfolio: ASSET,
  interest_receivable: ASSET,
  fees_receivable: ASSET,
  penalties_receivable: ASSET,
  unearned_interest: ['liability', 'asset'],
  interest_income: INCOME,
  fee_income: INCOME,
  penalty_income: INCOME,
  overpayments: ['liability'],
  waivers: ['expense', 'income'],
  write_offs: ['expense', 'asset'],
  charge_offs: ['expense', 'asset'],
  recoveries: INCOME,
  opening_equity: ['equity', 'liability'],
  provision_expense: ['expense'],
  loan_loss_allowance: ['asset', 'liability'],
  tax_payable: ['liability'],
  payments_in_suspense: ['liability'],
}

/** The slot of which the balance says what is booked: its account has to be its own. */
const ALLOWANCE: Slot = 'loan_loss_allowance'

/**
 * Returns the chart that a request asks for.
 * @param products the ids of the products that there are
 * @throws LendingError `invalid_argument` that lists what is at fault
 */
export function chartOf(request: NewChart, products: ReadonlySet<number>): Chart {
  const { accounts, slots, method } = request
  const asked = typeof method === 'string' ? { default: method } : method
  const faults = [...accountFaults(accounts), ...slotFaults(slots, accounts), ...methodFaults(asked, products)]
  const [first] = faults
  if (first) throw new LendingError('invalid_argument', first.wording, faults.slice(0, MOST_FAULTS))
  return {
    accounts,
    slots: slots as SlotCodes,
    method: asked.default as Method,
    productMethods: new Map(Object.entries(asked.products ?? {}).map(([id, one]) => [Number(id), one as Method])),
  }
}

function accountFaults(accounts: readonly LedgerAccount[]): Fault[] {
  if (accounts.length === 0 || accounts.length > MOST_ACCOUNTS)
    return [{ role: 'accounts', wording: `must have 1 to ${MOST_ACCOUNTS} accounts, not ${accounts.length}` }]
  const first = new Map<string, number>()
  return accounts.flatMap(({ code, name }, index): Fault[] => {
    const at = first.get(code) ?? index
    first.set(code, at)
    const faults: Fault[] = []
    const fault = (member: string, wording: string) => faults.push({ role: `accounts[${index}].${member}`, wording })
    if (!CODE.test(code))
      fault('code', `must be 1 to ${LONGEST_CODE} letters without accents, digits, dots, hyphens and underscores`)
    else if (at !== index) fault('code', `is the code of accounts[${at}], too: each account has a code of its own`)
    if (!hasVisible(name) || hasInvisible(name) || [...name].length > LONGEST_NAME || /\p{Cc}/u.test(name))
      fault('name', NAME_WORDS)
    return faults
  })
}

function slotFaults(slots: NewChart['slots'], accounts: readonly LedgerAccount[]): Fault[] {
  const types = new Map(accounts.map(({ code, type }) => [code, type]))
  const unknown = Object.keys(slots).filter((slot) => !(SLOTS as readonly string[]).includes(slot))
  const faults = unknown.map((slot): Fault => {
    return { role: `slots.${slot}`, wording: `is no slot; the slots are ${SLOTS.join(', ')}` }
  })
  for (const slot of SLOTS) {
    const fault = (wording: string) => faults.push({ role: `slots.${slot}`, wording })
    const code = Object.hasOwn(slots, slot) ? slots[slot] : undefined
    const type = code === undefined ? undefined : types.get(code)
    if (code === undefined) {
      if (!isOptional(slot)) fault('is required: the code of an account')
    } else if (type === undefined) fault('must be the code of one of the accounts')
    else if (!TYPES[slot].includes(type))
      fault(`must be an account of the type ${TYPES[slot].join(' or ')}, and the type of that account is ${type}`)
  }
  return [...faults, ...allowanceFaults(slots)]
}

function allowanceFaults(slots: NewChart['slots']): Fault[] {
  const code = Object.hasOwn(slots, ALLOWANCE) ? slots[ALLOWANCE] : undefined
  const other = SLOTS.find((slot) => slot !== ALLOWANCE && code !== undefined && slots[slot] === code)
  if (other === undefined) return []
  const wording = `must be an account of its own: its balance says what is booked, and ${other} has that account, too`
  return [{ role: `slots.${ALLOWANCE}`, wording }]
}

function methodFaults(
  { default: usual, products = {} }: Exclude<NewChart['method'], string>,
  known: ReadonlySet<number>,
): Fault[] {
  const words = `must be one of ${METHODS.join(', ')}`
  const isMethod = (text: string) => (METHODS as readonly string[]).includes(text)
  const faults: Fault[] = isMethod(usual) ? [] : [{ role: 'method.default', wording: words }]
  for (const [id, method] of Object.entries(products)) {
    const role = `method.products.${id}` as const
    if (!/^[1-9]\d*$/.test(id) || !known.has(Number(id))) faults.push({ role, wording: 'no loan product has that id' })
    else if (!isMethod(method)) faults.push({ role, wording: words })
  }
  return faults
}

/**
 * Returns why a chart cannot follow another, undefined where it can: an account with postings stays, with its type.
 * @param before the accounts that there are and were, by their code
 * @param posted the codes of the accounts that have postings
 */
export function conflictOf(
  chart: Chart,
  before: ReadonlyMap<string, LedgerAccount>,
  posted: Iterable<string>,
): string | undefined {
  const next = new Map(chart.accounts.map((account) => [account.code, account]))
  for (const code of posted) {
    const [was, is] = [before.get(code), next.get(code)]
    if (!is) return `account ${code} has postings and cannot be removed: keep it among the accounts`
    if (was && was.type !== is.type)
      return `account ${code} has postings and cannot change its type from ${was.type} to ${is.type}: make another account`
  }
  return undefined
}
