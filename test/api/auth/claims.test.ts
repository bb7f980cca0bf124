import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService, type TestService } from '../../support/service.ts'

// Genuine signatures over claims that the service does not issue.

let service: TestService
let claims: Record<string, unknown>
beforeAll(async () => {
  service = await startService()
  claims = JSON.parse(Buffer.from(service.tokens.operator.split('.')[1]!, 'base64url').toString())
})
afterAll(() => service.close())

/** Signs the claims of a token that was issued, with some of them replaced. */
async function tokenWith(replaced: Record<string, unknown>): Promise<string> {
  const { keys, tokenSigner } = service.deps
  return tokenSigner.mounted().sign({ ...claims, ...replaced }, await keys.signing())
}

const statusesOf = async (token: string) => {
  const calls = [
    service.get('/v1/loans', { token }),
    service.get('/v1/auth/authenticate', { token, host: new URL(service.deps.config.authUrl).host }),
  ]
  return (await Promise.all(calls)).map(({ status, body }) => [status, body.code])
}

const REFUSED = [
  [401, 'unauthenticated'],
  [401, 'unauthenticated'],
]
const OF_NO_TYPE: unknown[] = [
  null,
  true,
  {},
  [],
  [1],
  ['1'],
  { toString: '1' },
  '',
  ' 1',
  '01',
  '1e0',
  '+1',
  '1.0',
  0,
  -1,
  1.5,
  1e300,
]

describe('a token whose claims are of another type than those that are issued', () => {
  it('that is as it was issued is accepted', async () => {
    expect((await statusesOf(await tokenWith({}))).map(([status]) => status)).toEqual([200, 200])
  })

  it.each([...OF_NO_TYPE, '1', 2 ** 31])('401 for org %j', async (org) =>
    expect(await statusesOf(await tokenWith({ org }))).toEqual(REFUSED),
  )

  it.each([...OF_NO_TYPE, 1, 2, String(2 ** 31)])('401 for sub %j', async (sub) =>
    expect(await statusesOf(await tokenWith({ sub }))).toEqual(REFUSED),
  )

  it.each([{ iat: 1.5 }, { exp: 1e300 }, { exp: 9e15 }, { iat: 1e300, exp: 1e300 }, { iat: -9e15 }])(
    '401 for %j',
    async (times) => expect(await statusesOf(await tokenWith(times))).toEqual(REFUSED),
  )
})
