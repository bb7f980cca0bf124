import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { service as serviceAuthor } from '../../src/db/audit/trail.ts'
import { insertReversals } from '../../src/db/payments/reversals.ts'
import { addPeriods, dateIn } from '../../src/domain/dates.ts'
import { PORTFOLIO } from '../../src/domain/exports/formats/flat.ts'
import { sequencerJob } from '../../src/services/events/sequencer.ts'
import { exportsJob } from '../../src/services/exports/exportsJob.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { paymentsJob } from '../../src/services/payments/paymentsJob.ts'
import { opsOn } from './ops.ts'
import { readStatementsHere } from './readHere.ts'
import { aBorrower } from './recordBodies.ts'
import type { TestService } from './service.ts'
import { smallStatement } from './statementPdf.ts'
import { showing } from './upload.ts'

const RECORDS = 'records.localhost'

/** The ids of rows that a test names. */
export interface BookIds {
  readonly plain: string
  readonly entry: string
  readonly reversed: string
  readonly chargedOff: string
  /** A loan that is put on hold after its only repayment. */
  readonly held: string
}

/** Seals what was changed until now. */
const seal = (service: TestService): Promise<void> => drain(sequencerJob(service.deps))

/**
 * Makes a row of every kind that a change can make true, and changes of those that can be changed: customers, loans of both
 * styles, entries, reversals, decisions, limits, policies, a product, accounts, API keys, signing keys, lenders. Changes are sealed
 * as they come, so that a row that is changed later was sealed before with other values.
 */
export async function makeEveryKind(service: TestService): Promise<BookIds> {
  service.clock.set('2026-01-31T09:30:00+03:00')
  const post = async (path: string, body: object, call: object = {}) => {
    const answer = await service.post(path, { body, ...call })
    expect(answer.status, answer.text).toBe(200)
    await seal(service)
    return answer.body
  }
  await post('/v1/customers', { externalId: 'asha' })
  await post('/v1/customers', { externalId: 'gone' })
  await post('/v1/customers/external/gone/close', {})
  const lend = async (productId: number) =>
    (await post('/v1/loans', { customerId: 'asha', productId, principal: 60_000 })).id as string
  const [plain, off, held] = [await lend(3), await lend(1), await lend(1)]
  const repayments = `/v1/loans/${plain}/repayments`
  const entry = (await post(repayments, { transactionAmount: 4_000, idempotencyKey: 'first' })).id as string
  const reversed = (await post(repayments, { transactionAmount: 50 })).id as string
  service.clock.set('2026-02-01')
  await post(`${repayments}/${reversed}/reverse`, {}, { token: service.tokens.operator })
  const chargedOff = (await post(`/v1/loans/${off}/repayments/charge-off`, {})).id as string
  await post(`/v1/loans/${held}/repayments`, { transactionAmount: 10 })
  await makeWaiting(service, `${repayments}/${entry}/reverse`)
  await makeRecords(service, post)
  await makeCredit(service)
  await makePolicies(service)
  await makeCredentials(service)
  await makePayments(service, post)
  await makeDataRequests(service, post)
  await makeSecurity(post, plain)
  await makeCollections(service, post, { loan: plain, held })
  await makeExports(service, plain, post)
  return { plain, entry, reversed, chargedOff, held }
}

/** Makes actions that wait for a second ADMIN: one is withdrawn, and the same again stays. */
async function makeWaiting(service: TestService, path: string): Promise<void> {
  const run = async (...args: string[]) => {
    expect((await opsOn(service)(args)).code).toBe(0)
    await seal(service)
  }
  const token = service.tokens.operator
  const ask = async () => (await service.post(path, { body: { note: 'Twice' }, token })).body.id as string
  await run('organizations', 'update', '-o', '1', '--approval-above', '0')
  service.clock.set('2026-02-02')
  const id = await ask()
  await seal(service)
  expect((await service.post(`/v1/pending-actions/${id}/withdraw`, { token })).status).toBe(200)
  expect(await ask()).not.toBe(id)
  await run('organizations', 'update', '-o', '1', '--no-approval-above')
  service.clock.set('2026-02-03')
}

async function makeRecords(service: TestService, post: (path: string, body: object, call: object) => Promise<unknown>) {
  const record = { host: RECORDS }
  await post('/v1/borrowers', { ...aBorrower, id: 7 }, record)
  await service.put('/v1/borrowers/7', { body: { region: 'Mwanza' }, ...record })
  const basic = { loan_id: 1, borrower_id: 7, principal_amount: 5_000, duration: 1, duration_period: 'Months' }
  await post('/v1/loans', { ...basic, released_date: '2026-01-31', due_date: '2026-03-01' }, record)
  const changed = await service.put('/v1/loans/1', { body: { principal_amount: 6_000 }, ...record })
  expect(changed.status, changed.text).toBe(200)
  const repayment = {
    repayment_id: 1,
    loan_id: 1,
    amount: 100.25,
    collection_date: '2026-02-01',
    method: 'Mobile Money',
  }
  await post('/v1/repayments', { ...repayment, collected_by: 'Neema', description: 'First' }, record)
}

