import { z } from 'zod'
import type { Deps } from '../../app/deps.ts'
import { getProduct, listProducts } from '../../services/lenders/products.ts'
import { listQuery } from '../lists/query.ts'
import type { StyleApp } from '../style.ts'
import { idParam } from '../wire.ts'
import { productPage, productSchema, toProduct } from './products.wire.ts'
import { toPage } from './registry.ts'

const tags = ['loan products']

export function productRoutes(app: StyleApp, deps: Deps): void {
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
        params: z.object({ id: idParam }),
        response: { 200: productSchema },
      },
    },
    async ({ caller, params }) => toProduct(await getProduct(deps, caller, params.id)),
  )
}
