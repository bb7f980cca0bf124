import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operator } from '../../../../src/services/access/caller.ts'
import { bookProvisions } from '../../../../src/services/accounting/bookProvisions.ts'
import {
  type Books,
  type ChartWire,
  type JournalWire,
  openBooks,
  type TrialBalanceWire,
} from '../../../support/books.ts'
import { opsOn } from '../../../support/ops.ts'

// The chart of accounts over HTTP (contract 9): what is refused, and from when a new chart counts.

type NewChart = Pick<ChartWire, 'accounts' | 'slots' | 'method'>

let books: Books
let loan: string
let first: NewChart
beforeAll(async () => {
  books = await openBooks()
  await books.customer('asha')
  loan = await books.lend('asha', 100_000)
  const { accounts, slots, method } = (await books.get<ChartWire>('chart')).body
  first = { accounts, slots, method }
})
afterAll(() => books.end())

const set = (chart: unknown) => books.put<ChartWire>('chart', chart)
const MPESA = { code: '1001', name: 'M-PESA', type: 'asset' }
const withCash = ({ accounts, ...chart }: NewChart, account = MPESA): NewChart => ({
  ...chart,
  accounts: [...accounts, account],
  slots: { ...chart.slots, cash: account.code },
})

describe('the chart', () => {
  it('is there from the beginning', async () => {
    const { status, body } = await books.get<ChartWire>('chart')
    expect(status).toBe(200)
    expect(body).toMatchObject({ version: 1, inForce: true, countsFrom: null, slots: { cash: '1000' } })
    expect(body.method).toEqual({ default: 'cash', products: {} })
    expect(Object.keys(body.slots).length).toBe(19)
  })

  it('has no new version where it is the same again', async () => {
    expect(await set(first)).toMatchObject({ status: 200, body: { version: 1 } })
    const shuffled = { ...first, accounts: first.accounts.toReversed(), method: 'cash' }
    expect(await set(shuffled)).toMatchObject({ status: 200, body: { version: 1 } })
  })

  const without = (code: string) => first.accounts.filter((account) => account.code !== code)
  const changed = (code: string, change: object) =>
    first.accounts.map((account) => (account.code === code ? { ...account, ...change } : account))

  it.each<[string, () => object, field: string, message: string]>([
    ['two accounts of a code', () => ({ accounts: [...first.accounts, MPESA, MPESA] }), 'accounts[20].code', 'too'],
    [
      'a code with a space',
      () => ({ accounts: [...first.accounts, { ...MPESA, code: '1 0' }] }),
      'accounts[19].code',
      'must be 1 to 20',
    ],
    [
      'an account without a name',
      () => ({ accounts: changed('5000', { name: '' }) }),
      'accounts[15].name',
      'must not be empty',
    ],
    [
      'a type that there is not',
      () => ({ accounts: changed('5000', { type: 'cost' }) }),
      'accounts[15].type',
      'must be one of asset',
    ],
    [
      'a slot without an account',
      () => ({ accounts: without('5200') }),
      'slots.charge_offs',
      'must be the code of one of the accounts',
    ],
    [
      'a slot that is left out',
      () => ({ slots: { ...first.slots, waivers: undefined } }),
      'slots.waivers',
      'is required',
    ],
    [
      'a slot that there is not',
      () => ({ slots: { ...first.slots, profit: '4000' } }),
      'slots.profit',
      'is not a known field',
    ],
    [
      'an account of the wrong type',
      () => ({ slots: { ...first.slots, overpayments: '1000' } }),
      'slots.overpayments',
      'must be an account of the type liability',
    ],
    [
      'a method that there is not',
      () => ({ method: 'accrual' }),
      'method.default',
      'must be one of cash, accrual_upfront, accrual_periodic',
    ],
    ['a method that is none', () => ({ method: 7 }), 'method', 'must be an object'],
    [
      'a product that there is not',
      () => ({ method: { default: 'cash', products: { 77: 'cash' } } }),
      'method.products.77',
      'no loan product has that id',
    ],
    [
      'a product with another word',
      () => ({ method: { default: 'cash', products: { 1: 'now' } } }),
      'method.products.1',
      'must be one of',
    ],
    ['no account', () => ({ accounts: [] }), 'accounts', 'must have at least 1 item'],
  ])('refuses %s', async (_, change, field, message) => {
    const answer = await set({ ...first, ...change() })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_argument' } })
    const { details } = answer.body as unknown as { details: { field: string; message: string }[] }
    expect(details[0]).toEqual({ field, message: expect.stringContaining(message) })
    expect(await books.get('chart')).toMatchObject({ body: { version: 1 } })
  })

  it('lists every fault', async () => {
    const answer = await set({ ...first, slots: { ...first.slots, cash: '9', recoveries: '1000' } })
    expect(answer.body).toMatchObject({ details: [{ field: 'slots.cash' }, { field: 'slots.recoveries' }] })
  })

  it('keeps an account that has postings, and its type', async () => {
    const removed = await set({ ...withCash(first), accounts: [...without('1000'), MPESA] })
    expect(removed).toMatchObject({ status: 409, body: { code: 'failed_precondition' } })
    expect(removed.body).toMatchObject({
      message: expect.stringContaining('account 1000 has postings and cannot be removed'),
    })
    const retyped = await set({ ...withCash(first), accounts: [...changed('1000', { type: 'equity' }), MPESA] })
    expect(retyped.body).toMatchObject({
      message: expect.stringContaining('cannot change its type from asset to equity'),
    })
    expect(await set({ ...first, accounts: without('5999') })).toMatchObject({ status: 200 })
  })
})

