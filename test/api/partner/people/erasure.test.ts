import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { service as serviceAuthor } from '../../../../src/db/audit/trail.ts'
import { insertReversals } from '../../../../src/db/payments/reversals.ts'
import { REPORTING_VIEWS } from '../../../../src/services/book/reportingExport.ts'
import { retentionJob } from '../../../../src/services/customers/dataRequests.ts'
import { sequencerJob } from '../../../../src/services/events/sequencer.ts'
import { exportsJob } from '../../../../src/services/exports/exportsJob.ts'
import { drain } from '../../../../src/services/jobs/job.ts'
import { paymentsJob } from '../../../../src/services/payments/paymentsJob.ts'
import { anAccount } from '../../../support/approvals.ts'
import { pdfOf } from '../../../support/documents.ts'
import { everyText } from '../../../support/everyText.ts'
import { keepJournal } from '../../../support/journal.ts'
import { opsOn } from '../../../support/ops.ts'
import { aPaidLoanOf, aPersonOf, WORDS } from '../../../support/person.ts'
import { pagesOf } from '../../../support/readDocument.ts'
import { aBorrower } from '../../../support/recordBodies.ts'
import { recordsOf } from '../../../support/records.ts'
import { startService, type TestService } from '../../../support/service.ts'

let service: TestService
let maker: { token: string }
let checker: { token: string }
beforeAll(async () => {
  service = await startService()
  maker = { token: service.tokens.operator }
  checker = { token: await anAccount(service, 'checker') }
  await service.patch('/v1/organization', { body: { keepBorrowersYears: 0, keepOthersYears: 0 }, ...maker })
})
afterAll(() => service.close())

const aPerson = (externalId?: string) => aPersonOf(service, externalId)

const ask = (customerId: string, kind = 'erasure', token = maker) =>
  service.post(`/v1/customers/${customerId}/data-requests`, { body: { kind, reason: WORDS.note }, ...token })
const confirm = (id: string, token = checker) => service.post(`/v1/data-requests/${id}/confirm`, { ...token })

/** Returns the words of all that is made of a loan and of the book: documents, exports with identities, a file for a supervisor, views. */
async function allMade(loanId: string): Promise<string> {
  const { items } = (await service.get(`/v1/loans/${loanId}/transactions`)).body
  const paid = items.find(({ type, amount }) => type === 'Repayment' && amount === 50)!
  const documents = ['statement', `repayments/${paid.id}/receipt`].map(async (path) => {
    const pages = await pagesOf(await pdfOf(service, `/v1/loans/${loanId}/${path}`))
    return pages.flat(2).map(({ text }) => text)
  })
  const folder = await mkdtemp(join(tmpdir(), 'mkopo-erased-'))
  const book = join(folder, 'book')
  const { code, err } = await opsOn(service)(['book', 'export', book, '-o', '1', '--identities'])
  expect(code, err).toBe(0)
  const names = (await readdir(book)).map((name) => join(book, name))
  const files = await Promise.all(names.map((name) => readFile(name, 'utf8')))
  await rm(folder, { recursive: true })
  const today = service.clock.now()
  service.clock.set('2026-02-02')
  const { body: file } = await service.post('/v1/exports', {
    body: { format: 'portfolio_return', asOf: '2026-01-31' },
    ...maker,
  })
  await drain(exportsJob(service.deps))
  const { text, status } = await service.get(`/v1/exports/${file.id}/file`, maker)
  expect([status, text.includes(loanId)], text).toEqual([200, true])
  service.clock.set(new Date(today).toISOString())
  const views = REPORTING_VIEWS.map(async (view) => {
    const { rows } = await service.owner.pool.query(`SELECT t::text AS text FROM reporting_rows.${view} t`)
    return rows.map((row) => row.text)
  })
  return [...(await Promise.all([...documents, ...views])).flat(), ...files, text].join('\n')
}

