import { findAccountByEmail, insertAccount } from '../../db/access/accounts.ts'
import { service } from '../../db/audit/trail.ts'
import { findOrganization, insertOrganization } from '../../db/organizations/organizations.ts'
import { findProduct, insertProduct } from '../../db/organizations/products.ts'
import type { Db } from '../../db/postgres/client.ts'
import { isUniqueViolation } from '../../db/postgres/errors.ts'
import { currencyOf } from '../../domain/money.ts'
import type { Product } from '../../domain/product/product.ts'
import { hashPublishedPassword, verifyPassword } from '../access/passwords/passwords.ts'

/** The accounts of the demonstration data (contract 7). */
export const DEMO_PARTNER = { email: 'partner@example.com', password: 'partner-secret' }
export const DEMO_OPERATOR = { email: 'operator@example.com', password: 'operator-secret' }

/** The account of the demonstration that reads everything and changes nothing. */
export const DEMO_AUDITOR = { email: 'auditor@example.com', password: 'auditor-secret' }

/** The account of the test organization of the demonstration (contract 12). */
export const DEMO_SANDBOX = { email: 'sandbox@example.com', password: 'sandbox-secret' }

const CURRENCY = 'TZS'

/** The organizations of the demonstration, each with its accounts. All have the same products. */
const ORGANIZATIONS = [
  {
    organization: { id: 1, name: 'Demo Lender', currency: CURRENCY, mode: 'live' },
    accounts: [
      { ...DEMO_PARTNER, roles: ['USER'] },
      { ...DEMO_OPERATOR, roles: ['ADMIN'] },
      { ...DEMO_AUDITOR, roles: ['AUDITOR'] },
    ],
  },
  {
    organization: { id: 100, name: 'Demo Sandbox', currency: CURRENCY, mode: 'test' },
    accounts: [{ ...DEMO_SANDBOX, roles: ['ADMIN'] }],
  },
] satisfies { organization: NewOrganization; accounts: { email: string; password: string; roles: string[] }[] }[]

type NewOrganization = Parameters<typeof insertOrganization>[1]

const PERCENT = 1_000_000n

const monthly: Product = {
  id: 1,
  name: 'Flat 10% monthly',
  currency: currencyOf(CURRENCY),
  principalMin: 1_000_00n,
  principalMax: 10_000_000_00n,
  numberOfRepayments: 1,
  repayEvery: 1,
  repayUnit: 'months',
  ratePerPeriod: 10n * PERCENT,
  totalMultipleOf: null,
  penaltyRate: null,
  terms: null,
  enforceCreditLimit: false,
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

/** Inserts the missing parts of the demonstration data, also after a start that was interrupted or still runs. */
export async function seedDemo(db: Db, now: number): Promise<void> {
  for (const { organization, accounts } of ORGANIZATIONS) {
    const { id } = organization
    const author = service(id)
    if (!(await findOrganization(db, id))) await unlessThere(insertOrganization(db, organization, now))
    for (const product of DEMO_PRODUCTS)
      if (!(await findProduct(db, id, product.id))) await unlessThere(insertProduct(db, author, product, now))
    for (const { email, password, roles } of accounts) {
      if (await findAccountByEmail(db, email)) continue
      const passwordHash = hashPublishedPassword(password)
      await unlessThere(insertAccount(db, author, { email, passwordHash, roles }, now))
    }
  }
}

/** Returns the names of the demonstration accounts that still have the public password. */
export async function findOpenDemoAccounts(db: Db): Promise<string[]> {
  const open: string[] = []
  for (const { email, password } of ORGANIZATIONS.flatMap(({ accounts }) => accounts)) {
    const account = await findAccountByEmail(db, email)
    if (
      account &&
      !account.disabled &&
      account.passwordHash !== null &&
      (await verifyPassword(password, account.passwordHash))
    )
      open.push(email.split('@')[0]!)
  }
  return open
}

/** Waits for an insertion; another instance that starts at the same time may have made it. */
async function unlessThere(insertion: Promise<unknown>): Promise<void> {
  await insertion.catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error
  })
}
