import type { TestService } from './service.ts'

/** A loan of the demonstration's product 4 with so many repayments of 0.01, one after the other: `long-1`, `long-2`, … @returns its id */
export async function lastingLoan(service: Pick<TestService, 'post'>, repayments: number): Promise<string> {
  const body = { customerId: 'asha', productId: 4, principal: 1_000_000 }
  const { id } = (await service.post<{ id: string }>('/v1/loans', { body })).body
  for (let number = 1; number <= repayments; number++)
    await service.post(`/v1/loans/${id}/repayments`, {
      body: { transactionAmount: 0.01, idempotencyKey: `long-${number}` },
    })
  return id
}
