import { readConfig } from '../../src/app/config.ts'
import { openService } from '../../src/app/service.ts'
import { createAccount } from '../../src/services/access/accounts.ts'
import { operator } from '../../src/services/access/caller.ts'
import { createOrganization } from '../../src/services/organizations/organizations.ts'
import { createProduct } from '../../src/services/organizations/products.ts'

/** What a job signs in with. */
export interface Credentials {
  readonly email: string
  readonly password: string
}

const PASSWORD = 'a long enough secret'
const FIRST_ID = 101
const whole = (units: bigint) => ({ units, scale: 0 })

/**
 * Makes an organization for each name, with a product 1 of up to 10,000,000 TZS and an account: each job has a book of
 * its own, so that all can give the same ids.
 */
export async function layLenders(
  databaseUrl: string,
  secret: string,
  names: readonly string[],
): Promise<Map<string, Credentials>> {
  const config = readConfig({ DATABASE_URL: databaseUrl, KEY_ENCRYPTION_SECRET: secret, LOG_LEVEL: 'silent' })
  const deps = await openService({ config, databaseUrl, now: Date.now })
  const made = new Map<string, Credentials>()
  try {
    for (const [index, name] of names.entries()) {
      const id = FIRST_ID + index
      const author = operator(id, 'try clients')
      await createOrganization(deps, author, { id, name, currency: 'TZS', officeId: '1', officeName: 'Head Office' })
      await createProduct(deps, author, {
        id: 1,
        name: 'Flat 10% monthly',
        principalMin: whole(1_000n),
        principalMax: whole(10_000_000n),
        numberOfRepayments: 1,
        repayEvery: 1,
        repayUnit: 'months',
        interestRate: whole(10n),
      })
      const credentials = { email: `job-${id}@example.com`, password: PASSWORD }
      await createAccount(deps, author, { ...credentials, roles: ['USER'] })
      made.set(name, credentials)
    }
  } finally {
    deps.statements.close()
    await deps.db.close()
  }
  return made
}
