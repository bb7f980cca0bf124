import { afterAll, beforeAll, expect, it } from 'vitest'
import { DUE_ROWS } from '../../src/services/office/today.ts'
import { type Office, openOffice } from '../support/office.ts'
import { aBasicLoan, aBorrower } from '../support/recordBodies.ts'
import { recordIdsFrom } from '../support/recordIds.ts'
import { recordsOf } from '../support/records.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let office: Office
beforeAll(async () => {
  service = await startService()
  office = openOffice(service.deps)
})
afterAll(async () => {
  await office.monitor.close()
  await service.close()
})

it('goes on to the last loan of the day, whatever ids the record system chose', async () => {
  const records = recordsOf(service)
  const nextId = recordIdsFrom(14)
  const borrower = nextId()
  await records.post('/v1/borrowers', { body: { ...aBorrower, id: borrower } })
  const lent = Array.from({ length: DUE_ROWS + 3 }, nextId)
  for (const id of lent) {
    const body = {
      ...aBasicLoan,
      borrower_id: borrower,
      loan_id: id,
      duration: 1,
      due_date: '2026-02-15',
    }
    expect((await records.post('/v1/loans', { body })).status).toBe(200)
  }
  service.clock.set('2026-02-15')
  const shown: string[] = []
  for (let page: string | undefined = '/'; page !== undefined; ) {
    const { text } = await office.look(page)
    const part = [...text.matchAll(/href="\/loans\/(\d+)"/g)].map(([, id]) => id!)
    // A page that begins again would show the same loans for ever.
    expect(part.filter((id) => shown.includes(id))).toEqual([])
    shown.push(...part)
    page = text.match(/href="(\/\?after=\d+)"/)?.[1]
  }
  expect(shown.toSorted()).toEqual(lent.map(String).toSorted())
})
