import { PRESETS } from '../../../domain/delinquency/policy.ts'

// A portfolio of three loans at the end of March: two are paid as agreed, and the third is 31 days past due.

const [par] = PRESETS
const policy = { policy: par.name, policyVersion: 0, source: par.source }

const { buckets } = par.policy
const LATE = '31-60'
const AT_RISK = 90_000
const WHOLE = 300_000

const moved = (loans: number, principal: number) => ({ loans, principal })
const NOTHING = moved(0, 0)

export const group = {
  currencyCode: 'TZS',
  productId: 1,
  loans: 3,
  principalOutstanding: WHOLE,
  atRisk: [1, 30, 60, 90].map((days) =>
    days <= 30 ? { days, principal: AT_RISK, percent: 30 } : { days, principal: 0, percent: 0 },
  ),
  buckets: buckets.map(({ name }, index) => ({
    bucket: name,
    loans: index === 0 ? 2 : name === LATE ? 1 : 0,
    principalOutstanding: index === 0 ? WHOLE - AT_RISK : name === LATE ? AT_RISK : 0,
  })),
}

export const portfolio = { asOf: '2026-03-31', ...policy, groups: [group] }

const rowOf = (opening: string, closing: string, principal: number) => ({
  bucket: opening,
  ...moved(1, principal),
  to: buckets.map(({ name }) => ({ bucket: name, ...(name === closing ? moved(1, principal) : NOTHING) })),
  closed: NOTHING,
  writtenOff: NOTHING,
})

export const row = rowOf('1-30', LATE, AT_RISK)

const emptyRow = (name: string) => ({
  bucket: name,
  ...NOTHING,
  to: buckets.map((one) => ({ bucket: one.name, ...NOTHING })),
  closed: NOTHING,
  writtenOff: NOTHING,
})

const { bucket: _, ...none } = emptyRow('')

export const rates = {
  currencyCode: 'TZS',
  rows: buckets.map(({ name }) => (name === row.bucket ? row : emptyRow(name))),
  lent: none,
  reopened: none,
}

export const rolls = { from: '2026-02-28', to: '2026-03-31', ...policy, currencies: [rates] }

const cbk = PRESETS.find(({ name }) => name === 'cbk')!

/** The share of the principal in percent: of loans that are not late, and of those that are 31 to 90 days past due. */
const [NORMAL, WATCH] = [1, 3]
const PROVISION = ((WHOLE - AT_RISK) * NORMAL + AT_RISK * WATCH) / 100
const BOOKED = 3_000

export const provisionGroup = {
  currencyCode: 'TZS',
  productId: 1,
  loans: 3,
  principalOutstanding: WHOLE,
  provision: PROVISION,
  booked: BOOKED,
  difference: PROVISION - BOOKED,
  buckets: cbk.policy.buckets.map(({ name, provisionRate }) => {
    const [loans, principalOutstanding] =
      name === 'normal' ? [2, WHOLE - AT_RISK] : name === 'watch' ? [1, AT_RISK] : [0, 0]
    const rate = Number(provisionRate) / 1_000_000
    const provision = (principalOutstanding * rate) / 100
    return { bucket: name, provisionRate: rate, loans, principalOutstanding, provision }
  }),
}

const cbkNamed = { policy: cbk.name, policyVersion: 1, source: cbk.source }

export const provisions = { asOf: '2026-03-31', ...cbkNamed, groups: [provisionGroup] }

export const booking = { asOf: '2026-01-31' }

export const booked = {
  asOf: '2026-03-31',
  postings: [
    {
      currencyCode: 'TZS',
      productId: 1,
      provision: PROVISION,
      bookedBefore: BOOKED,
      difference: PROVISION - BOOKED,
    },
  ],
}

/** The first rows of the reports as CSV. */
export const PORTFOLIO_CSV =
  'asOf,currencyCode,productId,month,restructured,row,bucket,loans,principalOutstanding,…\n2026-03-31,TZS,,,,bucket,current,2,210000.00,…\n'
export const ROLLS_CSV =
  'firstDay,lastDay,currencyCode,from,to,loans,principal\n2026-02-28,2026-03-31,TZS,current,current,1,100000.00\n'
export const PROVISIONS_CSV =
  'asOf,currencyCode,productId,row,bucket,provisionRate,loans,principalOutstanding,provision,booked,difference\n2026-03-31,TZS,1,bucket,normal,1,2,210000.00,2100.00,,\n'
