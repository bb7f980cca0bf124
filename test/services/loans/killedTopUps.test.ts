import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_PARTNER } from '../../../src/services/organizations/seedDemo.ts'
import { within } from '../../support/patience.ts'
import { type ServiceProcess, sendUntilServed, startProcess, tokenFrom } from '../../support/process.ts'
import { randomFrom } from '../../support/random.ts'
import { startService, type TestService } from '../../support/service.ts'

// Processes that are killed while they make top-ups. `npm run try -- top-ups` makes a thousand.

const TOP_UPS = Number(process.env.MKOPO_TOP_UPS ?? 30)
const KILLS = Number(process.env.MKOPO_KILLS ?? 2)
const AT_ONCE = 8

let service: TestService
let child: ServiceProcess | undefined
beforeAll(async () => {
  service = await startService()
  service.clock.set(new Date().toISOString())
})
afterAll(async () => {
  child?.child.kill('SIGKILL')
  await service.close()
})

const numbers = Array.from({ length: TOP_UPS }, (_, index) => index)

async function lendFirst(number: number): Promise<void> {
  const customerId = `customer-${number}`
  await service.post('/v1/customers', { body: { externalId: customerId } })
  const body = { customerId, productId: 1, principal: 50_000, externalId: `first-${number}` }
  expect((await service.post('/v1/loans', { body })).status).toBe(200)
}

const secondOf = (number: number) => ({
  customerId: `customer-${number}`,
  productId: 1,
  principal: 100_000,
  externalId: `second-${number}`,
  settles: [`first-${number}`],
})

/** Sends top-ups to a process, a few at once, and kills it after some answers. @returns the numbers of those that were answered */
async function topUp(left: number[], killAfter: number): Promise<number[]> {
  const settings = {
    DATABASE_URL: service.url,
    KEY_ENCRYPTION_SECRET: 'a secret of the tests',
    FALLBACK_STYLE: 'partner',
  }
  child = await startProcess(settings)
  const { child: running, origin, ended } = child
  const headers = {
    authorization: `Bearer ${await tokenFrom(origin, DEMO_PARTNER)}`,
    'content-type': 'application/json',
  }
  const answered: number[] = []
  const waiting = [...left]
  const send = async () => {
    for (let number = waiting.shift(); number !== undefined; number = waiting.shift()) {
      const body = JSON.stringify(secondOf(number))
      const request = { method: 'POST', headers, body }
      const answer = await sendUntilServed(`${origin}/v1/loans`, request).catch(() => undefined)
      if (answer === undefined) return
      // Made by a process that was killed before it answered.
      expect([200, 409]).toContain(answer.status)
      answered.push(number)
      if (answered.length === killAfter) running.kill('SIGKILL')
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, send))
  running.kill('SIGKILL')
  await ended
  return answered
}

/** Counts the transactions that are open: of a process that was killed, the database may finish one that it was told to commit. */
const open = async (): Promise<number> =>
  (
    await service.owner.pool.query(
      `SELECT count(*)::int AS open FROM pg_stat_activity
       WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()`,
    )
  ).rows[0].open

/** Returns what a number has: whether the first loan is paid off, and whether the second is there. */
async function madeOf(number: number) {
  const first = await service.get(`/v1/loans/external/first-${number}`)
  const second = await service.get(`/v1/loans/external/second-${number}`)
  return { number, isPaidOff: first.body.status === 'Closed (obligations met)', isMade: second.status === 200 }
}

describe('kill -9 of processes that make top-ups', { timeout: within(60_000 + TOP_UPS * 500) }, () => {
  it('leaves of each both the payment of the one loan and the other loan, or neither; what was answered is there', async () => {
    for (const number of numbers) await lendFirst(number)
    const below = randomFrom(7)
    const done = new Set<number>()
    for (let kill = 0; kill < KILLS; kill++) {
      const left = numbers.filter((number) => !done.has(number))
      const killAfter = 1 + below(Math.max(1, Math.floor((left.length * 2) / KILLS)))
      for (const number of await topUp(left, killAfter)) done.add(number)
      await expect.poll(open, { timeout: within(10_000) }).toBe(0)
      for (const number of numbers) {
        const { isPaidOff, isMade } = await madeOf(number)
        expect({ number, isPaidOff, isMade }).toEqual({ number, isPaidOff: isMade, isMade })
        if (done.has(number)) expect({ number, isMade }).toEqual({ number, isMade: true })
      }
    }
    // Those that are left can be made afterwards.
    for (const number of numbers.filter((one) => !done.has(one))) {
      expect([200, 409]).toContain((await service.post('/v1/loans', { body: secondOf(number) })).status)
      expect(await madeOf(number)).toEqual({ number, isPaidOff: true, isMade: true })
    }
  })
})