describe('an erasure', () => {
  it('leaves no word of the person in any table, answer or event, and no cent and no hash is another', async () => {
    const id = await aPerson()
    const loanId = await aPaidLoanOf(service, id, WORDS.externalId)
    const { body: access } = await ask(id, 'access')
    const told = await service.get(`/v1/data-requests/${access.id}/result`, maker)
    for (const [name, word] of Object.entries(WORDS)) expect(told.text.includes(word), name).toBe(true)
    expect((await service.get(`/v1/data-requests/${access.id}/result.pdf`, maker)).status).toBe(200)
    await keepJournal(service.deps)
    await drain(sequencerJob(service.deps))
    expect((await everyText(service)).includes(WORDS.externalId)).toBe(true)
    const books = async () => {
      // The number of the last event is another one: the erasure is told.
      const { sequence: _, ...balance } = (await service.get('/v1/accounting/trial-balance', maker)).body
      return { balance, paid: (await service.get(`/v1/loans/${loanId}`)).body.totalPaid }
    }
    const before = await books()
    const { rows: head } = await service.owner.pool.query('SELECT hash FROM event_chain WHERE organization_id = 1')
    const asked = await ask(id)
    expect(asked.body, asked.text).toMatchObject({ state: 'waiting', obstacles: [] })
    const done = await confirm(asked.body.id)
    expect(done.body, done.text).toMatchObject({ state: 'done', kind: 'erasure' })
    await drain(sequencerJob(service.deps))
    await keepJournal(service.deps)
    const all = await everyText(service)
    for (const [name, word] of Object.entries(WORDS)) expect(all.includes(word), name).toBe(false)
    expect(all.toLowerCase()).not.toContain('zawadixa')
    expect(all).not.toContain('%PDF')
    expect((await service.get(`/v1/data-requests/${access.id}/result`, maker)).status).toBe(409)
    expect(await books()).toEqual(before)
    // The head of before is a part of the chain still.
    const { rows } = await service.owner.pool.query('SELECT hash FROM event WHERE organization_id = 1 AND hash = $1', [
      head[0].hash,
    ])
    expect(rows).toHaveLength(1)
    const made = await allMade(loanId)
    for (const [name, word] of Object.entries(WORDS)) expect(made.includes(word), name).toBe(false)
    expect(made).toContain(`erased-${id}`)
    const customer = await service.get(`/v1/customers/${id}`)
    expect(customer.body).toMatchObject({ externalId: `erased-${id}`, status: 'Closed' })
    const answers = await Promise.all(
      [
        `/v1/customers/${id}/identity`,
        `/v1/loans/${loanId}/transactions`,
        `/v1/data-requests/${asked.body.id}`,
        '/v1/payments',
        '/v1/events?rows=100',
        '/v1/audit-trail?rows=100',
      ].map((path) => service.get(path, maker)),
    )
    for (const { text, status } of answers) {
      expect(status, text).toBe(200)
      for (const word of Object.values(WORDS)) expect(text).not.toContain(word)
    }
  })

  it('is found again by the externalId alone, when the person comes back', async () => {
    const id = await aPerson('255799000222')
    const asked = await ask(id)
    expect(asked.body, asked.text).toMatchObject({ state: 'waiting' })
    expect((await confirm(asked.body.id)).body).toMatchObject({ state: 'done' })
    const found = await service.get('/v1/customers?person=255799000222', maker)
    expect(found.body.items.map(({ id }: { id: string }) => id)).toEqual([id])
    const again = await aPerson('255799000222')
    expect(again).not.toBe(id)
  })
})

