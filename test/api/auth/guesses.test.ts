import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { operator } from '../../../src/services/access/caller.ts'
import { addAccount } from '../../support/accounts.ts'
import { opsOn } from '../../support/ops.ts'
import { startService, type TestService } from '../../support/service.ts'

const AUTH = 'auth.localhost:3000'
const RIGHT = 'partner-secret'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(() => service.deps.db.pool.query('DELETE FROM rate_limit'))

const signIn = async (password: string, remoteAddress = '10.1.1.1', email = 'partner@example.com') => {
  const authorization = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`
  const answer = await service.app.inject({
    url: '/v1/auth/token',
    remoteAddress,
    headers: { host: AUTH, authorization },
  })
  return { status: answer.statusCode, body: answer.json(), retryAfter: Number(answer.headers['retry-after']) }
}
const statuses = (answers: readonly { status: number }[]) =>
  Object.fromEntries([...Map.groupBy(answers, ({ status }) => status)].map(([status, some]) => [status, some.length]))

describe('guesses at a password', () => {
  it('200 at once: ten are looked at, and the right one among the rest is refused as they are', async () => {
    const other = await service.another()
    const guesses = Array.from({ length: 199 }, (_, index) => `guess-${index}`)
    const from = (index: number) => `10.0.${index}.1`
    const [wrong, right] = [
      Promise.all(
        guesses.map((guess, index) => {
          const authorization = `Basic ${Buffer.from(`partner@example.com:${guess}`).toString('base64')}`
          return (index % 2 === 0 ? service : other).app.inject({
            url: '/v1/auth/token',
            remoteAddress: from(index),
            headers: { host: AUTH, authorization },
          })
        }),
      ),
      signIn(RIGHT, '10.9.9.9'),
    ]
    const refused = (await wrong).map((answer) => ({ status: answer.statusCode, body: answer.json() }))
    expect(statuses(refused)).toEqual({ 401: 10, 429: 189 })
    const last = await right
    expect(last).toMatchObject({ status: 429, body: { code: 'resource_exhausted' } })
    const words = (text: string) => text.replace(/\d+ s/, 'n s')
    const among = refused.filter(({ status }) => status === 429).map(({ body }) => words(body.message))
    expect(among).toContain(words(last.body.message))
  })

  it('of one address, more than ten at once are refused before they are counted', async () => {
    const emails = Array.from({ length: 40 }, (_, index) => `guessed-${index}@example.com`)
    for (const email of emails)
      await addAccount(service.deps, operator(1, 'test'), { email, password: 'not guessed', roles: ['USER'] })
    const answers = await Promise.all(emails.map((email) => signIn('guess', '10.2.2.2', email)))
    expect(statuses(answers)).toEqual({ 401: 10, 429: 30 })
    for (const { status, retryAfter } of answers) if (status === 429) expect(retryAfter).toBe(1)
    // The thirty did not use up the hundred failures of the address.
    expect((await signIn(RIGHT, '10.2.2.2')).status).toBe(200)
  })

  it('the right password from twenty workers that start together is right for each of them', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => signIn(RIGHT)))
    expect(statuses(answers)).toEqual({ 200: 20 })
    expect(new Set(answers.map(({ body }) => decodeJwt(body.token).jti)).size).toBe(20)
  })

  it('a sign-in that succeeds counts among no failures; a hundred in a quarter of an hour are the most', async () => {
    for (let count = 0; count < 12; count++) expect((await signIn(RIGHT)).status).toBe(200)
    await service.deps.db.pool.query(`UPDATE rate_limit SET points = 100 WHERE key LIKE 'signin-all-email:%'`)
    expect(await signIn(RIGHT)).toMatchObject({ status: 429, body: { code: 'resource_exhausted' } })
  })
})

describe('mkopo accounts unlock', () => {
  it('lets an account that failed too often sign in again, and the trail has it', async () => {
    const ops = opsOn(service)
    for (let count = 0; count < 11; count++) await signIn('guess', `10.3.0.${count}`)
    expect((await signIn(RIGHT)).status).toBe(429)
    expect(await ops('accounts unlock partner@example.com')).toMatchObject({ code: 0 })
    expect((await signIn(RIGHT)).status).toBe(200)
    const { rows } = await service.deps.db.pool.query(`SELECT action FROM audit_entry WHERE action = 'unlock'`)
    expect(rows).toHaveLength(1)
  })

  it('lets an address sign in again', async () => {
    const ops = opsOn(service)
    await signIn('guess', '10.4.4.4')
    await service.deps.db.pool.query(`UPDATE rate_limit SET points = 100 WHERE key = 'signin-address:10.4.4.4'`)
    expect((await signIn(RIGHT, '10.4.4.4')).status).toBe(429)
    expect(await ops('accounts unlock --address 10.4.4.4')).toMatchObject({ code: 0 })
    expect((await signIn(RIGHT, '10.4.4.4')).status).toBe(200)
  })

  it.each([
    ['accounts unlock nobody@example.com', 1, /no account has that e-mail/],
    ['accounts unlock operator@example.com', 1, /no attempts/],
    ['accounts unlock --address x', 1, /must be an IP address/],
    ['accounts unlock --address 10.5.5.5', 1, /no attempts/],
    ['accounts unlock', 2, /an e-mail, or --address/],
    ['accounts unlock partner@example.com --address 10.1.1.1', 2, /an e-mail, or --address/],
  ])('%s: exit code %i', async (command, code, message) => {
    const run = await opsOn(service)(command)
    expect(run.code).toBe(code)
    expect(run.err).toMatch(message)
  })
})

describe('tokens that name what is not there', () => {
  const forged = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const kid = () => decodeProtectedHeader(service.tokens.partner).kid!

  it('100 unknown keys at once: none waits long, none is internal, and the book is read meanwhile', async () => {
    const claims = decodeJwt(service.tokens.partner)
    const tokens = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: `unknown-${index}` }).sign(forged.privateKey),
      ),
    )
    const reads = service.deps.db.prisma.signingKey.count()
    const answers = await Promise.all(tokens.map((token) => service.get('/v1/loan-products', { token })))
    await reads
    const counts = statuses(answers)
    expect(Object.keys(counts).filter((status) => !['401', '503'].includes(status))).toEqual([])
    // Ten are looked up, all of them by one reading; the others get a Retry-After.
    expect(counts).toEqual({ 401: 10, 503: 90 })
    expect((await service.get('/v1/loan-products')).status).toBe(200)
  })

  it.each([
    ['sub', 'x'],
    ['sub', '-1'],
    ['sub', '1.5'],
    ['sub', '99999999999'],
    ['org', 1.5],
    ['org', '1e3'],
    ['org', 99_999_999_999],
    ['org', { id: 1 }],
    ['org', null],
  ])('401 unauthenticated, never internal: a token of ours with %s %j', async (claim, value) => {
    const privateKey = createPrivateKey((await service.deps.keys.signing()).privatePem)
    const claims = { ...decodeJwt(service.tokens.partner), [claim]: value }
    const token = await new SignJWT(claims as never).setProtectedHeader({ alg: 'RS256', kid: kid() }).sign(privateKey)
    expect(await service.get('/v1/loan-products', { token })).toMatchObject({
      status: 401,
      body: { code: 'unauthenticated' },
    })
  })
})
