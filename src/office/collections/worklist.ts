import { type Html, html } from '../../api/http/html.ts'
import type { Bucket } from '../../domain/delinquency/policy.ts'
import { readWorklist, WORKLIST_ORDERS, type WorkItem } from '../../services/collections/worklist.ts'
import { findPolicy } from '../../services/delinquency/policies.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'
import { BUCKET_WORDS } from '../../words/names.ts'
import { nameIn } from '../../words/words.ts'
import { type Desk, type Fields, textOf, timeText, wordOf } from '../desk.ts'
import { figures, linkOf, money, page, table } from '../layout/page.ts'
import { pageNeeds } from '../permissions.ts'

/** The loans of a page. */
const ROWS = 50

/** The officers whose loans a person asks for. */
const OFFICERS = ['me', 'none'] as const

const askedOf = (query: Fields) => ({
  first: wordOf(WORKLIST_ORDERS, query, 'first') ?? 'daysPastDue',
  officer: wordOf(OFFICERS, query, 'officer'),
  bucket: textOf(query, 'bucket', 100),
  page: Math.min(LARGEST_INT32, Math.max(1, Number(textOf(query, 'page', 10) ?? 1) || 1)),
})

/** Builds the page of the loans to work at: whom to call, what was said and promised last, and what is next. */
export async function worklistPage(desk: Desk, query: Fields): Promise<string> {
  const { deps, caller, say } = desk
  const asked = askedOf(query)
  const { policy } = await findPolicy(deps, caller.organizationId, {})
  const assignedTo = asked.officer === 'me' ? (caller.accountId ?? 'none') : asked.officer
  const request = { orderBy: asked.first, assignedTo, bucket: asked.bucket, page: asked.page, rows: ROWS }
  const { asOf, items, total } = await readWorklist(deps, caller, request)
  const more = { first: asked.first, officer: asked.officer, bucket: asked.bucket, page: String(asked.page + 1) }
  const body = html`<h1>${say('workList')}</h1>
<p>${say('asOf')} ${asOf}. ${say('workListMeans')}</p>
${form(desk, policy.buckets, asked)}
${workTable(desk, items)}
${total > asked.page * ROWS && html`<p><a href="${linkOf('/worklist', more)}">${say('nextLoans')}</a></p>`}`
  return page(desk, say('workList'), body)
}

function form({ say, language }: Desk, all: readonly Bucket[], asked: ReturnType<typeof askedOf>): Html {
  const option = (value: string, chosen: string, text: string) =>
    html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`
  const officer = asked.officer ?? ''
  const bucket = asked.bucket ?? ''
  return html`<form action="/worklist"><label>${say('workFirst')} <select name="first">${WORKLIST_ORDERS.map((one) => option(one, asked.first, say(`first_${one}`)))}</select></label>
<label>${say('officer')} <select name="officer">${option('', officer, say('anyOfficer'))}${option('me', officer, say('myLoans'))}${option('none', officer, say('loansOfNobody'))}</select></label>
<label>${say('bucket')} <select name="bucket">${option('', bucket, say('all'))}${all.map(({ name }) => option(name, bucket, nameIn(BUCKET_WORDS, language, name)))}</select></label>
<button>${say('show')}</button></form>`
}

/** Builds a phone number that is called with a tap. */
export const phoneLink = (phone: string | null): Html | '' =>
  phone === null || phone === '' ? '' : html`<a href="tel:${phone.replaceAll(/[^+\d]/g, '')}">${phone}</a>`

/** Builds the next open promise on a loan, and how many were broken. */
function promiseText({ say }: Desk, { promised, by, currency, brokenPromises }: WorkItem): Html {
  const open = promised === null ? '' : `${money(promised, currency)} · ${by ?? ''}`
  const broken = brokenPromises === 0 ? '' : `${say('brokenPromises')}: ${brokenPromises}`
  return html`<span>${open}${open !== '' && broken !== '' && html`<br>`}${broken}</span>`
}

function workTable(desk: Desk, items: readonly WorkItem[]): Html {
  const { deps, say, may } = desk
  const [mayContact, mayPromise, mayRepay] = [
    may(pageNeeds('/customers/:id/do/contact')),
    may(pageNeeds('/loans/:id/do/promise')),
    may(pageNeeds('/loans/:id/do/:action', 'repay')),
  ]
  const { zone } = deps.config
  const rows = items.map((item) => [
    html`<a href="/loans/${item.id}">${item.id}</a>`,
    html`<span><a href="/customers/${item.customerId}">${item.customerName}</a><br>${phoneLink(item.phone)}</span>`,
    item.daysPastDue,
    html`${money(item.overdue, item.currency)} ${item.currency.code}`,
    promiseText(desk, item),
    [item.nextOn ?? '', ...item.held.map((one) => `${say('held')}: ${say(`hold_${one}`)}`)].join(' '),
    item.contactedAt === null || item.outcome === null
      ? ''
      : `${timeText(item.contactedAt, zone).slice(0, 10)} ${say(`came_${item.outcome}`)}`,
    html`<span>${mayContact && html`<a href="/customers/${item.customerId}/do/contact?loan=${item.id}">${say('recordContact')}</a><br>`}${mayPromise && html`<a href="/loans/${item.id}/do/promise">${say('recordPromise')}</a><br>`}${mayRepay && html`<a href="/loans/${item.id}/do/repay">${say('repay')}</a>`}</span>`,
  ])
  return table(
    say('workList'),
    [
      [say('loan')],
      [say('customer'), 'words'],
      ...figures(say('daysPastDue'), say('overdue'), say('promiseState')),
      [say('nextAction'), 'words'],
      [say('lastContact'), 'words'],
      [say('actions')],
    ],
    rows,
    say('nobodyToCall'),
  )
}
