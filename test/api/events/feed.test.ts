import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cursorAfter } from '../../../src/services/events/eventList.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { DEMO_PARTNER } from '../../../src/services/organizations/seedDemo.ts'
import { startSequencer } from '../../support/jobs.ts'
import { anotherLender } from '../../support/lenders.ts'
import { within } from '../../support/patience.ts'
import { silent } from '../../support/quiet.ts'
import { aBorrower } from '../../support/recordBodies.ts'
import { recordsOf } from '../../support/records.ts'
import { type Answer, startService, type TestService } from '../../support/service.ts'

// The feed of events in both styles (contract 8).

let service: TestService
let loanId: string
beforeAll(async () => {
  service = await startService()
  for (const externalId of ['asha', 'juma']) await service.post('/v1/customers', { body: { externalId } })
  const lend = (customerId: string) =>
    service.post('/v1/loans', { body: { customerId, productId: 1, principal: 1_000 } })
  loanId = (await lend('asha')).body.id
  await lend('juma')
  await service.post(`/v1/loans/${loanId}/repayments`, { body: { transactionAmount: 100 } })
  await drain(sequencerJob(service.deps))
})
afterAll(() => service.close())

interface Event {
  readonly id: string
  readonly type: string
  readonly data: Record<string, unknown> & { readonly sequence: string }
}

interface Feed {
  readonly items: readonly Event[]
  readonly next: string
  readonly hasMore: boolean
}

const feed = (query = ''): Promise<Answer<Feed>> => service.get<Feed>(`/v1/events${query}`)
const typesIn = ({ body }: Answer<Feed>) => body.items.map(({ type }) => type)

describe('the feed', () => {
  it('tells every change in order, with a cursor after them', async () => {
    const all = await feed()
    expect(typesIn(all)).toEqual([
      ...['customer.created', 'customer.created', 'loan.disbursed', 'loan.disbursed', 'repayment.posted'],
    ])
    expect(all.body.items.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5].map((sequence) => `evt_1_${sequence}`))
    expect(all.body.hasMore).toBe(false)
    const rest = await feed(`?after=${all.body.next}`)
    expect(rest.body).toEqual({ items: [], next: all.body.next, hasMore: false })
  })

  it('goes on two at a time, and says whether there is more', async () => {
    const seen: string[] = []
    let answer = await feed('?rows=2')
    for (; answer.body.hasMore; answer = await feed(`?rows=2&after=${answer.body.next}`)) seen.push(...typesIn(answer))
    expect([...seen, ...typesIn(answer)]).toEqual(typesIn(await feed()))
  })

  it('has a cursor before the first event, too', async () => {
    const token = await anotherLender(service, 2, 'KES')
    const { body } = await service.get<Feed>('/v1/events', { token })
    expect(body.items).toEqual([])
    expect((await service.get<Feed>(`/v1/events?after=${body.next}`, { token })).status).toBe(200)
  })

  it.each([
    ['?types=repayment.posted', ['repayment.posted']],
    ['?types=loan.*', ['loan.disbursed', 'loan.disbursed']],
    ['?types=customer.created,repayment.*', ['customer.created', 'customer.created', 'repayment.posted']],
    ['?types=loan.closed', []],
    ['?customerExternalId=asha', ['customer.created', 'loan.disbursed', 'repayment.posted']],
    ['?customerExternalId=asha&types=loan.*', ['loan.disbursed']],
    ['?customerExternalId=nobody', []],
    ['?loanId=1', []],
  ])('%s: only those, and a cursor after all', async (query, types) => {
    const answer = await feed(query)
    expect(typesIn(answer)).toEqual(types)
    expect(answer.body.next).toBe((await feed()).body.next)
  })

  it('of a loan: only its events', async () => {
    expect(typesIn(await feed(`?loanId=${loanId}`))).toEqual(['loan.disbursed', 'repayment.posted'])
    const first = await feed(`?loanId=${loanId}&rows=1`)
    expect(first.body.hasMore).toBe(true)
    expect(typesIn(await feed(`?loanId=${loanId}&after=${first.body.next}`))).toEqual(['repayment.posted'])
  })

  it('of another organization has none of these events', async () => {
    const token = await anotherLender(service, 3, 'KES')
    expect((await service.get('/v1/events/evt_1_1', { token })).status).toBe(404)
    await service.post('/v1/customers', { token, body: { externalId: 'elsewhere' } })
    await drain(sequencerJob(service.deps))
    const { body } = await service.get<Feed>('/v1/events', { token })
    expect(body.items.map(({ id }) => id)).toEqual(['evt_3_1'])
  })

  it('reads one event by its name', async () => {
    const { body } = await service.get<Event>('/v1/events/evt_1_5')
    expect(body).toEqual((await feed()).body.items[4])
    for (const id of ['evt_1_6', 'evt_1_0', 'evt_2_1', 'evt_1_01', 'evt_1', 'x', '1', 'y'.repeat(60)])
      expect([id, (await service.get(`/v1/events/${id}`)).status]).toEqual([id, 404])
  })

  it.each([
    ['?after=nonsense', 'after: must be the next of an answer of the list of events'],
    ['?types=loan.lost', /^types: must be one or several of customer\.created, /],
    ['?rows=1001', 'rows: must be at most 1000'],
    ['?rows=0', 'rows: must be at least 1'],
    ['?wait=31', 'wait: must be at most 30'],
    ['?page=1', /^page: /],
  ])('400 invalid_argument: %s', async (query, message) => {
    const { status, body } = await service.get(`/v1/events${query}`)
    const expected = typeof message === 'string' ? message : expect.stringMatching(message)
    expect([status, body.code, body.message]).toEqual([400, 'invalid_argument', expected])
  })
})

