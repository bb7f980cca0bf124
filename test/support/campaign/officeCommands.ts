import { DEFAULT_CHART } from '../../../src/domain/accounting/chart.ts'
import { METHODS } from '../../../src/domain/accounting/contribution.ts'
import { COUNT_FROM } from '../../../src/domain/delinquency/policy.ts'
import { SECOND_CHART } from '../randomBook.ts'
import { SANDBOX } from '../sandbox.ts'
import type { Campaign, Command } from './campaign.ts'
import { forget, type Lender } from './lenders.ts'

// Commands of a lender's ADMINs: products, approvals, policies, charts, months, provisions, webhooks, and the test clock.

const PLAIN = { name: 'Any', minPrincipal: 500, maxPrincipal: 1_000_000 }
const LEVEL = {
  interestMethod: 'declining_equal_instalments',
  dayCount: 'actual/365',
  ratePer: 'year',
  interestRate: 24,
}
const FEES = [
  { name: 'Processing', base: 'principal', rate: 2, when: 'disbursement', treatment: 'deducted' },
  { name: 'Insurance', base: 'fixed', amount: 20, when: 'each_instalment', treatment: 'added' },
]
const DAILY = {
  base: 'overdue_total',
  rate: 1,
  every: 'day',
  graceDays: 2,
  per: 'instalment',
  capPercentOfPrincipal: 5,
}
const TERMS: readonly object[] = [
  { interestRate: 3, earlySettlement: 'interest_to_period_end' },
  { ...LEVEL, earlySettlement: 'interest_to_date' },
  { ...LEVEL, interestMethod: 'declining_equal_principal', dayCount: 'actual/actual', fees: FEES },
  { interestRate: 4, interestMethod: 'interest_only', ratePer: 'month', penalty: DAILY },
  { ...LEVEL, grace: { principalPeriods: 1, interestPeriods: 1 }, penalty: { ...DAILY, base: 'overdue_principal' } },
  { interestRate: 2, fees: FEES, penalty: { base: 'principal', rate: 10, every: 'once', per: 'loan' } },
]

async function product(campaign: Campaign, lender: Lender): Promise<void> {
  const { products } = lender.things
  if (products.length > 12) {
    const id = products[1 + campaign.random(products.length - 1)]!
    const { status } = await campaign.send('retire product', lender, {
      path: `/v1/loan-products/${id}/retire`,
      by: 'admin',
    })
    if (status === 200) products.splice(products.indexOf(id), 1)
    return
  }
  const every = campaign.oneOf([{}, { repaymentEvery: 2, repaymentFrequencyType: 'weeks' }])
  const limited = campaign.random(4) === 0 ? { enforceCreditLimit: true } : {}
  const terms = { numberOfRepayments: 2 + campaign.random(8), ...every, ...limited, ...campaign.oneOf(TERMS) }
  const asked = { path: '/v1/loan-products', body: { ...PLAIN, ...terms }, by: 'admin' as const }
  const { status, body } = await campaign.send('product', lender, asked)
  if (status === 200) products.push(Number(body.id))
}

async function limitApprovals(campaign: Campaign, lender: Lender): Promise<void> {
  const body = campaign.oneOf<object>([
    { approvalAbove: 0 },
    { approvalAbove: campaign.random(3_000) },
    { legalName: campaign.name('Lender') },
    { licenceNumber: campaign.oneOf([null, 'BOT-17']) },
  ])
  await campaign.send('organization', lender, { method: 'patch', path: '/v1/organization', body, by: 'admin' })
}

async function decide(campaign: Campaign, lender: Lender): Promise<void> {
  const { pending } = lender.things
  const id = campaign.recent(pending)
  if (id === undefined) return
  const act = campaign.oneOf(['approve', 'approve', 'reject', 'withdraw'])
  const by = act === 'withdraw' ? campaign.oneOf(['user', 'admin'] as const) : 'checker'
  const body = act === 'reject' ? { reason: 'No' } : undefined
  const { status } = await campaign.send(act, lender, { path: `/v1/pending-actions/${id}/${act}`, by, body })
  if (status === 200) pending.splice(pending.indexOf(id), 1)
}

