import { html } from '../../api/http/html.ts'
import { channelOf } from '../../services/payments/channelCache.ts'
import { listNewestReconciliations, type Reconciliation } from '../../services/payments/reconciliation/reconcile.ts'
import { type Desk, type Fields, textOf, timeText } from '../desk.ts'
import { type Column, linkOf, money, page, table } from '../layout/page.ts'
import { pageNeeds } from '../permissions.ts'
import { channelChoice, channelIdOf } from './payments.ts'

const ROWS = 50

/**
 * Builds the page of the reconciliations, the newest first: of a channel, or of all.
 * @throws LendingError `permission_denied`
 */
export async function reconciliationsPage(desk: Desk, query: Fields): Promise<string> {
  const { deps, caller, say, may } = desk
  const [channel, after] = [textOf(query, 'channel', 20), textOf(query, 'after')]
  const { items, next } = await listNewestReconciliations(deps, caller, channelIdOf(channel) ?? null, {
    rows: ROWS,
    after,
  })
  const rows = await Promise.all(items.map((run) => rowOf(desk, run)))
  const body = html`<h1>${say('reconciliations')}</h1>
${may(pageNeeds('/reconciliations/new')) && html`<p class="actions">${say('actions')}: <a href="${linkOf('/reconciliations/new', { channel })}">${say('compareStatement')}</a></p>`}
<form action="/reconciliations">
${await channelChoice(desk, channel, say('all'))}
<button>${say('show')}</button></form>
${table(say('reconciliationsNewest'), columns(desk), rows, say('noReconciliation'))}
${next !== undefined && items.length === ROWS && html`<p><a href="${linkOf('/reconciliations', { channel, after: next })}">${say('more')}</a></p>`}`
  return page(desk, say('reconciliations'), body)
}

const columns = ({ say }: Desk): Column[] => [
  [say('reconciliation')],
  [say('channel'), 'words'],
  [say('daysOfStatement')],
  [say('outcomeOf')],
  [say('currency')],
  [say('difference'), 'figure'],
  [say('lastCompared')],
]

async function rowOf(desk: Desk, run: Reconciliation) {
  const { name, currency } = await channelOf(desk.deps, run)
  return [
    html`<a href="/reconciliations/${run.id}">${run.id}</a>`,
    name,
    daysText(run),
    outcomeText(desk, run),
    currency,
    money(run.difference, currency),
    timeText(run.updatedAt, desk.deps.config.zone),
  ]
}

/** Writes the days of a statement. */
export const daysText = ({ fromDate, toDate }: Reconciliation): string =>
  fromDate === toDate ? fromDate : `${fromDate} – ${toDate}`

/** Writes whether a statement is balanced. */
export const outcomeText = ({ say }: Desk, { balanced }: Reconciliation) =>
  balanced ? say('balanced') : html`<strong>${say('notBalanced')}</strong>`