it('after=now gives a cursor at the end, and no event', async () => {
  const { body } = await feed('?after=now')
  expect(body).toEqual({ items: [], next: (await feed('?rows=1000')).body.next, hasMore: false })
})

describe('an event', () => {
  it('carries the loan and the transaction as the change left them, and what was before', async () => {
    const { data } = (await feed()).body.items[4]!
    const { body: loan } = await service.get(`/v1/loans/${loanId}`)
    // How late the loan is follows from the day and the policy, and is no part of the change.
    const { repaymentSchedule: _, repaymentHistory: history, delinquency: __, ...figures } = loan
    expect(data).toEqual({
      sequence: '5',
      loanVersion: 2,
      requestId: expect.stringMatching(/^[\w-]{36}$/),
      accountId: 1,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      cursor: await cursorAfter(service.deps, 1, 5n),
      loan: figures,
      transaction: history[0],
      previous: { totalOutstanding: 1_100, totalPaid: 0 },
    })
  })

  it('stays what it was when the loan changes later', async () => {
    const before = (await feed()).body.items[4]
    await service.post(`/v1/loans/${loanId}/repayments`, { body: { transactionAmount: 1_000 } })
    await drain(sequencerJob(service.deps))
    expect((await feed()).body.items[4]).toEqual(before)
    expect(typesIn(await feed(`?after=${await cursorAfter(service.deps, 1, 5n)}`))).toEqual([
      'repayment.posted',
      'loan.closed',
    ])
  })

  it('has the words of the record style on its host', async () => {
    const records = recordsOf(service)
    await records.post('/v1/borrowers', { body: { ...aBorrower, id: 7 } })
    await drain(sequencerJob(service.deps))
    const { body } = await records.get('/v1/events?borrower_id=7')
    expect(body.success).toBe(true)
    expect(body.items[0]).toMatchObject({
      type: 'customer.created',
      data: { account_id: 1, borrower: { id: 7, business_name: aBorrower.business_name } },
    })
    const ofLoan = (await records.get(`/v1/events?loan_id=${loanId}`)).body.items
    expect(ofLoan[1]).toMatchObject({
      type: 'repayment.posted',
      data: {
        loan_version: 2,
        balances: { status: 'Active', total_paid: 100, total_outstanding: 1_000 },
        repayment: { amount: 100, loan_id: Number(loanId) },
      },
    })
    expect((await records.get(`/v1/events/${ofLoan[1]!.id}`)).body).toEqual({ item: ofLoan[1], success: true })
  })
})

