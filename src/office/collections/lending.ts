import type { FastifyRequest } from 'fastify'
import { type Html, html } from '../../api/http/html.ts'
import { newExternalId } from '../../api/wire.ts'
import { displayName } from '../../domain/customer/customer.ts'
import { dateIn } from '../../domain/dates.ts'
import { invalidArgument, LendingError } from '../../domain/errors.ts'
import type { Quote } from '../../domain/product/quote.ts'
import { createCustomer, getCustomer } from '../../services/customers/customers.ts'
import { createLoan } from '../../services/loans/loans.ts'
import { listProducts, quoteProduct } from '../../services/organizations/products.ts'
import { type Desk, type Fields, idOf, sayName, textOf } from '../desk.ts'
import { figures, money, table, tile, tiles } from '../layout/page.ts'
import { amountOf, type Field } from '../loan/actions.ts'
import type { Step } from '../routes/flow.ts'
import { identityIn, PERSON_FIELDS } from '../routes/people.ts'

type Request = Pick<FastifyRequest<{ Params: Readonly<Record<'id', string>> }>, 'desk' | 'params'>

/** Reads an externalId. @throws LendingError `invalid_argument` */
function externalIdIn(fields: Fields): string | undefined {
  const given = textOf(fields, 'externalId', 200)?.trim()
  if (given === undefined) return undefined
  const read = newExternalId.safeParse(given)
  if (!read.success) throw new LendingError('invalid_argument', `externalId: ${read.error.issues[0]?.message}`)
  return read.data
}

/** Reads the externalId of a new customer. @throws LendingError `invalid_argument` */
function requiredExternalId(fields: Fields): string {
  const externalId = externalIdIn(fields)
  if (externalId === undefined) throw invalidArgument('externalId', 'must be given')
  return externalId
}

/** The fields of a new customer: the externalId, and as much of who it is as an officer is told first. */
const CUSTOMER: readonly Field[] = [
  { name: 'externalId', word: 'newExternalId', kind: 'text', isRequired: true, longest: 100 },
  ...PERSON_FIELDS.filter(({ name }) =>
    ['firstName', 'middleName', 'lastName', 'dateOfBirth', 'idType', 'idNumber', 'phone'].includes(name),
  ),
]

/** Returns the steps of making a customer. */
export async function customerStep({ desk }: Request): Promise<Step> {
  const { deps, say } = desk
  return {
    title: say('newCustomer'),
    means: say('meansNewCustomer'),
    fields: CUSTOMER,
    values: {},
    back: '/customers',
    async show(fields) {
      const externalId = requiredExternalId(fields)
      identityIn(fields)
      return { view: tiles([tile(say('externalId'), externalId)]), mark: 'new' }
    },
    async run(by, fields) {
      const { id } = await createCustomer(deps, by, requiredExternalId(fields), identityIn(fields))
      return { done: 'doneCustomer', back: `/customers/${id}` }
    },
  }
}

/** Builds the tables of a quote: what is lent, what it costs, and the instalments. */
function quoteTable({ say }: Desk, quote: Quote): Html {
  const { currency } = quote.product
  const of = (minor: bigint) => money(minor, currency)
  const sums = tiles([
    tile(say('principal'), `${of(quote.principal)} ${currency.code}`),
    tile(say('paidOut'), of(quote.netDisbursed)),
    tile(say('interest'), of(quote.totalInterest)),
    tile(say('fees'), of(quote.totalFees)),
    tile(say('totalDue'), of(quote.totalDue)),
    ...(quote.apr === null ? [] : [tile(say('apr'), `${quote.apr} %`)]),
  ])
  const rows = quote.schedule.map((line) => [
    line.period,
    line.dueDate,
    of(line.principal + line.interest + line.fees),
    of(line.principal),
    of(line.interest),
    of(line.fees),
  ])
  const heads = figures(say('due'), say('principal'), say('interest'), say('fees'))
  return html`${sums}${table(say('schedule'), [['#'], [say('dueOn')], ...heads], rows, say('noInstalment'))}`
}

/** The most products of a choice. */
const MOST_PRODUCTS = 100

/** Returns the steps of lending to a customer: the question is the quote. */
export async function lendStep({ desk, params }: Request): Promise<Step> {
  const { deps, caller, say } = desk
  const id = idOf(params.id, 'customer')
  const customer = await getCustomer(deps, caller, { id })
  const { items } = await listProducts(deps, caller, { rows: MOST_PRODUCTS, page: 1 })
  const products = items.filter(({ retired }) => !retired)
  const nameOf = (product: (typeof products)[number]) => `${product.id} · ${product.name}`
  const productOf = (fields: Fields) => {
    const product = products.find((one) => nameOf(one) === textOf(fields, 'product', 300))
    if (!product) throw invalidArgument('productId', 'must be one of the products')
    return product
  }
  return {
    title: say('titleLend', { name: displayName(customer) }),
    means: say('meansLend'),
    fields: [
      { name: 'product', word: 'product', kind: 'choice', names: products.map(nameOf) },
      { name: 'amount', word: 'principal', kind: 'amount', isRequired: true },
      { name: 'externalId', word: 'newLoanExternalId', kind: 'text', longest: 100 },
    ],
    values: {},
    back: `/customers/${id}`,
    async show(fields) {
      externalIdIn(fields)
      const quote = await quoteProduct(deps, caller, BigInt(productOf(fields).id), { principal: amountOf(fields) })
      const day = dateIn(deps.config.zone, deps.now(caller.organizationId))
      const mark = JSON.stringify([day, quote.schedule, customer.status], (_, value) =>
        typeof value === 'bigint' ? String(value) : value,
      )
      return { view: html`<p>${say('status')}: ${sayName(say, customer.status)}</p>${quoteTable(desk, quote)}`, mark }
    },
    async run(by, fields) {
      const { externalId: customerExternalId } = customer
      if (customerExternalId === null)
        throw new LendingError(
          'failed_precondition',
          'the customer has no externalId: give it one before it is lent to',
        )
      const application = { customerExternalId, productId: productOf(fields).id, principal: amountOf(fields) }
      const { loan } = await createLoan(deps, by, { ...application, externalId: externalIdIn(fields) })
      return { done: 'doneLend', back: `/loans/${loan.id}` }
    },
  }
}
