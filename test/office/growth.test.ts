import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_AUDITOR, DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { keepJournal } from '../support/journal.ts'
import { type Office, openOffice } from '../support/office.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let office: Office
beforeAll(async () => {
  service = await startService()
  office = openOffice(service.deps)
  service.clock.set('2026-01-31T09:30:00+03:00')
})
afterAll(async () => {
  await office.monitor.close()
  await service.close()
})

describe('the page of growth', () => {
  it('says that there is nothing where nothing was lent', async () => {
    const { status, text } = await office.look('/growth')
    expect([status, text.includes('<svg')]).toEqual([200, false])
  })

  it('draws the months and what falls due, with a table behind each and a file', async () => {
    await service.post('/v1/customers', { body: { externalId: 'asha' } })
    const body = { customerId: 'asha', productId: 3, principal: 600_000, externalId: 'l-1' }
    expect((await service.post('/v1/loans', { body })).status).toBe(200)
    service.clock.set('2026-02-20T09:30:00+03:00')
    await service.post('/v1/loans/external/l-1/repayments', { body: { transactionAmount: 50_000 } })
    await keepJournal(service.deps)
    const { text } = await office.look('/growth')
    expect([...text.matchAll(/<svg/g)].length).toBe(3)
    expect(text).toMatch(/2026-01<\/td>.*600,000\.00<\/td>.*0\.00<\/td>.*600,000\.00<\/td>/)
    for (const word of ['Loans by month of disbursement', 'Portfolio at risk by officer', 'nobody'])
      expect(text).toContain(word)
    const months = await office.look('/growth-months.csv', DEMO_AUDITOR)
    expect(months.text).toContain('2026-01,TZS,1,600000.00,0.00,600000.00')
    const forecast = await office.look('/growth-forecast.csv')
    expect(forecast.text.trim().split('\n')).toHaveLength(13)
    expect((await office.look('/growth-cohorts.csv')).text).toContain('2026-01,TZS,1,1,600000.00,50000.00')
  })

  it('is for readers of the whole book', async () => {
    for (const path of ['/growth', '/growth-months.csv'])
      expect((await office.look(path, DEMO_PARTNER)).status).toBe(403)
  })
})
