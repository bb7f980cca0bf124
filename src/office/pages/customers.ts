import { type Html, html } from '../../api/http/html.ts'
import { hasPermission } from '../../domain/access/permissions.ts'
import { displayName } from '../../domain/customer/customer.ts'
import type { Identity } from '../../domain/customer/identity.ts'
import { notFound } from '../../domain/errors.ts'
import { scoreNow } from '../../services/credit/credit.ts'
import { type Borrower, getBorrower } from '../../services/customers/borrowers.ts'
import { type Customer, getCustomer, getIdentity, listCustomers } from '../../services/customers/customers.ts'
import { listLoans } from '../../services/loans/loanList.ts'
import type { LoanNow } from '../../services/loans/loans.ts'
import { LONGEST_SEARCH, MOST_FOUND, search } from '../../services/office/search.ts'
import { contactsOf } from '../collections/shown.ts'
import { type Desk, type Fields, idOf, sayName, textOf } from '../desk.ts'
import { done, linkOf, money, page, table, tile, tiles } from '../layout/page.ts'
import { consentsOf } from '../people/consents.ts'
import { dataRequestsOf } from '../people/dataRequests.ts'
import { pageNeeds } from '../permissions.ts'

const ROWS = 50
const MOST_LOANS = 100

/** Builds the page of all customers, in the order in which they came. */
export async function customersPage(desk: Desk, query: Fields): Promise<string> {
  const { deps, caller, say, may } = desk
  const after = textOf(query, 'after')
  const range = after === undefined ? { rows: ROWS, page: 1 } : { rows: ROWS, after }
  const { items, next } = await listCustomers(deps, caller, {}, range)
  const rows = items.map((customer) => [
    html`<a href="/customers/${customer.id}">${customer.id}</a>`,
    displayName(customer),
    customer.externalId ?? '',
    sayName(say, customer.status),
    customer.activationDate ?? '',
  ])
  const body = html`<h1>${say('customers')}</h1>
${may(pageNeeds('/customers/do/create')) && html`<p class="actions"><a href="/customers/do/create">${say('newCustomer')}</a></p>`}
${table(
  say('customers'),
  [[say('id')], [say('name'), 'words'], [say('externalId')], [say('status')], [say('activationDate')]],
  rows,
  say('noCustomer'),
)}
${next !== undefined && items.length === ROWS && html`<p><a href="${linkOf('/customers', { after: next })}">${say('more')}</a></p>`}`
  return page(desk, say('customers'), body)
}

/** Builds the page of one customer, with the loans and the scorecard as of now. @throws LendingError `not_found` */
export async function customerPage(desk: Desk, text: string, query: Fields): Promise<string> {
  const { deps, caller, say, may } = desk
  const id = idOf(text, 'customer')
  const [customer, borrower, card] = await Promise.all([
    getCustomer(deps, caller, { id }),
    getBorrower(deps, caller, id),
    scorecard(desk, id),
  ])
  const loans = await listLoans(
    deps,
    caller,
    {
      filter: { customerId: id },
      range: { rows: MOST_LOANS, page: 1 },
      order: { by: 'disbursedAt', descending: true, role: 'orderBy' },
    },
    (now) => now,
  )
  const body = html`<h1>${displayName(customer)}</h1>
${done(desk, query)}
${details(desk, customer, borrower)}
${hasPermission(caller, 'people.read') && (await person(desk, id))}
${may(pageNeeds('/customers/:id/do/lend')) && customer.status === 'Active' && html`<p class="actions"><a href="/customers/${id}/do/lend">${say('lend')}</a></p>`}
${may(pageNeeds('/customers/:id/do/close')) && customer.status === 'Active' && html`<p class="actions"><a href="/customers/${id}/do/close">${say('closeCustomer')}</a></p>`}
${await contactsOf(desk, id)}
${await consentsOf(desk, id)}
${may(pageNeeds('/data-requests')) && (await dataRequestsOf(desk, id))}
${loansOf(desk, loans.items)}
${loans.total !== undefined && loans.total > MOST_LOANS && html`<p>${say('latestOf', { shown: MOST_LOANS, all: loans.total })}</p>`}
${card}`
  return page(desk, displayName(customer), body)
}

function details({ say }: Desk, customer: Customer, borrower: Borrower): Html {
  const named = [
    [say('id'), customer.id],
    [say('externalId'), customer.externalId],
    [say('status'), sayName(say, customer.status)],
    [say('activationDate'), customer.activationDate],
    [say('phone'), borrower.phone],
    [say('email'), borrower.email],
    [say('address'), borrower.address],
  ] as const
  return tiles(named.flatMap(([name, value]) => (value === null || value === '' ? [] : [tile(name, String(value))])))
}

/** Builds who a customer is, and the link by which that is said. */
async function person(desk: Desk, id: bigint): Promise<Html> {
  const { deps, caller, say } = desk
  const identity = await getIdentity(deps, caller, { id })
  return html`<section><h2>${say('identity')}</h2>${identityTiles(desk, identity)}
${desk.may(pageNeeds('/customers/:id/do/identify')) && html`<p class="actions"><a href="/customers/${id}/do/identify">${say('identify')}</a></p>`}</section>`
}

