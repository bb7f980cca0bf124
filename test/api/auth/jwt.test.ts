import { createHmac, createPrivateKey, createPublicKey, type KeyObject, randomUUID, sign } from 'node:crypto'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JWK, jwtVerify, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { authStyle } from '../../../src/api/auth/index.ts'
import { partnerStyle } from '../../../src/api/partner/index.ts'
import { recordStyle } from '../../../src/api/record/index.ts'
import type { Style, StyleApp } from '../../../src/api/style.ts'
import { buildApp } from '../../../src/app/app.ts'
import { signerPlace } from '../../../src/services/access/tokens.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'

let service: TestService
let privateKey: KeyObject
let publicPem: string
beforeAll(async () => {
  service = await startService()
  const { kid, privatePem } = await service.deps.keys.signing()
  privateKey = createPrivateKey(privatePem)
  publicPem = (await service.deps.keys.verifying(kid))!
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

const claims = () => decodeJwt(service.tokens.partner)
const kid = () => decodeProtectedHeader(service.tokens.partner).kid!
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
/** Signed by jose, with the key that the service signs with. */
const byJose = (changes: object = {}, header: object = {}) =>
  new SignJWT({ ...claims(), ...changes } as never)
    .setProtectedHeader({ alg: 'RS256', kid: kid(), ...header })
    .sign(privateKey)

const hosts = { auth: '/v1/auth/authenticate', api: '/v1/loan-products', records: '/v1/borrowers' }
const askAll = async (token: string) =>
  Promise.all(
    Object.entries(hosts).map(async ([name, path]) => {
      const { status, body } = await service.get(path, { token, host: `${name}.localhost:3000` })
      return { status, message: (body as { message?: string } | undefined)?.message }
    }),
  )
const refusedEverywhere = (message: string) => Object.keys(hosts).map(() => ({ status: 401, message }))

describe('@fastify/jwt', () => {
  it('is registered in the scope of the auth host, and nowhere else; it is the signer of the service', async () => {
    const scopes: Record<string, StyleApp> = {}
    const noting = (style: Style): Style => ({
      ...style,
      async routes(app, deps) {
        await style.routes(app, deps)
        scopes[style.name] = app
      },
    })
    const deps = { ...service.deps, tokenSigner: signerPlace() }
    expect(() => deps.tokenSigner.mounted()).toThrow('an auth host that signs and verifies tokens')
    const app = await buildApp(deps, { styles: [authStyle, partnerStyle, recordStyle].map(noting) })
    const having = Object.keys(scopes).filter((name) => scopes[name]!.hasDecorator('jwt'))
    expect([having, app.hasDecorator('jwt')]).toEqual([['auth'], false])

    const key = await deps.keys.signing()
    const signed = scopes.auth!.jwt.sign({ ...claims() }, { kid: key.kid, key: key.privatePem })
    expect(deps.tokenSigner.mounted().verify(signed, publicPem)).toEqual(claims())
    await app.close()
  })

  it('has no key of its own: without one it neither signs nor verifies', async () => {
    let scope: StyleApp | undefined
    const style: Style = {
      ...authStyle,
      async routes(app, deps) {
        await authStyle.routes(app, deps)
        scope = app
      },
    }
    const app = await buildApp({ ...service.deps, tokenSigner: signerPlace() }, { styles: [style] })
    await expect(scope!.jwt.sign({ sub: '1' })).rejects.toThrow()
    await expect(scope!.jwt.verify(service.tokens.partner)).rejects.toThrow()
    await app.close()
  })
})

describe('a token', () => {
  it('of ours is one to jose, by the key set that is served', async () => {
    const { body } = await service.get('/.well-known/jwks.json', { host: 'auth.localhost' })
    const keySet = createLocalJWKSet({ keys: body.keys as object[] as JWK[] })
    const issued = { algorithms: ['RS256'], issuer: 'http://auth.localhost:3000', currentDate: new Date(FIRST_DAY) }
    const { payload, protectedHeader } = await jwtVerify(service.tokens.partner, keySet, issued)
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: kid() })
    expect(Object.keys(payload).sort()).toEqual(['exp', 'iat', 'iss', 'jti', 'org', 'roles', 'sub'])
  })

  it.each([{}, { typ: 'JWT' }])(
    'that jose signed with our key is taken on every host, its header with %j',
    async (header) => {
      expect((await askAll(await byJose({}, header))).map(({ status }) => status)).toEqual([200, 200, 200])
    },
  )

  it('ends with the millisecond before its exp', async () => {
    const exp = Math.floor(service.clock.machineNow() / 1000) + 60
    const token = await byJose({ exp })
    service.clock.stand(new Date(exp * 1000 - 1).toISOString(), 'machine')
    expect((await askAll(token)).map(({ status }) => status)).toEqual([200, 200, 200])
    // Another of the same claims: one that was verified is taken for some seconds more.
    service.clock.stand(new Date(exp * 1000).toISOString(), 'machine')
    expect(await askAll(await byJose({ exp, jti: randomUUID() }))).toEqual(refusedEverywhere('the token has expired'))
  })
})

