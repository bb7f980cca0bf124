import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operator } from '../../src/services/access/caller.ts'
import { FILE_PLACES } from '../../src/services/book/bookExport.ts'
import { PDF_PLACES } from '../../src/services/documents/pdf/printer.ts'
import { TEST_PLACES } from '../../src/services/webhooks/endpoints.ts'
import { createGate, type Gate, holderOf } from '../../src/toolbox/gate.ts'
import { addAccount } from '../support/accounts.ts'
import { fileOf } from '../support/documents.ts'
import { anotherLender } from '../support/lenders.ts'
import { type Office, openOffice } from '../support/office.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

// One account asks for all that is scarce. An account of another organization gets its own.

const FLOOD = 12
/** Requests of an account that wait for its place. */
const WAITING = 2
const ADMIN_THERE = { email: 'admin@lender-7.example', password: 'a long enough secret' }

let service: TestService
let office: Office
let tokenThere: string
let receiver: Receiver
beforeAll(async () => {
  service = await startService({ WEBHOOKS_TO_PRIVATE: 'true' })
  // Those that wait do so without an end: how long this machine takes to answer the others is not what is tried.
  for (const [name, { waitMs: _, ...bounds }] of Object.entries({
    pdfs: PDF_PLACES,
    files: FILE_PLACES,
    webhookTests: TEST_PLACES,
  }))
    Object.assign(service.deps.gates, { [name]: createGate(bounds) })
  office = openOffice(service.deps)
  receiver = await startReceiver()
  await anotherLender(service, 7, 'KES')
  await addAccount(service.deps, operator(7, 'test'), { ...ADMIN_THERE, roles: ['ADMIN'] })
  tokenThere = await service.deps.signIn.issueToken(ADMIN_THERE.email, ADMIN_THERE.password, '127.0.0.1')
})
afterAll(async () => {
  await receiver.close()
  await office.monitor.close()
  await service.close()
})

async function lend(token: string): Promise<string> {
  await service.post('/v1/customers', { body: { externalId: 'asha' }, token })
  const body = { customerId: 'asha', productId: 1, principal: 50_000 }
  return (await service.post('/v1/loans', { body, token })).body.id
}

/**
 * Sends a flood while its account has its place, and then one request of the other organization.
 * @returns the status of the other, and how many of the flood were answered with each status
 */
async function besideFlood(
  gate: Gate,
  account: { organizationId: number; accountId: number | null },
  { flood, other }: { flood: () => Promise<number>; other: () => Promise<number> },
) {
  const free = await gate.take(holderOf(account))
  const flooding = Array.from({ length: FLOOD }, flood)
  const otherStatus = await other()
  // All but those that wait are refused before the place is free.
  let refused = 0
  for (const one of flooding) void one.then((status) => (refused += Number(status === 429)))
  await expect.poll(() => refused).toBe(FLOOD - WAITING)
  free()
  return { other: otherStatus, flooded: Object.groupBy(await Promise.all(flooding), (status) => status) }
}

const answered = { other: 200, flooded: { 200: Array(WAITING).fill(200), 429: Array(FLOOD - WAITING).fill(429) } }

describe('while one account asks for as much as it can', () => {
  it('PDFs of another organization are made', async () => {
    const [here, there] = [await lend(service.tokens.partner), await lend(tokenThere)]
    const pdf = async (id: string, token: string) =>
      (await fileOf(service, `/v1/loans/${id}/statement`, { accept: 'application/pdf', token })).status
    const partner = await service.deps.signIn.identify(service.tokens.partner)
    const calls = { flood: () => pdf(here, service.tokens.partner), other: () => pdf(there, tokenThere) }
    expect(await besideFlood(service.deps.gates.pdfs, partner, calls)).toEqual(answered)
    expect(await pdf(here, service.tokens.partner)).toBe(200)
  })

  it.each(['/transactions.csv', '/audit.csv', '/arrears.csv'])(
    'files of another organization are written: %s',
    async (path) => {
      const file = async (person?: typeof ADMIN_THERE) => (await office.look(path, person)).status
      await office.look('/')
      await office.look('/', ADMIN_THERE)
      const admin = await service.deps.signIn.identify(service.tokens.operator)
      const calls = { flood: () => file(), other: () => file(ADMIN_THERE) }
      expect(await besideFlood(service.deps.gates.files, admin, calls)).toEqual(answered)
      expect(await file()).toBe(200)
    },
  )

  it('tests of the webhooks of another organization are sent', async () => {
    const endpoint = async (token: string) =>
      (await service.post('/v1/webhook-endpoints', { body: { url: receiver.url, types: ['loan.*'] }, token })).body.id
    const [here, there] = [await endpoint(service.tokens.operator), await endpoint(tokenThere)]
    const test = async (id: string, token: string) =>
      (await service.post(`/v1/webhook-endpoints/${id}/test`, { token })).status
    const admin = await service.deps.signIn.identify(service.tokens.operator)
    const calls = { flood: () => test(here, service.tokens.operator), other: () => test(there, tokenThere) }
    expect(await besideFlood(service.deps.gates.webhookTests, admin, calls)).toEqual(answered)
    expect(await test(here, service.tokens.operator)).toBe(200)
  })
})
