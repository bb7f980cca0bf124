import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inPlace } from '../../../src/api/openapi/share.ts'
import { PERMISSION_NAMES } from '../../../src/domain/access/permissions.ts'
import { DEMO_OPERATOR, DEMO_PARTNER } from '../../../src/services/organizations/seedDemo.ts'
import { documentOf, examplesOf } from '../../support/document.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const host = 'auth.localhost'
const authenticate = (token: string) => service.get('/v1/auth/authenticate', { host, token })
const authorize = (token: string, body: unknown) => service.post('/v1/auth/authorize', { host, token, body })

describe('GET /v1/auth/authenticate', () => {
  it('200: whose the token is, and until when', async () => {
    service.clock.stand(FIRST_DAY, 'machine')
    const signIn = ({ email, password }: typeof DEMO_PARTNER) =>
      service.deps.signIn.issueToken(email, password, '127.0.0.1')
    const { status, body, headers } = await authenticate(await signIn(DEMO_OPERATOR))
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        accountId: expect.stringMatching(/^\d+$/),
        organizationId: '1',
        email: DEMO_OPERATOR.email,
        roles: ['ADMIN'],
        permissions: [...PERMISSION_NAMES],
        expiresAt: '2027-01-31T09:30:00.000+03:00',
      },
    })
    expect(headers['cache-control']).toBe('no-store')
    const partner = (await authenticate(await signIn(DEMO_PARTNER))).body
    expect(partner).toMatchObject({ email: DEMO_PARTNER.email })
    const document = await documentOf(service, host)
    expect(examplesOf(document, { $ref: '#/components/schemas/Identity' })).toEqual([partner])
  })

  it('401 unauthenticated: no token, a malformed one, one that has expired', async () => {
    expect(await service.get('/v1/auth/authenticate', { host, headers: { authorization: '' } })).toMatchObject({
      status: 401,
      body: { code: 'unauthenticated' },
    })
    expect((await authenticate('a.b.c')).status).toBe(401)
    service.clock.set('2027-01-31T09:30:01+03:00')
    expect(await authenticate(service.tokens.partner)).toMatchObject({
      status: 401,
      body: { message: 'the token has expired' },
    })
    service.clock.set(FIRST_DAY)
  })
})

describe('POST /v1/auth/authorize', () => {
  it.each([
    ['partner', 'any', 204],
    ['partner', 'user', 204],
    ['partner', 'admin', 403],
    ['operator', 'any', 204],
    ['operator', 'user', 204],
    ['operator', 'admin', 204],
  ] as const)('%s, rule %s: %i', async (who, rule, status) => {
    const answer = await authorize(service.tokens[who], { rule })
    expect(answer.status).toBe(status)
    if (status === 204) expect(answer.text).toBe('')
    else expect(answer.body.code).toBe('permission_denied')
  })

  it('400 invalid_argument: another rule, none, an unknown field', async () => {
    for (const body of [{ rule: 'root' }, {}, { rule: 'any', role: 'x' }])
      expect(await authorize(service.tokens.operator, body)).toMatchObject({
        status: 400,
        body: { code: 'invalid_argument' },
      })
  })

  it('401 unauthenticated without a token, whatever the rule', async () => {
    expect((await authorize('x', { rule: 'any' })).status).toBe(401)
  })

  it('is documented, its 204 without a body', async () => {
    const body = inPlace(await documentOf(service, host))
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining(['/v1/auth/authenticate', '/v1/auth/authorize', '/.well-known/jwks.json']),
    )
    const { responses } = body.paths['/v1/auth/authorize']!.post!
    expect(responses['204']?.content).toBeUndefined()
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['204', '400', '401', '403']))
    // It changes nothing, and answers as of now: there is nothing to keep for a key.
    expect(JSON.stringify(body.paths['/v1/auth/authorize'])).not.toMatch(/Idempotency-Key|aborted/)
    expect(body.paths['/.well-known/jwks.json']?.get?.security).toEqual([])
  })
})
