import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADAPTERS } from '../../../../src/domain/payments/adapters.ts'
import { drain } from '../../../../src/services/jobs/job.ts'
import { paymentsJob } from '../../../../src/services/payments/paymentsJob.ts'
import { keepJournal } from '../../../support/journal.ts'
import { type Sandbox, sandboxOf } from '../../../support/sandbox.ts'
import { startService, type TestService } from '../../../support/service.ts'

let service: TestService
let sandbox: Sandbox
beforeAll(async () => {
  service = await startService()
  sandbox = await sandboxOf(service)
  await sandbox.lend('amina', 1)
})
afterAll(async () => {
  await keepJournal(service.deps)
  await service.close()
})

type Sent = { readonly sent: readonly { receipt: string; reverses: string | null; message: string; answer: string }[] }
type Paid = { readonly items: readonly { receipt: string; status: string; amount: number; allocated: number }[] }

async function makeChannel(adapter: string): Promise<string> {
  const made = await sandbox.post<{ id: string }>('/v1/payment-channels', { name: adapter, adapter })
  expect(made.status).toBe(200)
  return made.body.id
}

const payments = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    reference: 'loan-amina',
    amount: 10 + index,
    receipt: `P${index}`,
    payerPhone: '255700000001',
  }))

async function paymentsOf(channelId: string) {
  await drain(paymentsJob(service.deps))
  return (await sandbox.get<Paid>(`/v1/payments?channelId=${channelId}`)).body.items
}

describe('the simulator of a provider', () => {
  it.each(Object.keys(ADAPTERS))('of %s sends its messages, which become payments', async (adapter) => {
    const channelId = await makeChannel(adapter)
    const body = { channelId, payments: [{ amount: 12.5, reference: 'loan-amina' }, ...payments(1)] }
    const { status, body: answer } = await sandbox.post<Sent>('/v1/test/payments', body)
    expect([status, answer.sent.length]).toEqual([200, 2])
    const received = await paymentsOf(channelId)
    expect(received.map(({ receipt }) => receipt)).toEqual(answer.sent.map(({ receipt }) => receipt))
    expect(received).toMatchObject([
      { status: 'allocated', amount: 12.5, allocated: 12.5 },
      { status: 'allocated', amount: 10 },
    ])
  })

  it('has the faults of a provider: nothing is lost but what was dropped, and nothing is twice', async () => {
    const channelId = await makeChannel('daraja_c2b')
    const faults = { drop: 1, repeat: 2, delay: 1, reorder: 1, reverse: 2 }
    const { body } = await sandbox.post<Sent>('/v1/test/payments', { channelId, payments: payments(5), faults })
    expect(body.sent.map(({ receipt, reverses }) => [receipt, reverses])).toEqual([
      ['P3', null],
      ['P2', null],
      ['P4', null],
      ['P1R', 'P1'],
      ['P2R', 'P2'],
      ['P1', null],
      ['P1', null],
      ['P2', null],
    ])
    expect(body.sent.every(({ answer }) => answer === '{"ResultCode":0,"ResultDesc":"Accepted"}')).toBe(true)
    const received = await paymentsOf(channelId)
    expect(Object.fromEntries(received.map(({ receipt, status }) => [receipt, status]))).toEqual({
      ...{ P1: 'reversed', P2: 'reversed', P3: 'allocated', P4: 'allocated' },
    })
  })

  it('is refused where it cannot be', async () => {
    const channelId = await makeChannel('azampay')
    const refused = async (body: object) => {
      const answer = await sandbox.post<{ message: string }>('/v1/test/payments', {
        channelId,
        payments: payments(1),
        ...body,
      })
      return [answer.status, answer.body.message]
    }
    expect(await refused({ faults: { reverse: 1 } })).toEqual([
      400,
      'faults: the provider of azampay sends no message of a reversal',
    ])
    expect(await refused({ channelId: '99' })).toEqual([404, 'no payment channel has that id, given as channelId'])
    expect(await refused({ payments: payments(101) })).toEqual([400, expect.stringMatching(/^payments: /)])
    expect(await refused({ payments: [{ amount: 1.001 }] })).toEqual([400, expect.stringMatching(/^amount: /)])
    const live = await service.post('/v1/test/payments', {
      body: { channelId, payments: payments(1) },
      token: service.tokens.operator,
    })
    expect([live.status, live.body.message]).toEqual([
      409,
      'your organization is a live one, and only a test organization has a simulator of its providers',
    ])
  })
})
