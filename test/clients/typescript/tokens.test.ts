import { describe, expect, it } from 'vitest'
import { answer, broken, failureOf, fakeService, type Reaction, refusal } from './fake.ts'

const account = { email: 'partner@example.com', password: 'pa:ß' }
const DAY_MS = 86_400_000
const YEAR_S = 365 * 86_400

/** A token as the service makes it, as far as the client reads it. */
const tokenUntil = (seconds: number, name = 'x') =>
  `e30.${Buffer.from(JSON.stringify({ exp: seconds, jti: `${name}?>` })).toString('base64url')}.c2ln`

/** A service that gives a new token at each sign-in, and answers every other request. */
function signingIn(react: (token: string) => Response | undefined = () => undefined, lifeS = YEAR_S) {
  let signIns = 0
  const service = fakeService(
    [
      ({ path, headers }) => {
        const given = headers.get('authorization') ?? ''
        if (path !== '/v1/auth/token') return react(given) ?? answer({ id: '1' })
        signIns++
        return answer({ token: tokenUntil(service.clock.now() / 1_000 + lifeS, String(signIns)) })
      },
    ],
    account,
  )
  const tokensOf = () =>
    service.sent.filter(({ path }) => path !== '/v1/auth/token').map(({ headers }) => headers.get('authorization'))
  return { ...service, signIns: () => signIns, tokensOf }
}

describe('a token', () => {
  it('is taken with e-mail and password, once for many calls at a time', async () => {
    const { mkopo, sent, signIns, tokensOf } = signingIn()
    await Promise.all(Array.from({ length: 10 }, (_, id) => mkopo.getLoan(String(id + 1))))
    await mkopo.records.getLoan(1n)
    expect(signIns()).toBe(1)
    expect(Buffer.from(sent[0]!.headers.get('authorization')!.slice(6), 'base64').toString()).toBe(
      'partner@example.com:pa:ß',
    )
    expect(new Set(tokensOf()).size).toBe(1)
    expect(tokensOf()).toHaveLength(11)
  })

  it('is renewed before it expires', async () => {
    const { mkopo, clock, signIns } = signingIn()
    await mkopo.getLoan('1')
    clock.ms += 328 * DAY_MS
    await mkopo.getLoan('1')
    expect(signIns()).toBe(1)
    clock.ms += DAY_MS
    await Promise.all([mkopo.getLoan('1'), mkopo.getLoan('2')])
    expect(signIns()).toBe(2)
  })

  it('that is still valid does while no other can be had', async () => {
    let isDown = false
    const reactions: Reaction[] = [
      ({ path }) => {
        if (path !== '/v1/auth/token') return answer({})
        return isDown ? broken() : answer({ token: tokenUntil(Date.parse('2027-01-31T06:30:00Z') / 1_000) })
      },
    ]
    const { mkopo, sent, clock } = fakeService(reactions, { ...account, retries: 0 })
    const signIns = () => sent.filter(({ path }) => path === '/v1/auth/token').length
    await mkopo.getLoan('1')
    isDown = true
    clock.ms += 330 * DAY_MS
    await mkopo.getLoan('1')
    await mkopo.getLoan('1')
    expect(signIns()).toBe(2)
    clock.ms += 4 * DAY_MS
    await mkopo.getLoan('1')
    expect(signIns()).toBe(3)
    clock.ms += 32 * DAY_MS
    expect(await failureOf(mkopo.getLoan('1'))).toMatchObject({ code: 'unreachable', mayBeDone: false })
  })

  it('that does not say when it expires is kept', async () => {
    for (const token of ['opaque', 'a.b.c', `a.${Buffer.from('{}').toString('base64url')}.c`]) {
      const { mkopo, sent } = fakeService([answer({ token }), answer({}), answer({})], account)
      await mkopo.getLoan('1')
      await mkopo.getLoan('1')
      expect(sent.map(({ path }) => path)).toEqual(['/v1/auth/token', '/v1/loans/1', '/v1/loans/1'])
    }
  })

  it('that is refused is taken again, once for all calls, and the call goes on under its key', async () => {
    let revoked = ''
    const { mkopo, sent, signIns, tokensOf } = signingIn((given) =>
      given === revoked ? refusal(401, 'unauthenticated') : undefined,
    )
    await mkopo.getLoan('1')
    revoked = tokensOf()[0]!
    const post = () => mkopo.postRepayment('1', { transactionAmount: 1 })
    await Promise.all([post(), post(), post()])
    expect(signIns()).toBe(2)
    const keys = sent.filter(({ method }) => method === 'POST').map(({ headers }) => headers.get('idempotency-key'))
    expect([keys.length, new Set(keys).size]).toEqual([6, 3])
  })

  it('that is refused again is a refusal of the call', async () => {
    const { mkopo, signIns, tokensOf } = signingIn(() => refusal(401, 'unauthenticated'))
    expect(await failureOf(mkopo.getLoan('1'))).toMatchObject({ code: 'unauthenticated', status: 401 })
    expect([signIns(), tokensOf().length]).toEqual([2, 2])
  })
})

