import { type Html, html } from '../../api/http/html.ts'
import { LONGEST_DUTY } from '../../domain/customer/erasure.ts'
import { dateIn, LAST_DATE, type LocalDate } from '../../domain/dates.ts'
import { listAccounts } from '../../services/access/accounts.ts'
import {
  DATA_REQUEST_STATES,
  type DataRequest,
  getDataRequest,
  isAsker,
  isUndecided,
  listDataRequests,
} from '../../services/customers/dataRequests.ts'
import { getOrganization, type Organization } from '../../services/organizations/organizations.ts'
import { type Desk, type Fields, idOf, textOf, timeText, wordOf } from '../desk.ts'
import { type Column, done, linkOf, page, table, tile, tiles } from '../layout/page.ts'
import { pageNeeds } from '../permissions.ts'

const ROWS = 100
/** The most data requests on the page of a customer. */
const MOST_OF_CUSTOMER = 20

/** Writes who an account is, by its number. */
type Person = (id: number | null) => string

async function peopleOf({ deps, caller, say }: Desk): Promise<Person> {
  const accounts = await listAccounts(deps, caller.organizationId)
  const names = new Map(accounts.map(({ id, email }) => [id, email]))
  return (id) => (id === null ? say('commandLine') : (names.get(id) ?? String(id)))
}

const todayOf = ({ deps, caller }: Desk): LocalDate => dateIn(deps.config.zone, deps.now(caller.organizationId))

/**
 * Builds the page of what people ask for: what is not decided, due first, or the requests in one state, oldest first.
 * @throws LendingError `permission_denied`
 */
export async function dataRequestsPage(desk: Desk, query: Fields): Promise<string> {
  const { deps, caller, say } = desk
  const state = wordOf(DATA_REQUEST_STATES, query, 'state')
  const after = textOf(query, 'after')
  const range = after === undefined ? { rows: ROWS, page: 1 } : { rows: ROWS, after }
  // Each is due 7 days after it came: what came first is due first.
  const filter = state === undefined ? { dueBefore: LAST_DATE } : { state }
  const { items, next } = await listDataRequests(deps, caller, filter, range)
  const option = (value: string, word: string) =>
    html`<option value="${value}"${value === (state ?? '') && html` selected`}>${word}</option>`
  const body = html`<h1>${say('dataRequests')}</h1>
${done(desk, query)}
<form action="/data-requests"><label>${say('state')} <select name="state">${option('', say('undecided'))}${DATA_REQUEST_STATES.map((one) => option(one, say(`request_${one}`)))}</select></label> <button>${say('show')}</button></form>
${await requestTable(desk, items)}
${next !== undefined && items.length === ROWS && html`<p><a href="${linkOf('/data-requests', { state, after: next })}">${say('more')}</a></p>`}
${retentionOf(desk, await getOrganization(deps, caller))}`
  return page(desk, say('dataRequests'), body)
}

/** Builds how long the lender keeps what it knows. */
function retentionOf({ say }: Desk, { keepBorrowersYears, keepOthersYears }: Organization): Html {
  const years = (set: number | null, otherwise: number) =>
    set === null ? say('notSet', { years: otherwise }) : String(set)
  return html`<section><h2>${say('retention')}</h2>${tiles([
    tile(say('keepsBorrowers'), years(keepBorrowersYears, LONGEST_DUTY.borrowers)),
    tile(say('keepsOthers'), years(keepOthersYears, LONGEST_DUTY.others)),
  ])}
<p>${say('retentionMeans')}</p></section>`
}

/** Builds the data requests of a customer, and the link by which one is kept; for an ADMIN. */
export async function dataRequestsOf(desk: Desk, id: bigint): Promise<Html> {
  const { deps, caller, say } = desk
  const range = { rows: MOST_OF_CUSTOMER, page: 1 }
  const { items, total = 0 } = await listDataRequests(deps, caller, { customerId: id }, range)
  return html`${items.length > 0 && (await requestTable(desk, items))}
${total > items.length && html`<p>${say('latestOf', { shown: items.length, all: total })}</p>`}
${desk.may(pageNeeds('/customers/:id/do/ask')) && html`<p class="actions"><a href="/customers/${id}/do/ask">${say('askForData')}</a></p>`}`
}

