import type { Deps } from '../../app/deps.ts'
import { dateIn, type LocalDate } from '../../domain/dates.ts'
import type { Decimal } from '../../domain/money.ts'
import { principalFor } from '../../domain/product/product.ts'
import { type Quote, quoteOf } from '../../domain/product/quote.ts'
import type { Caller } from '../access/caller.ts'
import { getProduct } from './products.ts'

/** What a quote is asked for. */
export interface QuoteRequest {
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
  deps: Deps,
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
