import { html } from '../../api/http/html.ts'
import { rateToNumber } from '../../domain/money.ts'
import { listProducts } from '../../services/organizations/products.ts'
import type { Desk } from '../desk.ts'
import { type Fields, textOf } from '../desk.ts'
import { done, figures, linkOf, money, page, table } from '../layout/page.ts'
import { pageNeeds } from '../permissions.ts'

const ROWS = 100

/** Builds the page of the loan products; an ADMIN may retire one. */
export async function productsPage(desk: Desk, query: Fields): Promise<string> {
  const { deps, caller, say, may } = desk
  const after = textOf(query, 'after')
  const { items, next } = await listProducts(deps, caller, after === undefined ? { rows: ROWS } : { rows: ROWS, after })
  const rows = items.map((product) => [
    product.id,
    product.name,
    product.currency.code,
    money(product.principalMin, product.currency),
    money(product.principalMax, product.currency),
    product.numberOfRepayments,
    `${rateToNumber(product.ratePerPeriod)} %`,
    product.retired ? say('retired') : say('lending'),
    may(pageNeeds('/products/:id/do/retire')) &&
      !product.retired &&
      html`<a href="/products/${product.id}/do/retire">${say('retire')}</a>`,
  ])
  const body = html`<h1>${say('products')}</h1>
${done(desk, query)}
${table(
  say('products'),
  [
    ...([[say('id')], [say('name'), 'words'], [say('currency')]] as const),
    ...figures(say('smallest'), say('largest'), say('instalments'), say('rate')),
    [say('state')],
    [say('actions')],
  ],
  rows,
  say('noProduct'),
)}
${next !== undefined && items.length === ROWS && html`<p><a href="${linkOf('/products', { after: next })}">${say('more')}</a></p>`}`
  return page(desk, say('products'), body)
}
