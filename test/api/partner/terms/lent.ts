import { expect } from 'vitest'
import { checkBook } from '../../../../src/services/book/bookCheck.ts'
import type { TestService } from '../../../support/service.ts'
import type { Wire } from '../../../support/wire.ts'

/** A loan of 90,000 in three instalments of a month, from 31 January on: due 28 February, 31 March and 30 April. */
export interface Lent {
  readonly loan: Wire
  readonly path: string
}

const PLAIN = { minPrincipal: 1_000, maxPrincipal: 1_000_000, numberOfRepayments: 3, interestRate: 0 }

/** Makes a product with terms and a customer, and lends by it at the moment of the clock. */
export async function lendBy(service: TestService, terms: object, principal = 90_000): Promise<Lent> {
  const created = await service.post('/v1/loan-products', {
    body: { ...PLAIN, name: 'Any', ...terms },
    token: service.tokens.operator,
  })
  expect([created.status, created.body]).toEqual([200, expect.anything()])
  const externalId = `customer-${created.body.id}`
  await service.post('/v1/customers', { body: { externalId } })
  const body = { customerId: externalId, productId: created.body.id, principal }
  const lent = await service.post('/v1/loans', { body })
  expect([lent.status, lent.body]).toEqual([200, expect.anything()])
  return { loan: lent.body, path: `/v1/loans/${lent.body.id}` }
}

/** Posts a repayment, and answers the loan after it. */
export async function repay(
  service: TestService,
  { path }: Lent,
  transactionAmount: number,
  transactionDate?: string,
): Promise<{ readonly transaction: Wire; readonly loan: Wire }> {
  const { status, body } = await service.post(`${path}/repayments`, { body: { transactionAmount, transactionDate } })
  expect([status, body]).toEqual([200, expect.anything()])
  return { transaction: body, loan: (await service.get(path)).body }
}

/** What the check of the book finds on a loan; the clock of these tests goes back for each of them. */
export async function differencesOf({ deps }: TestService, { loan }: Lent): Promise<string[]> {
  const { differences } = await checkBook(deps)
  return differences.filter(({ of }) => of === `loan ${loan.id}`).map(({ message }) => message)
}
