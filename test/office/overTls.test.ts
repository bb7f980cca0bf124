import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_OPERATOR } from '../../src/services/organizations/seedDemo.ts'
import { type Office, openOffice } from '../support/office.ts'
import { startService, type TestService } from '../support/service.ts'

// The cookies of the office pages where OPS_TLS says that a proxy in front of the port speaks TLS.

let service: TestService
let office: Office
beforeAll(async () => {
  service = await startService({ OPS_TLS: 'true' })
  office = openOffice(service.deps)
})
afterAll(async () => {
  await office.monitor.close()
  await service.close()
})

const signIn = () =>
  office.monitor.inject({
    method: 'POST',
    url: '/sign-in',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ ...DEMO_OPERATOR }).toString(),
  })
const see = async (cookie: string, url = '/') => office.monitor.inject({ url, headers: { cookie } })

describe('OPS_TLS', () => {
  it('gives the cookies names that a browser takes only over TLS, from this host and for all of it', async () => {
    const { cookies, headers } = await signIn()
    expect(cookies).toEqual([
      {
        name: '__Host-mkopo_session',
        value: expect.any(String),
        path: '/',
        httpOnly: true,
        secure: true,
        sameSite: 'Lax',
      },
    ])
    expect(String(headers['set-cookie'])).not.toMatch(/domain/i)
    const language = await see('', '/language?to=sw')
    expect(language.cookies).toMatchObject([{ name: '__Host-mkopo_language', value: 'sw', secure: true, path: '/' }])
    expect((await see('__Host-mkopo_language=sw', '/sign-in')).body).toContain('<html lang="sw">')
  })

  it('takes the session by that name alone, and clears it at the sign-out', async () => {
    const { value = '' } = (await signIn()).cookies[0]!
    const page = await see(`__Host-mkopo_session=${value}`)
    expect(page.statusCode).toBe(200)
    expect((await see(`mkopo_session=${value}`)).statusCode).toBe(303)
    const form = /name="_token" value="([^"]*)"/.exec(page.body)![1]!
    const out = await office.post('/sign-out', { _token: form }, `__Host-mkopo_session=${value}`)
    expect(String(out.headers['set-cookie'])).toMatch(/^__Host-mkopo_session=;.*Secure/)
    expect((await see(`__Host-mkopo_session=${value}`)).statusCode).toBe(303)
  })
})
