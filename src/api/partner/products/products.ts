import { z } from 'zod'
import type { Core } from '../../../services/deps.ts'
import {
  createProduct,
  getProduct,
  listProducts,
  quoteProduct,
  retireProduct,
} from '../../../services/organizations/products.ts'
import { listQuery } from '../../lists/query.ts'
import type { StyleApp } from '../../style.ts'
import { idParam } from '../../wire.ts'
import { toPage } from '../registry.ts'
import * as examples from './examples.ts'
import { createProductRequest, productPage, productSchema, toNewProduct, toProduct } from './products.wire.ts'
import { quoteQuery, quoteSchema, toQuote } from './quote.wire.ts'

const tags = ['loan products']
const params = z.object({ id: idParam })

export function productRoutes(app: StyleApp, deps: Core): void {
  app.get(
    '/v1/loan-products',
    {
      schema: {
        tags,
        operationId: 'listLoanProducts',
        summary: 'List loan products',
        description: 'In the order of their ids, retired ones included.',
        querystring: listQuery,
        response: { 200: productPage },
      },
    },
    async ({ caller, query }) => toPage(await listProducts(deps, caller, query), query, toProduct),
  )

  app.get(
    '/v1/loan-products/:id',
    {
      schema: {
        tags,
        operationId: 'getLoanProduct',
        summary: 'Read a loan product',
        description: 'The terms that a loan of this product gets.',
        params,
        response: { 200: productSchema },
      },
    },
    async ({ caller, params }) => toProduct(await getProduct(deps, caller, params.id)),
  )

  quoteRoute(app, deps)
  changeRoutes(app, deps)
}

function quoteRoute(app: StyleApp, deps: Core): void {
  app.get(
    '/v1/loan-products/:id/quote',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: ['The product is retired.', 'loan product 1 is retired and takes no new loans'],
        },
      },
      schema: {
        tags,
        operationId: 'getLoanQuote',
        summary: 'Quote a loan',
        description: 'The schedule that a loan of this product would have, and what it would cost. Nothing is kept.',
        params,
        querystring: quoteQuery,
        response: { 200: quoteSchema },
      },
    },
    async ({ caller, params, query }) => toQuote(await quoteProduct(deps, caller, params.id, query)),
  )
}

function changeRoutes(app: StyleApp, deps: Core): void {
  app.post(
    '/v1/loan-products',
    {
      config: {
        refusals: ['already_exists'],
        explained: {
          already_exists: ['The id is already taken.', 'a loan product with that id exists already'],
        },
        examples: { product: examples.madeProduct },
      },
      schema: {
        tags,
        operationId: 'createLoanProduct',
        summary: 'Create a loan product',
        description:
          'Its terms never change: to lend on other terms, retire it and create another. Terms that do not go together are refused, with the reason.',
        body: createProductRequest,
        response: { 200: productSchema },
      },
    },
    async ({ caller, body }) => toProduct(await createProduct(deps, caller, toNewProduct(body))),
  )

  app.post(
    '/v1/loan-products/:id/retire',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: { failed_precondition: ['It is retired already.', 'the product is retired already'] },
        examples: { product: { ...examples.madeProduct, active: false } },
        prefilled: examples.RETIRED,
      },
      schema: {
        tags,
        operationId: 'retireLoanProduct',
        summary: 'Retire a loan product',
        description: 'It takes no new loans, for good. Loans that there are keep their terms.',
        params,
        response: { 200: productSchema },
      },
    },
    async ({ caller, params: { id } }) => {
      const product = await getProduct(deps, caller, id)
      return toProduct(await retireProduct(deps, caller, product.id))
    },
  )
}
