import { ENTRY_TYPES, isCustomerRepayment } from '../loan/entry.ts'
import { EVENT_TYPES, type EventType } from './eventTypes.ts'

/** A row of the trail, as far as it decides which events a change has. */
export interface ToldChange {
  readonly entity: string
  readonly action: string
  /** The types of the entries that the change posted and reversed; null where it did neither. */
  readonly postedType: string | null
  readonly reversedType: string | null
  /** Whether the change raised a credit limit. */
  readonly isRaised: boolean
  /** The types of what followed, separated by spaces. */
  readonly consequences: string | null
}

const OF_CUSTOMERS: ReadonlyMap<string, readonly EventType[]> = new Map([
  ['create', ['customer.created']],
  ['update', ['customer.updated']],
  ['activate', ['customer.activated']],
  ['close', ['customer.closed']],
  ['score', ['credit.decided']],
  ['boost', ['credit.decided']],
])

/** The changes of the journal itself and of buckets, by entity and action. */
const OF_OTHERS: ReadonlyMap<string, readonly EventType[]> = new Map([
  ['accounting period close', ['accounting.period_closed']],
  ['accounting chart set', ['accounting.chart_changed']],
  ['delinquency change', ['delinquency.changed']],
  ['accounting provisions book', ['accounting.provisions_booked']],
])

const IS_REPAYMENT: ReadonlyMap<string | null, boolean> = new Map(
  ENTRY_TYPES.map((type) => [type, isCustomerRepayment(type)]),
)

/**
 * Returns the types of the events of a change: the change itself first, then what followed from it.
 * @returns undefined for a change that no receiver is told of, such as one of an account
 */
export function eventTypesOf(change: ToldChange): readonly EventType[] | undefined {
  const { entity, action, isRaised } = change
  if (entity === 'loan') return [...causesOf(change), ...consequencesIn(change)]
  const types = entity === 'customer' ? OF_CUSTOMERS.get(action) : OF_OTHERS.get(`${entity} ${action}`)
  return types && isRaised ? [...types, 'credit.limit_raised'] : types
}

function causesOf({ action, postedType, reversedType, consequences }: ToldChange): readonly EventType[] {
  if (action === 'create') return ['loan.disbursed']
  if (postedType !== null && reversedType !== null)
    return IS_REPAYMENT.get(reversedType) ? ['repayment.adjusted'] : ['transaction.reversed', 'transaction.posted']
  if (reversedType !== null) return [IS_REPAYMENT.get(reversedType) ? 'repayment.reversed' : 'transaction.reversed']
  if (postedType !== null) return [IS_REPAYMENT.get(postedType) ? 'repayment.posted' : 'transaction.posted']
  // What time changed has no cause but time: what followed is all there is.
  return action === 'time' && consequences !== null ? [] : ['loan.restated']
}

function consequencesIn({ consequences }: ToldChange): readonly EventType[] {
  const types = consequences === null ? [] : consequences.split(' ')
  return EVENT_TYPES.filter((type) => types.includes(type)).toSorted((a, b) => types.indexOf(a) - types.indexOf(b))
}

/** Returns the name of a change that no receiver is told of, such as `api_key.create`. */
export const untoldTypeOf = ({ entity, action }: Pick<ToldChange, 'entity' | 'action'>): string =>
  `${entity}.${action}`.replaceAll(' ', '_')
