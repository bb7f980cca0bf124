import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { cursorAfter, headOf } from '../../../src/services/events/eventList.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { startSequencer } from '../../support/jobs.ts'
import { anotherLender } from '../../support/lenders.ts'
import { within } from '../../support/patience.ts'
import { silent } from '../../support/quiet.ts'
import { aBorrower } from '../../support/recordBodies.ts'
import { recordsOf } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'

// The feed where a row of the book is damaged, a filter names what comes later, or a loan changes hands (contract 8).

let service: TestService
let loanId: string
let next: string
beforeAll(async () => {
  service = await startService()
  service.damages('rows of the trail and of the chain are changed by SQL')
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  const body = { customerId: 'asha', productId: 1, principal: 1_000 }
  loanId = (await service.post('/v1/loans', { body })).body.id
})
afterAll(() => service.close())
beforeEach(async () => {
  await drain(sequencerJob(service.deps))
  next = (await service.get<Feed>('/v1/events?after=now')).body.next
})

interface Event {
  readonly id: string
  readonly type: string
  readonly data: Record<string, unknown> & { readonly loan?: Record<string, unknown> }
}

interface Feed {
  readonly items: readonly Event[]
  readonly next: string
  readonly hasMore: boolean
}

const feed = async (query = '') => {
  const { status, body } = await service.get<Feed>(`/v1/events?after=${next}${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const pay = (amount: number) => service.post(`/v1/loans/${loanId}/repayments`, { body: { transactionAmount: amount } })
const damage = (set: string) =>
  service.owner.pool.query(
    `UPDATE audit_entry SET ${set} WHERE organization_id = 1 AND id = (SELECT max(id) FROM audit_entry WHERE organization_id = 1)`,
  )

describe('a damaged row of the trail', () => {
  it.each([
    ["entity_id = 'x'"],
    ["entity_id = '99999999999999999999'"],
    [`change = jsonb_set(change::jsonb, '{posted,id}', '"x"')::json`],
    [`change = jsonb_set(change::jsonb, '{posted,id}', 'null')::json`],
    [`change = jsonb_set(change::jsonb, '{posted,id}', '1.5')::json`],
    [`change = jsonb_set(change::jsonb, '{posted}', '"x"')::json`],
    [`change = jsonb_set(change::jsonb, '{reversed}', 'null')::json`],
    [`change = jsonb_set(change::jsonb, '{reversed}', '{}')::json`],
    [`change = jsonb_set(change::jsonb, '{before,paid}', '"x"')::json`],
    [`change = jsonb_set(change::jsonb, '{before}', '1.5')::json`],
    ["at = 'infinity'"],
    [`change = '"x"'`],
    [`change = regexp_replace(change::text, '"version":[0-9]+', '"version":"x"')::json`],
    ['change = NULL'],
    [`before = '[]', after = '"x"'`],
    ["entity = '__proto__'"],
    ["entity = 'customer', action = 'constructor'"],
  ])('%s: keeps no receiver from the events after it, in both styles', async (set) => {
    await pay(1)
    await damage(set)
    await pay(2)
    await drain(sequencerJob(service.deps))
    const { items, hasMore } = await feed()
    expect(hasMore).toBe(false)
    expect(items.at(-1)).toMatchObject({ type: 'repayment.posted', data: { transaction: { amount: 2 } } })
    const { status, body } = await recordsOf(service).get(`/v1/events?after=${next}`)
    expect([status, body.items.length]).toEqual([200, items.length])
  })
})

describe('an organization whose chain is damaged', () => {
  it('keeps no other from its events', async () => {
    const token = await anotherLender(service, 2, 'KES')
    await drain(sequencerJob(service.deps))
    await service.owner.pool.query(`UPDATE event_chain SET key_id = 'another' WHERE organization_id = 1`)
    await pay(3)
    await service.post('/v1/customers', { token, body: { externalId: 'elsewhere' } })
    const errors: string[] = []
    const job = startSequencer(service.deps, { info: () => undefined, error: (_, message) => errors.push(message) })
    const waited = await service.get<Feed>('/v1/events?wait=20', { token })
    expect(waited.body.items.map(({ type }) => type)).toEqual(['customer.created'])
    await job.stop()
    expect(errors).toEqual([expect.stringMatching(/^organization 1: changes could not be sealed/)])
    await service.owner.pool.query(
      `UPDATE event_chain SET key_id = (SELECT key_id FROM event_chain WHERE organization_id = 2) WHERE organization_id = 1`,
    )
    await drain(sequencerJob(service.deps))
    expect((await feed()).items).toHaveLength(1)
  })
})

describe('a filter by customer', () => {
  const lendTo = (customerId: string) =>
    service.post('/v1/loans', { body: { customerId, productId: 1, principal: 1_000 } })

  it('finds a loan that is made while it waits', { timeout: within(30_000) }, async () => {
    await service.post('/v1/customers', { body: { externalId: 'waits' } })
    await drain(sequencerJob(service.deps))
    next = (await service.get<Feed>('/v1/events?after=now')).body.next
    const job = startSequencer(service.deps, silent)
    const waiting = feed('&customerExternalId=waits&wait=30')
    await lendTo('waits')
    expect((await waiting).items.map(({ type }) => type)).toEqual(['loan.disbursed'])
    await job.stop()
  })

  it('finds a customer that is made while it waits', { timeout: within(30_000) }, async () => {
    const job = startSequencer(service.deps, silent)
    const waiting = feed('&customerExternalId=comes&wait=30')
    await service.post('/v1/customers', { body: { externalId: 'comes' } })
    expect((await waiting).items.map(({ type }) => type)).toEqual(['customer.created'])
    await job.stop()
  })

  it('gives all of many events in steps, with the loan that is asked for', async () => {
    await service.post('/v1/customers', { body: { externalId: 'many' } })
    const loans = await Promise.all(Array.from({ length: 30 }, () => lendTo('many')))
    await drain(sequencerJob(service.deps))
    const seen: Event[] = []
    for (let after = next, hasMore = true; hasMore; ) {
      const { body } = await service.get<Feed>(`/v1/events?after=${after}&rows=7&customerExternalId=many`)
      seen.push(...body.items)
      ;({ next: after, hasMore } = body)
    }
    expect(seen.map(({ type }) => type)).toEqual(['customer.created', ...loans.map(() => 'loan.disbursed')])
    const one = await feed(`&customerExternalId=many&loanId=${loans[4]!.body.id}`)
    expect(one.items.map(({ data }) => data.loan?.id)).toEqual([loans[4]!.body.id])
    expect((await feed(`&customerExternalId=asha&loanId=${loans[4]!.body.id}`)).items).toEqual([])
  })
})

describe('a loan of a record system', () => {
  it('that goes to another borrower keeps the borrower of then in the events of then', async () => {
    const records = recordsOf(service)
    for (const id of [601, 602])
      await records.post('/v1/borrowers', { body: { ...aBorrower, id, business_name: `Shop ${id}` } })
    const loan = { loan_id: 600, borrower_id: 601, principal_amount: 900, duration: 1, duration_period: 'Months' }
    await records.post('/v1/loans', { body: { ...loan, released_date: '2026-01-31', due_date: '2026-02-28' } })
    await records.put('/v1/loans/600', { body: { borrower_id: 602, principal_amount: 950 } })
    await drain(sequencerJob(service.deps))
    const [disbursed, restated] = (await feed('&loanId=600')).items
    expect(disbursed!.data.loan).toMatchObject({ customerId: '601', customerName: 'Shop 601', principal: 900 })
    expect(restated!.data).toMatchObject({
      loan: { customerId: '602', customerName: 'Shop 602', principal: 950 },
      previous: { customerId: '601', principal: 900 },
    })
    const { body } = await records.get(`/v1/events?after=${next}&loan_id=600`)
    expect(body.items[1]).toMatchObject({ data: { previous: { borrower_id: 601, principal_amount: 900 } } })
  })

  it('names the repayment that an adjustment has replaced', async () => {
    const { body: paid } = await pay(50)
    const path = `/v1/loans/${loanId}/repayments/${paid.id}/adjust`
    await service.post(path, { token: service.tokens.operator, body: { transactionAmount: 40 } })
    await drain(sequencerJob(service.deps))
    const { body } = await recordsOf(service).get(`/v1/events?after=${next}&types=repayment.adjusted`)
    expect(body.items[0]).toMatchObject({
      data: { repayment: { amount: 40 }, previous: { repayment_id: Number(paid.id), amount: 50 } },
    })
  })
})

describe('a clock that goes back', () => {
  it('does not make the events that were told since older than they are', async () => {
    service.clock.set('2025-03-01')
    await service.post('/v1/customers', { body: { externalId: 'earlier' } })
    await drain(sequencerJob(service.deps))
    service.clock.set('2026-01-31')
    expect((await feed()).items.map(({ type }) => type)).toEqual(['customer.created'])
    const head = await headOf(service.deps, 1)
    expect((await service.get(`/v1/events?after=${await cursorAfter(service.deps, 1, head - 1n)}`)).status).toBe(200)
  })
})
