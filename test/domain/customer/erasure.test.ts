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

it.each<[Partial<ErasureFacts>, string, readonly string[]]>([
  [{}, '2026-03-01', []],
  [{}, '2026-02-28', []],
  [{}, '2026-02-27', ['what is known has to be kept until 2026-02-28']],
  [{ hasLoans: false, lastLoanClosedOn: null }, '2027-01-30', ['what is known has to be kept until 2027-01-31']],
  [{ hasLoans: false, lastLoanClosedOn: null }, '2027-01-31', []],
  [{ openLoans: [7n] }, '2026-01-01', ['a loan is open: 7']],
  [{ openLoans: [7n, 8n] }, '2026-01-01', ['loans are open: 7, 8']],
  [{ hasOpenDispute: true }, '2030-01-01', ['a dispute about a loan is not resolved']],
  [{ hasPendingAction: true }, '2030-01-01', ['an action on a loan waits for a second ADMIN']],
  [{ answersForLoan: true }, '2030-01-01', ['the person answers for the open loan of somebody else']],
  [{ hasMoneyInSuspense: true }, '2030-01-01', ['money in suspense came with the externalId as its reference']],
  [{ isErased: true, openLoans: [7n] }, '2030-01-01', ['the person was erased already']],
])('%j on %s: %j', (facts, today, said) => {
  expect(obstaclesOf({ ...FREE, ...facts }, YEARS, today).map(obstacleText)).toEqual(said)
})
