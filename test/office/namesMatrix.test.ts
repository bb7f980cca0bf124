import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PERMISSION_NAMES } from '../../src/domain/access/permissions.ts'
import { DEMO_AUDITOR, DEMO_OPERATOR, DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { anAccount, PASSWORD } from '../support/approvals.ts'
import { documentOf, operationsOf } from '../support/document.ts'
import { keepJournal, keptBeside } from '../support/journal.ts'
import { type Office, openOffice } from '../support/office.ts'
import { aPaidLoanOf } from '../support/person.ts'
import { prefilledOf, queryOf, sendPrefilled } from '../support/prefilled.ts'
import { startService, type TestService } from '../support/service.ts'

// Every answer and every page that an account reads which may not read people, against the names of people.

const IDENTITY = {
  firstName: 'Penzixa',
  lastName: 'Nyotaxa',
  dateOfBirth: '1971-03-04',
  idNumber: 'ID-31-XQ',
  phone: '+255 777 313 131',
  email: 'penzixa@nyota.example',
  address: 'Barabara 9Q',
}
/** Of the guarantor of `aPaidLoanOf`, too. */
const NAMES = [...Object.values(IDENTITY), 'Kipchogexa']

/** A role of the lender's own: it may do everything but read people. */
const ALL_BUT = { name: 'all-but-people', permissions: PERMISSION_NAMES.filter((name) => name !== 'people.read') }
const BLIND = { email: 'blind@lender.example', password: PASSWORD }

const ROLES = [
  ['USER', DEMO_PARTNER],
  ['AUDITOR', DEMO_AUDITOR],
  [ALL_BUT.name, BLIND],
] as const
const STYLES = ['partner', 'record'] as const

let service: TestService
let office: Office
let ids: Readonly<Record<string, string>>
beforeAll(async () => {
  service = await startService()
  office = openOffice(service.deps)
  const { body: customer } = await service.post('/v1/customers', { body: { externalId: 'penzi', identity: IDENTITY } })
  const loanId = await aPaidLoanOf(service, customer.id, 'penzi')
  const transactions = (await service.get(`/v1/loans/${loanId}/transactions`)).body.items
  ids = { customers: customer.id, borrowers: customer.id, loans: loanId, transactionId: transactions.at(-1)!.id }
  const body = { permissions: ALL_BUT.permissions, description: 'does everything, and reads nobody' }
  const role = await service.put(`/v1/roles/${ALL_BUT.name}`, { body, token: service.tokens.operator })
  expect(role.status, role.text).toBe(200)
  await anAccount(service, 'blind', [ALL_BUT.name])
})
// Reports of accounting are read, and do not wait for the journal.
beforeEach(() => keepJournal(service.deps))
afterAll(async () => {
  await office.monitor.close()
  await service.close()
})

const tokenOf = (person: typeof DEMO_OPERATOR) =>
  service.deps.signIn.issueToken(person.email, person.password, '127.0.0.1')

/** Returns a path with the ids of this book in place of its parameters: that of the room which it is in, or 1. */
const filled = (path: string, toParameter: RegExp): string =>
  path.replace(toParameter, (_, name: string, at: number) => {
    if (name.endsWith('xternalId')) return path.includes('/loans/') ? `loan-of-${ids.customers}` : 'penzi'
    const room =
      path
        .slice(0, at)
        .split('/')
        .findLast((part) => /^[a-z]/.test(part)) ?? ''
    return ids[name] ?? ids[room] ?? '1'
  })

const hostOf = (style: (typeof STYLES)[number]): string => {
  const { baseUrl, recordsUrl } = service.deps.config
  return new URL(style === 'partner' ? baseUrl : recordsUrl).host
}

const namesIn = (text: string) => NAMES.filter((name) => text.includes(name))

describe.each(ROLES)('an account that has the role %s alone', (_, person) => {
  it.each(STYLES)('reads no name in any answer of the %s style', async (style) => {
    const host = hostOf(style)
    const document = await documentOf(service, host)
    const token = await tokenOf(person)
    const read = operationsOf(document).flatMap(([name]) => (name.startsWith('GET /v1') ? [name.slice(4)] : []))
    const queries = new Map(prefilledOf(document).map(({ name, path }) => [name.slice(4), path.split('?')[1] ?? '']))
    const outcomes: number[] = []
    for (const path of read) {
      const query = queries.get(path)
      const url = `${filled(path, /\{(\w+)\}/g)}${query ? `?${query}` : ''}`
      const { status, text } = await service.get(url, { host, token })
      outcomes.push(status)
      expect([url, status, namesIn(text)]).toEqual([url, expect.any(Number), []])
      expect([url, status === 500]).toEqual([url, false])
    }
    const shown = outcomes.filter((status) => status === 200).length
    expect(shown).toBeGreaterThan(style === 'partner' ? 35 : 8)
    const found = await service.get('/v1/customers?person=penzixa', { token })
    expect(found.status).toBe(403)
  })

  it('reads no name on any page or in any file of the office, whatever is searched for', async () => {
    const pages = routesOf(office).map((route) => filled(route, /:(\w+)/g))
    const searches = NAMES.map((name) => `/search?q=${encodeURIComponent(name)}`)
    let shown = 0
    for (const page of [...pages, ...searches, '/customers?name=penzi', '/search?q=penzi']) {
      const { status, text } = await keptBeside(service.deps, office.look(page, person))
      if (status === 200) shown++
      // A page says again what was searched for.
      const said = page.startsWith('/search?q=') && !page.endsWith('=penzi') ? [] : namesIn(text)
      expect([page, said, status === 500]).toEqual([page, [], false])
      if (page.startsWith('/search?q=') && !page.endsWith('=penzi'))
        expect([page, text.includes(`/customers/${ids.customers}"`)]).toEqual([page, false])
    }
    expect(shown).toBeGreaterThan(20)
  })
})

it('an ADMIN reads them, so that there is something to be seen', async () => {
  const { text } = await office.look(`/customers/${ids.customers}`, DEMO_OPERATOR)
  expect(namesIn(text)).toContain('Nyotaxa')
  const guarantors = await service.get(`/v1/loans/${ids.loans}/guarantors`, { token: service.tokens.operator })
  expect(namesIn(guarantors.text)).toEqual(['Kipchogexa'])
})

it.each(STYLES)(
  'an account that may do everything but read people is answered no name by any change of the %s style',
  async (style) => {
    const host = hostOf(style)
    const document = await documentOf(service, host)
    const token = await tokenOf(BLIND)
    let done = 0
    for (const change of prefilledOf(document)) {
      const [, template = ''] = change.name.split(' ')
      if (change.method === 'GET' || change.isUpload || !template.startsWith('/v1')) continue
      const path = filled(template, /\{(\w+)\}/g) + queryOf(change.operation)
      // An identity of the reference would take the place of the names.
      const body = template.endsWith('/identity') ? IDENTITY : change.body
      const { status, text } = await keptBeside(
        service.deps,
        sendPrefilled(service, { ...change, path, body }, { host, token }),
      )
      if (status < 300) done++
      expect([change.name, namesIn(text), status === 500]).toEqual([change.name, [], false])
    }
    expect(done).toBeGreaterThan(style === 'partner' ? 35 : 8)
    // They are there still.
    const known = await service.get(`/v1/customers/${ids.customers}/identity`, { token: service.tokens.operator })
    expect(namesIn(known.text)).toEqual(Object.values(IDENTITY))
  },
)

/** Returns the paths of the pages and files of the office, by the tree of its routes. */
function routesOf({ monitor }: Office): string[] {
  const paths: string[] = []
  const routes: string[] = []
  for (const line of monitor.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', name, methods = ''] = /^([│ ]*)[├└]── (\S+)(?: \((.*)\))?$/.exec(line) ?? []
    if (name === undefined) continue
    const depth = indent.length / 4
    paths.length = depth
    paths.push(`${paths[depth - 1] ?? ''}${name}`)
    if (methods.includes('GET')) routes.push(paths[depth]!)
  }
  return routes
}
