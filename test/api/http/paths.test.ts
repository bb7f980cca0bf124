import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toyApp } from '../toy.ts'

const PARTNER = 'api.localhost'

let app: FastifyInstance
beforeAll(async () => {
  app = await toyApp()
})
afterAll(() => app.close())

const ask = async (host: string, url: string, { method = 'GET' as const }: { method?: 'GET' } = {}) => {
  const answer = await app.inject({ method, url, headers: { host } })
  return { status: answer.statusCode, body: answer.json<{ message: string }>() }
}

describe('a path or a method that is not there', () => {
  test('405 method_not_allowed: with Allow, and the methods that the path takes; OPTIONS answers 204 with it', async () => {
    const path = '/v1/loans/1/repayments'
    const refused = await app.inject({ method: 'DELETE', url: path, headers: { host: PARTNER } })
    expect([refused.statusCode, refused.headers.allow]).toEqual([405, 'POST, OPTIONS'])
    expect(refused.json()).toEqual({
      code: 'method_not_allowed',
      message: 'the path does not take DELETE; it takes POST',
    })
    const options = await app.inject({ method: 'OPTIONS', url: path, headers: { host: PARTNER } })
    expect([options.statusCode, options.headers.allow, options.payload]).toEqual([204, 'POST, OPTIONS', ''])
    expect(
      (await app.inject({ method: 'OPTIONS', url: '/health/live', headers: { host: PARTNER } })).headers.allow,
    ).toBe('GET, HEAD, OPTIONS')
    for (const method of ['OPTIONS', 'DELETE', 'PROPFIND'])
      expect((await ask(PARTNER, '/v1/nothing', { method: method as 'GET' })).status).toBe(404)
  })

  test('405 or 404: QUERY without a content type, which Fastify would refuse as malformed', async () => {
    const query = (url: string) => app.inject({ method: 'QUERY' as 'GET', url, headers: { host: PARTNER } })
    const refused = await query('/v1/loans/1/repayments')
    expect([refused.statusCode, refused.headers.allow]).toEqual([405, 'POST, OPTIONS'])
    expect(refused.json()).toMatchObject({ code: 'method_not_allowed' })
    expect((await query('/v1/nothing')).statusCode).toBe(404)
  })

  test.each([
    ['/loans', '/v1/loans'],
    ['/v1/loan', '/v1/loans'],
    ['/customer', '/v1/customers'],
    ['/v1/Loans', '/v1/loans'],
    ['/v1/loan/1/repayments', '/v1/loans/1/repayments'],
  ])('404 not_found: %s, with the path that was meant', async (path, meant) => {
    const { status, body } = await ask(PARTNER, path)
    expect([status, body.message]).toEqual([404, `no such path: GET ${path}; did you mean ${meant}?`])
  })

  test.each([
    ['/v1/customers/', '; leave out the slash at its end'],
    ['/v1/loans/', '; leave out the slash at its end'],
    ['/v1/nothing/', ''],
    ['/v1/loans//repayments', ''],
    ['/v1//loans', ''],
  ])('404 not_found: %s, where a slash is no empty id', async (path, hint) => {
    const { status, body } = await ask(PARTNER, path)
    expect([status, body.message]).toEqual([404, `no such path: GET ${path}${hint}`])
  })
})
