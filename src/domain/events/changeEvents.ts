import { type Entry, isCustomerRepayment } from '../loan/entry.ts'
import { paymentEventOf } from '../payments/paymentChange.ts'
import { PAYMENT } from '../payments/paymentText.ts'
import type { EventType } from './eventTypes.ts'

/** A row of the trail, as far as it decides which events a change has. */
export interface ToldChange {
  readonly entity: string
  readonly action: string
  /** The change of a loan; undefined for a change of something else, and for a damaged row. */
  readonly loanChange:
    | {
        readonly posted: Pick<Entry, 'type'> | null
        readonly reversed: Pick<Entry, 'type'> | null
        readonly consequences: readonly EventType[]
      }
    | undefined
  /** Whether the change raised a credit limit. */
  readonly isRaised: boolean
}

const OF_CUSTOMERS: ReadonlyMap<string, readonly EventType[]> = new Map([
  ['create', ['customer.created']],
  ['update', ['customer.updated']],
  ['identify', ['customer.updated']],
  ['activate', ['customer.activated']],
  ['close', ['customer.closed']],
  ['erase', ['customer.erased']],
  ['score', ['credit.decided']],
  ['boost', ['credit.decided']],
])

/** The changes of the journal itself and of buckets, by entity and action. */
const OF_OTHERS: ReadonlyMap<string, readonly EventType[]> = new Map([
  ['accounting period close', ['accounting.period_closed']],
  ['accounting chart set', ['accounting.chart_changed']],
  ['delinquency change', ['delinquency.changed']],
  ['accounting provisions book', ['accounting.provisions_booked']],
  ['reconciliation complete', ['reconciliation.completed']],
  ['payment channel silent', ['channel.silent']],
  ['promise keep', ['promise.kept']],
  ['promise break', ['promise.broken']],
  ['reminder due_soon', ['loan.due_soon']],
  ['reminder overdue', ['loan.reminder']],
])

/**
 * Returns the types of the events of a change: the change itself first, then what followed from it.
 * @returns undefined for a change that no receiver is told of, such as one of an account
 */
export function eventTypesOf(change: ToldChange): readonly EventType[] | undefined {
  const { entity, action, isRaised } = change
  if (entity === 'loan') return [...causesOf(change), ...(change.loanChange?.consequences ?? [])]
  if (entity === PAYMENT) {
    const type = paymentEventOf(action)
    return type && [type]
  }
  const types = entity === 'customer' ? OF_CUSTOMERS.get(action) : OF_OTHERS.get(`${entity} ${action}`)
  return types && isRaised ? [...types, 'credit.limit_raised'] : types
}

function causesOf({ action, loanChange }: ToldChange): readonly EventType[] {
  const { posted = null, reversed = null } = loanChange ?? {}
  if (action === 'create') return ['loan.disbursed']
  if (posted && reversed)
    return isCustomerRepayment(reversed.type) ? ['repayment.adjusted'] : ['transaction.reversed', 'transaction.posted']
  // The waivers and the fee of a restructure are transactions of their own, and told as such.
  if ((posted ?? reversed)?.type === 'Restructure') return ['loan.restructured']
  if (reversed) return [isCustomerRepayment(reversed.type) ? 'repayment.reversed' : 'transaction.reversed']
  if (posted) return [isCustomerRepayment(posted.type) ? 'repayment.posted' : 'transaction.posted']
  // What time changed has no cause but time: what followed is all there is.
  return action === 'time' && loanChange ? [] : ['loan.restated']
}

/** Returns the name of a change that no receiver is told of, such as `api_key.create`. */
export const untoldTypeOf = ({ entity, action }: Pick<ToldChange, 'entity' | 'action'>): string =>
  `${entity}.${action}`.replaceAll(' ', '_')
