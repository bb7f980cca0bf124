import { randomUUID } from 'node:crypto'
import { createLocalJWKSet, decodeProtectedHeader, type JWK, jwtVerify } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { insertSigningKey, listKeyRecords, WHOLE_SERVICE } from '../../../src/db/access/signingKeys.ts'
import { service as byItself } from '../../../src/db/audit/trail.ts'
import {
  makeSigningKey,
  openKeyRing,
  retireSigningKey,
  revokeSigningKey,
  WrongSecretError,
} from '../../../src/services/access/keyRing.ts'
import { DEMO_PARTNER } from '../../../src/services/organizations/seedDemo.ts'
import { within } from '../../support/patience.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let other: TestService
beforeAll(async () => {
  service = await startService()
  other = await service.another()
})
afterAll(() => service.close())

const SECRET = 'a secret of the tests'
const host = 'auth.localhost'
const author = byItself(WHOLE_SERVICE)
const now = () => service.clock.machineNow()
const later = (ms: number) => service.clock.set(new Date(service.clock.now() + ms).toISOString())

async function rotate(): Promise<string> {
  const key = await makeSigningKey(SECRET)
  await insertSigningKey(service.deps.db, author, key, now())
  return key.kid
}
const signIn = ({ deps }: TestService) => deps.signIn.issueToken(DEMO_PARTNER.email, DEMO_PARTNER.password, '127.0.0.1')
const kidOf = (token: string) => String(decodeProtectedHeader(token).kid)
const statusOf = async (instance: TestService, token: string) =>
  (await instance.get('/v1/loan-products', { token })).status
const keySet = async (instance: TestService) => (await instance.get('/.well-known/jwks.json', { host })).body

beforeEach(() => later(10_000))

describe('GET /.well-known/jwks.json', () => {
  it('200 without a token: what others need to check one, and nothing of the private half', async () => {
    const answer = await service.get('/.well-known/jwks.json', { host, headers: { authorization: '' } })
    expect(answer.status).toBe(200)
    expect(answer.headers['cache-control']).toBe('public, max-age=60')
    for (const key of answer.body.keys) expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
    const { payload } = await jwtVerify(
      service.tokens.partner,
      createLocalJWKSet({ keys: answer.body.keys as object[] as JWK[] }),
      {
        issuer: 'http://auth.localhost:3000',
        currentDate: new Date(now()),
      },
    )
    expect(payload).toMatchObject({ org: 1, roles: ['USER'] })
  })

  it('is found on a host that no setting names, too', async () => {
    expect((await service.get('/.well-known/jwks.json', { host: 'localhost' })).status).toBe(200)
  })
})

describe('rotation', () => {
  it('the new key signs; a token of it is taken at once by an instance that has not read the keys again', async () => {
    const before = await signIn(service)
    await statusOf(other, before)
    const kid = await rotate()
    later(4_000)
    const token = await signIn(service)
    expect(kidOf(token)).toBe(kid)
    expect((await keySet(service)).keys.map((key: { kid: string }) => key.kid)).toContain(kidOf(before))
    expect((await keySet(service)).keys[0]?.kid).toBe(kid)
    expect([await statusOf(other, token), await statusOf(other, before)]).toEqual([200, 200])
  })

  it('no token is refused however soon after another unknown key was asked for', async () => {
    await rotate()
    later(4_000)
    const first = await signIn(service)
    await statusOf(other, first)
    // `other` has just read the keys for an unknown one, and waits for its turn to read again.
    const key = await makeSigningKey(SECRET)
    await insertSigningKey(service.deps.db, author, key, now() + 1)
    const third = await openKeyRing(service.deps.db, SECRET, () => now() + 1)
    expect((await third.signing()).kid).toBe(key.kid)
    const begun = performance.now()
    expect(await other.deps.keys.verifying(key.kid)).toBeDefined()
    expect(performance.now() - begun).toBeLessThan(within(2_500))
  })

  it('no token is refused of the second unknown key that an instance meets, and of the third', async () => {
    for (let time = 1; time <= 3; time++) {
      expect(await other.deps.keys.verifying(randomUUID())).toBeUndefined()
      expect(await other.deps.keys.verifying(await rotate())).toBeDefined()
    }
  })

  it('unknown keys are looked up by one reading, ten at a time; the others get a Retry-After at once', async () => {
    const pool = service.deps.db.prisma
    let reads = 0
    const counted = {
      ...service.deps.db,
      prisma: {
        signingKey: {
          findMany: (query: never) => {
            reads++
            return pool.signingKey.findMany(query)
          },
        },
      },
    }
    const ring = await openKeyRing(counted as never, SECRET, Date.now)
    reads = 0
    const unknown = Array.from({ length: 200 }, () => randomUUID())
    const found = await Promise.allSettled(unknown.map((kid) => ring.verifying(kid)))
    expect(found.filter((one) => one.status === 'fulfilled').map(({ value }) => value)).toEqual(
      Array(10).fill(undefined),
    )
    for (const one of found) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'unavailable' })
    expect(reads).toBe(1)
    // Those that were looked up are remembered.
    for (const kid of unknown.slice(0, 10)) expect(await ring.verifying(kid)).toBeUndefined()
    expect(reads).toBe(1)
  })

  it('a retired key no longer signs, and what it signed is still good; retiring the newest is going back', async () => {
    const old = kidOf(await signIn(service))
    const kid = await rotate()
    later(4_000)
    const token = await signIn(service)
    expect(kidOf(token)).toBe(kid)
    await retireSigningKey(service.deps, author, kid)
    later(4_000)
    expect(kidOf(await signIn(service))).toBe(old)
    expect(await statusOf(other, token)).toBe(200)
    expect((await listKeyRecords(service.deps.db)).find((key) => key.kid === kid)).toMatchObject({
      state: 'retired',
      signs: false,
    })
  })
})

