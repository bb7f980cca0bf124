import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService, type TestService } from '../../support/service.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const home = (host: string, accept?: string, method: 'GET' | 'HEAD' | 'POST' = 'GET') =>
  service.app.inject({ url: '/', method, headers: { host, ...(accept !== undefined && { accept }) } })

describe('/', () => {
  it.each([
    ['auth.localhost', 'Mkopo: tokens'],
    ['api.localhost', 'Mkopo: partner API'],
    ['records.localhost', 'Mkopo: record API'],
    ['localhost:3000', 'Mkopo: partner API'],
  ])(
    '%s: a browser gets a page whose links are all answered, without script and without anything from elsewhere',
    async (host, title) => {
      const answer = await home(host, BROWSER)
      expect(answer).toMatchObject({ statusCode: 200 })
      expect(answer.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': expect.stringMatching(/^default-src 'none'; style-src 'sha256-/),
        vary: 'accept, accept-encoding',
      })
      expect(answer.payload).toContain(`<h1>${title}</h1>`)
      expect(answer.payload).not.toMatch(/<script|<link|<img|src=/)
      const links = [...answer.payload.matchAll(/href="([^"]+)"/g)].map(([, link = '']) => link)
      expect(links.filter((link) => link.startsWith('/'))).toEqual([
        '/docs',
        '/openapi.json',
        '/llms.txt',
        '/health/live',
        '/health/ready',
      ])
      for (const link of links) {
        const { host: named, pathname } = new URL(link, `http://${host}`)
        const { statusCode } = await service.app.inject({ url: pathname, headers: { host: named } })
        expect({ link, statusCode }).toEqual({ link, statusCode: 200 })
      }
    },
  )

  it.each([undefined, '*/*', 'application/json', 'application/json, text/html;q=0.5', 'text/plain'])(
    'accept: %s gets JSON that names the same',
    async (accept) => {
      const answer = await home('records.localhost', accept)
      expect(answer.headers).toMatchObject({
        'content-type': expect.stringContaining('application/json'),
        vary: 'accept',
      })
      expect(answer.json()).toEqual({
        service: 'Mkopo',
        version: expect.stringMatching(/^\d/),
        style: 'record',
        docs: '/docs',
        openapi: '/openapi.json',
        guides: '/llms.txt',
        health: { live: '/health/live', ready: '/health/ready' },
        styles: expect.objectContaining({ partner: expect.stringContaining('api.localhost') }),
      })
    },
  )

  it('is in no document, and takes GET and HEAD alone', async () => {
    const document = await service.app.inject({ url: '/openapi.json', headers: { host: 'api.localhost' } })
    expect(Object.keys(document.json().paths)).not.toContain('/')
    expect((await home('api.localhost', BROWSER, 'HEAD')).statusCode).toBe(200)
    expect((await home('api.localhost', BROWSER, 'POST')).statusCode).not.toBe(200)
  })
})

it('FALLBACK_STYLE=none: 404 on a host that is not ours, the page on those that are', async () => {
  const own = await startService({ FALLBACK_STYLE: 'none' })
  const ask = (host: string) => own.app.inject({ url: '/', headers: { host, accept: BROWSER } })
  expect((await ask('localhost')).statusCode).toBe(404)
  expect((await ask('api.localhost')).statusCode).toBe(200)
  await own.close()
})