async function requestTable(desk: Desk, items: readonly DataRequest[]): Promise<Html> {
  const { deps, say } = desk
  const person = await peopleOf(desk)
  const rows = items.map((request) => [
    html`<a href="/data-requests/${request.id}">${request.id}</a>`,
    say(`ask_${request.kind}`),
    html`<a href="/customers/${request.customerId}">${request.customerId}</a>`,
    timeText(request.askedAt, deps.config.zone),
    request.proposed ? say('proposedByService') : person(request.askedBy),
    dueOf(desk, request),
    say(`request_${request.state}`),
  ])
  const columns: Column[] = [
    [say('id')],
    [say('kind'), 'words'],
    [say('customer')],
    [say('askedAt')],
    [say('askedBy'), 'words'],
    [say('answerBy')],
    [say('state'), 'words'],
  ]
  return table(say('dataRequests'), columns, rows, say('noDataRequest'))
}

/** Builds the day until which a request is to be answered, marked where that is over. */
const dueOf = (desk: Desk, request: DataRequest): Html =>
  isUndecided(request) && request.dueOn < todayOf(desk)
    ? html`<strong class="bad">${request.dueOn} ${desk.say('isLate')}</strong>`
    : html`${request.dueOn}`

/** Builds the page of one data request. @throws LendingError `permission_denied`, `not_found` */
export async function dataRequestPage(desk: Desk, text: string, query: Fields): Promise<string> {
  const { deps, caller, say } = desk
  const request = await getDataRequest(deps, caller, idOf(text, 'data request'))
  const person = await peopleOf(desk)
  const { zone } = deps.config
  const title = `${say('dataRequest')} ${request.id}`
  const said = ([word, value]: readonly ['reasonInWords' | 'answerGiven', string | null]) =>
    value !== null && html`<section><h2>${say(word)}</h2><p>${value}</p></section>`
  const body = html`<h1>${title}</h1>
${done(desk, query)}
${tiles([
  tile(say('kind'), say(`ask_${request.kind}`)),
  tile(say('customer'), html`<a href="/customers/${request.customerId}">${request.customerId}</a>`),
  tile(say('state'), say(`request_${request.state}`)),
  tile(say('answerBy'), dueOf(desk, request)),
  tile(say('askedAt'), timeText(request.askedAt, zone)),
  tile(say('askedBy'), request.proposed ? say('proposedByService') : person(request.askedBy)),
  ...(request.decidedAt === null
    ? []
    : [tile(say('decidedAt'), timeText(request.decidedAt, zone)), tile(say('decidedBy'), person(request.decidedBy))]),
])}
${said(['reasonInWords', request.reason])}
${request.obstacles.length > 0 && html`<section><h2>${say('obstacles')}</h2><ul>${request.obstacles.map((one) => html`<li>${one}</li>`)}</ul></section>`}
${said(['answerGiven', request.note])}
${isUndecided(request) && decisions(desk, request)}
${request.kind === 'access' && request.state !== 'refused' && request.state !== 'withdrawn' && downloads(desk, request)}`
  return page(desk, title, body)
}

/** Builds the links to what may be done with a request; why the one who asked for an erasure cannot confirm it. */
function decisions({ say, caller, may }: Desk, request: DataRequest): Html | false {
  if (!may(pageNeeds('/data-requests/:id/do/:action', 'complete'))) return false
  const to = (verb: string, word: 'completeRequest' | 'refuseRequest' | 'withdrawRequest' | 'eraseNow') =>
    html`<a href="/data-requests/${request.id}/do/${verb}">${say(word)}</a> `
  const isErasure = request.kind === 'erasure'
  const own = isErasure && isAsker(request, caller.accountId)
  return html`<p class="actions">${!isErasure && to('complete', 'completeRequest')}${isErasure && !own && to('confirm', 'eraseNow')}${to('refuse', 'refuseRequest')}${to('withdraw', 'withdrawRequest')}</p>
${own && html`<p><button disabled>${say('eraseNow')}</button> ${say('eraseByAnother')}</p>`}`
}

const downloads = ({ say }: Desk, { id }: DataRequest): Html => {
  const of = `/data-requests/${id}/result`
  return html`<section><h2>${say('exports')}</h2><p>${say('resultMeans')}</p>
<p class="actions"><a href="${of}.json">${say('resultJson')}</a> <a href="${of}.pdf?language=en">${say('resultEnglish')}</a> <a href="${of}.pdf?language=sw">${say('resultKiswahili')}</a></p></section>`
}
