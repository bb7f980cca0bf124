import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENTITIES } from '../../src/api/partner/audit.ts'
import { ENTRY_TYPES } from '../../src/domain/loan/entry.ts'
import { changeTexts } from '../../src/office/pages/audit.ts'
import { DEMO_OPERATOR } from '../../src/services/organizations/seedDemo.ts'
import { typeWords } from '../../src/words/pages.ts'
import { TRAIL_ACTIONS, TRAIL_FIELDS, TRAIL_THINGS } from '../../src/words/trail.ts'
import { keptBeside } from '../support/journal.ts'
import { type Office, openOffice } from '../support/office.ts'
import { opsOn } from '../support/ops.ts'
import { type BookIds, makeEveryKind } from '../support/sealedBook.ts'
import { startService, type TestService } from '../support/service.ts'

// The audit trail of the office, in words.

let service: TestService
let office: Office
let ids: BookIds

const send = async (method: 'post' | 'put' | 'patch' | 'delete', path: string, body?: object) => {
  const answer = await service[method](path, { ...(body && { body }), token: service.tokens.operator })
  expect([path, answer.status < 300, answer.text]).toEqual([path, true, answer.text])
  return answer.body
}

beforeAll(async () => {
  service = await startService()
  ids = await makeEveryKind(service)
  office = openOffice(service.deps)
  const endpoint = await send('post', '/v1/webhook-endpoints', { url: 'https://198.41.0.4/hook', types: ['loan.*'] })
  await send('patch', `/v1/webhook-endpoints/${endpoint.id}`, { description: 'ledger' })
  await send('post', `/v1/webhook-endpoints/${endpoint.id}/rotate-secret`, {})
  await send('delete', `/v1/webhook-endpoints/${endpoint.id}`)
  await send('patch', '/v1/organization', { legalName: 'Demo Lender Ltd', approvalAbove: 1_000_000 })
  const run = async (command: string, stdin = '') =>
    expect(await opsOn(service)(command, { stdin })).toMatchObject({ code: 0, err: expect.anything() })
  await run('accounts enable neema@example.com')
  await run('accounts reset-password neema@example.com --yes', 'another-long-password')
  await keptBeside(service.deps, run('journal close 2026-01 -o 1 --yes'))
})
afterAll(async () => {
  await office.monitor.close()
  await service.close()
})

/** The cells of the rows of the trail that a filter gives, in a language. */
async function rows(query: string, language = 'en'): Promise<string[][]> {
  const cookie = await office.signIn(DEMO_OPERATOR)
  const { body, statusCode } = await office.monitor.inject({
    url: `/audit?${query}`,
    headers: { cookie, 'accept-language': language },
  })
  expect(statusCode, body).toBe(200)
  const cells = (row: string) => [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => cell)
  return body.split('<tr>').slice(2).map(cells)
}

/** The names that the trail of the book has: of things, of actions, and of what is kept of a thing. */
async function names() {
  const { rows: kept } = await service.owner.pool.query<Record<'entity' | 'action', string> & Record<string, unknown>>(
    'SELECT DISTINCT entity, action, before, after FROM audit_entry WHERE organization_id <> 0',
  )
  // What a record system has sent, and what each account of a chart is for, stand under names of their own.
  const ownNames = new Set(['record', 'slots', 'productMethods'])
  const fieldsOf = (value: unknown): string[] => {
    if (Array.isArray(value)) return value.flatMap(fieldsOf)
    if (typeof value !== 'object' || value === null) return []
    return Object.entries(value).flatMap(([name, one]) => (ownNames.has(name) ? [name] : [name, ...fieldsOf(one)]))
  }
  return {
    things: new Set(kept.map(({ entity }) => entity)),
    actions: new Set(kept.map(({ action }) => action)),
    fields: new Set(kept.flatMap(({ before, after }) => [...fieldsOf(before), ...fieldsOf(after)])),
  }
}

describe('the words of the trail', () => {
  it('are there for every thing, action and field that a book of every kind has', async () => {
    const { things, actions, fields } = await names()
    expect(things.size).toBeGreaterThan(8)
    expect(actions.size).toBeGreaterThan(15)
    expect([...things].filter((name) => !(name in TRAIL_THINGS))).toEqual([])
    expect([...actions].filter((name) => !(name in TRAIL_ACTIONS || name in typeWords))).toEqual([])
    expect([...fields].filter((name) => !(name in TRAIL_FIELDS))).toEqual([])
  })

  it('are there for every thing of the API, and every type of transaction', () => {
    expect(ENTITIES.filter((name) => !(name in TRAIL_THINGS))).toEqual([])
    expect(ENTRY_TYPES.filter((name) => !(name in typeWords))).toEqual([])
  })
})

