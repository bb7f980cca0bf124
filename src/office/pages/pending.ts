import { type Html, html } from '../../api/http/html.ts'
import { currencyOf } from '../../domain/money.ts'
import { listAccounts } from '../../services/access/accounts.ts'
import { isMaker, listPendingActions, type PendingAction } from '../../services/approvals/approvals.ts'
import { getOrganization } from '../../services/organizations/organizations.ts'
import { type Desk, type Fields, type PageWord, textOf, timeText, wordOf } from '../desk.ts'
import { done, linkOf, money, page, table } from '../layout/page.ts'
import { pageNeeds } from '../permissions.ts'

const ROWS = 100
const STATES = ['pending', 'approved', 'rejected', 'withdrawn'] as const

/** The words of the kinds of pending actions. */
export const KIND_WORDS: Readonly<Record<PendingAction['kind'], PageWord>> = {
  reverse: 'reverse',
  'reverse-charge': 'reverse',
  adjust: 'adjust',
  'write-off': 'writeOff',
  'waive-interest': 'waive',
  restructure: 'restructure',
  'reverse-restructure': 'reverse',
  'reverse-allocations': 'reverseAllocations',
  'return-payment': 'returnPayment',
}

/** Builds the page of the actions that wait for a second ADMIN, or of those that were decided. */
export async function pendingPage(desk: Desk, query: Fields): Promise<string> {
  const { deps, caller, say } = desk
  const state = wordOf(STATES, query, 'state') ?? 'pending'
  const after = textOf(query, 'after')
  const range = after === undefined ? { rows: ROWS, page: 1 } : { rows: ROWS, after }
  const { items, next } = await listPendingActions(deps, caller, { state }, range)
  const { approvalAbove, currency } = await getOrganization(deps, caller)
  const limit = approvalAbove === null ? undefined : { amount: money(approvalAbove, currency), currency }
  const body = html`<h1>${say('pending')}</h1>
${done(desk, query)}
<p>${limit ? say('mayWait', limit) : say('noThreshold')}</p>
<form action="/pending"><label>${say('state')} <select name="state">${STATES.map((one) => html`<option value="${one}"${one === state && html` selected`}>${say(`state_${one}`)}</option>`)}</select></label> <button>${say('show')}</button></form>
${await actions(desk, items)}
${next !== undefined && items.length === ROWS && html`<p><a href="${linkOf('/pending', { state, after: next })}">${say('more')}</a></p>`}`
  return page(desk, say('pending'), body)
}

async function actions(desk: Desk, items: readonly PendingAction[]): Promise<Html> {
  const { deps, caller, say } = desk
  const accounts = await listAccounts(deps, caller.organizationId)
  const names = new Map(accounts.map(({ id, email }) => [id, email]))
  const person = (id: number | null) => (id === null ? say('commandLine') : (names.get(id) ?? String(id)))
  const rows = items.map((action) => [
    action.id,
    say(KIND_WORDS[action.kind]),
    targetLink(desk, action),
    action.transactionId ?? '',
    currencyOf(action.currency).code,
    money(action.amount, action.currency),
    person(action.askedBy),
    timeText(action.askedAt, deps.config.zone),
    action.state === 'pending' ? links(desk, action) : person(action.decidedBy),
    action.reason ?? '',
  ])
  const isPending = items.some(({ state }) => state === 'pending')
  return table(
    say('pendingActions'),
    [
      ...([[say('id')], [say('action')], [say('actionOn')], [say('transactions')], [say('currency')]] as const),
      ...([[say('amount'), 'figure'], [say('askedBy'), 'words'], [say('askedAt')]] as const),
      [say(isPending ? 'actions' : 'decidedBy')],
      [say('reason'), 'words'],
    ],
    rows,
    say('noPending'),
  )
}

/** Returns the words of the loan or the payment that an action is on. */
export const targetText = ({ say }: Pick<Desk, 'say'>, { loanId, paymentId }: PendingAction): string =>
  loanId === null ? say('onPayment', { id: paymentId! }) : say('onLoan', { id: loanId })

const targetLink = (desk: Desk, action: PendingAction): Html =>
  html`<a href="${action.loanId === null ? `/payments/${action.paymentId}` : `/loans/${action.loanId}`}">${targetText(desk, action)}</a>`

/** Builds the links to what the person may do: the one who asked withdraws, another ADMIN approves or rejects. */
function links({ caller, say, may }: Desk, action: PendingAction): Html | false {
  const to = (verb: 'approve' | 'reject' | 'withdraw') =>
    html`<a href="/pending/${action.id}/do/${verb}">${say(verb)}</a> `
  if (!may(pageNeeds('/pending/:id/do/:action', 'approve'))) return false
  if (isMaker(action, caller)) return to('withdraw')
  const all = (path: string, word: PageWord) => html`<a href="/pending/${path}/do/reject">${say(word)}</a> `
  const ofAsker = action.askedBy !== null && all(`asked-by/${action.askedBy}`, 'rejectOfAsker')
  return html`${to('approve')}${to('reject')}${ofAsker}${action.loanId !== null && all(`of-loan/${action.loanId}`, 'rejectOfLoan')}`
}
