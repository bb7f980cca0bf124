import { operator } from '../../src/services/access/caller.ts'
import { updateOrganization } from '../../src/services/organizations/organizations.ts'
import { addAccount } from './accounts.ts'
import type { TestService } from './service.ts'

/** The command line as a caller of the demonstration's lender. */
export const commandLine = operator(1, 'test')

/** The password of the accounts that `anAccount` makes. */
export const PASSWORD = 'a long enough secret'

/** Makes an account of the demonstration's lender. @returns its token */
export async function anAccount({ deps }: TestService, name: string, roles: string[] = ['ADMIN']): Promise<string> {
  const email = `${name}@lender.example`
  await addAccount(deps, commandLine, { email, password: PASSWORD, roles })
  return deps.signIn.issueToken(email, PASSWORD, '127.0.0.1')
}

/** Sets the amount above which actions wait, or clears it; every instance knows it afterwards. */
export async function letWaitAbove({ deps, clock }: TestService, amount: number | null): Promise<void> {
  const approvalAbove = amount === null ? null : { units: BigInt(amount), scale: 0 }
  await updateOrganization(deps, commandLine, { approvalAbove })
  clock.set(new Date(clock.now() + 5_000).toISOString())
}

/** Lends 100,000 of product 1 to a customer of its own. @returns the loan's path */
export async function lend(service: TestService, name: string): Promise<string> {
  await service.post('/v1/customers', { body: { externalId: name } })
  const body = { customerId: name, productId: 1, principal: 100_000, externalId: `loan-${name}` }
  return `/v1/loans/${(await service.post('/v1/loans', { body })).body.id}`
}