describe('revocation', () => {
  it('a revoked key verifies nothing within 5 s, on both instances, though its tokens were taken a moment before', async () => {
    const token = await signIn(service)
    await rotate()
    later(4_000)
    expect(kidOf(await signIn(service))).not.toBe(kidOf(token))
    // Each has just read the keys, and verifies the token as late as it can on that reading.
    later(3_900)
    expect([await statusOf(service, token), await statusOf(other, token)]).toEqual([200, 200])
    await revokeSigningKey(service.deps, author, kidOf(token))
    later(4_999)
    expect([await statusOf(service, token), await statusOf(other, token)]).toEqual([401, 401])
    expect((await keySet(other)).keys.map((key: { kid: string }) => key.kid)).not.toContain(kidOf(token))
  })

  it('the two ages do not add up: keys read before the revocation, and a token verified with them', async () => {
    const token = await signIn(service)
    await rotate()
    later(5_000)
    const fresh = await signIn(service)
    await statusOf(other, fresh)
    await revokeSigningKey(service.deps, author, kidOf(token))
    later(3_990)
    await statusOf(other, token)
    later(1_009)
    expect(await statusOf(other, token)).toBe(401)
  })

  it('is refused for the only key that can sign, also of two at once', async () => {
    const records = (await listKeyRecords(service.deps.db)).filter(({ state }) => state === 'active')
    const [last, ...rest] = records
    for (const { kid } of rest) await retireSigningKey(service.deps, author, kid)
    await expect(revokeSigningKey(service.deps, author, last!.kid)).rejects.toMatchObject({
      code: 'failed_precondition',
    })
    const second = await rotate()
    const ends = await Promise.allSettled([last!.kid, second].map((kid) => revokeSigningKey(service.deps, author, kid)))
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await expect(revokeSigningKey(service.deps, author, 'nobody')).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

describe('a disabled account', () => {
  it('is refused within 5 s on both of two instances', async () => {
    later(5_000)
    const token = await signIn(service)
    expect([await statusOf(service, token), await statusOf(other, token)]).toEqual([200, 200])
    await service.deps.db.pool.query('UPDATE account SET disabled_at = now() WHERE email = $1', [DEMO_PARTNER.email])
    later(4_999)
    expect([await statusOf(service, token), await statusOf(other, token)]).toEqual([401, 401])
    await service.deps.db.pool.query('UPDATE account SET disabled_at = NULL WHERE email = $1', [DEMO_PARTNER.email])
  })
})

describe('a clock that is put back', () => {
  it('does not prolong what was read before: an account is refused, and a key verifies nothing', async () => {
    const { pool } = service.deps.db
    const token = await signIn(service)
    await rotate()
    later(5_000)
    const newer = await signIn(service)
    expect([await statusOf(service, token), await statusOf(service, newer)]).toEqual([200, 200])
    await revokeSigningKey(service.deps, author, kidOf(token))
    later(-600_000)
    expect([await statusOf(service, token), await statusOf(service, newer)]).toEqual([401, 200])
    await pool.query('UPDATE account SET disabled_at = now() WHERE email = $1', [DEMO_PARTNER.email])
    later(-600_000)
    expect(await statusOf(service, newer)).toBe(401)
    await pool.query('UPDATE account SET disabled_at = NULL WHERE email = $1', [DEMO_PARTNER.email])
    later(1_200_000)
  })
})

describe('KEY_ENCRYPTION_SECRET', () => {
  it('another one is refused at the start, in a line that names it', async () => {
    const opening = openKeyRing(service.deps.db, 'another secret of the tests', now)
    await expect(opening).rejects.toThrow(WrongSecretError)
    await expect(openKeyRing(service.deps.db, 'another secret of the tests', now)).rejects.toThrow(
      /^KEY_ENCRYPTION_SECRET: [^\n]+$/,
    )
  })

  it('is what private keys are encrypted with: no stored one is readable', async () => {
    const { rows } = await service.deps.db.pool.query('SELECT private_encrypted FROM signing_key')
    expect(rows.length).toBeGreaterThan(1)
    for (const row of rows) expect(row.private_encrypted).not.toContain('PRIVATE')
  })
})
