import { describe, expect, it } from 'vitest'
import { LendingError } from '../../../src/domain/errors.ts'
import { currencyOf } from '../../../src/domain/money.ts'
import { processorMs } from '../../support/patience.ts'
import { type Differing, scheduleWith } from './recordScheduleTable.ts'

function fault(differing: Differing): string {
  try {
    scheduleWith(differing)
  } catch (error) {
    if (error instanceof LendingError && error.code === 'invalid_argument')
      return error.faults.map(({ role }) => `${role} ${error.message}`).join()
    throw error
  }
  return 'none'
}

const needsRate = 'interestType must be percentage unless interestMethod is flat_rate or interest_only'
const tooMuch = 'interest must not come to more than 999999999999.99 over the loan'

describe('invalid_argument', () => {
  it.each<[string, Differing]>([
    [needsRate, { interestType: 'fixed', method: 'compound_interest' }],
    [needsRate, { interestType: 'fixed', method: 'reducing_rate_equal_installments' }],
    [needsRate, { interestType: 'fixed', method: 'reducing_rate_equal_principal' }],
    ['termDuration must be a whole number from 1 to 730', { duration: 0 }],
    ['termDuration must be a whole number from 1 to 730', { duration: 731 }],
    ['termDuration must be a whole number from 1 to 730', { duration: 1.5 }],
    ['numberOfRepayments must be a whole number from 1 to 2000', { numberOfRepayments: 0 }],
    ['numberOfRepayments must be a whole number from 1 to 2000', { numberOfRepayments: 2001 }],
    ['numberOfRepayments must be a whole number from 1 to 2000', { numberOfRepayments: Number.NaN }],
    ['numberOfRepayments must be 1 for a lump sum', { schemeId: 10, numberOfRepayments: 3 }],
    [
      'paymentScheme must not be a lump sum with reducing_rate_equal_principal: nothing reduces the balance',
      { schemeId: 10, numberOfRepayments: 1, method: 'reducing_rate_equal_principal' },
    ],
    [
      'numberOfRepayments must be at most 7, one for each day of the duration',
      { schemeId: 99, duration: 1, durationUnit: 'weeks', numberOfRepayments: 8 },
    ],
    ['interest must not be negative', { interest: '-1' }],
    ['interest must not be negative', { interest: '-1', interestType: 'fixed' }],
    ['interest must have at most 4 decimals', { interest: '1.23456' }],
    ['interest must have at most 2 decimals in KES', { interest: '1.234', interestType: 'fixed' }],
    [
      'interest must be a whole number: UGX has no decimals',
      { interest: '1.5', interestType: 'fixed', currency: currencyOf('UGX') },
    ],
    ['numberOfRepayments must end the loan before the year 10000', { releasedOn: '9999-11-30' }],
    ['termDuration must end the loan before the year 10000', { releasedOn: '9999-11-30', schemeId: 99 }],
    [tooMuch, { interest: '100000000000' }],
    [tooMuch, { method: 'compound_interest', numberOfRepayments: 2000 }],
    [tooMuch, { method: 'interest_only', interest: '1e60' }],
    [tooMuch, { method: 'reducing_rate_equal_installments', interest: '1e60', numberOfRepayments: 2000 }],
  ])('%s', (message, differing) => expect(fault(differing)).toBe(message))

  it('the most interest there can be is taken, more is not', () => {
    const most = { interestType: 'fixed', interestPeriod: 'Loan', interest: '999999999999.99' } as const
    expect(fault(most)).toBe('none')
    const lump = { method: 'compound_interest', schemeId: 10, numberOfRepayments: 1, interestPeriod: 'Loan' } as const
    // 600,000,000,000 at 160 % is 960,000,000,000; at 167 % it is 1,002,000,000,000
    expect(fault({ ...lump, interest: '160', principal: 600n * 10n ** 11n })).toBe('none')
    expect(fault({ ...lump, interest: '167', principal: 600n * 10n ** 11n })).toBe(tooMuch)
  })

  it('an absurd rate is refused before it is multiplied out', () => {
    const years = { method: 'compound_interest', schemeId: 10, numberOfRepayments: 1, durationUnit: 'years' } as const
    const absurd = { ...years, duration: 730, interestPeriod: 'Day', interest: '99999999.9999' } as const
    expect(processorMs(() => expect(fault(absurd)).toBe(tooMuch))).toBeLessThan(200)
  })
})
