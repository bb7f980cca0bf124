import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_AUDITOR, DEMO_OPERATOR, DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { addAccount } from '../support/accounts.ts'
import { commandLine } from '../support/approvals.ts'
import { formOf, type Office, openOffice, type Person, type Seen } from '../support/office.ts'
import { startService, type TestService } from '../support/service.ts'

// What people ask of what is known of them, at the office pages.

const CHECKER: Person = { email: 'checker@lender.example', password: 'the secret of the checker' }

let service: TestService
let office: Office
let customers = 0
let customerId: string
beforeAll(async () => {
  service = await startService()
  await addAccount(service.deps, commandLine, { ...CHECKER, roles: ['ADMIN'] })
  const body = { keepOthersYears: 0 }
  await service.patch('/v1/organization', { body, token: service.tokens.operator })
  office = openOffice(service.deps)
})
afterAll(async () => {
  await office.monitor.close()
  await service.close()
})

/** Sends a form, and answers the question that follows with yes. */
async function take(path: string, fields: Record<string, string>, person: Person = DEMO_OPERATOR): Promise<Seen> {
  const asked = await office.send(path, fields, person)
  expect(asked.status, asked.text).toBe(200)
  const { _token, ...form } = formOf(asked.text, path)
  return office.send(path, form, person)
}

/** Keeps what a new customer asks for, at the page of the customer. @returns the path of the request */
async function ask(kind: string, reason = ''): Promise<string> {
  const identity = { firstName: 'Zawadixa' }
  const made = await service.post('/v1/customers', { body: { externalId: `page-${++customers}`, identity } })
  customerId = made.body.id
  const page = await office.look(`/customers/${customerId}`)
  expect(page.text).toContain(`href="/customers/${customerId}/do/ask"`)
  const done = await take(`/customers/${customerId}/do/ask`, { kind, reason })
  expect(done.headers.location).toBe(`/customers/${customerId}?done=doneAskForData`)
  const shown = await office.look(String(done.headers.location))
  return /href="(\/data-requests\/\d+)"/.exec(shown.text)?.[1] ?? ''
}

describe('a data request', () => {
  it('is kept at the page of a customer, listed, and completed with an answer', async () => {
    const path = await ask('access', 'at the <b>counter</b>')
    const list = await office.look('/data-requests')
    expect(list.text).toContain(`href="${path}"`)
    expect(list.text).toContain(DEMO_OPERATOR.email)
    expect(list.text).toContain('10 (not set: nothing is proposed)')
    const page = await office.look(path)
    expect(page.text).toContain('at the &lt;b&gt;counter&lt;/b&gt;')
    for (const verb of ['complete', 'refuse', 'withdraw']) expect(page.text).toContain(`href="${path}/do/${verb}"`)
    expect(page.text).not.toContain('/do/confirm')
    expect((await office.send(`${path}/do/complete`, { note: ' ' })).status).toBe(400)
    const done = await take(`${path}/do/complete`, { note: 'Sent by e-mail' }, CHECKER)
    expect(done.headers.location).toBe(`${path}?done=doneCompleteRequest`)
    const after = await office.look(path)
    expect(after.text).toContain('Sent by e-mail')
    expect(after.text).not.toContain(`${path}/do/`)
    expect((await office.look('/data-requests')).text).not.toContain(`href="${path}"`)
    expect((await office.look('/data-requests?state=done')).text).toContain(`href="${path}"`)
  })

  it('is refused and withdrawn, each after a question', async () => {
    const refused = await ask('objection')
    expect((await take(`${refused}/do/refuse`, { note: 'Not the person' })).status).toBe(303)
    expect((await office.look(refused)).text).toContain('Not the person')
    const withdrawn = await ask('restriction')
    expect((await take(`${withdrawn}/do/withdraw`, {})).headers.location).toBe(`${withdrawn}?done=doneWithdraw`)
    const late = await office.send(`${withdrawn}/do/refuse`, { note: 'x' })
    expect(late.status).toBe(200)
    const form = formOf(late.text, `${withdrawn}/do/refuse`)
    const { _token, ...fields } = form
    const answer = await office.send(`${withdrawn}/do/refuse`, fields)
    expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('is withdrawn already')])
  })

  it('that is overdue is marked, in English and in Kiswahili', async () => {
    const path = await ask('rectification')
    expect((await office.look(path)).text).not.toContain('class="bad"')
    service.clock.set(new Date(service.clock.now() + 9 * 86_400_000).toISOString())
    for (const seen of [await office.look(path), await office.look('/data-requests')])
      expect(seen.text).toMatch(/class="bad">2026-02-07 overdue/)
    const cookie = `${await office.signIn(CHECKER)}; mkopo_language=sw`
    const { body } = await office.monitor.inject({ url: '/data-requests', headers: { cookie } })
    expect(body).toContain('Maombi ya taarifa binafsi')
    expect(body).toContain('limechelewa')
  })
})