describe('a chart without the slots of provisions', () => {
  it('is taken, shown without them, and can get them again', async () => {
    const { provision_expense: _, loan_loss_allowance: __, ...slots } = first.slots
    const made = await set({ ...first, slots })
    expect(made).toMatchObject({ status: 200, body: { version: 2, inForce: true } })
    expect((await books.get<ChartWire>('chart')).body.slots).toEqual(slots)
    const request = { asOf: '2026-01-31', policy: {}, provisions: [] }
    await expect(bookProvisions(books.service.deps, operator(1, 'test'), request)).rejects.toMatchObject({
      code: 'failed_precondition',
      wording: expect.stringContaining('no account for provision_expense and loan_loss_allowance'),
    })
    const cleared = await set({ ...first, slots: { ...slots, provision_expense: null, loan_loss_allowance: '1100' } })
    expect(cleared.body).toMatchObject({ details: [{ field: 'slots.loan_loss_allowance' }] })
    expect(await set(first)).toMatchObject({ status: 200, body: { version: 3, slots: first.slots } })
  })
})

describe('a new chart', () => {
  it('counts from the beginning where no month is closed, and is in the audit trail', async () => {
    const made = await set({ ...withCash(first), method: { default: 'cash', products: { 1: 'accrual_upfront' } } })
    expect(made).toMatchObject({
      status: 200,
      body: { version: 4, inForce: true, countsFrom: null, slots: { cash: '1001' } },
    })
    expect(made.body).toMatchObject({
      method: { default: 'cash', products: { 1: 'accrual_upfront' } },
    })
    const { body } = await books.get<TrialBalanceWire>('trial-balance')
    const of = (code: string) => body.accounts.find((account) => account.code === code)
    expect([of('1000'), of('1001')]).toMatchObject([{ debit: 0, credit: 0 }, { balance: -100_000 }])
    const trail = await books.service.get('/v1/audit-trail?entity=accounting%20chart', {
      token: books.service.tokens.operator,
    })
    expect(trail.body.items[0]).toMatchObject({
      action: 'set',
      entityId: '4',
      before: { slots: { cash: '1000' } },
      after: { slots: { cash: '1001' } },
    })
  })

  it('is one version for each of two that are set at once', async () => {
    const named = (name: string) => ({ ...withCash(first, { ...MPESA, name }), method: 'cash' })
    const answers = await Promise.all([set(named('One')), set(named('Two'))])
    const versions = answers.filter(({ status }) => status === 200).map(({ body }) => body.version)
    expect(versions[0]).toBeGreaterThan(4)
    expect(new Set(versions).size).toBe(versions.length)
    for (const { status, body } of answers)
      if (status !== 200)
        expect(body).toMatchObject({ code: 'unavailable', message: expect.stringContaining('another chart') })
  })

  it('counts from the first open day once a month is closed: balances move by a posting', async () => {
    await books.at('2026-02-02')
    expect(await books.post('periods/2026-01/close')).toMatchObject({ status: 200 })
    const before = (await books.get('trial-balance?asOf=2026-01-31')).text
    const { accounts } = (await books.get<ChartWire>('chart')).body
    const bank = { code: 'bank-1', name: 'Bank', type: 'asset' }
    const made = await set({ ...first, accounts: [...accounts, bank], slots: { ...first.slots, cash: 'bank-1' } })
    expect(made.body).toMatchObject({ inForce: true, countsFrom: '2026-02-01' })
    await books.pay(loan, 1_000)
    const journal = await books.get<JournalWire>('journal?from=2026-02-01&to=2026-02-28&account=bank-1')
    expect(journal.body.items).toMatchObject([
      {
        ...{ kind: 'chart_changed', loanId: null, bookedOn: '2026-02-01', late: false },
        lines: [
          { account: '1001', debit: 100_000, credit: 0 },
          { account: 'bank-1', debit: 0, credit: 100_000 },
        ],
      },
      { kind: 'repayment', loanId: loan },
    ])
    const old = await books.get<JournalWire>('journal?from=2026-01-01&to=2026-02-28&account=1001')
    expect(old.body.items.map(({ kind }) => kind)).toEqual(['disbursement', 'chart_changed'])
    expect((await books.get('trial-balance?asOf=2026-01-31')).text).toBe(before)
    expect((await books.get('trial-balance?asOf=2026-01-31')).text).not.toContain('bank-1')
  })
})