describe('a sign-in', () => {
  it('that is refused is a refusal of the call, and is tried again by the next call', async () => {
    const { mkopo, sent } = fakeService([refusal(401, 'unauthenticated')], account)
    const error = await failureOf(mkopo.postRepayment('1', { transactionAmount: 1 }))
    expect(error).toMatchObject({ code: 'unauthenticated', mayBeDone: false })
    expect(error.idempotencyKey).toBeDefined()
    await failureOf(mkopo.getLoan('1'))
    expect(sent).toHaveLength(2)
  })

  it('is repeated after a lost answer', async () => {
    const { mkopo, sent } = fakeService(
      [broken(), refusal(503, 'unavailable'), answer({ token: 'a' }), answer({})],
      account,
    )
    await mkopo.getLoan('1')
    expect(sent.map(({ path }) => path)).toEqual([...Array(3).fill('/v1/auth/token'), '/v1/loans/1'])
  })

  it('does not end with the call that began it', async () => {
    const began = Promise.withResolvers<void>()
    const answers = Promise.withResolvers<Response>()
    const reactions: Reaction[] = [
      () => {
        began.resolve()
        return answers.promise
      },
      answer({ id: '1' }),
    ]
    const { mkopo, sent } = fakeService(reactions, account)
    const controller = new AbortController()
    const first = failureOf(mkopo.getLoan('1', { signal: controller.signal }))
    const second = mkopo.getLoan('2')
    await began.promise
    controller.abort(new Error('enough'))
    expect((await first).message).toBe('enough')
    answers.resolve(answer({ token: 'a' }))
    expect(await second).toEqual({ id: '1' })
    expect(sent).toHaveLength(2)
  })
})

describe('credentials', () => {
  it('may be an API key, for the record style alone', async () => {
    const { mkopo, sent } = fakeService([answer({})], { apiKey: 'mk_secret' })
    await mkopo.records.getLoan(1n)
    expect(sent[0]!.headers.get('authorization')).toBe('Bearer mk_secret')
    await expect(mkopo.getLoan('1')).rejects.toThrow('createMkopo needs email and password, or a token')
    const both = fakeService([answer({ token: 't' }), answer({})], { ...account, apiKey: 'mk_secret' })
    await both.mkopo.getLoan('1')
    await both.mkopo.records.getLoan(1n)
    const given = both.sent.slice(1).map(({ headers }) => headers.get('authorization'))
    expect(given).toEqual(['Bearer t', 'Bearer mk_secret'])
  })

  it('may be a token that stays the same, or a function that is asked again after a refusal', async () => {
    const fixed = fakeService([refusal(401, 'unauthenticated')], { token: 'old' })
    expect(await failureOf(fixed.mkopo.getLoan('1'))).toMatchObject({ code: 'unauthenticated' })
    expect(fixed.sent).toHaveLength(1)
    const tokens = ['old', 'new']
    const asked = fakeService([refusal(401, 'unauthenticated'), answer({})], { token: async () => tokens.shift()! })
    await asked.mkopo.getLoan('1')
    expect(asked.sent.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer old', 'Bearer new'])
  })
})
