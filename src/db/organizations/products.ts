import type { PeriodUnit } from '../../domain/dates.ts'
import { currencyOf } from '../../domain/money.ts'
import type { Product } from '../../domain/product/product.ts'
import { fromStoredLimits, toStoredLimits } from '../../domain/product/storedRestructuring.ts'
import { fromStoredTerms, toStoredTerms } from '../../domain/product/storedTerms.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'
import { type Author, auditRow, keyRows } from '../audit/trail.ts'
import type { LoanProduct as ProductRow } from '../generated/client.ts'
import type { Db } from '../postgres/client.ts'
import { cursorAt, type Found, type Position, sliceOf } from '../queries/cursor.ts'

export async function findProduct(db: Db, organizationId: number, id: number): Promise<Product | undefined> {
  const row = await db.prisma.loanProduct.findUnique({ where: { organizationId_id: { organizationId, id } } })
  return row ? toProduct(row) : undefined
}

/** The name of a product in the audit trail and of its Idempotency-Keys. */
const ENTITY = 'loan product'

/** The order of the list of products: by id, of which each new product has the next one. */
export const PRODUCT_ORDER = 'loan-products'

/** Finds products by id. */
export async function findProducts(db: Db, organizationId: number, position: Position): Promise<Found<Product>> {
  const where = { organizationId }
  const orderBy = { id: 'asc' } as const
  if ('page' in position) {
    const [total, items] = await Promise.all([
      db.prisma.loanProduct.count({ where }),
      db.prisma.loanProduct.findMany({ where, orderBy, ...sliceOf(position) }),
    ])
    return { items: items.map(toProduct), total, next: cursorAt(PRODUCT_ORDER, items.at(-1)?.id) }
  }
  const above = Number(position.cursor?.floor ?? 0)
  const items = await db.prisma.loanProduct.findMany({
    where: { ...where, id: { gt: Math.min(above, LARGEST_INT32) } },
    orderBy,
    take: position.rows,
  })
  return { items: items.map(toProduct), next: cursorAt(PRODUCT_ORDER, items.at(-1)?.id) }
}

/** Finds the ids of an organization's products. */
export async function findProductIds(db: Db, organizationId: number): Promise<number[]> {
  const rows = await db.prisma.loanProduct.findMany({ where: { organizationId }, select: { id: true } })
  return rows.map(({ id }) => id)
}

/** @throws a unique violation when the organization has a product of that id */
export async function insertProduct(db: Db, author: Author, product: Product, now: number): Promise<void> {
  const { currency, retired: _, terms, restructuring, ...rest } = product
  const columns = {
    ...rest,
    currency: currency.code,
    ...(terms && { terms: { ...toStoredTerms(terms) } as object }),
    ...(restructuring && { restructuring: { ...toStoredLimits(restructuring) } as object }),
  }
  const { organizationId } = author
  const trace = { action: 'create', before: null, after: columns }
  const audited = auditRow(db.pool, author, now, { entity: ENTITY, id: product.id }, trace)
  await db.prisma.$transaction([
    db.prisma.loanProduct.create({ data: { organizationId, ...columns, createdAt: new Date(now) } }),
    db.prisma.auditEntry.create({ data: audited }),
    db.prisma.idempotencyKey.createMany({ data: keyRows(author, ENTITY, product.id) }),
  ])
}

/** The id after the organization's highest. */
export async function nextProductId(db: Db, organizationId: number): Promise<number> {
  const { _max } = await db.prisma.loanProduct.aggregate({ where: { organizationId }, _max: { id: true } })
  return (_max.id ?? 0) + 1
}

/**
 * Marks a product retired. Its terms stay as they are: loans have their own.
 * @returns false when the organization has no such product that is not retired
 */
export async function markProductRetired(db: Db, author: Author, id: number, now: number): Promise<boolean> {
  const { organizationId } = author
  return db.prisma.$transaction(async (tx) => {
    const where = { organizationId, id, retiredAt: null }
    const { count } = await tx.loanProduct.updateMany({ where, data: { retiredAt: new Date(now) } })
    if (count === 0) return false
    const trace = { action: 'retire', before: { retired: false }, after: { retired: true } }
    await tx.auditEntry.create({ data: auditRow(db.pool, author, now, { entity: ENTITY, id }, trace) })
    await tx.idempotencyKey.createMany({ data: keyRows(author, ENTITY, id) })
    return true
  })
}

/** A product as it is stored. */
export const toProduct = (row: ProductRow): Product => ({
  id: row.id,
  name: row.name,
  currency: currencyOf(row.currency),
  principalMin: row.principalMin,
  principalMax: row.principalMax,
  numberOfRepayments: row.numberOfRepayments,
  repayEvery: row.repayEvery,
  repayUnit: row.repayUnit as PeriodUnit,
  ratePerPeriod: row.ratePerPeriod,
  totalMultipleOf: row.totalMultipleOf,
  penaltyRate: row.penaltyRate,
  terms: fromStoredTerms(row.terms),
  enforceCreditLimit: row.enforceCreditLimit,
  restructuring: fromStoredLimits(row.restructuring),
  retired: row.retiredAt !== null,
})
