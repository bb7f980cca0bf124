import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkBook } from '../../../../src/services/book/bookCheck.ts'
import { collectionsJob } from '../../../../src/services/collections/collect.ts'
import { sequencerJob } from '../../../../src/services/events/sequencer.ts'
import { drain } from '../../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../../src/services/loans/sweep.ts'
import { DEMO_AUDITOR } from '../../../../src/services/organizations/seedDemo.ts'
import { startService, type TestService } from '../../../support/service.ts'

let service: TestService
let operator: { token: string }
let auditor: { token: string }
beforeAll(async () => {
  service = await startService()
  await at('2026-01-10T09:30:00+03:00')
  operator = { token: service.tokens.operator }
  const { email, password } = DEMO_AUDITOR
  auditor = { token: await service.deps.signIn.issueToken(email, password, '127.0.0.1') }
})
afterAll(() => service.close())

/** Sets the clock, and does what time does. */
async function at(moment: string): Promise<void> {
  service.clock.set(moment)
  await drain(sweepJob(service.deps))
  await collect()
}

/** Seals what has changed, and lets the job of collections work. */
async function collect(): Promise<void> {
  await drain(sequencerJob(service.deps))
  await drain(collectionsJob(service.deps))
  await drain(sequencerJob(service.deps))
}

async function post(path: string, body: object, call = {}) {
  const answer = await service.post(path, { body, ...call })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

interface Refusal {
  readonly message: string
  readonly details?: readonly { readonly field: string; readonly message: string }[]
}

/** Sends what is refused. @returns the status, and the message about the field, or the whole one */
async function refusedBy(
  path: string,
  body: object,
  call = {},
): Promise<{ status: number; field?: string; message: string }> {
  const answer = await service.post<Refusal>(path, { body, ...call })
  const { message, details = [] } = answer.body
  return { status: answer.status, message, ...details[0] }
}

interface Par {
  readonly groups: readonly { readonly officerId: number | null; readonly loans: number }[]
}

interface Work {
  readonly items: readonly { readonly loanId: string; readonly daysPastDue: number }[]
  readonly total: number
}

/** Reads the work list. */
const worklist = async (query = ''): Promise<Work> => (await service.get<Work>(`/v1/worklist?rows=100${query}`)).body

let customers = 0

/** Makes a customer with a loan of 10,000, of which 11,000 are due a month later. @returns the paths and ids of both */
async function aLoan() {
  const externalId = `c-${++customers}`
  const { id: customerId } = await post('/v1/customers', { externalId })
  const { id } = await post('/v1/loans', {
    customerId: externalId,
    productId: 1,
    principal: 10_000,
    externalId: `l-${customers}`,
  })
  return { id, loan: `/v1/loans/${id}`, customerId, customer: `/v1/customers/${customerId}` }
}

interface Told {
  readonly type: string
  readonly data: { readonly [member: string]: { readonly [name: string]: unknown } }
}

/** Returns the events of a loan of some types, in their order. */
async function told(loanId: string, types: string): Promise<readonly Told[]> {
  const { body } = await service.get<{ items: readonly Told[] }>(`/v1/events?types=${types}&loanId=${loanId}`, operator)
  return body.items
}

describe('contacts with a customer', () => {
  it('are recorded by a USER, and listed in their order; an AUDITOR reads them without their notes', async () => {
    const { id, customer } = await aLoan()
    const first = await post(`${customer}/contacts`, { channel: 'call', outcome: 'no_answer' })
    const note = 'Asks for a week'
    const second = await post(`${customer}/contacts`, {
      channel: 'visit',
      outcome: 'reached',
      note,
      loanId: id,
      contactedAt: '2026-01-09T16:00:00+03:00',
      nextOn: '2026-01-17',
    })
    expect(second).toMatchObject({ note, loanId: id, nextOn: '2026-01-17', accountId: expect.any(Number) })
    expect((await service.get(`${customer}/contacts`)).body).toMatchObject({ items: [first, second], total: 2 })
    const { body } = await service.get(`${customer}/contacts`, auditor)
    expect(body.items).toEqual([first, { ...second, note: null }])
  })

  it('are told with the same Idempotency-Key once', async () => {
    const { customer } = await aLoan()
    const headers = { 'Idempotency-Key': 'call-1' }
    const body = { channel: 'sms', outcome: 'message_left' }
    const [first, again] = [
      await post(`${customer}/contacts`, body, { headers }),
      await post(`${customer}/contacts`, body, { headers }),
    ]
    expect(again).toEqual(first)
    expect((await service.get(`${customer}/contacts`)).body.total).toBe(1)
  })

  it.each([
    ['in the future', { contactedAt: '2026-02-01T00:00:00Z' }, 'contactedAt', 'must not be in the future'],
    ['with a next action that is over', { nextOn: '2026-01-09' }, 'nextOn', 'must be from 2026-01-10 to 2027-01-11'],
    ['with a next action in two years', { nextOn: '2028-01-09' }, 'nextOn', 'must be from 2026-01-10 to 2027-01-11'],
    ['about the loan of another customer', { loanId: '1' }, 'loanId', 'must be a loan of the customer'],
    ['with a channel that is none', { channel: 'pigeon' }, 'channel', 'must be one of'],
    ['with a note that is too long', { note: 'x'.repeat(1_001) }, 'note', '1000'],
  ])('%s are refused, and nothing is recorded', async (_, members, field, message) => {
    const { customer } = await aLoan()
    const refused = await refusedBy(`${customer}/contacts`, { channel: 'call', outcome: 'reached', ...members })
    expect(refused).toEqual({ status: 400, field, message: expect.stringContaining(message) })
    expect((await service.get(`${customer}/contacts`)).body.total).toBe(0)
  })

  it('are refused to an AUDITOR', async () => {
    const { customer } = await aLoan()
    const answer = await service.post(`${customer}/contacts`, {
      body: { channel: 'call', outcome: 'reached' },
      ...auditor,
    })
    expect(answer.status).toBe(403)
  })
})

describe('a promise on a loan', () => {
  it('is broken, then kept by a payment that is told late, then broken when that is reversed; each is told once', async () => {
    const { id, loan } = await aLoan()
    await at('2026-02-12T09:30:00+03:00')
    const { id: promiseId } = await post(`${loan}/promises`, {
      amount: 1_000,
      by: '2026-02-13',
      note: 'After market day',
    })
    await at('2026-02-13T23:00:00+03:00')
    expect((await service.get(`${loan}/promises`)).body.items[0]).toMatchObject({ state: 'open', received: 0 })
    await at('2026-02-14T00:30:00+03:00')
    const { id: paid } = await post(`${loan}/repayments`, { transactionAmount: 1_500, transactionDate: '2026-02-13' })
    // What is read is judged by what is known now; what is told follows.
    expect((await service.get(`${loan}/promises`)).body.items[0]).toMatchObject({ state: 'kept', received: 1_000 })
    await collect()
    await collect()
    await post(`${loan}/repayments/${paid}/reverse`, {}, operator)
    await collect()
    const events = await told(id, 'promise.*')
    expect(events.map(({ type, data }) => [type, data.promise])).toEqual(
      [['broken', 0] as const, ['kept', 1_000] as const, ['broken', 0] as const].map(([state, received]) => [
        `promise.${state}`,
        { id: promiseId, state, amount: 1_000, received, by: '2026-02-13' },
      ]),
    )
    expect(events[1]!.data.loan).toMatchObject({ id, totalPaid: 1_500 })
  })

  it('is cancelled with a reason while it is open, once; a promise whose day is over is not', async () => {
    const { loan } = await aLoan()
    const { id } = await post(`${loan}/promises`, { amount: 500, by: '2026-02-20' })
    const cancelled = await post(`${loan}/promises/${id}/cancel`, { reason: 'Another day' })
    expect(cancelled).toMatchObject({ state: 'cancelled', cancelReason: 'Another day' })
    expect(await post(`${loan}/promises/${id}/cancel`, {})).toEqual(cancelled)
    const { id: later } = await post(`${loan}/promises`, { amount: 500, by: '2026-02-14' })
    await at('2026-02-15T08:00:00+03:00')
    expect(await refusedBy(`${loan}/promises/${later}/cancel`, {})).toEqual({
      status: 409,
      message: 'the day of the promise, 2026-02-14, is over: it is kept or broken',
    })
  })

  it('of more than the loan owes, in the past, or too far ahead is refused', async () => {
    const { loan } = await aLoan()
    const refused = (body: object) => refusedBy(`${loan}/promises`, body)
    expect(await refused({ amount: 11_000.01, by: '2026-02-20' })).toMatchObject({ field: 'amount' })
    expect(await refused({ amount: 1, by: '2026-02-14' })).toMatchObject({ field: 'by' })
    expect(await refused({ amount: 1, by: '2026-06-01' })).toMatchObject({ field: 'by' })
    expect(await refused({ amount: 0, by: '2026-02-20' })).toMatchObject({ field: 'amount' })
  })

  it('is refused where the loan owes nothing, and where ten are open', async () => {
    const { loan } = await aLoan()
    for (let n = 0; n < 10; n++) await post(`${loan}/promises`, { amount: 100, by: '2026-02-20' })
    const eleventh = await refusedBy(`${loan}/promises`, { amount: 100, by: '2026-02-20' })
    expect(eleventh).toMatchObject({ status: 409, message: expect.stringContaining('10 open promises') })
    const paid = await aLoan()
    await post(`${paid.loan}/repayments`, { transactionAmount: 11_000 })
    const nothing = await refusedBy(`${paid.loan}/promises`, { amount: 1, by: '2026-02-20' })
    expect(nothing).toEqual({ status: 409, message: 'the loan owes nothing' })
  })
})

describe('the officer of a loan', () => {
  it('has the loan in the work list and in the portfolio at risk, from the day of the assignment on', async () => {
    const { loan, id } = await aLoan()
    const { accountId } = await post(`${loan}/promises`, { amount: 1, by: '2026-02-20' })
    const answer = await service.put(`${loan}/assignment`, { body: { accountId } })
    expect([answer.status, answer.body]).toEqual([200, { loanId: id, accountId, assignedAt: expect.any(String) }])
    expect((await service.get(`${loan}/assignment`)).body).toEqual(answer.body)
    expect((await service.put(`${loan}/assignment`, { body: { accountId } })).body).toEqual(answer.body)
    const par = async (query = '') => {
      const { body } = await service.get<Par>(`/v1/portfolio/par?by=officer${query}`, operator)
      return body.groups.map(({ officerId, loans }) => [officerId, loans])
    }
    expect(await par()).toContainEqual([accountId, 1])
    expect((await par('&asOf=2026-02-14')).map(([officer]) => officer)).toEqual([null])
    expect((await service.put(`${loan}/assignment`, { body: { accountId: null } })).body).toEqual({
      loanId: id,
      accountId: null,
    })
  })

  it('is an account of the organization', async () => {
    const { loan } = await aLoan()
    const { status, body } = await service.put<Refusal>(`${loan}/assignment`, { body: { accountId: 99_999 } })
    expect([status, body.details?.[0]]).toEqual([
      400,
      { field: 'accountId', message: 'must be an account of the organization that is enabled' },
    ])
  })
})

describe('a hold', () => {
  it('of reminders stands until it is released, and another of the kind waits until then', async () => {
    const { loan } = await aLoan()
    const held = await post(`${loan}/holds`, { what: 'reminders', until: '2026-03-01', reason: 'In hospital' })
    expect(held).toMatchObject({ from: '2026-02-15', until: '2026-03-01', reason: 'In hospital' })
    const second = await refusedBy(`${loan}/holds`, { what: 'reminders', until: '2026-03-01', reason: 'Again' })
    expect(second).toMatchObject({ status: 409, message: expect.stringContaining('another hold of reminders') })
    await post(`${loan}/holds`, { what: 'listing', until: '2026-03-01', reason: 'Disputed by phone' })
    const released = await post(`${loan}/holds/${held.id}/release`, { reason: 'Well again' })
    expect(released).toMatchObject({ releasedOn: '2026-02-15', releaseReason: 'Well again' })
    expect(await post(`${loan}/holds/${held.id}/release`, { reason: 'Well again' })).toEqual(released)
    await post(`${loan}/holds`, { what: 'reminders', until: '2026-03-01', reason: 'Once more' })
    const { body } = await service.get(`${loan}/holds`, auditor)
    expect(body.items.map((hold: Record<string, unknown>) => [hold.what, hold.reason])).toEqual([
      ['reminders', null],
      ['listing', null],
      ['reminders', null],
    ])
  })

  it('of penalties raises none on its days, and keeps those that were raised', async () => {
    const bounds = { name: 'Daily penalty', minPrincipal: 1_000, maxPrincipal: 100_000, numberOfRepayments: 1 }
    const weekly = { repaymentEvery: 1, repaymentFrequencyType: 'weeks', interestRate: 10 }
    const penalty = { base: 'fixed', amount: 100, every: 'day', per: 'loan' }
    const product = await post('/v1/loan-products', { ...bounds, ...weekly, penalty }, operator)
    await post('/v1/customers', { externalId: 'late' })
    const { id } = await post('/v1/loans', {
      customerId: 'late',
      productId: product.id,
      principal: 10_000,
      externalId: 'l-late',
    })
    const owed = async () => (await service.get(`/v1/loans/${id}`)).body.totalOutstanding
    await at('2026-02-24T12:00:00+03:00')
    expect(await owed()).toBe(11_300)
    const hold = await post(`/v1/loans/${id}/holds`, { what: 'penalties', until: '2026-03-10', reason: 'Flood' })
    expect(hold).toMatchObject({ from: '2026-02-25', until: '2026-03-10' })
    await at('2026-02-28T12:00:00+03:00')
    expect(await owed()).toBe(11_300)
    const released = await post(`/v1/loans/${id}/holds/${hold.id}/release`, { reason: 'The road is open' })
    expect(released).toMatchObject({ releasedOn: '2026-03-01' })
    await at('2026-03-02T12:00:00+03:00')
    expect(await owed()).toBe(11_500)
    // A payment that is told late replays the days of the hold as they were.
    await post(`/v1/loans/${id}/repayments`, { transactionAmount: 100, transactionDate: '2026-02-26' })
    expect(await owed()).toBe(11_400)
    expect((await told(id, 'loan.restated')).length).toBe(2)
  })
})

describe('the work list', () => {
  it('has who is overdue, with what was said and promised last, and who is to be called today', async () => {
    await at('2026-03-20T09:00:00+03:00')
    const [late, later, calm] = [await aLoan(), await aLoan(), await aLoan()]
    await at('2026-04-21T09:00:00+03:00')
    await post(`${late.customer}/contacts`, { channel: 'call', outcome: 'promised', nextOn: '2026-04-25' })
    await post(`${late.loan}/promises`, { amount: 2_000, by: '2026-04-25' })
    await post(`${calm.loan}/repayments`, { transactionAmount: 11_000, transactionDate: '2026-04-20' })
    await post(`${later.loan}/repayments`, { transactionAmount: 1_000 })
    const of = ({ items }: Work, { id }: { id: unknown }) => items.find(({ loanId }) => loanId === id)
    const body = await worklist()
    expect(of(body, late)).toMatchObject({
      daysPastDue: 1,
      totalOverdue: 11_000,
      nextOn: '2026-04-25',
      lastContact: { channel: 'call', outcome: 'promised' },
      promise: { amount: 2_000, by: '2026-04-25' },
      brokenPromises: 0,
      holds: [],
    })
    expect(of(body, later)).toMatchObject({ totalOverdue: 10_000 })
    expect(of(body, calm)).toBe(undefined)
    const days = body.items.map(({ daysPastDue }) => daysPastDue)
    expect(days).toEqual(days.toSorted((a, b) => b - a))
    const byAction = (await worklist('&orderBy=nextOn')).items.map(({ loanId }) => loanId)
    expect(byAction.indexOf(String(late.id))).toBeLessThan(byAction.indexOf(String(later.id)))
    const small = (await service.get('/v1/worklist?rows=1&page=2&orderBy=overdue')).body
    expect(small).toMatchObject({ page: 2, rowsPerPage: 1, total: body.total, items: [expect.anything()] })
    await at('2026-04-26T09:00:00+03:00')
    expect(of(await worklist('&orderBy=brokenPromises'), late)).toMatchObject({ brokenPromises: 1 })
  })

  it('is asked for by officer, product and bucket', async () => {
    const { loan, id } = await aLoan()
    const { accountId } = await post(`${loan}/promises`, { amount: 1, by: '2026-05-01' })
    await service.put(`${loan}/assignment`, { body: { accountId } })
    await at('2026-05-27T09:00:00+03:00')
    const ids = async (query: string) => (await worklist(`&${query}`)).items.map(({ loanId }) => loanId)
    expect(await ids('assignedTo=me')).toEqual([id])
    expect(await ids(`assignedTo=${accountId}&productId=1`)).toEqual([id])
    expect(await ids('assignedTo=none')).not.toContain(id)
    expect(await ids('assignedTo=me&productId=9999')).toEqual([])
    const { status, body } = await service.get<Refusal>('/v1/worklist?bucket=unknown')
    expect([status, body.details?.[0]?.field]).toEqual([400, 'bucket'])
    expect((await service.get('/v1/worklist?assignedTo=nobody')).status).toBe(400)
    expect((await service.get('/v1/worklist?orderBy=name')).status).toBe(400)
  })
})

describe('the reminder policy', () => {
  const policy = {
    daysBefore: [3, 0, 3],
    daysAfter: [1],
    language: 'en',
    overdueText: '{lender}: pay {currency} {amount} since {dueOn}',
  }

  it('is set by an ADMIN, each day once; a text with another name in braces is refused', async () => {
    expect((await service.put('/v1/reminder-policy', { body: policy })).status).toBe(403)
    const { body } = await service.put('/v1/reminder-policy', { body: policy, ...operator })
    expect(body).toEqual({ ...policy, daysBefore: [0, 3], dueSoonText: null })
    expect((await service.get('/v1/reminder-policy')).body).toEqual(body)
    const refused = await service.put<Refusal>('/v1/reminder-policy', {
      body: { ...policy, dueSoonText: 'Dear {name}' },
      ...operator,
    })
    expect(refused.body.details?.[0]).toMatchObject({
      field: 'dueSoonText',
      message: expect.stringContaining('{name}'),
    })
    const far = await service.put('/v1/reminder-policy', { body: { ...policy, daysBefore: [61] }, ...operator })
    expect(far.status).toBe(400)
  })

  it('tells of each loan once a day, on its days, and not while reminders are on hold', async () => {
    await at('2026-06-10T09:00:00+03:00')
    const [told1, held] = [await aLoan(), await aLoan()]
    await post(`${held.loan}/holds`, { what: 'reminders', until: '2026-07-20', reason: 'In hospital' })
    for (const day of ['2026-07-06', '2026-07-07', '2026-07-10', '2026-07-11', '2026-07-12']) {
      await at(`${day}T00:05:00+03:00`)
      await at(`${day}T12:00:00+03:00`)
    }
    const events = await told(told1.id, 'loan.due_soon,loan.reminder')
    expect(events.map(({ type, data }) => [type, data.reminder!.days, data.reminder!.amount])).toEqual([
      ['loan.due_soon', 3, 11_000],
      ['loan.due_soon', 0, 11_000],
      ['loan.reminder', 1, 11_000],
    ])
    expect(events[2]!.data.reminder).toMatchObject({
      text: expect.stringMatching(/: pay TZS 11,000 since 2026-07-10$/),
      dueOn: '2026-07-10',
    })
    expect(await told(held.id, 'loan.due_soon,loan.reminder')).toEqual([])
  })
})

it('leaves a book in which the check finds nothing', async () => {
  await collect()
  expect((await checkBook(service.deps)).differences).toEqual([])
})
