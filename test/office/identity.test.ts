import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_AUDITOR, DEMO_OPERATOR, DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { keepJournal } from '../support/journal.ts'
import { formOf, type Office, openOffice } from '../support/office.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let office: Office
let id: string
beforeAll(async () => {
  service = await startService()
  office = openOffice(service.deps)
  const identity = { firstName: 'Zawadi', lastName: 'Kweka', gender: 'female', phone: '0711 999 888' }
  id = (await service.post('/v1/customers', { body: { externalId: 'zk', identity } })).body.id
})
afterAll(async () => {
  await keepJournal(service.deps)
  await office.monitor.close()
  await service.close()
})

describe('who a customer is', () => {
  it('is on the page of the customer for an ADMIN, in words, and for nobody else', async () => {
    const { text } = await office.look(`/customers/${id}`)
    for (const word of ['Zawadi', 'Kweka', 'female', '0711 999 888']) expect(text).toContain(word)
    for (const person of [DEMO_PARTNER, DEMO_AUDITOR]) {
      const seen = await office.look(`/customers/${id}`, person)
      expect([seen.status, seen.text.includes('Kweka')]).toEqual([200, false])
      expect((await office.look(`/customers/${id}/do/identify`, person)).status).toBe(403)
    }
  })

  it('is found by its words by an ADMIN alone', async () => {
    const find = async (person: typeof DEMO_OPERATOR, text: string) =>
      (await office.look(`/search?q=${encodeURIComponent(text)}`, person)).text.includes(`/customers/${id}"`)
    expect(await find(DEMO_OPERATOR, 'kweka zawadi')).toBe(true)
    expect(await find(DEMO_OPERATOR, '+255711999888')).toBe(true)
    expect(await find(DEMO_OPERATOR, 'kwek')).toBe(false)
    expect(await find(DEMO_AUDITOR, 'kweka zawadi')).toBe(false)
  })

  it('is changed once a question was answered, and the trail shows no word of it', async () => {
    const path = `/customers/${id}/do/identify`
    const form = await office.look(path)
    expect(form.text).toContain('value="Zawadi"')
    const fields = {
      ...formOf(form.text, path),
      lastName: 'Juma',
      gender: 'female',
      idType: 'passport',
      idNumber: 'AB 123',
    }
    const wrong = await office.send(path, { ...fields, nationality: 'x' })
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('nationality: must be the two letters')])
    const asked = await office.send(path, fields)
    expect(asked.text).toContain('Kweka')
    const done = await office.send(path, formOf(asked.text, path))
    expect(done.status).toBe(303)
    expect((await service.get(`/v1/customers/${id}/identity`, { token: service.tokens.operator })).body).toMatchObject({
      ...{ firstName: 'Zawadi', lastName: 'Juma', gender: 'female', idType: 'passport', idNumber: 'AB 123' },
    })
    const trail = await office.look(`/audit?entity=customer&id=${id}`)
    expect(trail.text).toContain('encrypted')
    for (const word of ['Zawadi', 'Kweka', 'Juma']) expect(trail.text).not.toContain(word)
  })
})