/** Makes what people ask for: an access that is completed, and an erasure that waits. */
async function makeDataRequests(
  service: TestService,
  post: (path: string, body: object, call?: object) => Promise<{ readonly id: string }>,
): Promise<void> {
  const operator = { token: service.tokens.operator }
  const of = '/v1/customers/external/gone/data-requests'
  const { id } = await post(of, { kind: 'access', reason: 'Asked at the counter' })
  await post(`/v1/data-requests/${id}/complete`, { note: 'Sent by post' }, operator)
  await post(of, { kind: 'erasure' }, operator)
}

/** Makes channels, and payments on them: allocated, in suspense, returned in part, taken back by the provider. */
async function makePayments(
  service: TestService,
  post: (path: string, body: object, call?: object) => Promise<{ readonly id: string }>,
): Promise<void> {
  const operator = { token: service.tokens.operator }
  const named = { name: 'Wallet', adapter: 'canonical', allowFrom: ['127.0.0.1'], account: '1000', confirmAbove: 5_000 }
  const { id: channelId } = await post('/v1/payment-channels', { ...named, shortCode: '400200' }, operator)
  await post(`/v1/payment-channels/${channelId}/rotate-secret`, {}, operator)
  const { accountNo } = (await service.get('/v1/loans?status=Active')).body.items.at(-1)!
  const pay = (receipt: string, reference: string) =>
    post('/v1/payments', { channelId, receipt, amount: 900, reference, payerPhone: '255700000001', payerName: 'Asha' })
  await pay('allocated', String(Number(accountNo)))
  await pay('taken back', String(Number(accountNo)))
  const { id } = await pay('waits', 'nobody')
  await post(`/v1/payments/${id}/return`, { amount: 100, note: 'A part' }, operator)
  const line = { receipt: 'waits', at: '2026-07-02T12:00:00+03:00', amount: 900 }
  const statement = { channelId, from: '2026-07-01', to: '2026-07-03', lines: [line] }
  await post('/v1/reconciliations', statement, operator)
  const at = service.deps.now(1)
  const reversal = { organizationId: 1, id: 77n, channelId: Number(channelId), receipt: 'back', reverses: 'taken back' }
  const told = { ...reversal, amount: 90_000n, reversedAt: at, receivedAt: at }
  await insertReversals(service.deps.db, [{ author: serviceAuthor(1), reversal: told }])
  await drain(paymentsJob(service.deps))
}

/** Makes a notice, a dispute, a format and a file. */
async function makeExports(
  service: TestService,
  loan: string,
  post: (path: string, body: object, call?: object) => Promise<{ readonly id: string }>,
): Promise<void> {
  const operator = { token: service.tokens.operator }
  await post(`/v1/loans/${loan}/listing-notices`, { sentOn: '2026-07-01', channel: 'sms', reference: '7' }, operator)
  const { id } = await post(`/v1/loans/${loan}/disputes`, { openedOn: '2026-07-01', reason: 'Paid' }, operator)
  const end = { resolvedOn: '2026-07-02', outcome: 'upheld', note: 'So it is' }
  await post(`/v1/loans/${loan}/disputes/${id}/resolve`, end, operator)
  const document = { ...PORTFOLIO, name: 'own_return' }
  await post('/v1/export-formats', { document }, operator)
  const file = await post('/v1/exports', { format: 'own_return', asOf: '2026-06-30' }, operator)
  await drain(exportsJob(service.deps))
  await post(`/v1/exports/${file.id}/accept`, {}, operator)
}

/** Makes consents, one of which is withdrawn, guarantors, one of whom is a customer, and collateral that is released. */
async function makeSecurity(
  post: (path: string, body: object) => Promise<{ readonly id: string }>,
  loan: string,
): Promise<void> {
  const asha = '/v1/customers/external/asha/consents'
  const consent = { purpose: 'bureau', channel: 'paper', givenAt: '2026-01-30T16:00:00+03:00' }
  const { id } = await post(asha, consent)
  await post(`${asha}/${id}/withdraw`, { channel: 'call' })
  await post(asha, { ...consent, purpose: 'scoring' })
  const days = { from: '2026-02-01', until: '2026-12-31' }
  const sister = { identity: { lastName: 'Juma' }, relationship: 'Sister', amount: 900, ...days }
  const { id: guarantor } = await post(`/v1/loans/${loan}/guarantors`, sister)
  await post(`/v1/loans/${loan}/guarantors/${guarantor}/release`, { reason: 'Half is repaid' })
  await post(`/v1/loans/${loan}/guarantors`, { customerId: 'juma', relationship: 'Friend' })
  const vehicle = { kind: 'vehicle', description: 'Motorcycle', value: 900_000, valuedOn: '2026-02-01' }
  const { id: collateral } = await post(`/v1/loans/${loan}/collateral`, vehicle)
  await post(`/v1/loans/${loan}/collateral/${collateral}/release`, { reason: 'Half is repaid' })
}

