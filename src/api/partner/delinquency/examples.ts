import { PRESETS } from '../../../domain/delinquency/policy.ts'
import { newLoan } from '../openapi/examples.ts'

export { delinquencyNow } from '../openapi/examples.ts'

/** The loan as it was disbursed. */
export const span = {
  from: '2026-01-31',
  bucket: 'current',
  daysPastDueFrom: 0,
  daysPastDueTo: 0,
  began: ['disbursement'],
  ended: [],
}

export const delinquency = {
  loanId: newLoan.id,
  asOf: '2026-01-31',
  policyVersion: 0,
  policy: PRESETS[0].name,
  source: PRESETS[0].source,
  spans: [span],
}

export const bucket = { name: 'watch', fromDays: 31, toDays: 90, class: 'Watch', provisionRate: 3 }

export const materiality = { amount: 500, percentOfPrincipal: 1 }

/** A policy of a lender's own. */
export const newPolicy = {
  buckets: [
    { name: 'normal', fromDays: 0, toDays: 30, class: 'Normal', provisionRate: 1 },
    bucket,
    { name: 'loss', fromDays: 91, class: 'Loss', provisionRate: 100 },
  ],
  countFrom: 'oldest_unpaid' as const,
  materiality,
  cureDays: 30,
}

/** As it is set on the day of the story on which the loan is charged off. */
export const policy = { version: 1, setAt: '2026-06-01T09:30:00.000+03:00', ...newPolicy }

const [{ name: preset, source, policy: first }] = PRESETS

/** The policy of a lender that has set none. */
export const firstPolicy = {
  version: 0,
  preset,
  source,
  buckets: first.buckets.map(({ name, fromDays, toDays }) => ({ name, fromDays, ...(toDays !== null && { toDays }) })),
  countFrom: first.countFrom,
  cureDays: first.cureDays,
}
