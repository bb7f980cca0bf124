import { Readable } from 'node:stream'
import { type Html, html } from '../../api/http/html.ts'
import { readId } from '../../api/wire.ts'
import { displayName } from '../../domain/customer/customer.ts'
import { currencyOf } from '../../domain/money.ts'
import type { Candidate } from '../../domain/payments/matching.ts'
import { inSuspense, PAYMENT_STATUSES, type Payment } from '../../domain/payments/payment.ts'
import { csvHead, csvRows } from '../../services/csv.ts'
import { countWaiting, listWaiting, type PayableLoan, type Waiting } from '../../services/office/payments.ts'
import { channelOf } from '../../services/payments/channelCache.ts'
import { listChannels, MOST_CHANNELS } from '../../services/payments/channels.ts'
import { suspenseColumns } from '../../services/payments/csv.ts'
import { listPayments, type PaymentView } from '../../services/payments/payments.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'
import { PAYMENT_STATUS_WORDS } from '../../words/names.ts'
import { MATCH_WORDS } from '../../words/payments.ts'
import { nameIn } from '../../words/words.ts'
import { causeIn, type Desk, type Fields, textOf, wordOf } from '../desk.ts'
import { type Column, linkOf, money, page, table } from '../layout/page.ts'
import { today } from '../pages/bookFiles.ts'
import { pageNeeds } from '../permissions.ts'

const ROWS = 50
/** Rows of the file that are read at once. */
const FILE_ROWS = 500
const LONGEST_RECEIPT = 100

/** What the list can show: the payments that wait, all of them, or those of one status. */
const SHOWN = ['waiting', 'all', ...PAYMENT_STATUSES] as const

/** What a person asks of the list. */
interface Asked {
  readonly status: (typeof SHOWN)[number]
  readonly channel: string | undefined
  readonly receipt: string | undefined
}

/**
 * Builds the page of the payments that wait for a loan, the oldest first; for a reader of the book also that of all others.
 * @throws LendingError `permission_denied` for others than those that wait
 */
export async function paymentsPage(desk: Desk, query: Fields): Promise<string> {
  const { deps, caller, say, may } = desk
  const [channel, receipt] = [textOf(query, 'channel', 20), textOf(query, 'receipt', LONGEST_RECEIPT)]
  const chosen = wordOf(SHOWN, query, 'status') ?? 'waiting'
  // Who looks for a receipt wants to know where its payment is, also where it waits no more.
  const status = chosen === 'waiting' && receipt !== undefined ? 'all' : chosen
  const after = textOf(query, 'after')
  const asked: Asked = { status, channel, receipt }
  const range = after === undefined ? { rows: ROWS, page: 1 } : { rows: ROWS, after }
  const { items, next, loans } = await list(desk, asked, range)
  const isWaiting = status === 'waiting'
  const names = new Map<number, string>()
  for (const { payment } of items) names.set(payment.channelId, (await channelOf(deps, payment)).name)
  const waiting = await countWaiting(deps, caller)
  const body = html`<h1>${say('paymentsToMatch')}</h1>
<p>${waiting.length === 0 ? say('noWaitingPayment') : waitingText(desk, waiting)}</p>
${may(pageNeeds('/payments.csv')) && (await form(desk, asked))}
${may(pageNeeds('/payments.csv')) && html`<p><a href="/payments-in-suspense.csv">${say('csv')}: ${say('waitingPayments')}</a> · <a href="/payments.csv">${say('csv')}: ${say('allPayments')}</a></p>`}
${table(
  say(isWaiting ? 'paymentsWait' : 'allPaymentsOldest'),
  columns(desk, isWaiting),
  items.map((view) => rowOf(desk, view, { names, loans, isWaiting })),
  say(isWaiting ? 'noWaitingPayment' : 'noPayment'),
)}
${next !== undefined && items.length === ROWS && html`<p><a href="${linkOf('/payments', { status, channel, receipt, after: next })}">${say('more')}</a></p>`}`
  return page(desk, say('paymentsToMatch'), body)
}

/** The loans that payments may be for, by id. */
type Loans = ReadonlyMap<bigint, PayableLoan>

interface List {
  readonly items: readonly PaymentView[]
  readonly next?: string
  readonly loans: Loans
}

async function list(
  { deps, caller }: Desk,
  { status, channel, receipt }: Asked,
  range: Parameters<typeof listWaiting>[3],
): Promise<List> {
  const channelId = channelIdOf(channel)
  if (status === 'waiting') return listWaiting(deps, caller, { channelId }, range)
  const statuses = status === 'all' ? undefined : [status]
  return { ...(await listPayments(deps, caller, { channelId, receipt, statuses }, range)), loans: new Map() }
}

/** Returns the number of a channel that a query names; one that no channel can have finds nothing. */
export function channelIdOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const id = readId(text) ?? 0n
  return Number(id > LARGEST_INT32 ? 0n : id)
}