describe('is refused', () => {
  it('while a loan is open: at once, with the reason, and the request is kept', async () => {
    const id = await aPerson('255799000333')
    const body = { customerId: '255799000333', productId: 4, principal: 10_000, externalId: 'open-loan' }
    const { body: loan } = await service.post('/v1/loans', { body })
    const asked = await ask(id)
    expect(asked.body).toMatchObject({
      state: 'refused',
      obstacles: [`a loan is open: ${loan.id}`],
      dueOn: '2026-02-07',
    })
    expect((await confirm(asked.body.id)).status).toBe(409)
    const listed = await service.get(`/v1/data-requests?customerId=${id}&state=refused`, maker)
    expect(listed.body.items).toEqual([asked.body])
  })

  it('where a loan was made after it was asked for: it waits on, and nothing is erased', async () => {
    const id = await aPerson('255799000444')
    const asked = await ask(id)
    const body = { customerId: '255799000444', productId: 4, principal: 10_000, externalId: 'late-loan' }
    const { body: loan } = await service.post('/v1/loans', { body })
    const { status, body: said } = await confirm(asked.body.id)
    expect([status, said.message]).toEqual([409, `the person cannot be erased: a loan is open: ${loan.id}`])
    expect((await service.get(`/v1/data-requests/${asked.body.id}`, maker)).body.state).toBe('waiting')
    expect((await service.get(`/v1/customers/${id}/identity`, maker)).body.lastName).toBe(WORDS.lastName)
  })

  it('within the years for which the lender keeps what it knows', async () => {
    const other = await startService()
    const token = { token: other.tokens.operator }
    await other.patch('/v1/organization', { body: { keepOthersYears: 2 }, ...token })
    other.clock.set(new Date(other.clock.now() + 5_000).toISOString())
    const { body: customer } = await other.post('/v1/customers', { body: { externalId: 'kept' } })
    const asked = await other.post(`/v1/customers/${customer.id}/data-requests`, {
      body: { kind: 'erasure' },
      ...token,
    })
    expect(asked.body).toMatchObject({ state: 'refused', obstacles: ['what is known has to be kept until 2028-01-31'] })
    await other.close()
  })

  it('to the one who asked, to a USER, and twice', async () => {
    const id = await aPerson('255799000555')
    expect((await ask(id, 'erasure', { token: service.tokens.partner })).status).toBe(403)
    const { body: asked } = await ask(id)
    const denied = await confirm(asked.id, maker)
    expect([denied.status, denied.body.code]).toEqual([403, 'permission_denied'])
    expect((await confirm(asked.id, { token: service.tokens.partner })).status).toBe(403)
    expect((await ask(id)).body.id).toBe(asked.id)
    const both = await Promise.all([confirm(asked.id), confirm(asked.id)])
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409])
    const again = await ask(id)
    expect([again.status, again.body.message]).toEqual([
      409,
      'the customer was erased, and nothing of it can be changed',
    ])
  })
})

describe('a customer who was erased', () => {
  it('takes no identity, no external id, no loan and no other words', async () => {
    const id = await aPerson('255799000666')
    await confirm((await ask(id)).body.id)
    const identity = await service.put(`/v1/customers/${id}/identity`, { body: { firstName: 'Asha' } })
    expect(identity.body.message).toBe('the customer was erased, and nothing of it can be changed')
    const records = recordsOf(service)
    const changed = await records.put(`/v1/borrowers/${id}`, { body: { phone: '255700' } })
    expect(changed.status).toBe(409)
    const body = { customerId: `erased-${id}`, productId: 4, principal: 10_000, externalId: 'no-loan' }
    expect((await service.post('/v1/loans', { body })).status).toBe(409)
  })

  it('has the money of a loan taken back by its provider without a word, and a note of a person is refused, alone of all', async () => {
    const externalId = '255799000999'
    const id = await aPerson(externalId)
    const loanId = await aPaidLoanOf(service, id, externalId)
    await confirm((await ask(id)).body.id)
    const { items } = (await service.get(`/v1/loans/${loanId}/transactions`, maker)).body
    const paid = items.find(({ type, amount }) => type === 'Repayment' && amount === 50)!
    const other = await aPerson('255799000998')
    const lent = { customerId: '255799000998', productId: 4, principal: 10_000, externalId: 'beside-erased' }
    await service.post('/v1/loans', { body: lent })
    const body = { transactionAmount: 5 }
    const [refused, ...others] = await Promise.all([
      service.post(`/v1/loans/${loanId}/repayments/${paid.id}/reverse`, { body: { note: 'By mistake' }, ...maker }),
      ...[1, 2, 3].map(() => service.post('/v1/loans/external/beside-erased/repayments', { body })),
    ])
    expect([refused!.status, refused!.body.message]).toEqual([
      409,
      'the customer was erased, and nothing of it can be changed',
    ])
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(other).not.toBe(id)
    const at = service.deps.now(1)
    const { rows } = await service.owner.pool.query('SELECT channel_id, amount FROM payment WHERE receipt = $1', [
      `R-${id}`,
    ])
    const told = { organizationId: 1, id: 99_001n, channelId: rows[0].channel_id, receipt: 'back', reverses: `R-${id}` }
    const reversal = { ...told, amount: rows[0].amount, reversedAt: at, receivedAt: at }
    await insertReversals(service.deps.db, [{ author: serviceAuthor(1), reversal }])
    await drain(paymentsJob(service.deps))
    expect((await service.get(`/v1/loans/${loanId}`)).body.totalOutstanding).toBeGreaterThan(0)
    expect((await service.get(`/v1/payments?receipt=R-${id}`, maker)).body.items[0]?.status).toBe('reversed')
  })

  it('of a record system has a pseudonym as its name, and its loans keep their amounts', async () => {
    const records = recordsOf(service)
    const name = 'Duka la Zawadixa'
    await records.post('/v1/borrowers', { body: { ...aBorrower, id: 8_801, business_name: name } })
    await confirm((await ask('8801')).body.id)
    expect((await records.get('/v1/borrowers/8801')).body.item).toMatchObject({ business_name: 'erased-8801 Customer' })
    expect(await everyText(service)).not.toContain(name)
  })
})

