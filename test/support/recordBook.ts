import { expect } from 'vitest'
import { aBasicLoan, aBorrower, aRepayment } from './recordBodies.ts'
import { type RecordId, recordIdsFrom } from './recordIds.ts'
import { recordsOf } from './records.ts'
import { startService } from './service.ts'

/** A service with borrowers 1 and 2 and a partner's customer, and what a record system does to loans on it. */
export async function openRecordBook() {
  const service = await startService()
  const records = recordsOf(service)
  for (const id of [1, 2]) await records.post('/v1/borrowers', { body: { ...aBorrower, id } })
  await service.post('/v1/customers', { body: { externalId: 'asha' } })

  const nextId = recordIdsFrom(5, [aBasicLoan.loan_id, 2])
  return {
    service,
    records,
    nextId,
    /** @returns the id of a new loan */
    lend: async (template: object = aBasicLoan): Promise<RecordId> => {
      const loan_id = nextId()
      expect((await records.post('/v1/loans', { body: { ...template, loan_id } })).status).toBe(200)
      return loan_id
    },
    update: (id: RecordId, body: object) => records.put(`/v1/loans/${id}`, { body }),
    repay: (loan_id: RecordId, body: object = {}) =>
      records.post('/v1/repayments', { body: { ...aRepayment, repayment_id: nextId(), loan_id, ...body } }),
  }
}