const option = (value: string, text: string, chosen: string | undefined) =>
  html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`

/** Builds the choice of a channel. @param all the word for no channel in particular; left out: one has to be chosen */
export async function channelChoice({ deps, caller, say }: Desk, chosen = '', all?: string): Promise<Html> {
  const { items } = await listChannels(deps, caller, { rows: MOST_CHANNELS })
  const options = items.map(({ id, name }) => option(String(id), name, chosen))
  return html`<label>${say('channel')} <select name="channel">${all !== undefined && html`<option value="">${all}</option>`}${options}</select></label>`
}

async function form(desk: Desk, { status, channel, receipt }: Asked): Promise<Html> {
  const { say, language } = desk
  const named = (one: Asked['status']) => {
    if (one === 'waiting') return say('statusWaiting')
    return one === 'all' ? say('all') : nameIn(PAYMENT_STATUS_WORDS, language, one)
  }
  return html`<form action="/payments">
<label>${say('status')} <select name="status">${SHOWN.map((one) => option(one, named(one), status))}</select></label>
${await channelChoice(desk, channel, say('all'))}
<label>${say('providerReceipt')} <input name="receipt" maxlength="${LONGEST_RECEIPT}" size="14" value="${receipt ?? ''}"></label>
<button>${say('show')}</button></form>`
}

/** Writes how many payments wait, and for how much. */
export const waitingText = ({ say }: Desk, waiting: readonly Waiting[]): string =>
  waiting
    .map(({ currency, count, amount }) =>
      say('counted', { count, amount: money(amount, currency), currency: currencyOf(currency).code }),
    )
    .join('; ')

function columns({ say, may }: Desk, isWaiting: boolean): Column[] {
  return [
    [say('payment')],
    [say('valueDate')],
    [say('channel'), 'words'],
    [say('providerReceipt')],
    [say('reference')],
    ...(may('reports.read') ? ([[say('payer'), 'words']] as const) : []),
    [say('currency')],
    [say('amount'), 'figure'],
    [say('suspense'), 'figure'],
    [say('status')],
    [say('cause'), 'words'],
    ...(isWaiting ? ([[say('candidates'), 'words']] as const) : []),
  ]
}

interface Shown {
  readonly names: ReadonlyMap<number, string>
  readonly loans: Loans
  readonly isWaiting: boolean
}

function rowOf(desk: Desk, view: PaymentView, { names, loans, isWaiting }: Shown) {
  const { payment, candidates } = view
  return [
    html`<a href="/payments/${payment.id}">${payment.id}</a>`,
    payment.valueDate,
    names.get(payment.channelId) ?? '',
    payment.receipt,
    payment.reference ?? '',
    ...(desk.may('reports.read') ? [payerText(view)] : []),
    payment.currency,
    money(payment.amount, payment.currency),
    money(inSuspense(payment), payment.currency),
    statusText(desk, payment),
    causeIn(desk.language, payment.cause),
    ...(isWaiting
      ? [candidates.map((one) => html`<div>${candidateText(desk, payment, one, loans.get(one.loanId))}</div>`)]
      : []),
  ]
}

/** Writes who paid. */
export const payerText = ({ payer }: Pick<PaymentView, 'payer'>): string =>
  [payer.name, payer.phone].filter((one) => one !== null).join(', ')

/** Writes the status of a payment, and whether it waits for the statement. */
export function statusText({ say, language }: Desk, payment: Pick<Payment, 'status' | 'unconfirmed'>): string {
  const status = nameIn(PAYMENT_STATUS_WORDS, language, payment.status)
  return payment.unconfirmed ? `${status}, ${say('awaitsStatement')}` : status
}

/** Builds the link by which a payment is allocated to a loan; the link to the loan where it cannot be. */
export const loanLink = ({ say, may }: Desk, payment: Payment, loan: bigint): Html =>
  may(pageNeeds('/payments/:id/loans/:loanId/do/allocate')) && !payment.unconfirmed
    ? html`<a href="/payments/${payment.id}/loans/${loan}/do/allocate">${say('allocateToLoan', { loan })}</a>`
    : html`<a href="/loans/${loan}">${say('loan')} ${loan}</a>`

const candidateText = (desk: Desk, payment: Payment, { loanId, why }: Candidate, loan: PayableLoan | undefined) =>
  html`${loanLink(desk, payment, loanId)} ${loan && customerName(loan)}: ${nameIn(MATCH_WORDS, desk.language, why)}`

/** Returns the name of the customer of a loan. */
export const customerName = ({ customerExternalId, customerBusinessName }: PayableLoan): string =>
  displayName({ externalId: customerExternalId, businessName: customerBusinessName })

/** Writes the payments with money in suspense as a CSV file, the oldest first. @throws LendingError `permission_denied` */
export function suspenseFile(desk: Desk) {
  return { name: `payments-in-suspense-${today(desk)}.csv`, content: Readable.from(suspenseParts(desk)) }
}

async function* suspenseParts({ deps, caller }: Desk): AsyncGenerator<string> {
  const own = suspenseColumns(deps.config.zone)
  yield csvHead(own)
  let after: string | undefined
  do {
    const range = after === undefined ? { rows: FILE_ROWS } : { rows: FILE_ROWS, after }
    const { items, next } = await listWaiting(deps, caller, {}, range)
    if (items.length > 0) yield csvRows(own, items)
    after = items.length === FILE_ROWS ? next : undefined
  } while (after !== undefined)
}
