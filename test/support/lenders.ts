import { operator } from '../../src/services/access/caller.ts'
import { createOrganization } from '../../src/services/organizations/organizations.ts'
import { createProduct } from '../../src/services/organizations/products.ts'
import { addAccount } from './accounts.ts'
import { isAhead } from './ahead.ts'
import type { TestService } from './service.ts'

/** Another organization, with a product 1 as the demonstration has it. @returns a token of its partner */
export async function anotherLender({ deps }: TestService, id: number, currency: string): Promise<string> {
  const author = operator(id, 'test')
  await createOrganization(deps, author, {
    id,
    name: `Lender ${id}`,
    currency,
    officeId: '1',
    officeName: 'Here',
    mode: isAhead ? 'test' : 'live',
  })
  await createProduct(deps, author, {
    id: 1,
    name: 'Flat 10% monthly',
    principalMin: { units: 1n, scale: 0 },
    principalMax: { units: 100_000_000n, scale: 0 },
    numberOfRepayments: 1,
    repayEvery: 1,
    repayUnit: 'months',
    interestRate: { units: 10n, scale: 0 },
  })
  const email = `partner@lender-${id}.example`
  await addAccount(deps, author, { email, password: 'a long enough secret', roles: ['USER'] })
  return deps.signIn.issueToken(email, 'a long enough secret', '127.0.0.1')
}
