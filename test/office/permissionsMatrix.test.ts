import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Permission, permissionsNeeded, withoutPermission } from '../../src/domain/access/permissions.ts'
import { PAGES, pageNeeds } from '../../src/office/permissions.ts'
import { keptBeside } from '../support/journal.ts'
import { type Office, openOffice, type Person } from '../support/office.ts'
import { allBut, peopleOf } from '../support/permitted.ts'
import { aPaidLoanOf } from '../support/person.ts'
import { startService, type TestService } from '../support/service.ts'

// The permissions of each page, form and file of the office. A page that is not in the table cannot be registered.

let service: TestService
let office: Office
let ids: Readonly<Record<string, string>>
let person: (permissions: readonly Permission[]) => Promise<Person>
beforeAll(async () => {
  service = await startService()
  office = openOffice(service.deps)
  await office.monitor.ready()
  person = peopleOf(service)
  const { body: customer } = await service.post('/v1/customers', { body: { externalId: 'asha' } })
  const loanId = await aPaidLoanOf(service, customer.id, 'asha')
  const { body: paid } = await service.get(`/v1/loans/${loanId}/transactions`)
  const token = service.tokens.operator
  const asked = await service.post(`/v1/customers/${customer.id}/data-requests`, { body: { kind: 'access' }, token })
  ids = {
    ...{ customers: customer.id, loans: loanId, loanId, transactionId: String(paid.items.at(-1)?.id) },
    ...{ 'of-loan': loanId, 'data-requests': asked.body.id },
  }
})
afterAll(async () => {
  await office.monitor.close()
  await service.close()
})

/** Every page with its method and the action in its address. */
const pages = Object.entries(PAGES).flatMap(([path, needs]) => {
  const actions = typeof needs === 'object' && 'byAction' in needs ? Object.keys(needs.byAction) : ['']
  return actions.map((action) => ({ path, action, needed: permissionsNeeded(pageNeeds(path, action)) }))
})

const filled = (path: string, action: string) =>
  path
    .replace(':action', action)
    .replace(
      /:(\w+)/g,
      (_, name: string, at: number) => ids[name] ?? ids[String(path.slice(0, at).split('/').at(-2))] ?? '1',
    )

const sessions = new Map<string, Promise<{ readonly cookie: string; readonly _token: string }>>()

/** Signs a person in once: the cookie, and the token of the forms, from a page that everybody has. */
const sessionOf = (someone: Person) => {
  const opening = async () => {
    const cookie = await office.signIn(someone)
    const { body } = await office.monitor.inject({ url: '/products', headers: { cookie } })
    return { cookie, _token: String(/name="_token" value="([^"]+)"/.exec(body)?.[1]) }
  }
  const session = sessions.get(someone.email) ?? opening()
  sessions.set(someone.email, session)
  return session
}

async function ask(method: 'GET' | 'POST', url: string, permissions: readonly Permission[]) {
  const someone = await person(permissions)
  if (method === 'GET') return keptBeside(service.deps, office.look(url, someone))
  const { cookie, _token } = await sessionOf(someone)
  if (url !== '/reconciliations/new') return office.post(url, { _token, step: 'preview' }, cookie)
  const form = new FormData()
  form.set('_token', _token)
  const upload = new Response(form)
  const headers = { cookie, 'content-type': String(upload.headers.get('content-type')) }
  const payload = Buffer.from(await upload.arrayBuffer())
  const { statusCode, body } = await office.monitor.inject({ method, url, headers, payload })
  return { status: statusCode, text: body }
}

const METHODS = ['GET', 'POST'] as const

describe('the table of the pages', () => {
  it('has no page that is not there', () => {
    const registered = (url: string) => METHODS.some((method) => office.monitor.hasRoute({ method, url }))
    expect(Object.keys(PAGES).filter((url) => !registered(url))).toEqual([])
  })
})

describe.each(METHODS)('%s of each page of the office', (method) => {
  const own = () => pages.filter(({ path }) => path !== '/sign-out' && office.monitor.hasRoute({ method, url: path }))

  it('refuses who has all permissions but one that it needs, and names that one', async () => {
    for (const { path, action, needed } of own())
      for (const missing of needed) {
        const { status, text } = await ask(method, filled(path, action), allBut(missing))
        expect([path, action, status, text]).toEqual([
          path,
          action,
          403,
          expect.stringContaining(withoutPermission(missing)),
        ])
      }
  })

  it('refuses nobody for a permission who has those alone that it needs', async () => {
    for (const { path, action, needed } of own()) {
      const { status, text } = await ask(method, filled(path, action), needed)
      expect([path, action, status === 403 ? text : 'not refused']).toEqual([path, action, 'not refused'])
    }
  })

  it('shows no link to a page that the person may not open', async () => {
    if (method === 'POST') return
    const patterns = pages.map(({ path, action, needed }) => ({
      needed,
      pattern: new RegExp(`^${path.replace(':action', action).replace(/:\\w+/g, '[^/]+')}$`),
    }))
    for (const { path, action, needed } of own().filter(({ action: one }) => one === '')) {
      const { text } = await ask(method, filled(path, action), needed)
      const links = [...text.matchAll(/(?:href|action)="(\/[^"?]*)/g)].map(([, link]) => link!)
      for (const link of links) {
        // A word in an address is meant before an id.
        const exact = pages.find((one) => filled(one.path, one.action) === link && !one.path.includes(':'))
        const target = exact ?? patterns.find(({ pattern }) => pattern.test(link))
        const lacking = (target?.needed ?? []).filter((one) => !needed.includes(one))
        expect([path, link, lacking]).toEqual([path, link, []])
      }
    }
  })
})
