import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkBook } from '../../../../src/services/book/bookCheck.ts'
import { drain } from '../../../../src/services/jobs/job.ts'
import { isSilent, silenceJob } from '../../../../src/services/payments/silentChannels.ts'
import { keepJournal } from '../../../support/journal.ts'
import { FIRST_DAY, startService, type TestService } from '../../../support/service.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

let service: TestService
let operator: { token: string }
beforeAll(async () => {
  service = await startService()
  operator = { token: service.tokens.operator }
  service.clock.set(FIRST_DAY)
})
afterAll(() => service.close())

const makeChannel = async (name: string): Promise<string> =>
  (await service.post('/v1/payment-channels', { body: { name, adapter: 'canonical' }, ...operator })).body.id

const later = (milliseconds: number) => service.clock.set(new Date(service.clock.now() + milliseconds).toISOString())

/** Receives payments, one after each pause. */
async function receive(channelId: string, name: string, pauses: readonly number[]): Promise<void> {
  for (const [index, pause] of pauses.entries()) {
    later(pause)
    const paidAt = new Date(service.clock.now()).toISOString()
    const body = { channelId, receipt: `${name}-${index}`, amount: 100, paidAt }
    expect((await service.post('/v1/payments', { body })).status).toBe(200)
  }
}

interface Told {
  readonly channel: Readonly<Record<string, unknown>>
}

/** Returns what receivers were told of silent channels, oldest first, once the job has looked. */
async function told(): Promise<readonly Told[]> {
  await drain(silenceJob(service.deps))
  await keepJournal(service.deps)
  const { body } = await service.get<{ items: { data: Told }[] }>('/v1/events?types=channel.silent', operator)
  return body.items.map(({ data }) => data)
}

const every = (count: number, pause: number) => Array.from({ length: count }, () => pause)

describe('a channel on which nothing comes in', () => {
  it('is told once it is longer than twice the longest gap of the week, and once only', async () => {
    const id = await makeChannel('Busy')
    await receive(id, 'busy', [...every(15, 10 * MINUTE_MS), 2 * HOUR_MS, ...every(5, 10 * MINUTE_MS)])
    const last = service.clock.now()
    later(4 * HOUR_MS - MINUTE_MS)
    expect(await told()).toEqual([])
    later(2 * MINUTE_MS)
    const [event, ...others] = await told()
    expect(others).toEqual([])
    expect(event).toMatchObject({ channel: { id, name: 'Busy', usualGapSeconds: 7_200 } })
    expect(Math.abs(Date.parse(String(event?.channel.silentSince)) - last)).toBeLessThan(MINUTE_MS)
    expect(event).not.toHaveProperty('previous')
    later(24 * HOUR_MS)
    expect(await told()).toHaveLength(1)
  })

  it('is told again after another payment, when that is the last for long', async () => {
    const { body } = await service.get<{ items: { id: string }[] }>('/v1/payment-channels', operator)
    await receive(body.items[0]!.id, 'again', every(20, MINUTE_MS))
    later(72 * HOUR_MS)
    expect(await told()).toHaveLength(2)
    expect((await checkBook(service.deps)).differences).toEqual([])
  })

  it('is not told where few payments came in, nor where it is disabled', async () => {
    await receive(await makeChannel('Rare'), 'rare', every(19, MINUTE_MS))
    const disabled = await makeChannel('Disabled')
    await receive(disabled, 'disabled', every(20, MINUTE_MS))
    await service.patch(`/v1/payment-channels/${disabled}`, { body: { state: 'disabled' }, ...operator })
    later(24 * HOUR_MS)
    expect(await told()).toHaveLength(2)
  })

  it('is told once by two instances that look at the same moment', async () => {
    const id = await makeChannel('Twice')
    await receive(id, 'twice', every(20, MINUTE_MS))
    later(24 * HOUR_MS)
    await Promise.all([drain(silenceJob(service.deps)), drain(silenceJob(service.deps))])
    const all = await told()
    expect(all.filter(({ channel }) => channel.id === id)).toHaveLength(1)
  })
})

describe('the usual gap', () => {
  it.each([
    { payments: 19, longestMs: 1, quiet: 10 * HOUR_MS, silent: false },
    { payments: 20, longestMs: 1, quiet: HOUR_MS, silent: false },
    { payments: 20, longestMs: 1, quiet: HOUR_MS + 1, silent: true },
    { payments: 20, longestMs: 3 * HOUR_MS, quiet: 6 * HOUR_MS, silent: false },
    { payments: 20, longestMs: 3 * HOUR_MS, quiet: 6 * HOUR_MS + 1, silent: true },
  ])('$payments payments, at most $longestMs ms apart, and nothing for $quiet ms: silent is $silent', (one) => {
    expect(isSilent({ ...one, lastAt: 0 }, one.quiet)).toBe(one.silent)
  })
})
