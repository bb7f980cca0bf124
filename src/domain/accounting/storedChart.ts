import { invariant } from '../errors.ts'
import { ACCOUNT_TYPES, type AccountType, type Chart } from './chart.ts'
import { METHODS, type Method } from './contribution.ts'
import { isOptional, SLOTS, type SlotCodes } from './slots.ts'

/** A chart as it is stored and as the audit trail has it. */
export interface StoredChart {
  readonly accounts: readonly { readonly code: string; readonly name: string; readonly type: AccountType }[]
  readonly slots: SlotCodes
  readonly method: Method
  /** The methods of single products, by the id of the product. */
  readonly productMethods: Readonly<Record<string, Method>>
}

/** Returns a chart in the form in which it is stored: the accounts by code, the slots in their order, the products by id. */
export const toStoredChart = ({ accounts, slots, method, productMethods }: Chart): StoredChart => ({
  accounts: accounts
    .map(({ code, name, type }) => ({ code, name, type }))
    .toSorted((a, b) => (a.code < b.code ? -1 : Number(a.code > b.code))),
  slots: Object.fromEntries(
    SLOTS.flatMap((slot) => (slots[slot] === undefined ? [] : [[slot, slots[slot]]])),
  ) as SlotCodes,
  method,
  productMethods: Object.fromEntries([...productMethods].toSorted(([a], [b]) => a - b)),
})

/** Returns the chart of its stored form. @throws InvariantError for a value that `toStoredChart` did not make */
export function fromStoredChart(stored: unknown): Chart {
  const { accounts, slots, method, productMethods } = stored as StoredChart
  invariant(
    Array.isArray(accounts) &&
      accounts.every(({ type }) => ACCOUNT_TYPES.includes(type)) &&
      SLOTS.every((slot) => typeof slots[slot] === 'string' || (isOptional(slot) && slots[slot] === undefined)) &&
      METHODS.includes(method),
    'a stored chart with accounts, an account for each slot, and a method',
  )
  const ofProducts = Object.entries(productMethods).map(([id, one]) => [Number(id), one] as const)
  return { accounts, slots, method, productMethods: new Map(ofProducts) }
}