describe('401 unauthenticated, in the same words on every host', () => {
  const NOT_OURS = 'the token is not one of ours'
  const UNKNOWN_KEY = 'the token was signed by a key that is unknown or revoked'
  const input = (header: object) => `${encode({ kid: kid(), ...header })}.${encode(claims())}`
  const hmac = (secret: string | Buffer, header: object = { alg: 'HS256' }) =>
    `${input(header)}.${createHmac('sha256', secret).update(input(header)).digest('base64url')}`
  const rsa = (hash: string, header: object) =>
    `${input(header)}.${sign(hash, Buffer.from(input(header)), privateKey).toString('base64url')}`
  const signatureOf = (token: string) => token.split('.')[2]!

  const tokens: Record<string, [message: string, token: () => string | Promise<string>]> = {
    'HS256 with the PEM of the public key': [NOT_OURS, () => hmac(publicPem)],
    'HS256 with its DER': [NOT_OURS, () => hmac(createPublicKey(publicPem).export({ type: 'spki', format: 'der' }))],
    'HS256 with its JWK': [NOT_OURS, () => hmac(JSON.stringify(createPublicKey(publicPem).export({ format: 'jwk' })))],
    'an HMAC of the public key that says RS256': [NOT_OURS, () => hmac(publicPem, { alg: 'RS256' })],
    'alg none': [NOT_OURS, () => `${input({ alg: 'none' })}.`],
    'alg none, with a signature': [NOT_OURS, () => `${input({ alg: 'none' })}.${signatureOf(service.tokens.partner)}`],
    'alg None': [NOT_OURS, () => `${input({ alg: 'None' })}.`],
    'RS256 without a signature': [NOT_OURS, () => `${input({ alg: 'RS256' })}.`],
    'RS512 of our own key': [NOT_OURS, () => rsa('sha512', { alg: 'RS512' })],
    'PS256 of our own key': [NOT_OURS, () => byJose({}, { alg: 'PS256' })],
    'alg as a list': [NOT_OURS, () => rsa('sha256', { alg: ['RS256'] })],
    'no alg': [NOT_OURS, () => rsa('sha256', {})],
    'a header of ours that is critical': [NOT_OURS, () => rsa('sha256', { alg: 'RS256', crit: ['exp'], exp: 1 })],
    'no kid': [UNKNOWN_KEY, () => rsa('sha256', { alg: 'RS256', kid: undefined })],
    'a kid that is a number': [UNKNOWN_KEY, () => rsa('sha256', { alg: 'RS256', kid: 1 })],
    'a kid that is of every object': [UNKNOWN_KEY, () => rsa('sha256', { alg: 'RS256', kid: 'constructor' })],
    'another issuer': [NOT_OURS, () => byJose({ iss: 'http://elsewhere.localhost' })],
    'another issuer, and expired': [NOT_OURS, () => byJose({ iss: 'http://elsewhere.localhost', exp: 1 })],
    'several issuers': [NOT_OURS, () => byJose({ iss: ['http://auth.localhost:3000'] })],
    'no issuer': [NOT_OURS, () => byJose({ iss: undefined })],
    'no jti': [NOT_OURS, () => byJose({ jti: undefined })],
    'an iat that is text': [NOT_OURS, () => byJose({ iat: '1769841000' })],
    'an exp that is text': [NOT_OURS, () => byJose({ exp: '4102444800' })],
    'an exp that is null': [NOT_OURS, () => byJose({ exp: null })],
    'an nbf that is to come': [NOT_OURS, () => byJose({ nbf: 4_102_444_800 })],
    'an nbf beyond all dates': [NOT_OURS, () => byJose({ nbf: 1e300 })],
    'a payload that is a list': [NOT_OURS, () => `${encode({ alg: 'RS256', kid: kid() })}.${encode([1])}.AAAA`],
    'four parts': [NOT_OURS, () => `${service.tokens.partner}.AAAA`],
    'a signature with a sign that is not of its alphabet': [NOT_OURS, () => `${service.tokens.partner}=`],
  }

  it.each(Object.keys(tokens))('%s', async (name) => {
    const [message, token] = tokens[name]!
    expect(await askAll(await token())).toEqual(refusedEverywhere(message))
  })

  it('a hundred tokens of alg none at once: none of their keys is looked up, none gets a Retry-After', async () => {
    const many = Array.from({ length: 100 }, () => `${input({ alg: 'none', kid: randomUUID() })}.`)
    const answers = await Promise.all(many.map((token) => service.get('/v1/loan-products', { token })))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))
  })
})
