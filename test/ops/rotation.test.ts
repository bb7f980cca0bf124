import { setTimeout as pause } from 'node:timers/promises'
import { decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../src/app/app.ts'
import { openService } from '../../src/app/service.ts'
import type { Deps } from '../../src/services/deps.ts'
import { DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { opsOn } from '../support/ops.ts'
import { within } from '../support/patience.ts'
import { testConfig } from '../support/service.ts'

interface Instance {
  readonly deps: Deps
  readonly origin: string
  close(): Promise<void>
}

let database: FreshDatabase
let instances: readonly [Instance, Instance]

/** By the real clock, and over the network: what counts here is what instances know when. */
async function startInstance(): Promise<Instance> {
  const deps = await openService({ config: testConfig(), databaseUrl: database.url, now: Date.now, patience: 'always' })
  const app = await buildApp(deps)
  await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    deps,
    origin: app.listeningOrigin,
    close: async () => {
      await app.close()
      await deps.db.close()
    },
  }
}

beforeAll(async () => {
  database = await freshDatabase()
  instances = [await startInstance(), await startInstance()]
})
afterAll(async () => {
  for (const instance of instances) await instance.close()
  await database.drop()
})

const signIn = ({ deps }: Instance) => deps.signIn.issueToken(DEMO_PARTNER.email, DEMO_PARTNER.password, '127.0.0.1')
const RATE = 100
const SECONDS = 6

describe('keys rotate, under load', () => {
  it(`${RATE} requests a second from clients with old and new tokens, on both instances: no 401`, {
    timeout: within(40_000),
  }, async () => {
    const [one, two] = instances
    const ops = opsOn(one)
    const tokens = [await signIn(one), await signIn(two)]
    const kids = new Set(tokens.map((token) => decodeProtectedHeader(token).kid))
    const statuses = new Map<number, number>()
    const running: Promise<unknown>[] = []
    const go = (work: Promise<unknown>) => {
      // Looked at in the end, all together.
      work.catch(() => undefined)
      running.push(work)
    }
    const call = async (origin: string, token: string) => {
      const { status } = await fetch(`${origin}/v1/auth/authenticate`, {
        headers: { authorization: `Bearer ${token}` },
      })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    const begun = performance.now()
    let rotations = 0
    // An instance signs with a new key up to 4 s after the key is stored, and a busy machine takes seconds to make one: the
    // clients go on until one of them has a token of a new key.
    const most = RATE * within(4 * SECONDS)
    for (let sent = 0; sent < RATE * SECONDS || (kids.size < 2 && sent < most); sent++) {
      // Where it is behind it sends at once, but lets the servers, which are in this process too, have their turn.
      await pause(Math.max(0, begun + (sent * 1_000) / RATE - performance.now()))
      // Old and new ones alike, and every token at both instances.
      go(call(instances[sent % 2]!.origin, tokens[(sent >> 1) % tokens.length]!))
      // Twice, within a second of each other, so that an instance meets a key which is newer than its last reading.
      if (sent === RATE || sent === RATE + RATE / 2) {
        rotations++
        go(ops('keys rotate').then(({ code }) => expect(code).toBe(0)))
      }
      // Clients sign in all the time, here and there, and use what they got at once.
      if (sent % (RATE / 2) === RATE / 4)
        go(
          signIn(instances[(sent / 50) & 1]!).then(async (token) => {
            kids.add(decodeProtectedHeader(token).kid)
            await Promise.all(instances.map(({ origin }) => call(origin, token)))
            tokens.push(token)
          }),
        )
    }
    const broken = (await Promise.allSettled(running)).filter(({ status }) => status === 'rejected')
    expect(broken).toEqual([])
    expect(rotations).toBe(2)
    expect([...statuses.keys()]).toEqual([200])
    expect(statuses.get(200)).toBeGreaterThanOrEqual(RATE * SECONDS)
    // Tokens of an older key and of the newest were among them.
    expect(kids.size).toBeGreaterThanOrEqual(2)
  })

  it('a revoked key and a disabled account are refused within 5 s on both instances, by the real clock', {
    timeout: within(40_000),
  }, async () => {
    const [one] = instances
    const ops = opsOn(one)
    const token = await signIn(one)
    const use = async (of: string) =>
      Promise.all(
        instances.map(
          async ({ origin }) =>
            (await fetch(`${origin}/v1/auth/authenticate`, { headers: { authorization: `Bearer ${of}` } })).status,
        ),
      )
    expect(await use(token)).toEqual([200, 200])
    await ops('keys rotate')
    await pause(4_100)
    const fresh = await signIn(one)
    const begun = performance.now()
    expect((await ops(`keys revoke ${decodeProtectedHeader(token).kid} --yes`)).code).toBe(0)
    for (;;) {
      const statuses = await use(token)
      if (statuses.every((status) => status === 401)) break
      expect(performance.now() - begun).toBeLessThan(within(5_000))
      await pause(100)
    }
    expect(await use(fresh)).toEqual([200, 200])
    await ops(`accounts disable ${DEMO_PARTNER.email}`)
    const disabled = performance.now()
    while (!(await use(fresh)).every((status) => status === 401)) {
      expect(performance.now() - disabled).toBeLessThan(within(5_000))
      await pause(100)
    }
  })
})
