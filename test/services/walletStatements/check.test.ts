import { describe, expect, it } from 'vitest'
import { checkStatement, namesMatch, phonesMatch, requireClaim } from '../../../src/services/walletStatements/check.ts'
import type { StatementFigures } from '../../../src/services/walletStatements/parse.ts'
import { DEFAULT_POLICY } from '../../domain/credit/customers.ts'

const figures: StatementFigures = {
  layout: 'mpesa',
  owner: 'ASHA WANJIKU MWANGI',
  phone: '2557*****123',
  from: '2026-01-01',
  to: '2026-06-30',
  months: 6,
  monthly: [],
  averageMonthlyInflow: 0n,
  leastMonthlyInflow: 0n,
  openingBalance: 0n,
  closingBalance: 0n,
  transactions: 1,
  fingerprint: '',
}

describe('checkStatement', () => {
  const claim = { fullName: 'Asha Mwangi', mobileNumber: '0754000123', today: '2026-07-01' }

  it.each([
    ['everything agrees', {}, {}],
    ['a name alone', { mobileNumber: undefined }, {}],
    ['a number alone', { fullName: undefined }, {}],
    ['a statement that names no phone is not compared with one', { mobileNumber: '0999999999' }, { phone: null }],
    ['it ended today', { today: '2026-06-30' }, {}],
    ['it ended 90 days ago', { today: '2026-09-28' }, {}],
    ['two months', {}, { months: 2 }],
  ])('accepts: %s', (_name, claims, changes) => {
    expect(() =>
      checkStatement({ ...figures, ...changes }, { ...claim, ...claims }, DEFAULT_POLICY.statement),
    ).not.toThrow()
  })

  it.each([
    [
      'a number alone, and a statement that names none',
      { fullName: undefined },
      { phone: null },
      'fullName',
      'is required: the statement names no number to compare mobileNumber with',
    ],
    ['another name', { fullName: 'Juma Pembe' }, {}, 'fullName', 'is not the name on the statement'],
    ['another phone', { mobileNumber: '0754000124' }, {}, 'mobileNumber', 'is not the number on the statement'],
    ['it ended 91 days ago', { today: '2026-09-29' }, {}, 'statement', 'ended 91 days ago: at most 90 are accepted'],
    [
      'it ends tomorrow',
      { today: '2026-06-29' },
      {},
      'statement',
      'ends on 2026-06-30, in the future: today is 2026-06-29',
    ],
    ['one month', {}, { months: 1 }, 'statement', 'covers 1 whole month: at least 2 are needed'],
  ])('refuses: %s', (_name, claims, changes, role, message) => {
    expect(() => checkStatement({ ...figures, ...changes }, { ...claim, ...claims }, DEFAULT_POLICY.statement)).toThrow(
      expect.objectContaining({ code: 'invalid_argument', message, faults: [expect.objectContaining({ role })] }),
    )
  })
})

describe('a statement without a name or number to compare', () => {
  const claim = { fullName: undefined, mobileNumber: undefined, today: '2026-07-01' }

  it('is refused by the default policy, naming both roles', () => {
    const wording = 'is required, unless the other is given'
    for (const check of [
      () => checkStatement(figures, claim, DEFAULT_POLICY.statement),
      () => requireClaim(claim, DEFAULT_POLICY.statement),
    ])
      expect(check).toThrow(
        expect.objectContaining({
          code: 'invalid_argument',
          message: 'give fullName or mobileNumber, or both: whose the statement is has to be compared with it',
          faults: [
            { role: 'fullName', wording },
            { role: 'mobileNumber', wording },
          ],
        }),
      )
  })

  it('is accepted by a policy that takes anonymous ones; what is given has to match all the same', () => {
    const rules = { ...DEFAULT_POLICY.statement, anonymous: true }
    expect(() => checkStatement(figures, claim, rules)).not.toThrow()
    expect(() =>
      checkStatement({ ...figures, phone: null }, { ...claim, mobileNumber: '0754000123' }, rules),
    ).not.toThrow()
    expect(() => checkStatement(figures, { ...claim, fullName: 'Juma Pembe' }, rules)).toThrow('is not the name')
  })
})

describe('names', () => {
  it.each([
    ['Asha Mwangi', 'ASHA WANJIKU MWANGI'],
    ['mwangi asha wanjiku', 'ASHA WANJIKU MWANGI'],
    ['A. W. Mwangi', 'ASHA WANJIKU MWANGI'],
    ['Asha W Mwangi', 'MWANGI, ASHA'],
    ["Ng'ang'a Kamau", 'NGANGA KAMAU'],
    ['José Adébáyò', 'JOSE ADEBAYO'],
    ['Ms Asha Mwangi', 'ASHA MWANGI'],
    ['Asha Mwangi', 'Mwangi A'],
    ['Asha', 'ASHA'],
  ])('%s is %s', (given, shown) => expect(namesMatch(given, shown)).toBe(true))

  it.each([
    ['Asha', 'ASHA WANJIKU MWANGI'],
    ['A. M.', 'ASHA MWANGI'],
    ['Juma Mwangi', 'ASHA MWANGI'],
    ['Asha Mwangy', 'ASHA MWANGI'],
    ['Asha Asha', 'ASHA MWANGI'],
    ['Asha Mwangi Otieno', 'ASHA MWANGI KAMAU'],
    ['', 'ASHA MWANGI'],
    ['...', 'ASHA'],
  ])('%s is not %s', (given, shown) => expect(namesMatch(given, shown)).toBe(false))
})

describe('phones', () => {
  it.each([
    ['0754000123', '255754000123'],
    ['+255 754 000 123', '0754-000-123'],
    ['754000123', '2557*****123'],
    ['255754000123', '0754***123'],
    ['255754000123', '075400XXXX'],
    ['0754000123', '255***123'],
  ])('%s is %s', (given, shown) => expect(phonesMatch(given, shown)).toBe(true))

  it.each([
    ['0754000124', '255754000123'],
    ['0754000123', '2557*****124'],
    ['0754000123', '0755***123'],
    ['0754000123', '255*******23'],
    ['54000123', '255754000123'],
    ['', ''],
  ])('%s is not %s', (given, shown) => expect(phonesMatch(given, shown)).toBe(false))
})
