import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mutated, readAs } from '../../../support/fuzz/messages.ts'
import { providersOf } from '../../../support/providers.ts'
import { randomFrom } from '../../../support/random.ts'
import { REAL } from '../../../support/realMessages.ts'
import { FIRST_DAY, startService, type TestService } from '../../../support/service.ts'

const MESSAGES = 150

let service: TestService
let providers: ReturnType<typeof providersOf>
beforeAll(async () => {
  service = await startService()
  providers = providersOf(service)
  service.clock.set(FIRST_DAY)
})
afterAll(() => service.close())

describe('changed messages of a provider', () => {
  it.each(REAL)('of $adapter are all taken, and those that can be read are its payments', async ({ adapter, sent }) => {
    const channel = await providers.makeChannel({ adapter })
    const random = randomFrom(REAL.findIndex((one) => one.adapter === adapter) + 1)
    const bodies = Array.from({ length: MESSAGES }, () => mutated(sent, random))
    const receipts = new Set<string>()
    let taken = 0
    for (const body of bodies) {
      const path = random(4) === 0 ? `${channel.path}/validate` : channel.path
      const { status } = await providers.send(path, body, { put: random(2) === 0 })
      const isQuestion = path.endsWith('/validate')
      // Not every provider asks.
      const answers = isQuestion ? [200, 404] : [200]
      expect(answers, body.toString('base64')).toContain(status)
      if (isQuestion) continue
      taken++
      const read = readAs(adapter, body)
      if (read.tells === 'payment') receipts.add(read.payment.receipt)
    }
    await providers.decide()
    const { rows } = await service.owner.pool.query<{ state: string; count: number }>(
      'SELECT state, count(*)::int AS count FROM payment_inbox WHERE channel_id = $1 GROUP BY state',
      [Number(channel.id)],
    )
    const counts = new Map(rows.map(({ state, count }) => [state, count]))
    expect([counts.get('pending'), [...counts.values()].reduce((sum, count) => sum + count, 0)]).toEqual([
      undefined,
      taken,
    ])
    const stored = await service.owner.pool.query<{ receipt: string }>(
      'SELECT receipt FROM payment WHERE channel_id = $1',
      [Number(channel.id)],
    )
    expect(stored.rows.length).toBeGreaterThan(0)
    expect(stored.rows.filter(({ receipt }) => !receipts.has(receipt))).toEqual([])
    expect(stored.rows.length).toBe(new Set(stored.rows.map(({ receipt }) => receipt)).size)
  })
})