describe('a long poll', () => {
  it('is answered as soon as there is an event', { timeout: within(30_000) }, async () => {
    const job = startSequencer(service.deps, silent)
    const { next } = (await feed('?rows=1000')).body
    const waiting = feed(`?after=${next}&wait=30`)
    const began = performance.now()
    await service.post('/v1/customers', { body: { externalId: 'neema' } })
    expect(typesIn(await waiting)).toEqual(['customer.created'])
    expect(performance.now() - began).toBeLessThan(within(5_000))
    await job.stop()
  })

  it('is answered without events when its time is over', async () => {
    const { next } = (await feed('?rows=1000')).body
    const began = performance.now()
    expect((await feed(`?after=${next}&wait=1`)).body).toEqual({ items: [], next, hasMore: false })
    expect(performance.now() - began).toBeGreaterThan(900)
  })

  it('waits for an event that the filter lets through', { timeout: within(30_000) }, async () => {
    const job = startSequencer(service.deps, silent)
    const { next } = (await feed('?rows=1000')).body
    const waiting = feed(`?after=${next}&wait=30&types=loan.disbursed`)
    await service.post('/v1/customers', { body: { externalId: 'zuri' } })
    await service.post('/v1/loans', { body: { customerId: 'zuri', productId: 1, principal: 1_000 } })
    expect(typesIn(await waiting)).toEqual(['loan.disbursed'])
    await job.stop()
  })

  it('429 resource_exhausted beyond 20 of an account at once', async () => {
    const { next } = (await feed('?rows=1000')).body
    const waiting = Array.from({ length: 21 }, () => feed(`?after=${next}&wait=2`))
    const statuses = (await Promise.all(waiting)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 429)).toHaveLength(1)
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
    expect((await feed(`?after=${next}&wait=1`)).status).toBe(200)
  })

  it('is answered at once when the service stops', async () => {
    const other = await service.another()
    const { next } = (await feed('?rows=1000')).body
    const began = performance.now()
    const waiting = other.get<Feed>(`/v1/events?after=${next}&wait=30`)
    await pause(200)
    other.deps.eventHeads.close()
    expect((await waiting).body.items).toEqual([])
    expect(performance.now() - began).toBeLessThan(within(5_000))
    await other.close()
  })
})

describe('a cursor of an event that a restore has lost', () => {
  it.each([
    ['beyond the last event', 'events.1000.0123456789ab'],
    ['whose number another event has', 'events.3.0123456789ab'],
  ])('409 failed_precondition: %s', async (_what, text) => {
    const { status, body } = await feed(`?after=${Buffer.from(text).toString('base64url')}`)
    expect([status, body]).toEqual([
      409,
      {
        code: 'failed_precondition',
        message: expect.stringMatching(/^after: is of an event that this book does not have: the book was restored/),
      },
    ])
  })
})

describe('an event that is no longer kept', () => {
  it('409 failed_precondition for an older cursor, with the oldest; the chain keeps it', async () => {
    const begin = (await feed('?rows=1')).body.next
    service.clock.set('2026-06-15')
    const token = await service.deps.signIn.issueToken(DEMO_PARTNER.email, DEMO_PARTNER.password, '127.0.0.1')
    await service.post('/v1/customers', { token, body: { externalId: 'late' } })
    await drain(sequencerJob(service.deps))
    const { status, body } = await service.get(`/v1/events?after=${begin}`, { token })
    expect([status, body.code]).toEqual([409, 'failed_precondition'])
    const [, oldest] = /the oldest cursor is (\S+)$/.exec(String(body.message)) ?? []
    const kept = await service.get<Feed>(`/v1/events?after=${oldest}`, { token })
    expect(typesIn(kept)).toEqual(['customer.created'])
    expect((await service.get<Feed>('/v1/events', { token })).body.items).toEqual(kept.body.items)
    expect((await service.get('/v1/events/evt_1_1', { token })).status).toBe(200)
  })
})
