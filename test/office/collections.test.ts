import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drain } from '../../src/services/jobs/job.ts'
import { sweepJob } from '../../src/services/loans/sweep.ts'
import { DEMO_AUDITOR, DEMO_OPERATOR, DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { formOf, type Office, openOffice } from '../support/office.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let office: Office
beforeAll(async () => {
  service = await startService()
  office = openOffice(service.deps)
  service.clock.set('2026-01-31T09:30:00+03:00')
})
afterAll(async () => {
  await office.monitor.close()
  await service.close()
})

/** Fills in a form as a person who has the role USER alone, and answers the question that follows. */
async function take(path: string, fields: Record<string, string>, person = DEMO_PARTNER) {
  const form = await office.look(path, person)
  expect(form.status, form.text).toBe(200)
  const asked = await office.send(path, { ...formOf(form.text, path), ...fields }, person)
  const done = await office.send(path, formOf(asked.text, path), person)
  expect([done.status, asked.text.match(/role="alert">([^<]*)/)?.[1]]).toEqual([303, undefined])
  const to = String(done.headers.location)
  return { to, asked: asked.text, text: (await office.look(to, person)).text }
}

describe("an officer's day at the office pages", () => {
  let customer: string
  let loan: string

  it('begins with a new customer, and a loan by its quote', async () => {
    const person = { firstName: 'Asha', lastName: 'Mrisho', phone: '+255 700 000 111' }
    const made = await take('/customers/do/create', { externalId: 'asha-1', ...person })
    expect(made.text).toContain('The customer is made.')
    customer = made.to.split('?')[0]!
    const form = (await office.look(`${customer}/do/lend`, DEMO_PARTNER)).text
    const product = /<option>(1 · [^<]*)/.exec(form)![1]!
    const lent = await take(`${customer}/do/lend`, { product, amount: '100,000', externalId: 'l-1' })
    expect(lent.asked).toContain('110,000')
    expect(lent.text).toContain('The loan is disbursed.')
    loan = lent.to.split('?')[0]!
  })

  it('has the loan in the list of whom to call once it is overdue, by name and phone for those who may read people', async () => {
    service.clock.set('2026-03-03T09:30:00+03:00')
    await drain(sweepJob(service.deps))
    const list = await office.look('/worklist', DEMO_OPERATOR)
    expect(list.text).toContain('Asha Mrisho')
    expect(list.text).toContain('href="tel:+255700000111"')
    expect(list.text).toContain('110,000.00 TZS')
    for (const one of [DEMO_PARTNER, DEMO_AUDITOR]) {
      const { text } = await office.look('/worklist', one)
      expect([text.includes('Mrisho'), text.includes('tel:'), text.includes('asha-1')]).toEqual([false, false, true])
    }
  })

  it('has a contact with its next action, and a promise that is kept by a repayment with its receipt', async () => {
    const told = await take(`${customer}/do/contact?loan=${loan.split('/').at(-1)}`, {
      ...{ channel: 'call', outcome: 'promised', next: '2026-03-06', note: 'Pays on Thursday' },
    })
    expect([told.to.split('?')[0], told.text.includes('Pays on Thursday')]).toEqual([loan, true])
    const promised = await take(`${loan}/do/promise`, { amount: '50,000', until: '2026-03-05' })
    expect(promised.text).toContain('The promise is recorded.')
    expect((await office.look('/worklist')).text).toContain('50,000.00 · 2026-03-05')
    const form = await office.look(`${loan}/do/repay`, DEMO_PARTNER)
    expect(form.text).toContain('value="110000.00"')
    const paid = await take(`${loan}/do/repay`, { amount: '50,000', date: '2026-03-03' })
    const receipt = /href="([^"]*\/receipt\?language=en)">Receipt of the repayment/.exec(paid.text)![1]!
    expect((await office.look(receipt.replaceAll('&amp;', '&'), DEMO_PARTNER)).headers['content-type']).toBe(
      'application/pdf',
    )
    service.clock.set('2026-03-06T09:30:00+03:00')
    expect((await office.look(loan, DEMO_PARTNER)).text).toMatch(/50,000\.00<\/td>.*>kept</s)
  })

  it('ends with a promise cancelled, something on hold and released, and another officer', async () => {
    const promised = await take(`${loan}/do/promise`, { amount: '1', until: '2026-03-30' })
    const cancel = /href="([^"]*\/promises\/\d+\/do\/cancel)"/.exec(promised.text)![1]!
    expect((await take(cancel, { reason: 'Another day' })).text).toContain('Another day')
    const held = await take(`${loan}/do/hold`, { what: 'reminders', until: '2026-03-30', reason: 'In hospital' })
    const release = /href="([^"]*\/holds\/\d+\/do\/release)"/.exec(held.text)![1]!
    expect((await take(release, { reason: 'Well again' })).text).toContain('The hold is released.')
    const assigned = await take(`${loan}/do/assign`, { officer: DEMO_PARTNER.email })
    expect(assigned.text).toContain(`Officer: ${DEMO_PARTNER.email}`)
    expect((await office.look('/worklist?officer=me', DEMO_PARTNER)).text).toContain(loan)
    expect((await office.look('/worklist?officer=me', DEMO_OPERATOR)).text).not.toContain(`"${loan}"`)
    expect((await office.look('/worklist?officer=none&first=overdue', DEMO_OPERATOR)).text).not.toContain(`"${loan}"`)
  })

  it('is read by an AUDITOR, without notes and without any action', async () => {
    const { text } = await office.look(loan, DEMO_AUDITOR)
    expect([text.includes('promised to pay'), text.includes('Pays on Thursday'), text.includes('/do/')]).toEqual([
      true,
      false,
      false,
    ])
    for (const action of ['promise', 'hold', 'assign', 'repay'])
      expect((await office.look(`${loan}/do/${action}`, DEMO_AUDITOR)).status).toBe(403)
    for (const path of ['/customers/do/create', `${customer}/do/lend`, `${customer}/do/contact`])
      expect((await office.look(path, DEMO_AUDITOR)).status).toBe(403)
  })

  it('is refused in words where something is missing or wrong, and changes nothing', async () => {
    const refused = async (path: string, fields: Record<string, string>) => {
      const form = await office.look(path, DEMO_PARTNER)
      const { status, text } = await office.send(path, { ...formOf(form.text, path), ...fields }, DEMO_PARTNER)
      return [status, /role="alert">([^<]*)/.exec(text)?.[1]]
    }
    expect(await refused('/customers/do/create', { externalId: '' })).toEqual([
      400,
      expect.stringContaining('must be given'),
    ])
    expect(await refused(`${loan}/do/promise`, { amount: '1', until: '2026-01-01' })).toEqual([
      400,
      expect.stringContaining('must be from 2026-03-06'),
    ])
    expect(await refused(`${customer}/do/lend`, { product: 'none', amount: '1' })).toEqual([
      400,
      expect.stringContaining('one of the products'),
    ])
    expect(await refused(`${loan}/do/hold`, { what: 'listing', until: '2026-03-30', reason: '' })).toEqual([
      400,
      expect.stringContaining('must be given'),
    ])
  })
})
