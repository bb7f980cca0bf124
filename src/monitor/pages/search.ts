import { type Html, html } from '../../api/http/html.ts'
import { displayName } from '../../domain/customer/customer.ts'
import { LONGEST_SEARCH, MOST_FOUND, search } from '../../services/office/search.ts'
import { type Desk, sayName } from '../desk.ts'
import { money } from '../layout/figures.ts'
import { page, table } from '../layout/page.ts'
import { type Fields, textOf } from '../query.ts'

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