async function policy(campaign: Campaign, lender: Lender): Promise<void> {
  const from = 1 + campaign.random(40)
  const own = {
    buckets: [
      { name: 'Current', fromDays: 0, toDays: from, provisionRate: campaign.random(3) },
      { name: 'Late', fromDays: from + 1, toDays: 95, provisionRate: 20 },
      { name: 'Lost', fromDays: 96, provisionRate: 100 },
    ],
    countFrom: campaign.oneOf(COUNT_FROM),
    ...(campaign.random(2) === 0 && { cureDays: campaign.random(60) }),
    ...(campaign.random(2) === 0 && { materiality: { amount: campaign.random(900), percentOfPrincipal: 1 } }),
  }
  const body = campaign.oneOf<object>([{ preset: 'par' }, { preset: 'cbk' }, { preset: 'ifrs9' }, own, own, own])
  await campaign.send('policy', lender, { method: 'put', path: '/v1/delinquency-policy', body, by: 'admin' })
}

async function chart(campaign: Campaign, lender: Lender): Promise<void> {
  const { accounts, slots } = campaign.oneOf([DEFAULT_CHART, SECOND_CHART])
  const products = Object.fromEntries(
    lender.things.products.filter(() => campaign.random(2) === 0).map((id) => [id, campaign.oneOf(METHODS)]),
  )
  const body = { accounts, slots, method: { default: campaign.oneOf(METHODS), products } }
  await campaign.send('chart', lender, { method: 'put', path: '/v1/accounting/chart', body, by: 'admin' })
}

/** Closes the oldest month that is open; a part of the closes is of another month, and is refused. */
async function close(campaign: Campaign, lender: Lender): Promise<void> {
  const path = '/v1/accounting/periods'
  const listed = await campaign.send('read', lender, { method: 'get', path, by: 'admin' })
  const { items = [] } = listed.body as unknown as { items?: readonly { month: string; state: string }[] }
  const oldest = items.findLast(({ state }) => state === 'open')?.month
  const month = campaign.random(4) === 0 ? campaign.dayOf(lender, 31).slice(0, 7) : oldest
  if (month !== undefined) await campaign.send('close month', lender, { path: `${path}/${month}/close`, by: 'admin' })
}

async function provide(campaign: Campaign, lender: Lender): Promise<void> {
  const body = campaign.random(2) === 0 ? {} : { asOf: campaign.dayOf(lender, campaign.random(20)) }
  await campaign.send('provisions', lender, { path: '/v1/portfolio/provisions/book', body, by: 'admin' })
}

async function webhook(campaign: Campaign, lender: Lender): Promise<void> {
  const { endpoints } = lender.things
  const id = endpoints[campaign.random(4)]
  const by = 'admin'
  if (id === undefined) {
    const body = { url: campaign.receiver.url, types: campaign.oneOf([['loan.*'], ['repayment.posted'], ['*']]) }
    const { status, body: made } = await campaign.send('endpoint', lender, { path: '/v1/webhook-endpoints', body, by })
    if (status < 300) endpoints.push(made.id)
    return
  }
  const path = `/v1/webhook-endpoints/${id}`
  const acts = [
    () =>
      campaign.send('change endpoint', lender, {
        method: 'patch',
        path,
        body: { description: campaign.name('d') },
        by,
      }),
    () => campaign.send('rotate secret', lender, { path: `${path}/rotate-secret`, body: {}, by }),
    () =>
      campaign.send('recover endpoint', lender, {
        path: `${path}/recover`,
        body: { since: `${campaign.dayOf(lender, 2)}T00:00:00+03:00` },
        by,
      }),
    () => campaign.send('test endpoint', lender, { path: `${path}/test`, by }),
    async () => {
      const { status } = await campaign.send('remove endpoint', lender, { method: 'delete', path, by })
      if (status < 300) endpoints.splice(endpoints.indexOf(id), 1)
    },
  ]
  await campaign.oneOf<() => Promise<unknown>>(acts)()
}

async function advance(campaign: Campaign, lender: Lender): Promise<void> {
  if (lender.organizationId !== SANDBOX) return
  const body = { by: { days: 1 + campaign.random(20) } }
  await campaign.send('advance', lender, { path: '/v1/test-clock/advance', body, by: 'admin' })
}

async function reset(campaign: Campaign, lender: Lender): Promise<void> {
  if (lender.organizationId !== SANDBOX) return
  const { status } = await campaign.send('reset', lender, { path: '/v1/test-clock/reset', by: 'admin' })
  if (status < 300) forget(lender.things)
}

export const OFFICE_COMMANDS: readonly Command[] = [
  { weight: 6, run: product },
  { weight: 8, run: limitApprovals },
  { weight: 60, run: decide },
  { weight: 5, run: policy },
  { weight: 4, run: chart },
  { weight: 8, run: close },
  { weight: 5, run: provide },
  { weight: 10, run: webhook },
  { weight: 12, run: advance },
  { weight: 1, run: reset },
]
