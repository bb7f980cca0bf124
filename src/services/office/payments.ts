import {
  type ChannelFigures,
  findLoansOf,
  findMessagesOf,
  type PayableLoan,
  type PaymentMessage,
  readPayable,
  sumChannels,
  sumWaiting,
  type Waiting,
} from '../../db/office/payments.ts'
import { findPayments, PAYMENT_ORDER, type PaymentFilter } from '../../db/payments/payments.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { dateIn } from '../../domain/dates.ts'
import type { Payment, PaymentStatus } from '../../domain/payments/payment.ts'
import type { Caller } from '../access/caller.ts'
import type { Core, Deps } from '../deps.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'
import { type Channel, listChannels, MOST_CHANNELS } from '../payments/channels.ts'
import { type PaymentView, viewsOf } from '../payments/payments.ts'
import { MOST_FOUND, search } from './search.ts'

export type { PayableLoan, PaymentMessage, Waiting } from '../../db/office/payments.ts'

/** The statuses of payments that have money in suspense: nothing decided yet, a part of it, all of it. */
export const WAITING_STATUSES: readonly PaymentStatus[] = ['received', 'partly_allocated', 'unmatched']

/** The messages of a payment that are shown at most. */
const MOST_MESSAGES = 20

/** A payment that waits, and the loans that it may be for, by id. */
export interface WaitingPayments extends Ranged<PaymentView> {
  readonly loans: ReadonlyMap<bigint, PayableLoan>
}

/**
 * Returns a part of the payments that have money in suspense, the oldest first; for everybody who works with loans, because a payment
 * has to come to its loan.
 * @throws LendingError `invalid_argument` for a range that names no part
 */
export async function listWaiting(
  deps: Deps,
  { organizationId }: Caller,
  filter: Pick<PaymentFilter, 'channelId'>,
  range: Range,
): Promise<WaitingPayments> {
  const position = positionOf(range, { arrival: PAYMENT_ORDER })
  const asked = { ...filter, statuses: WAITING_STATUSES }
  const found = rangedOf(await findPayments(deps.db, organizationId, asked, position))
  const items = await viewsOf(deps, organizationId, found.items)
  return { ...found, items, loans: await loansOf(deps, organizationId, items) }
}

/** Returns the loans that payments may be for, by id. */
const loansOf = ({ db }: Pick<Deps, 'db'>, organizationId: number, views: readonly PaymentView[]) =>
  readPayable(
    db,
    organizationId,
    views.flatMap(({ candidates }) => candidates.map(({ loanId }) => loanId)),
  )

/** Returns the loans that a payment may be for, by id. */
export const candidateLoans = (deps: Pick<Deps, 'db'>, { organizationId }: Caller, view: PaymentView) =>
  loansOf(deps, organizationId, [view])

/** Returns the payments that wait, by currency. */
export const countWaiting = ({ db }: Pick<Core, 'db'>, { organizationId }: Caller): Promise<Waiting[]> =>
  sumWaiting(db, organizationId)

/**
 * Searches the book for loans to which a payment may be allocated: loans by their own names, and the loans of customers.
 * @returns `MOST_FOUND` at most
 * @throws LendingError `invalid_argument`
 */
export async function searchLoans(
  { db, people }: Pick<Deps, 'db' | 'people'>,
  caller: Caller,
  text: string,
): Promise<PayableLoan[]> {
  const { organizationId } = caller
  const { loans, customers, transactions } = await search({ db, people }, caller, text)
  const ids = [...loans.map(({ id }) => id), ...transactions.map(({ loanId }) => loanId)]
  const [named, ofCustomers] = await Promise.all([
    readPayable(db, organizationId, ids),
    findLoansOf(db, organizationId, { customerIds: customers.map(({ id }) => id), most: MOST_FOUND }),
  ])
  const all = new Map([...named, ...ofCustomers.map((loan) => [loan.id, loan] as const)])
  return [...all.values()].slice(0, MOST_FOUND)
}

/** Returns the messages of its provider that told of a payment, as they came; for readers of the book. @throws LendingError `permission_denied` */
export async function messagesOf(
  { db }: Pick<Deps, 'db'>,
  caller: Caller,
  payment: Pick<Payment, 'id'>,
): Promise<PaymentMessage[]> {
  requirePermission(caller, 'reports.read')
  return findMessagesOf(db, { organizationId: caller.organizationId, id: payment.id }, MOST_MESSAGES)
}

/** A channel, what came in on it today, and where its money is. */
export interface ChannelNow extends Omit<ChannelFigures, 'channelId'> {
  readonly channel: Channel
}

/** Returns the channels of the organization as they are now; for readers of the book. @throws LendingError `permission_denied` */
export async function listChannelsNow(deps: Deps, caller: Caller): Promise<ChannelNow[]> {
  requirePermission(caller, 'reports.read')
  const { organizationId } = caller
  const today = dateIn(deps.config.zone, deps.now(organizationId))
  const { items } = await listChannels(deps, caller, { rows: MOST_CHANNELS })
  const figures = await sumChannels(deps.db, { organizationId, today })
  const byId = new Map(figures.map(({ channelId, ...rest }) => [channelId, rest]))
  return items.flatMap((channel) => {
    const own = byId.get(channel.id)
    return own ? [{ channel, ...own }] : []
  })
}
