import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMetrics } from '../../src/observability/metrics.ts'
import { rememberRecent } from '../../src/office/recent.ts'
import { buildMonitor } from '../../src/office/server.ts'
import { keepAccessTrail, readAccess } from '../../src/services/access/accessTrail.ts'
import { createSignIn } from '../../src/services/access/signIn.ts'
import { createSignInLimits } from '../../src/services/access/signInLimits.ts'
import { combineListeners } from '../../src/services/listener.ts'
import { DEMO_OPERATOR } from '../../src/services/organizations/seedDemo.ts'
import { startService, type TestService } from '../support/service.ts'

// The operators' port behind a proxy that speaks TLS, as the manual asks for.

const MOST_FAILURES = 100
const [ATTACKER, OPERATOR, PROXY] = ['203.0.113.66', '198.51.100.7', '127.0.0.1']

let service: TestService
beforeAll(async () => {
  service = await startService({ TRUST_PROXY: 'loopback' })
})
afterAll(() => service.close())

/** Opens the port with an access trail. */
async function open() {
  const { deps: parts } = service
  const trail = keepAccessTrail(parts.machineNow, { warn: () => expect.unreachable() })
  const listener = combineListeners(trail.listener)
  const signIn = createSignIn({ ...parts, now: parts.machineNow, issuer: parts.config.authUrl, listener })
  const deps = { ...parts, listener, signIn }
  const metrics = createMetrics(deps.machineNow)
  const recent = rememberRecent(deps.machineNow)
  const log = { error: () => expect.unreachable() }
  const monitor = buildMonitor({ deps, metrics, recent, totals: { latest: () => [] }, log })
  trail.open(deps.db)
  const signInFrom = async (address: string, email: string, password: string, proxy = PROXY) => {
    const answer = await monitor.inject({
      method: 'POST',
      url: '/sign-in',
      remoteAddress: proxy,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': address },
      payload: new URLSearchParams({ email, password }).toString(),
    })
    return answer.statusCode
  }
  const close = async () => {
    await trail.stop()
    await monitor.close()
  }
  return { signInFrom, trail, deps, close }
}

describe('behind a proxy that TRUST_PROXY names', () => {
  it('wrong sign-ins of one address lock nobody else out, and the access trail has the addresses', async () => {
    const { signInFrom, trail, deps, close } = await open()
    const { email, password } = DEMO_OPERATOR
    const limits = createSignInLimits(deps.db)
    // Whichever of the two counts as the address of the attacker: one more failure locks it out.
    for (const address of [ATTACKER, PROXY])
      for (let attempt = 1; attempt < MOST_FAILURES; attempt++)
        await (await limits.begin(`nobody-${attempt}-${address}@example.com`, address)).end('failed')
    expect(await signInFrom(ATTACKER, 'nobody@example.com', 'wrong')).toBe(401)
    expect(await signInFrom(ATTACKER, email, password)).toBe(429)
    expect(await signInFrom(OPERATOR, email, password)).toBe(303)
    await trail.write()
    const entries = await readAccess(deps, {}, 1_000)
    const places = entries.map(({ outcome, route, address }) => `${outcome}, ${route}, ${address}`)
    expect(new Set(places)).toEqual(
      new Set([
        `unauthenticated, office /sign-in, ${ATTACKER}`,
        `resource_exhausted, office /sign-in, ${ATTACKER}`,
        `signed in, office /sign-in, ${OPERATOR}`,
      ]),
    )
    await close()
  })

  it('a client that is no proxy cannot choose its address', async () => {
    const { signInFrom, trail, deps, close } = await open()
    const { email, password } = DEMO_OPERATOR
    expect(await signInFrom(ATTACKER, email, password, '192.0.2.9')).toBe(303)
    await trail.write()
    expect((await readAccess(deps, {}, 1_000)).at(-1)).toMatchObject({ outcome: 'signed in', address: '192.0.2.9' })
    await close()
  })
})
