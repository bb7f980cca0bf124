import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_AUDITOR, DEMO_OPERATOR, DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { keepJournal } from '../support/journal.ts'
import { formOf, type Office, openOffice } from '../support/office.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let office: Office
let customer: string
let loan: string
beforeAll(async () => {
  service = await startService()
  office = openOffice(service.deps)
  customer = `/customers/${(await service.post('/v1/customers', { body: { externalId: 'zk' } })).body.id}`
  const body = { customerId: 'zk', productId: 1, principal: 100_000 }
  loan = `/loans/${(await service.post('/v1/loans', { body })).body.id}`
})
afterAll(async () => {
  await keepJournal(service.deps)
  await office.monitor.close()
  await service.close()
})

/** Fills in a form, and answers the question that follows. @returns the text of the page to which it leads */
async function take(path: string, fields: Record<string, string>): Promise<string> {
  const form = await office.look(path)
  const asked = await office.send(path, { ...formOf(form.text, path), ...fields })
  const done = await office.send(path, formOf(asked.text, path))
  expect([done.status, asked.text.includes('role="alert"')]).toEqual([303, false])
  return (await office.look(String(done.headers.location))).text
}

describe('the consents of a customer', () => {
  it('are given and withdrawn by an ADMIN, and seen by everybody', async () => {
    const given = await take(`${customer}/do/consent`, { purpose: 'bureau', channel: 'paper', date: '' })
    expect(given).toContain('The consent is recorded.')
    expect(given).toContain('credit bureau is told')
    const path = /href="([^"]*\/do\/withdraw)"/.exec(given)![1]!
    for (const person of [DEMO_PARTNER, DEMO_AUDITOR]) {
      const { text } = await office.look(customer, person)
      expect([text.includes('credit bureau is told'), text.includes('/do/withdraw')]).toEqual([true, false])
      expect((await office.look(path, person)).status).toBe(403)
    }
    expect(await take(path, { channel: 'call' })).toContain('(call)')
    const headers = { cookie: await office.signIn(DEMO_PARTNER), 'accept-language': 'sw' }
    expect((await office.monitor.inject({ url: customer, headers })).body).toContain('Idhini')
  })

  it('are refused as the service refuses them', async () => {
    const path = `${customer}/do/consent`
    await take(path, { purpose: 'scoring', channel: 'app', date: '' })
    const form = await office.look(path)
    const asked = await office.send(path, { ...formOf(form.text, path), purpose: 'scoring', channel: 'sms', date: '' })
    const refused = await office.send(path, formOf(asked.text, path))
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('another consent for scoring stands')])
  })
})

describe('what a loan is secured by', () => {
  it('has guarantors, whose names an ADMIN alone sees', async () => {
    const person = { firstName: 'Neema', lastName: 'Kweka', relationship: 'Sister', amount: '50,000' }
    const added = await take(`${loan}/add/guarantor`, person)
    for (const word of ['The guarantor is recorded.', 'Neema Kweka', 'Sister', '50,000']) expect(added).toContain(word)
    for (const one of [DEMO_PARTNER, DEMO_AUDITOR]) {
      const { text } = await office.look(loan, one)
      expect([text.includes('Sister'), text.includes('Kweka'), text.includes('/add/')]).toEqual([true, false, false])
      expect((await office.look(`${loan}/add/guarantor`, one)).status).toBe(403)
    }
    const path = /href="([^"]*\/guarantors\/\d+\/do\/release)"/.exec(added)![1]!
    expect(await take(path, { reason: 'Half is repaid' })).toContain('Half is repaid')
    const wrong = await office.send(`${loan}/add/guarantor`, {
      ...formOf((await office.look(`${loan}/add/guarantor`)).text, `${loan}/add/guarantor`),
      relationship: 'Friend',
    })
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('either a customer or a person')])
  })

  it('has collateral, whose details an ADMIN alone sees', async () => {
    const vehicle = { kind: 'vehicle', description: 'Motorcycle, red', value: '2,500,000', registration: 'MC 123' }
    const added = await take(`${loan}/add/collateral`, vehicle)
    for (const word of ['The collateral is recorded.', 'Motorcycle, red', 'MC 123']) expect(added).toContain(word)
    const seen = await office.look(loan, DEMO_AUDITOR)
    expect([seen.text.includes('vehicle'), seen.text.includes('MC 123')]).toEqual([true, false])
    const path = /href="([^"]*\/collateral\/\d+\/do\/release)"/.exec(added)![1]!
    expect(await take(path, { reason: 'Repaid in full' })).toContain('Repaid in full')
  })

  it('is in the trail without a word of a person', async () => {
    const trail = await office.look('/audit', DEMO_OPERATOR)
    for (const word of ['guarantor', 'collateral', 'consent', 'encrypted']) expect(trail.text).toContain(word)
    for (const word of ['Kweka', 'Motorcycle', 'MC 123']) expect(trail.text).not.toContain(word)
  })
})
