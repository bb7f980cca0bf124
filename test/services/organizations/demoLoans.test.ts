import { afterAll, beforeAll, expect, it } from 'vitest'
import { layDemoLoans } from '../../../src/services/organizations/demoLoans.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'

// The loans of the demonstration data, which `npm start` lays on the embedded database (contract 7).

let service: TestService
beforeAll(async () => {
  service = await startService()
  service.clock.set(FIRST_DAY)
})
afterAll(() => service.close())

const read = async (name: string, more = '') => {
  const { status, body } = await service.get(`/v1/loans/external/${name}${more}`)
  expect(status).toBe(200)
  return body
}

it('has a loan with a holiday and an extension, and one that a top-up paid off', async () => {
  await layDemoLoans(service.deps)
  expect(await read('demo-restructured')).toMatchObject({ status: 'Active', feesCharged: 1_000 })
  const { items } = await read('demo-restructured', '/schedules')
  expect(items).toMatchObject([
    { numberOfRepayments: 6 },
    {
      numberOfRepayments: 6,
      restructure: { change: { postponeBy: { periods: 1 } }, interest: 'none', note: 'The harvest is late.' },
    },
    {
      numberOfRepayments: 10,
      restructure: { change: { numberOfRepayments: 9 }, interest: 'keep', reason: 'hardship' },
    },
  ])
  expect(await read('demo-paid-off')).toMatchObject({ status: 'Closed (obligations met)', totalOutstanding: 0 })
  const topUp = await read('demo-top-up')
  expect(topUp.settled).toMatchObject([{ externalId: 'demo-paid-off', amount: 35_000 }])
  expect(topUp.netDisbursed).toBe(85_000)
})

it('is laid once, and not beside other customers', async () => {
  await layDemoLoans(service.deps)
  const { body } = await service.get('/v1/customers')
  expect(body.items.map(({ externalId }) => externalId)).toEqual(['demo-neema'])
  expect((await read('demo-restructured', '/schedules')).items).toHaveLength(3)
})