/** Builds the tiles of what is known of a person. */
export function identityTiles({ say }: Pick<Desk, 'say'>, { verification, ...identity }: Identity): Html {
  const { gender, idType, ...texts } = identity
  const named = [
    ...(Object.entries(texts) as [keyof typeof texts, string | null][]).map(
      ([member, value]) => [say(member), value] as const,
    ),
    [say('gender'), gender && say(`person_${gender}`)],
    [say('idType'), idType && say(`person_${idType}`)],
    [say('verification'), verification && say(`person_${verification.result}`)],
    [say('verifiedBy'), verification && `${verification.by} ${verification.reference ?? ''}`.trim()],
    [say('verifiedOn'), verification?.on ?? null],
  ] as const
  return tiles(named.flatMap(([name, value]) => (value === null ? [] : [tile(name, value)])))
}

/** Builds the table of the loans of a customer. */
function loansOf({ say }: Desk, loans: readonly LoanNow[]): Html {
  const rows = loans.map(({ loan, state }) => [
    html`<a href="/loans/${loan.id}">${loan.id}</a>`,
    loan.productName ?? say('ofRecordSystem'),
    sayName(say, state.status),
    loan.terms.disbursedOn,
    loan.terms.currency.code,
    money(loan.terms.principal, loan.terms.currency),
    money(state.totalOutstanding, loan.terms.currency),
    money(state.totalOverdue, loan.terms.currency),
  ])
  return table(
    say('ofCustomer'),
    [
      [say('loan')],
      [say('product'), 'words'],
      [say('status')],
      [say('disbursedOn')],
      [say('currency')],
      [say('principal'), 'figure'],
      [say('outstanding'), 'figure'],
      [say('overdue'), 'figure'],
    ],
    rows,
    say('noLoan'),
  )
}

/** Builds the scorecard of a customer as of now. To look keeps no decision. */
async function scorecard({ deps, caller, say }: Desk, customerId: bigint): Promise<Html> {
  const scored = await scoreNow(deps, deps.db, caller.organizationId, { id: customerId, externalId: null })
  if (!scored) throw notFound('no customer has that id')
  const { card, currency } = scored
  return html`<section><h2>${say('scorecard')}</h2>${tiles([
    tile(say('score'), card.score),
    tile(say('grade'), card.grade),
    tile(say('creditLimit'), `${money(card.creditLimit, currency)} ${currency.code}`),
    tile(say('available'), `${money(card.availableLimit, currency)} ${currency.code}`),
  ])}
<p>${say('reasons')}: ${card.reasons.join('; ')}</p></section>`
}

type Found = Awaited<ReturnType<typeof search>>

/** Builds the page of what a search found: customers, loans and transactions. */
export async function searchPage(desk: Desk, query: Fields): Promise<string> {
  const { deps, caller, say } = desk
  const text = textOf(query, 'q', LONGEST_SEARCH) ?? ''
  const found = await search(deps, caller, text)
  const nothing = [found.customers, found.loans, found.transactions].every(({ length }) => length === 0)
  const body = html`<h1>${say('found', { text })}</h1>
${nothing ? html`<p>${say('foundNothing')}</p>` : html`<p>${say('mostFound', { most: MOST_FOUND })}</p>`}
${found.customers.length > 0 && customers(desk, found)}${found.loans.length > 0 && loans(desk, found)}${found.transactions.length > 0 && transactions(desk, found)}`
  return page(desk, say('search'), body, { search: text })
}

const customers = ({ say }: Desk, found: Pick<Found, 'customers'>): Html =>
  table(
    say('customers'),
    [[say('id')], [say('name'), 'words'], [say('phone')], [say('externalId')], [say('status')]],
    found.customers.map((customer) => [
      html`<a href="/customers/${customer.id}">${customer.id}</a>`,
      displayName(customer),
      customer.phone ?? '',
      customer.externalId ?? '',
      sayName(say, customer.status),
    ]),
    say('noCustomer'),
  )

const loans = ({ say }: Desk, found: Pick<Found, 'loans'>): Html =>
  table(
    say('loans'),
    [
      [say('id')],
      [say('externalId')],
      [say('status')],
      [say('disbursedOn')],
      [say('currency')],
      [say('principal'), 'figure'],
    ],
    found.loans.map((loan) => [
      html`<a href="/loans/${loan.id}">${loan.id}</a>`,
      loan.externalId ?? '',
      sayName(say, loan.status),
      loan.disbursedOn,
      loan.currency,
      money(loan.principal, loan.currency),
    ]),
    say('noLoan'),
  )

const transactions = ({ say }: Desk, found: Pick<Found, 'transactions'>): Html =>
  table(
    say('transactions'),
    [
      [say('id')],
      [say('loan')],
      [say('type')],
      [say('valueDate')],
      [say('reference')],
      [say('currency')],
      [say('amount'), 'figure'],
    ],
    found.transactions.map((one) => [
      one.id,
      html`<a href="/loans/${one.loanId}">${one.loanId}</a>`,
      one.isReversed ? html`<s>${sayName(say, one.type)}</s> ${say('reversed')}` : sayName(say, one.type),
      one.valueDate,
      one.token ?? '',
      one.currency,
      money(one.amount, one.currency),
    ]),
    say('noTransaction'),
  )
