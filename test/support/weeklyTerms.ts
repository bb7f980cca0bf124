import { termsOf } from '../../src/domain/loan/terms/terms.ts'
import { currencyOf } from '../../src/domain/money.ts'

export const ZONE = 'Africa/Nairobi'
/** 31 January 2026, 09:30 in Nairobi. */
export const DISBURSED = Date.UTC(2026, 0, 31, 6, 30)

/** The terms of a loan of 9,000 TZS at a flat 5 % a week, in three weekly instalments, without a penalty. */
export const weeklyTerms = termsOf(
  {
    ...{ id: 1, name: 'Flat', currency: currencyOf('TZS'), principalMin: 1n, principalMax: 10n ** 14n },
    ...{ repayEvery: 1, repayUnit: 'weeks', ratePerPeriod: 5_000_000n, totalMultipleOf: null, penaltyRate: null },
    ...{ enforceCreditLimit: false, retired: false, terms: null, numberOfRepayments: 3 },
  },
  { units: 9_000_00n, scale: 2 },
  DISBURSED,
  ZONE,
)
