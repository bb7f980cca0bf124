import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lendBy } from '../api/partner/terms/lent.ts'
import { opsOn, RUN } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'
import type { Wire } from '../support/wire.ts'

let service: TestService
let ops: ReturnType<typeof opsOn>
let loan: string
let repayment: string
beforeAll(async () => {
  service = await startService()
  ops = opsOn(service)
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  loan = await lend('order-1')
  repayment = (
    await service.post(`/v1/loans/${loan}/repayments`, { body: { transactionAmount: 4_000, idempotencyKey: 'tx-1' } })
  ).body.id
})
afterAll(() => service.close())

const lend = async (externalId: string): Promise<string> =>
  (await service.post('/v1/loans', { body: { customerId: 'asha', productId: 3, principal: 60_000, externalId } })).body
    .id

describe('loans show', () => {
  it('the loan, its schedule and its entries as tables', async () => {
    const { out, code } = await ops(`loans show ${loan}`)
    expect(code).toBe(0)
    expect(out).toContain(`loan        ${loan} (order-1)\ncustomer    `)
    expect(out).toContain('principal   60000.00 TZS, disbursed 2026-01-31 09:30:00+03:00')
    expect(out).toContain('#  DUE DATE    PRINCIPAL  INTEREST')
    expect(out).toContain('1  2026-02-28   10000.00   3000.00  0.00     0.00  13000.00  4000.00   9000.00')
    expect(out).toMatch(new RegExp(`${repayment} {2}Repayment {2}2026-01-31 {2}4000.00 +1000.00 +3000.00`))
  })

  it('by the external id, as JSON with exact amounts', async () => {
    const { json } = await ops('loans show order-1 --external --json')
    expect(json).toMatchObject({ id: loan, status: 'Active', totalOutstanding: '74000.00' })
    expect(json.schedule).toHaveLength(6)
    expect(json.entries).toMatchObject([{ id: repayment, amount: '4000.00', token: 'tx-1', reversedAt: null }])
  })

  it.each([
    [
      { base: 'overdue_total', rate: 0.5, every: 'day', graceDays: 3, per: 'instalment', maxTimes: 30 },
      'penalty     0.5 % of overdue_total every day after 3 days, at most 30 times, per instalment\n',
    ],
    [
      { base: 'principal', rate: 2, every: 'week', graceDays: 1, per: 'loan', capPercentOfPrincipal: 5 },
      'penalty     1800.00 every week after 1 day, at most 4500.00, per loan\n',
    ],
    [
      { base: 'fixed', amount: 100, every: 'period', per: 'instalment' },
      'penalty     100.00 every month, per instalment\n',
    ],
    [{ base: 'fixed', amount: 250, every: 'once', per: 'instalment' }, 'penalty     250.00 once, per instalment\n'],
  ])('the penalties of the terms in words, with the amounts of this loan: %j', async (penalty, line) => {
    const lent = await lendBy(service, { penalty })
    expect((await ops(`loans show ${lent.loan.id}`)).out).toContain(line)
  })

  it('the other rules of the terms that are not the usual ones, and what was paid out', async () => {
    const fees = [{ name: 'Handling', base: 'fixed', amount: 500, when: 'disbursement', treatment: 'deducted' }]
    const rules = { earlySettlement: 'interest_to_date', allocation: ['fees', 'penalty', 'interest', 'principal'] }
    const { loan: first } = await lendBy(service, { fees, totalChargeCap: 100, interestRate: 0, ...rules })
    const { out } = await ops(`loans show ${first.id}`)
    expect(out).toContain('net         89500.00 TZS, fees of 500.00 were deducted\n')
    expect(out).toContain('charge cap  90000.00 TZS\n')
    expect(out).toContain('settlement  interest_to_date\nallocation  fees, penalty, interest, principal\n')
    const { customerExternalId: customerId, loanProductId: productId } = first
    const lendAgain = async (more: object) =>
      (await service.post('/v1/loans', { body: { customerId, productId, ...more } })).body
    await lendAgain({ principal: 90_000, externalId: 'settled' })
    const second = await lendAgain({ principal: 200_000, settles: ['settled'] })
    expect(second).toMatchObject({ netDisbursed: 109_500 })
    expect((await ops(`loans show ${second.id}`)).out).toContain(
      'net         109500.00 TZS, fees of 500.00 were deducted, 90000.00 paid off other loans\n',
    )
  })

  it('exit code 1 for a loan that is not there, 2 for what is no number', async () => {
    for (const id of ['17', '9223372036854775808', '9'.repeat(30)])
      expect(await ops(`loans show ${id}`)).toMatchObject({ code: 1, err: 'mkopo: no loan has that id\n' })
    expect(await ops('loans show order-1')).toMatchObject({ code: 2, err: expect.stringContaining('--external') })
    expect((await ops('loans show 1 -o 9')).code).toBe(1)
  })
})

