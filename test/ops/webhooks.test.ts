import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { opsOn } from '../support/ops.ts'
import { type Receiver, startReceiver, verify } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { type DeliveryWire, deliverAll, deliveryOf, type EndpointWire, lendTo } from '../support/webhooks.ts'

let service: TestService
let receiver: Receiver
let ops: ReturnType<typeof opsOn>
let made: EndpointWire
beforeAll(async () => {
  service = await startService({ WEBHOOKS_TO_PRIVATE: 'true' })
  receiver = await startReceiver()
  ops = opsOn(service)
  const { json } = await ops<EndpointWire>(['webhooks', 'create', receiver.url, '--types', 'loan.*', '--json'])
  made = json
  await lendTo(service, ['asha', 'juma'])
  const delivery = deliveryOf(service)
  await deliverAll(service, delivery)
  await delivery.stop()
})
afterAll(async () => {
  await service.close()
  await receiver.close()
})

describe('mkopo webhooks', () => {
  it('create shows the secret of the endpoint, which signs what it gets', async () => {
    expect(receiver.taken.map(({ body }) => body.type)).toEqual(['loan.disbursed', 'loan.disbursed'])
    for (const one of receiver.taken) verify(made.secret, one)
  })

  it('create refuses types that there are not, and a URL that is none', async () => {
    for (const wrong of [['http://127.0.0.1:1/', '--types', 'loan.lost'], ['nowhere']]) {
      const { code, err } = await ops(['webhooks', 'create', ...wrong])
      expect([code, err]).toEqual([1, expect.stringMatching(/types|url/)])
    }
  })

  it('list shows how far each endpoint is behind, and no secret', async () => {
    const { out } = await ops('webhooks list')
    expect(out).toMatch(/ID {2}STATE {3}BEHIND/)
    expect(out).toContain(receiver.url)
    const { json, out: text } = await ops<EndpointWire[]>('webhooks list --json')
    expect(json).toMatchObject([{ id: made.id, state: 'active', behind: 0, types: ['loan.*'] }])
    expect(text).not.toMatch(/whsec_|secret"/)
  })

  it('tail shows the attempts, oldest first, and follows them', async () => {
    const { json } = await ops<DeliveryWire[]>(`webhooks tail ${made.id} --json`)
    expect(json.map(({ state }) => state)).toEqual(['delivered', 'delivered'])
    expect((await ops(`webhooks tail ${made.id} -n 1`)).out).toMatch(/loan\.disbursed +1 +delivered +204/)
    const stop = new AbortController()
    const lines: string[] = []
    await ops(`webhooks tail ${made.id} --follow`, {
      stopping: stop.signal,
      onOut: (text) => {
        if (lines.push(text) === 2) stop.abort()
      },
    })
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/evt_1_\d+ {2}loan\.disbursed {2}attempt 1 {2}delivered {2}204/)
  })

  it('recover asks first, and says how many events are sent again', async () => {
    expect((await ops(`webhooks recover ${made.id} --since 2026-01-01T00:00:00Z`, { says: false })).code).toBe(1)
    const { json } = await ops<EndpointWire>(`webhooks recover ${made.id} --since 2026-01-01T00:00:00Z --yes --json`)
    expect(json).toMatchObject({ id: made.id, queued: 2 })
    expect((await ops(`webhooks recover ${made.id} --since never --yes`)).err).toContain('since')
    expect((await ops(`webhooks recover 999 --since 2026-01-01T00:00:00Z --yes`)).code).toBe(1)
  })

  it('rotate shows the new secret once', async () => {
    const { json } = await ops<EndpointWire>(`webhooks rotate ${made.id} --overlap 0 --yes --json`)
    expect(json.secret).toMatch(/^whsec_/)
    expect(json.secret).not.toBe(made.secret)
    expect((await ops(`webhooks rotate ${made.id} --overlap 73 --yes`)).code).toBe(1)
    const audit = await ops(`audit --entity-id ${made.id} --json`)
    expect(audit.out).toContain('webhook endpoint')
    expect(audit.out).not.toContain('whsec_')
  })
})
