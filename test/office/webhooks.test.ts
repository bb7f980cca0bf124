import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_SANDBOX } from '../../src/services/organizations/seedDemo.ts'
import { type Office, openOffice, rowsOf } from '../support/office.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { deliverAll, deliveryOf, lendTo, operatorOf } from '../support/webhooks.ts'

// The pages of the webhook endpoints: how far each is behind, and what was sent to it.

let service: TestService
let office: Office
let receiver: Receiver
let operator: ReturnType<typeof operatorOf>
beforeAll(async () => {
  service = await startService({ WEBHOOKS_TO_PRIVATE: 'true' })
  office = openOffice(service.deps)
  receiver = await startReceiver()
  operator = operatorOf(service)
})
afterAll(async () => {
  await office.monitor.close()
  await receiver.close()
  await service.close()
})

const page = async (url: string) => (await office.look(url)).text
const attemptsOf = (text: string) => rowsOf(text, 'Attempts, newest first')
const endpointsOf = (text: string) => rowsOf(text, 'Endpoints')

describe('the webhook endpoints at the office', () => {
  it('say that there is none', async () => {
    expect(await page('/webhooks')).toContain('There is no endpoint.')
  })

  it('show what each takes, and how far it is behind; and of one each attempt, with its answer or its error', async () => {
    const { id } = await operator.create(receiver.url, { types: ['loan.disbursed'], description: 'the shop' })
    expect(await page(`/webhooks/${id}`)).toContain('Nothing was sent yet.')
    const delivery = deliveryOf(service)
    receiver.react = () => 500
    await lendTo(service, ['asha'])
    await deliverAll(service, delivery)
    const [row] = endpointsOf(await page('/webhooks'))
    expect(row).toEqual([
      ...[id, receiver.url, 'loan.disbursed'],
      ...['active', '1', expect.stringContaining('2026-01-31 09:30:'), 'the shop'],
    ])
    // The receiver hangs up, and takes it at last.
    receiver.react = () => (response) => response.destroy()
    const later = (hours: number) =>
      service.clock.set(new Date(service.clock.machineNow() + hours * 3_600_000).toISOString(), 'machine')
    later(1)
    await deliverAll(service, delivery)
    receiver.react = () => 204
    later(24)
    await deliverAll(service, delivery)
    const text = await page(`/webhooks/${id}`)
    const attempts = attemptsOf(text)
    expect(attempts.map(([, type, attempt, , state, status]) => [type, attempt, state, status])).toEqual([
      ['loan.disbursed', '3', 'delivered', '204'],
      ['loan.disbursed', '2', 'sent again', ''],
      ['loan.disbursed', '1', 'sent again', '500'],
    ])
    expect(attempts[1]?.[6]).toMatch(/\w/)
    expect(endpointsOf(text).map((cells) => cells.slice(3))).toEqual([['active', '0', '', 'the shop']])
  })

  it('pass on to older attempts where there are more than a page of them', async () => {
    receiver.react = () => 204
    const { id } = await operator.create(receiver.url, { types: ['repayment.posted'] })
    const [loan = ''] = await lendTo(service, ['baraka'])
    for (let index = 0; index < 101; index++)
      await service.post(`/v1/loans/${loan}/repayments`, { body: { transactionAmount: 1 } })
    await deliverAll(service, deliveryOf(service))
    const first = await page(`/webhooks/${id}`)
    const [, more = ''] = /href="(\/webhooks\/[^"]*after=[^"]+)"/.exec(first) ?? []
    const second = await page(more.replaceAll('&amp;', '&'))
    expect([attemptsOf(first).length, attemptsOf(second).length]).toEqual([100, 1])
  })

  it('of another lender are not there', async () => {
    const { id } = await operator.create(receiver.url)
    expect((await office.look(`/webhooks/${id}`)).status).toBe(200)
    expect((await office.look(`/webhooks/${id}`, DEMO_SANDBOX)).status).toBe(404)
  })
})
