import type { Listed, Page } from '../db/loans.ts'
import { findProduct, listProducts } from '../db/products.ts'
import type { Deps } from '../deps.ts'
import { notFound } from '../domain/errors.ts'
import type { Product } from '../domain/product.ts'
import type { Caller } from './caller.ts'

/** Product ids are small integers; no larger one can be asked of the database. */
const LARGEST_ID = 2_147_483_647n

/** @throws LendingError `not_found` */
export async function getProduct(deps: Deps, caller: Caller, id: bigint | null): Promise<Product> {
  const known = id !== null && id <= LARGEST_ID
  const product = known ? await findProduct(deps.db, caller.organizationId, Number(id)) : undefined
  if (!product) throw notFound('no loan product has that id')
  return product
}

/** A page of the organization's loan products, by id. */
export const pageProducts = (deps: Deps, caller: Caller, page: Page): Promise<Listed<Product>> =>
  listProducts(deps.db, caller.organizationId, page)
