import type { PeriodUnit } from '../domain/dates.ts'
import { currencyOf } from '../domain/money.ts'
import type { Product } from '../domain/product.ts'
import type { Db } from './client.ts'
import type { LoanProduct as ProductRow } from './generated/client.ts'
import type { Listed, Page } from './loans.ts'
import { type Author, auditRow } from './trail.ts'

export async function findProduct(db: Db, organizationId: number, id: number): Promise<Product | undefined> {
  const row = await db.prisma.loanProduct.findUnique({ where: { organizationId_id: { organizationId, id } } })
  return row ? toProduct(row) : undefined
}

export async function listProducts(db: Db, organizationId: number, { page, rows }: Page): Promise<Listed<Product>> {
  const where = { organizationId }
  const [total, items] = await Promise.all([
    db.prisma.loanProduct.count({ where }),
    db.prisma.loanProduct.findMany({ where, orderBy: { id: 'asc' }, skip: (page - 1) * rows, take: rows }),
  ])
  return { items: items.map(toProduct), total }
}

/** @throws a unique violation when the organization has a product of that id */
export async function insertProduct(db: Db, author: Author, product: Product, now: number): Promise<void> {
  const { currency, retired: _, ...terms } = product
  const columns = { ...terms, currency: currency.code }
  const { organizationId } = author
  const audited = auditRow(author, now, 'loan product', product.id, { action: 'create', before: null, after: columns })
  await db.prisma.$transaction([
    db.prisma.loanProduct.create({ data: { organizationId, ...columns, createdAt: new Date(now) } }),
    db.prisma.auditEntry.create({ data: audited }),
  ])
}

const toProduct = (row: ProductRow): Product => ({
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
  enforceCreditLimit: row.enforceCreditLimit,
  retired: row.retiredAt !== null,
})