describe('loans reverse', () => {
  it('asks, and then marks the transaction reversed, with the reason in the trail', async () => {
    expect(await ops(`loans reverse ${loan} ${repayment}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('--yes'),
    })
    expect((await ops(`loans reverse ${loan} ${repayment}`, { says: false })).code).toBe(1)
    expect((await ops(`loans reverse ${loan} 9999999999999999999 --yes`)).err).toContain('no transaction of this loan')
    expect((await service.get(`/v1/loans/${loan}`)).body.totalPaid).toBe(4_000)
    const run = await ops(['loans', 'reverse', loan, repayment, '--note', 'wrong loan'], { says: true })
    expect(run).toMatchObject({ code: 0, out: 'The Repayment of 4000.00 TZS, 2026-01-31, is reversed.\n' })
    expect((await service.get(`/v1/loans/${loan}`)).body).toMatchObject({ totalPaid: 0, totalOutstanding: 78_000 })
    const { json } = await ops<Wire[]>(`audit --entity loan --entity-id ${loan} --action reverse --json`)
    expect(json).toMatchObject([{ requestId: RUN, accountId: null, after: { reversed: { reason: 'wrong loan' } } }])
    expect(await ops(`loans reverse ${loan} ${repayment} --yes`)).toMatchObject({
      code: 1,
      err: 'mkopo: the transaction is reversed already\n',
    })
  })
})

describe('loans write-off', () => {
  it('asks with what is outstanding, and closes the loan', async () => {
    const id = await lend('order-2')
    const asked = await ops(`loans write-off ${id}`, { says: false })
    expect(asked.err).toContain('on which 78000.00 TZS are outstanding?')
    const { code, json } = await ops('loans write-off order-2 --external --date 2026-01-31 --yes --json')
    expect(code).toBe(0)
    expect(json).toMatchObject({ status: 'Closed (written off)', totalWrittenOff: '78000.00', closedOn: '2026-01-31' })
    expect(await ops(`loans write-off ${id} --yes`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('Closed (written off)'),
    })
    expect((await ops(`loans write-off ${loan} --date 2026-02-30`)).code).toBe(2)
    expect((await ops(`loans write-off ${loan} --date 2026-02-28 --yes`)).err).toContain(
      '--date: must not be in the future',
    )
  })
})

describe('audit', () => {
  it('filters, latest rows last, also those of the service itself', async () => {
    const { json } = await ops<Wire[]>(`audit --entity loan --entity-id ${loan} --json`)
    expect(json.map(({ action }) => action)).toEqual(['create', 'Repayment', 'reverse'])
    expect((await ops('audit -o 0 --json')).json).toMatchObject([{ entity: 'signing key', organizationId: 0 }])
    expect((await ops(`audit --request ${RUN} --json`)).json).toHaveLength(2)
    expect((await ops('audit --action create --entity customer -n 1')).out).toMatch(/AT +ORG +WHO +ACTION/)
    expect((await ops('audit --since 2026-02-01T00:00:00Z')).out).toBe('none\n')
    expect(await ops('audit -o 99')).toMatchObject({ code: 1, out: '', err: 'mkopo: there is no organization 99\n' })
    for (const since of ['yesterday', '2026-02-30T00:00:00Z', '0000-01-01T00:00:00Z'])
      expect((await ops(`audit --since ${since}`)).code).toBe(2)
  })

  it('follows: each change as it is made, once, until it is stopped', async () => {
    const stopping = new AbortController()
    const lines: string[] = []
    const following = ops('audit -f --entity loan --action Repayment -n 1 --json', {
      stopping: stopping.signal,
      onOut: (line) => lines.push(line),
    }).catch((error: unknown) => error)
    await expect.poll(() => lines.length).toBe(1)
    for (const transactionAmount of [1_000, 2_000])
      await service.post(`/v1/loans/${loan}/repayments`, { body: { transactionAmount } })
    await service.post('/v1/customers', { body: { externalId: 'juma' } })
    await expect.poll(() => lines.length).toBe(3)
    await pause(1_100)
    stopping.abort()
    await following
    expect(lines.slice(1).map((line) => JSON.parse(line).after.posted.amount)).toEqual([100_000, 200_000])
  })
})

describe('loans restructure', () => {
  it('shows what a holiday would make of the loan, makes it after a question, and reverses it', async () => {
    const id = await lend('order-3')
    const holiday = `loans restructure ${id} --postpone 2 --interest none --reason disaster`
    const preview = await ops(`${holiday} --preview --json`)
    expect(preview).toMatchObject({
      code: 0,
      json: { scheduleVersion: 2, totalOutstanding: '78000.00', dueAt: expect.stringMatching(/^2026-09-30 09:30/) },
    })
    expect((await service.get(`/v1/loans/${id}`)).body.dueDate).toBe('2026-07-31')
    expect((await ops(holiday, { says: false })).code).toBe(1)
    const made = await ops(`${holiday} --yes`)
    expect(made.out).toContain(
      `Loan ${id} is restructured.\n\nVersion 2 of the schedule; 78000.00 TZS are outstanding.`,
    )
    expect(made.out).toContain('1  2026-04-30  13000.00  13000.00')
    const { body } = await service.get<{ items: { restructure: { id: string } }[] }>(`/v1/loans/${id}/schedules`)
    const restructureId = body.items[1]!.restructure.id
    const reversed = await ops(`loans reverse-restructure order-3 ${restructureId} --external --yes`)
    expect(reversed.out).toContain(`Restructure ${restructureId} is reversed.\n\nVersion 1 of the schedule`)
    expect((await service.get(`/v1/loans/${id}`)).body.dueDate).toBe('2026-07-31')
  })

  it('takes an extension with a fee and a rate for the added time', async () => {
    const id = await lend('order-4')
    const { json } = await ops<{ entries: { type: string }[] }>(
      `loans restructure ${id} --instalments 8 --every 2 --unit weeks --interest 1/month --fee name=Extension,amount=500,treatment=added --reason hardship --yes --json`,
    )
    expect(json).toMatchObject({ scheduleVersion: 2, restructures: [{ countsAs: 'hardship' }] })
    expect(json.entries.map(({ type }) => type)).toEqual(['Restructure', 'Fee'])
  })

  it.each([
    ['', 'give one of --first-due'],
    ['--postpone 1 --until 2026-09-30', 'give one of --first-due'],
    ['--postpone 1 --every 2', '--every goes with --instalments'],
    ['--postpone 1 --interest 2', 'It must be keep, none, or a rate such as 2/'],
    ['--postpone 1 --fee amount=5', 'It must be name=…,amount=…,treatment=due_now|added'],
    ['--postpone 1 --waive tax=5', 'It takes penalty=…, fees=…, interest=…'],
    ['--postpone 1 --waive penalty', 'It takes penalty=…, fees=…, interest=…'],
  ])('exit code 2 for %s', async (options, said) => {
    const run = await ops(`loans restructure ${loan} --reason other --yes${options === '' ? '' : ` ${options}`}`)
    expect(run).toMatchObject({ code: 2, err: expect.stringContaining(said) })
  })
})
