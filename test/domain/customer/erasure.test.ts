import { expect, it } from 'vitest'
import { type ErasureFacts, obstaclesOf, obstacleText } from '../../../src/domain/customer/erasure.ts'

const FREE: ErasureFacts = {
  isErased: false,
  openLoans: [],
  hasLoans: true,
  lastLoanClosedOn: '2020-02-29',
  lastToldOn: '2026-01-31',
  hasOpenDispute: false,
  hasPendingAction: false,
  answersForLoan: false,
  hasMoneyInSuspense: false,
}
const YEARS = { borrowers: 6, others: 1 }

it.each<[readonly string[], string, Partial<ErasureFacts>]>([
  [[], '2026-03-01', {}],
  [[], '2026-02-28', {}],
  [['what is known has to be kept until 2026-02-28'], '2026-02-27', {}],
  [['what is known has to be kept until 2027-01-31'], '2027-01-30', { hasLoans: false, lastLoanClosedOn: null }],
  [[], '2027-01-31', { hasLoans: false, lastLoanClosedOn: null }],
  [['a loan is open: 7'], '2026-01-01', { openLoans: [7n] }],
  [['loans are open: 7, 8'], '2026-01-01', { openLoans: [7n, 8n] }],
  [['a dispute about a loan is not resolved'], '2030-01-01', { hasOpenDispute: true }],
  [['an action on a loan waits for a second ADMIN'], '2030-01-01', { hasPendingAction: true }],
  [['the person answers for the open loan of somebody else'], '2030-01-01', { answersForLoan: true }],
  [['money in suspense came with the externalId as its reference'], '2030-01-01', { hasMoneyInSuspense: true }],
  [['the person was erased already'], '2030-01-01', { isErased: true, openLoans: [7n] }],
])('%j on %s', (said, today, facts) => {
  expect(obstaclesOf({ ...FREE, ...facts }, YEARS, today).map(obstacleText)).toEqual(said)
})
