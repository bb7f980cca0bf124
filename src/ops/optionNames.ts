import type { FaultNames } from '../domain/errors.ts'
import { MOST_FEES } from '../domain/product/newFees.ts'
import { FEE_FIELDS, PENALTY_FIELDS } from './commands/products/fields.ts'

/** Names of roles on the command line: the options that give them a value. */
export const OPTION_NAMES: FaultNames = {
  valueDate: '--date',
  asOf: '--as-of',
  knownAt: '--known-at',
  from: '--from',
  to: '--to',
  bucket: '--bucket',
  after: '--after',
  legalName: '--legal-name',
  licenceNumber: '--licence-number',
  logo: '--logo',
  approvalAbove: '--approval-above',
  principalMin: '--min',
  principalMax: '--max',
  numberOfRepayments: '--instalments',
  interestRate: '--rate',
  repayEvery: '--every',
  repayUnit: '--unit',
  totalMultipleOf: '--multiple-of',
  penaltyRate: '--penalty',
  interestMethod: '--method',
  ratePer: '--rate-per',
  dayCount: '--day-count',
  'grace.principalPeriods': '--grace-principal',
  'grace.interestPeriods': '--grace-interest',
  'grace.firstDueAfter.every': '--first-due-after',
  fees: '--fee',
  ...feeNames(),
  penalty: '--penalty-terms',
  ...Object.fromEntries(PENALTY_FIELDS.map((field) => [`penalty.${field}`, `${field} of --penalty-terms`])),
  earlySettlement: '--early-settlement',
  totalChargeCap: '--total-charge-cap',
  allocation: '--allocation',
  maxRatePerMonth: '--max-rate-per-month',
}

/** Returns the names of fees and of their members: fees are counted from 1, in the order in which they are given. */
function feeNames(): FaultNames {
  const fees = Array.from({ length: MOST_FEES }, (_, index) => [`fees[${index}]`, `--fee ${index + 1}`] as const)
  return Object.fromEntries(
    fees.flatMap(([role, name]) => [
      [role, name],
      ...FEE_FIELDS.map((field) => [`${role}.${field}`, `${field} of ${name}`]),
    ]),
  )
}
