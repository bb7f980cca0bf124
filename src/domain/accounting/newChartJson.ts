import { invalidArgument } from '../errors.ts'
import { ACCOUNT_TYPES, type AccountType, type Chart } from './chart.ts'
import type { NewChart } from './newChart.ts'
import type { SlotCodes } from './slots.ts'

/** A chart as JSON, as it is shown and asked for. */
export interface ChartJson {
  readonly accounts: { code: string; name: string; type: string }[]
  readonly slots: SlotCodes
  readonly method: { readonly default: string; readonly products: Readonly<Record<string, string>> }
}

/** Writes a chart as JSON that `readNewChart` takes. */
export const chartToJson = ({ accounts, slots, method, productMethods }: Chart): ChartJson => ({
  accounts: accounts.map(({ code, name, type }) => ({ code, name, type })),
  slots: { ...slots },
  method: { default: method, products: Object.fromEntries(productMethods) },
})

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isTexts = (value: unknown): value is Readonly<Record<string, string>> =>
  isObject(value) && Object.values(value).every((one) => typeof one === 'string')

/**
 * Reads a request for a chart from JSON that nothing has checked.
 * @throws LendingError `invalid_argument` for a part that has not the form of one
 */
export function readNewChart(json: unknown): NewChart {
  const { accounts, slots, method } = isObject(json) ? json : {}
  if (!Array.isArray(accounts)) throw invalidArgument('accounts', 'must be a list of accounts: code, name and type')
  if (!isTexts(slots)) throw invalidArgument('slots', 'must be an object: the code of the account of each slot')
  return { accounts: accounts.map(readAccount), slots, method: readMethod(method) }
}

function readAccount(account: unknown, index: number): NewChart['accounts'][number] {
  const { code, name, type } = isTexts(account) ? account : {}
  if (code === undefined || name === undefined || type === undefined)
    throw invalidArgument(`accounts[${index}]`, 'must have code, name and type, each a text')
  if (!(ACCOUNT_TYPES as readonly string[]).includes(type))
    throw invalidArgument(`accounts[${index}].type`, `must be one of ${ACCOUNT_TYPES.join(', ')}`)
  return { code, name, type: type as AccountType }
}

function readMethod(method: unknown): NewChart['method'] {
  if (typeof method === 'string') return method
  const { default: usual, products = {} } = isObject(method) ? method : {}
  if (typeof usual !== 'string' || !isTexts(products))
    throw invalidArgument('method', 'must be a method, or an object: default, and the methods of products by their ids')
  return { default: usual, products }
}
