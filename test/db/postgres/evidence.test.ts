import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeFullBook } from '../../support/fullBook.ts'
import { startService, type TestService } from '../../support/service.ts'

// What is evidence stays: the role of the service may neither change nor delete it, and of the tables' owner the triggers take it.

let service: TestService
beforeAll(async () => {
  service = await startService({ WEBHOOKS_TO_PRIVATE: 'true' })
  await makeFullBook(service)
  service.damages('rows are added and changed by SQL')
})
afterAll(() => service.close())

const asService = (text: string) => service.deps.db.pool.query(text)
const asOwner = (text: string) => service.owner.pool.query(text)
/** The test organization of the demonstration. */
const DEMO_SANDBOX_ID = 100
const DENIED = { code: '42501' }
const REFUSED = { code: '23514' }

describe.each(['pending_action', 'accounting_period', 'document', 'access_entry'])('%s', (table) => {
  it('has no row that the service may delete, or the owner of the tables by mistake', async () => {
    await expect(asService(`DELETE FROM ${table} WHERE organization_id = 1`)).rejects.toMatchObject(DENIED)
    if (table !== 'access_entry')
      await expect(asOwner(`DELETE FROM ${table} WHERE organization_id = 1`)).rejects.toMatchObject(REFUSED)
  })
})

describe('changes', () => {
  it.each([
    ['pending_action', `amount = 1`],
    ['pending_action', `loan_id = 1`],
    ['accounting_period', `month = '2020-01-01'`],
    ['document', `amount = 1`],
    ['access_entry', `address = '127.0.0.2'`],
  ])('of %s: the service may not set %s', async (table, set) => {
    await expect(asService(`UPDATE ${table} SET ${set} WHERE organization_id = 1`)).rejects.toMatchObject(DENIED)
  })

  it.each([
    ['pending_action', `reason = 'other'`, `state <> 'pending'`],
    ['accounting_period', `trial_balance_hash = 'other'`, 'closed_at IS NOT NULL'],
    ['document', `amount = 1`, 'true'],
    ['access_entry', `address = '127.0.0.2'`, 'true'],
  ])('of %s that has ended: nobody may set %s', async (table, set, which) => {
    const { rows } = await asOwner(`SELECT FROM ${table} WHERE ${which}`)
    expect(rows.length).toBeGreaterThan(0)
    await expect(asOwner(`UPDATE ${table} SET ${set} WHERE ${which}`)).rejects.toMatchObject(REFUSED)
  })
})

it('the newest entries of the access trail stay, whatever the service asks for', async () => {
  await expect(asService('SELECT purge_access_entries(9999)')).rejects.toMatchObject(REFUSED)
  await asOwner(`INSERT INTO access_entry (organization_id, at, account_id, outcome, route, address, request_id)
    SELECT 1, now(), 1, 'issued', '/v1/auth/token', '127.0.0.1', 'r' FROM generate_series(1, 10005)`)
  const { rows } = await asService('SELECT purge_access_entries(10000) AS purged')
  expect(Number(rows[0]!.purged)).toBeGreaterThanOrEqual(5)
  expect((await asOwner('SELECT FROM access_entry WHERE organization_id = 1')).rowCount).toBe(10_000)
})

it('the rows of a test organization go when it is emptied', async () => {
  const lender = DEMO_SANDBOX_ID
  await asOwner(`INSERT INTO pending_action (organization_id, state, kind, subject, request, loan_id, amount, currency, asked_at,
      decided_at) VALUES (${lender}, 'rejected', 'reverse', 's', '{}', 1, 1, 'TZS', now(), now());
    INSERT INTO accounting_period VALUES (${lender}, '2026-01-01', now(), now(), 1, 'h')`)
  await asService(`SELECT empty_test_organization(${lender})`)
  expect((await asOwner(`SELECT FROM pending_action WHERE organization_id = ${lender}`)).rowCount).toBe(0)
  expect((await asOwner(`SELECT FROM accounting_period WHERE organization_id = ${lender}`)).rowCount).toBe(0)
})