/** Makes contacts, promises, of which one is cancelled, holds, one of which is released, and an officer. */
async function makeCollections(
  service: TestService,
  post: (path: string, body: object) => Promise<{ readonly id: string; readonly accountId?: number }>,
  { loan, held }: { readonly loan: string; readonly held: string },
): Promise<void> {
  const until = addPeriods(dateIn('Africa/Nairobi', service.deps.now(1)), 30, 'days')
  const told = { channel: 'call', outcome: 'promised', note: 'After market day', nextOn: until }
  const { accountId } = await post('/v1/customers/external/asha/contacts', told)
  const { id: promise } = await post(`/v1/loans/${loan}/promises`, { amount: 100, by: until, note: 'All of it' })
  await post(`/v1/loans/${loan}/promises/${promise}/cancel`, { reason: 'Another day' })
  await post(`/v1/loans/${loan}/promises`, { amount: 100, by: until })
  const hold = { what: 'penalties', until, reason: 'Flood' }
  const { id: released } = await post(`/v1/loans/${held}/holds`, hold)
  await post(`/v1/loans/${held}/holds/${released}/release`, { reason: 'The road is open' })
  await post(`/v1/loans/${loan}/holds`, { ...hold, what: 'reminders' })
  expect((await service.put(`/v1/loans/${loan}/assignment`, { body: { accountId } })).status).toBe(200)
}

async function makeCredit(service: TestService): Promise<void> {
  await service.get('/v1/credit-scorecard/asha')
  await service.post('/v1/customers', { body: { externalId: 'juma' } })
  readStatementsHere(service)
  const boost = async (from: string, to: string) => {
    const answer = await service.post('/v1/credit-scorecard/juma/boost', showing(await smallStatement(from, to)))
    await seal(service)
    return answer.body
  }
  service.clock.set('2026-02-04')
  expect(await boost('2025-02-01', '2026-01-31')).toMatchObject({ boostStatus: 'raised' })
  service.clock.set('2026-07-02')
  expect(await boost('2026-04-01', '2026-06-30')).toMatchObject({ boostStatus: 'raised' })
  expect(await boost('2026-03-01', '2026-06-30')).toMatchObject({ boostStatus: 'cooldown' })
  const policy = (await opsOn(service)(['credit-policy', 'show', '-o', '1', '--json'])).json as object
  const path = join(tmpdir(), `mkopo-policy-${process.pid}-${Date.now()}.json`)
  await writeFile(path, JSON.stringify({ ...policy, version: '2026-07' }))
  expect((await opsOn(service)(['credit-policy', 'set', path, '-o', '1', '--yes'])).code).toBe(0)
  await rm(path)
}

async function makePolicies(service: TestService): Promise<void> {
  for (const preset of ['cbk', 'ifrs9']) {
    const set = await service.put('/v1/delinquency-policy', { body: { preset }, token: service.tokens.operator })
    expect(set.status, set.text).toBe(200)
  }
}

async function makeCredentials(service: TestService): Promise<void> {
  const run = async (command: string) => {
    const { code, err } = await opsOn(service)(command, { stdin: 'a-long-password' })
    expect(code, err).toBe(0)
    await seal(service)
  }
  await run('organizations create --name Ziwa --currency UGX')
  await run('organizations update -o 1 --payment-method Cash')
  await run('accounts create neema@example.com -o 1 --role USER')
  await run('accounts roles neema@example.com USER ADMIN')
  await run('accounts disable neema@example.com')
  await run('accounts revoke-tokens neema@example.com --yes')
  await run('api-keys create ledger -o 1 --role USER')
  await run('api-keys create old -o 1 --role USER')
  const keys = await service.owner.pool.query<{ id: number }>(`SELECT id FROM api_key WHERE name = 'old'`)
  await run(`api-keys revoke ${keys.rows[0]!.id} -o 1 --yes`)
  await run('keys rotate')
  const old = await service.owner.pool.query<{ kid: string }>(
    'SELECT kid FROM signing_key ORDER BY activated_at LIMIT 1',
  )
  await run(`keys retire ${old.rows[0]!.kid} --yes`)
  await run(
    'products create -o 1 --name Market --min 50000 --max 2000000 --instalments 4 --unit weeks --rate 2.5 --method interest_only',
  )
  await run('products retire 5 -o 1 --yes')
}
