import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createSignInLimits } from '../../../src/services/access/signInLimits.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { purgeJob } from '../../../src/services/jobs/serviceJobs.ts'
import { providersOf } from '../../support/providers.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const DAY_MS = 86_400_000

const insertKeys = (name: string, keys: number, daysAgo: number) =>
  service.owner.pool.query(
    `INSERT INTO idempotency_key (organization_id, account_id, key, request_hash, created_at)
     SELECT 1, 1, $1 || n, 'x', $2 FROM generate_series(1, $3::int) n`,
    [name, new Date(service.clock.machineNow() - daysAgo * DAY_MS).toISOString(), keys],
  )
const keysLeft = async () => {
  const { rows } = await service.owner.pool.query('SELECT DISTINCT left(key, 3) AS name FROM idempotency_key')
  return rows.map(({ name }) => name)
}

describe('the purge', () => {
  it('deletes all Idempotency-Keys past their 30 days, and no other', async () => {
    await insertKeys('old', 2_500, 31)
    await insertKeys('new', 2, 29)
    await drain(purgeJob(service.deps))
    expect(await keysLeft()).toEqual(['new'])
  })

  it('deletes messages of providers past their 90 days, but for those that are not read yet, and no other', async () => {
    const channel = await providersOf(service).makeChannel()
    const insert = (state: string, messages: number, daysAgo: number) =>
      service.owner.pool.query(
        `INSERT INTO payment_inbox (organization_id, channel_id, received_at, message, state)
         SELECT 1, $1, $2, '', $3 FROM generate_series(1, $4::int)`,
        [Number(channel.id), new Date(service.clock.machineNow() - daysAgo * DAY_MS).toISOString(), state, messages],
      )
    await insert('done', 2_500, 91)
    await insert('pending', 1, 91)
    await insert('unreadable', 2, 89)
    await drain(purgeJob(service.deps))
    const { rows } = await service.owner.pool.query('SELECT state FROM payment_inbox ORDER BY state')
    expect(rows.map(({ state }) => state)).toEqual(['pending', 'unreadable', 'unreadable'])
  })

  it('deletes the counters of sign-ins whose time is over, which have no timer of their own', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const limits = createSignInLimits(service.owner)
    const timers = vi.getTimerCount()
    vi.useRealTimers()
    expect(timers).toBe(0)
    const counters = async () => {
      const { rows } = await service.owner.pool.query('SELECT key FROM rate_limit ORDER BY key')
      return rows.map(({ key }) => key.split(':')[0])
    }
    await limits.begin('somebody@example.com', '10.1.1.1')
    const counted = await counters()
    expect(counted).toContain('signin-all-address')
    await drain(purgeJob(service.deps))
    expect(await counters()).toEqual(counted)
    await service.owner.pool.query('UPDATE rate_limit SET expire = $1', [service.clock.machineNow() - 1])
    await drain(purgeJob(service.deps))
    expect(await counters()).toEqual([])
  })

  it('deletes what it can where one of its statements fails, and says why', async () => {
    await insertKeys('old', 1_500, 31)
    await service.owner.pool.query('ALTER TABLE rate_limit RENAME TO rate_limit_elsewhere')
    await expect(drain(purgeJob(service.deps))).rejects.toThrow('relation "rate_limit" does not exist')
    await service.owner.pool.query('ALTER TABLE rate_limit_elsewhere RENAME TO rate_limit')
    await drain(purgeJob(service.deps))
    expect(await keysLeft()).toEqual(['new'])
  })
})