describe('an erasure', () => {
  it('is disabled for the one who asked, with the reason, and confirmed by another ADMIN after a warning', async () => {
    const path = await ask('erasure')
    const own = await office.look(path)
    expect(own.text).toContain('You asked for the erasure: another ADMIN has to confirm it.')
    expect(own.text).toContain('<button disabled>')
    expect(own.text).not.toContain('/do/confirm')
    const tried = await office.send(`${path}/do/confirm`, {})
    expect([tried.status, tried.text]).toEqual([403, expect.stringContaining('the one who asked cannot confirm')])
    const page = await office.look(path, CHECKER)
    expect(page.text).toContain(`href="${path}/do/confirm"`)
    const asked = await office.send(`${path}/do/confirm`, {}, CHECKER)
    expect(asked.text).toContain('This cannot be undone')
    const { _token, ...form } = formOf(asked.text, `${path}/do/confirm`)
    const done = await office.send(`${path}/do/confirm`, form, CHECKER)
    expect(done.headers.location).toBe(`${path}?done=doneErase`)
    expect((await office.look(path, CHECKER)).text).toContain(CHECKER.email)
    expect((await office.look(`/customers/${customerId}`)).text).not.toContain('Zawadixa')
  })

  it('of a customer with an open loan is refused at once, and the page says why', async () => {
    const path = await ask('access')
    expect(path).not.toBe('')
    const body = { customerId: `page-${customers}`, productId: 4, principal: 10_000 }
    const { body: loan } = await service.post('/v1/loans', { body })
    await take(`/customers/${customerId}/do/ask`, { kind: 'erasure' })
    const { text } = await office.look('/data-requests?state=refused')
    const last = [...text.matchAll(/href="(\/data-requests\/\d+)"/g)].at(-1)![1]!
    expect((await office.look(last)).text).toContain(`a loan is open: ${loan.id}`)
  })
})

describe('the result', () => {
  it('is downloaded as JSON and PDF by an ADMIN alone', async () => {
    const path = await ask('access')
    const page = await office.look(path)
    const file = (name: string, person?: Person) => office.look(`${path}/${name}`, person)
    for (const name of ['result.json', 'result.pdf?language=en', 'result.pdf?language=sw']) {
      expect(page.text).toContain(`href="${path}/${name}"`)
      const { status, headers } = await file(name)
      expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
      expect(String(headers['content-disposition'])).toContain(`data-request-${path.split('/').at(-1)}`)
      for (const person of [DEMO_AUDITOR, DEMO_PARTNER]) expect((await file(name, person)).status).toBe(403)
    }
    expect(JSON.parse((await file('result.json')).text)).toMatchObject({ identity: { firstName: 'Zawadixa' } })
    expect((await file('result.pdf?language=fr')).status).toBe(400)
    const other = await ask('objection')
    expect((await office.look(other)).text).not.toContain('result.json')
    expect((await office.look(`${other}/result.json`)).status).toBe(409)
    const trail = await office.look(`/audit?entity=data+request&id=${path.split('/').at(-1)}`)
    expect(trail.text).toContain('result read')
  })
})

describe('the pages of data requests', () => {
  it('are for ADMINs alone: others have neither the page, the menu nor a form', async () => {
    const path = await ask('access')
    for (const person of [DEMO_AUDITOR, DEMO_PARTNER]) {
      for (const url of ['/data-requests', path, `${path}/do/complete`, `/customers/${customerId}/do/ask`])
        expect([url, (await office.look(url, person)).status]).toEqual([url, 403])
      const page = await office.look(`/customers/${customerId}`, person)
      expect(page.text).not.toContain('/do/ask')
      expect(page.text).not.toContain('data-requests')
    }
  })

  it('404 and 400 for what is not there', async () => {
    const path = await ask('access')
    for (const url of ['/data-requests/999999', '/data-requests/x', `${path}/do/dance`, '/customers/999999/do/ask'])
      expect([url, (await office.look(url)).status]).toEqual([url, 404])
    expect((await office.look('/data-requests?state=none')).status).toBe(400)
    expect((await office.send(`/customers/${customerId}/do/ask`, { kind: 'none' })).status).toBe(400)
  })
})