it('no customer can be given the name of one who is erased', async () => {
  const body = { externalId: 'erased-4000000000000099' }
  const said = 'externalId: must not begin with erased-: customers who were erased are called so'
  const made = await service.post('/v1/customers', { body })
  expect([made.status, made.body.message]).toEqual([400, said])
  await recordsOf(service).post('/v1/borrowers', { body: { ...aBorrower, id: 8_802 } })
  const named = await service.post('/v1/customers/8802/external-id', { body })
  expect([named.status, named.body.message]).toEqual([400, said])
})

describe('any other data request', () => {
  it('is told by a USER, due after 7 days, and completed, refused or withdrawn by an ADMIN, with the answer', async () => {
    const id = await aPerson('255799000777')
    const asks = async (kind: string) => (await ask(id, kind, { token: service.tokens.partner })).body
    const access = await asks('access')
    expect(access).toMatchObject({
      kind: 'access',
      state: 'open',
      reason: WORDS.note,
      dueOn: '2026-02-07',
      proposed: false,
    })
    const end = (of: string, how: string, note?: string) =>
      service.post(`/v1/data-requests/${of}/${how}`, { ...(note && { body: { note } }), ...maker })
    expect((await end(access.id, 'complete', 'Sent')).body).toMatchObject({ state: 'done', note: 'Sent' })
    expect((await end((await asks('rectification')).id, 'refuse', 'Not so')).body.state).toBe('refused')
    expect((await end((await asks('objection')).id, 'withdraw')).body.state).toBe('withdrawn')
    const again = await end(access.id, 'withdraw')
    expect([again.status, again.body.message]).toEqual([409, 'the data request is done already'])
    const { rows } = await service.owner.pool.query('SELECT reason, note FROM data_request WHERE id = $1', [access.id])
    expect(JSON.stringify(rows)).not.toContain('Zawadixa')
    const late = await service.get('/v1/data-requests?dueBefore=2026-03-01', maker)
    expect(late.body.items.every(({ state }) => ['open', 'waiting'].includes(String(state)))).toBe(true)
  })
})

describe('the retention', () => {
  it('proposes to erase those whose time is over, once, and any ADMIN confirms it', async () => {
    const id = await aPerson('255799000888')
    await service.post(`/v1/customers/${id}/close`)
    await drain(retentionJob(service.deps))
    const of = async () => (await service.get(`/v1/data-requests?customerId=${id}`, maker)).body.items
    expect(await of()).toEqual([])
    service.clock.set('2026-02-05')
    await drain(retentionJob(service.deps))
    await drain(retentionJob(service.deps))
    const [proposal, ...others] = await of()
    expect([proposal?.proposed, proposal?.askedBy, proposal?.state, others]).toEqual([true, null, 'waiting', []])
    expect((await confirm(String(proposal?.id), maker)).body.state).toBe('done')
  })
})