describe('a row', () => {
  it('of a repayment has what it changed, in the currency of the loan', async () => {
    const [row = []] = await rows(`entity=loan&entityId=${ids.plain}&action=Repayment`)
    expect(row.slice(3, 5)).toEqual(['Repayment', `<a href="/loans/${ids.plain}">loan ${ids.plain}</a>`])
    expect(row[5]).toBe('paid: 4,000.00 TZS; outstanding: 74,000.00 TZS')
    expect(row[6]).toMatch(
      /^posted: \(number: \d+; type: Repayment; amount: 50\.00 TZS; .*paid: 4,050\.00 TZS; outstanding: 73,950\.00 TZS$/,
    )
  })

  it('of it is in Kiswahili where the page is', async () => {
    const [row = []] = await rows(`entity=loan&entityId=${ids.plain}&action=Repayment`, 'sw')
    expect(row[3]).toBe('Malipo ya mkopo')
    expect(row[4]).toContain(`>mkopo ${ids.plain}</a>`)
    expect(row[5]).toBe('lililolipwa: 4,000.00 TZS; deni lililobaki: 74,000.00 TZS')
    expect(row[6]).toContain('aina: Malipo ya mkopo')
  })

  it('has rates in percent, instants in the zone of the lender, and names of the contract in words', async () => {
    const [made = []] = await rows('entity=loan+product&action=create&entityId=5')
    expect(made[6]).toContain('smallest principal: 50,000.00 TZS; ')
    expect(made[6]).toContain('interest rate: 2.5 %')
    const [revoked = []] = await rows('action=revoke+tokens')
    expect(revoked.slice(3, 7)).toEqual([
      ...['tokens revoked', expect.stringMatching(/^account \d+$/), ''],
      expect.stringMatching(/^tokens count from: 2026-07-02 \d\d:\d\d:\d\d$/),
    ])
    const [policy = []] = await rows('entity=delinquency+policy', 'sw')
    expect(policy[5]).toMatch(/^jina: Benki Kuu ya Kenya \(CBK\); kanuni: \(makundi: \(jina: kawaida; daraja: Kawaida;/)
    expect(policy[6]).toContain('jina: IFRS 9; kanuni: (makundi: (jina: hatua ya 1;')
    const [asked = []] = await rows('entity=pending+action&action=request')
    expect(asked[6]).toContain('state: waiting')
    expect(asked[6]).toContain('amount: 4,000.00 TZS')
  })

  it('of the organization has its amounts in its own currency', async () => {
    const [row = []] = await rows('entity=organization&action=update')
    expect(row.slice(5, 7)).toEqual([
      'legal name: –; a second ADMIN above: –',
      'legal name: Demo Lender Ltd; a second ADMIN above: 1,000,000.00 TZS',
    ])
  })

  it.each(['en', 'sw'])('shows no JSON, and no amount under its name in the API (%s)', async (language) => {
    const all = await rows('', language)
    expect(all.length).toBeGreaterThan(40)
    for (const row of all)
      expect(row.join(' ')).not.toMatch(/[{}]|&quot;|\[object|\b(total|principal|credit|approval)[A-Z]/)
  })

  it('of a thing that a later version adds stays under its own names', async () => {
    await service.owner.pool.query(
      `INSERT INTO audit_entry (organization_id, at, action, entity, entity_id, after)
       VALUES (1, '2026-07-03', 'inspect', 'constructor', '99999999999999999999', '{"toString": 7}'),
         (1, '2026-07-03', 'inspect', 'loan', '99999999999999999999', '{"amount": 7}')`,
    )
    expect((await rows('action=inspect')).map((row) => row.slice(3, 7))).toEqual([
      [...['inspect', '<a href="/loans/99999999999999999999">loan 99999999999999999999</a>', ''], 'amount: 0.07 TZS'],
      ['inspect', 'constructor 99999999999999999999', '', 'toString: 7'],
    ])
    const cookie = await office.signIn(DEMO_OPERATOR)
    const { body } = await office.monitor.inject({ url: '/audit?action=inspect', headers: { cookie } })
    expect(body).toContain('<option value="inspect" selected>inspect</option>')
    await service.owner.pool.query(
      `SET session_replication_role = replica; DELETE FROM audit_entry WHERE action = 'inspect'`,
    )
  })
})

describe('a state in words', () => {
  const english = { language: 'en', zone: 'Africa/Dar_es_Salaam', currency: 'TZS' } as const

  it('has the decimals of its currency, and every digit of a large amount', () => {
    const after = { amount: JSON.rawJSON('9007199254740993'), provisions: [{ currency: 'UGX', amount: '1500' }] }
    expect(changeTexts(null, after, english)[1]).toBe(
      'amount: 90,071,992,547,409.93 TZS; provisions: (currency: UGX; amount: 1,500 UGX)',
    )
  })

  it('leaves out what stays, and shows what is empty now', () => {
    const before = { roles: ['USER'], disabled: false, email: 'a@b.example' }
    const after = { roles: [], disabled: true, email: 'a@b.example' }
    expect(changeTexts(before, after, english)).toEqual(['roles: USER; disabled: no', 'roles: –; disabled: yes'])
    expect(changeTexts({ url: 'http://x' }, null, english)).toEqual(['address: http://x', ''])
    expect(changeTexts(null, null, english)).toEqual(['', ''])
  })
})
