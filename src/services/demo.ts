import { insertAccount } from '../db/accounts.ts'
import type { Db } from '../db/client.ts'
import { findOrganization, insertOrganization } from '../db/organizations.ts'
import { insertProduct } from '../db/products.ts'
import { currencyOf } from '../domain/money.ts'
import type { Product } from '../domain/product.ts'
import { hashPassword } from './passwords.ts'

/** Who can sign in to the demonstration data (contract 7). */
export const DEMO_PARTNER = { email: 'partner@example.com', password: 'partner-secret' }
export const DEMO_OPERATOR = { email: 'operator@example.com', password: 'operator-secret' }

const ORGANIZATION = { id: 1, name: 'Demo Lender', currency: 'TZS' }

const PERCENT = 1_000_000n

const monthly: Product = {
  id: 1,
  name: 'Flat 10% monthly',
  currency: currencyOf(ORGANIZATION.currency),
  principalMin: 1_000_00n,
  principalMax: 10_000_000_00n,
  numberOfRepayments: 1,
  repayEvery: 1,
  repayUnit: 'months',
  ratePerPeriod: 10n * PERCENT,
  totalMultipleOf: null,
  penaltyRate: null,
  retired: false,
}

/** The demonstration products (contract 7). */
export const DEMO_PRODUCTS: readonly Product[] = [
  monthly,
  { ...monthly, id: 2, name: 'Flat 10% monthly, late penalty', penaltyRate: 10n * PERCENT },
  { ...monthly, id: 3, name: 'Flat 5% × 6 months', numberOfRepayments: 6, ratePerPeriod: 5n * PERCENT },
  {
    ...monthly,
    id: 4,
    name: 'Weekly flat 2% × 12',
    numberOfRepayments: 12,
    repayUnit: 'weeks',
    ratePerPeriod: 2n * PERCENT,
    totalMultipleOf: 10_00n,
  },
]

/** Lays the demonstration organization, accounts and products, where they are not there yet. */
export async function layDemo(db: Db, now: number): Promise<void> {
  if (await findOrganization(db, ORGANIZATION.id)) return
  await insertOrganization(db, ORGANIZATION, now)
  for (const product of DEMO_PRODUCTS) await insertProduct(db, ORGANIZATION.id, product, now)
  for (const { email, password, role } of [
    { ...DEMO_PARTNER, role: 'USER' as const },
    { ...DEMO_OPERATOR, role: 'ADMIN' as const },
  ]) {
    const passwordHash = await hashPassword(password)
    await insertAccount(db, { organizationId: ORGANIZATION.id, email, passwordHash, roles: [role] }, now)
  }
}
