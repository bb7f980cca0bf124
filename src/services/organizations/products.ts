import { findOrganization } from '../../db/organizations/organizations.ts'
import {
  findProduct,
  findProducts,
  insertProduct,
  markProductRetired,
  nextProductId,
  PRODUCT_ORDER,
} from '../../db/organizations/products.ts'
import { isUniqueViolation } from '../../db/postgres/errors.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { dateIn, type LocalDate } from '../../domain/dates.ts'
import { alreadyExists, failedPrecondition, notFound } from '../../domain/errors.ts'
import type { Decimal } from '../../domain/money.ts'
import { type NewProduct, productOf } from '../../domain/product/newProduct.ts'
import { type Product, principalFor } from '../../domain/product/product.ts'
import { type Quote, quoteOf } from '../../domain/product/quote.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'
import type { Caller } from '../access/caller.ts'
import { keyTaken } from '../access/idempotency.ts'
import type { Core, Deps } from '../deps.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'

/** Returns a loan product. @throws LendingError `not_found` */
export async function getProduct(deps: Core, caller: Caller, id: bigint | null): Promise<Product> {
  // The database has no larger ids.
  const known = id !== null && id <= LARGEST_INT32
  const product = known ? await findProduct(deps.db, caller.organizationId, Number(id)) : undefined
  if (!product) throw notFound('no loan product has that id')
  return product
}

/**
 * Returns a part of the organization's loan products, by id.
 * @throws LendingError `invalid_argument` for a range that names no part
 */
export async function listProducts(deps: Core, { organizationId }: Caller, range: Range): Promise<Ranged<Product>> {
  return rangedOf(await findProducts(deps.db, organizationId, positionOf(range, { arrival: PRODUCT_ORDER })))
}

/**
 * Creates a product of the author's organization.
 * @throws LendingError `invalid_argument`, `not_found` for the organization, `already_exists` for the id, `aborted` when its
 *   Idempotency-Key was taken meanwhile
 */
export async function createProduct(
  { db, machineNow }: Pick<Deps, 'db' | 'machineNow'>,
  author: Caller,
  request: NewProduct,
): Promise<Product> {
  requirePermission(author, 'products.manage')
  const organization = await findOrganization(db, author.organizationId)
  if (!organization) throw notFound('no organization has that id')
  for (;;) {
    const id = request.id ?? (await nextProductId(db, author.organizationId))
    const product = productOf({ ...request, currency: request.currency ?? organization.currency }, id)
    try {
      await insertProduct(db, author, product, machineNow())
      return product
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      // Prisma does not name the index: where the id is free, it was the Idempotency-Key.
      if (!(await findProduct(db, author.organizationId, id))) throw keyTaken()
      // Of two requests that take the next id at once, one tries again.
      if (request.id !== undefined) throw alreadyExists('id', 'a loan product with that id exists already')
    }
  }
}

/**
 * Retires a product: it takes no new loans, and existing loans keep their terms.
 * @throws LendingError `not_found`, `failed_precondition` when it is retired already
 */
export async function retireProduct(
  { db, machineNow }: Pick<Deps, 'db' | 'machineNow'>,
  author: Caller,
  id: number,
): Promise<Product> {
  requirePermission(author, 'products.manage')
  const product = await findProduct(db, author.organizationId, id)
  if (!product) throw notFound('no loan product has that id')
  const isMarked = await markProductRetired(db, author, id, machineNow()).catch((error: unknown) => {
    throw isUniqueViolation(error) ? keyTaken() : error
  })
  if (!isMarked) throw failedPrecondition('the product is retired already')
  return { ...product, retired: true }
}

/** What a quote is asked for. */
interface QuoteRequest {
  readonly principal: Decimal
  /** Today when left out. */
  readonly disbursedOn?: LocalDate | undefined
}

/**
 * Returns what a loan of a product would cost.
 * @throws LendingError `not_found`, `failed_precondition` for a retired product, `invalid_argument` for the principal,
 *   also where its charges are above the cap of the product
 */
export async function quoteProduct(
  deps: Core,
  caller: Caller,
  id: bigint | null,
  { principal, disbursedOn }: QuoteRequest,
): Promise<Quote> {
  const product = await getProduct(deps, caller, id)
  return quoteOf(
    product,
    principalFor(product, principal),
    disbursedOn ?? dateIn(deps.config.zone, deps.now(caller.organizationId)),
  )
}