it('a chart keeps the account of a payment channel as an asset, also before it has postings', async () => {
  const { accounts, slots, method } = (await books.get<ChartWire>('chart')).body
  const till = { code: 'till-1', name: 'Till', type: 'asset' }
  expect(await set({ accounts: [...accounts, till], slots, method })).toMatchObject({ status: 200 })
  const body = { name: 'Till', adapter: 'canonical', account: till.code }
  const { status, text } = await books.service.post('/v1/payment-channels', {
    token: books.service.tokens.operator,
    body,
  })
  expect(status, text).toBe(200)
  for (const others of [[], [{ ...till, type: 'liability' }]])
    expect(await set({ accounts: [...accounts, ...others], slots, method })).toMatchObject({
      status: 409,
      body: {
        code: 'failed_precondition',
        details: [{ field: 'accounts', message: 'account till-1 is that of a payment channel: keep it as an asset' }],
      },
    })
})

it('a chart without the slots of provisions and a booking at once: one of them is refused, and the journal is whole', async () => {
  const { version: _, inForce: __, countsFrom: ___, ...chart } = (await books.get<ChartWire>('chart')).body
  const { provision_expense: ____, loan_loss_allowance: _____, ...slots } = chart.slots
  const provisions = [{ productId: 1, currency: 'TZS', amount: 500n }]
  const request = { asOf: '2026-02-02', policy: {}, provisions }
  const booking = bookProvisions(books.service.deps, operator(1, 'test'), request).then(
    () => true,
    ({ code }) => {
      expect(code).toBe('failed_precondition')
      return false
    },
  )
  const [made, isBooked] = await Promise.all([set({ ...chart, slots }), booking])
  expect([isBooked, made.status]).toEqual(isBooked ? [true, expect.toBeOneOf([409, 503])] : [false, 200])
  const { body } = await books.get<TrialBalanceWire>('trial-balance')
  expect(body.accounts.find(({ code }) => code === '1300')).toMatchObject({ credit: isBooked ? 5 : 0 })
  expect((await opsOn(books.service)('book check --json')).json.differences).toEqual([])
})
