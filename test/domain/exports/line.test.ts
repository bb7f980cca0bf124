import { describe, expect, it } from 'vitest'
import { type Identity, identityOf } from '../../../src/domain/customer/identity.ts'
import { addPeriods, type LocalDate, startOfDay } from '../../../src/domain/dates.ts'
import { PRESETS } from '../../../src/domain/delinquency/policy.ts'
import { type ExportedLoan, exclusionOf, figuresOf } from '../../../src/domain/exports/figures.ts'
import type { ExportFormat } from '../../../src/domain/exports/format.ts'
import { CREDITINFO, PORTFOLIO } from '../../../src/domain/exports/formats/flat.ts'
import { KENYA } from '../../../src/domain/exports/formats/kenya.ts'
import { UGANDA } from '../../../src/domain/exports/formats/uganda.ts'
import { headerOf, lineOf } from '../../../src/domain/exports/line.ts'
import type { Replayable } from '../../../src/domain/loan/fold.ts'
import type { LoanTerms } from '../../../src/domain/loan/terms/terms.ts'
import { BUILT_IN } from '../../../src/services/exports/formats.ts'
import { creditinfoFaults, kenyanFaults, portfolioFaults, ugandanFaults } from '../../support/exportRules.ts'
import { randomFrom } from '../../support/random.ts'

const ZONE = 'Africa/Nairobi'

const terms: LoanTerms = {
  currency: { code: 'KES', decimals: 2 },
  zone: ZONE,
  principal: 1_000_000n,
  numberOfRepayments: 2,
  ratePerPeriod: 5_000_000n,
  penaltyAmount: null,
  disbursedAt: startOfDay('2026-01-10', ZONE),
  disbursedOn: '2026-01-10',
  dueOn: '2026-03-10',
  dueAt: startOfDay('2026-03-10', ZONE),
  rules: null,
  schedule: [
    { period: 1, fromDate: '2026-01-10', dueDate: '2026-02-10', principal: 500_000n, interest: 50_000n, fees: 0n },
    { period: 2, fromDate: '2026-02-10', dueDate: '2026-03-10', principal: 500_000n, interest: 50_000n, fees: 0n },
  ],
}

const WHOLE = identityOf({
  ...{ firstName: 'Asha', middleName: 'Wanjiru', lastName: 'Otieno', dateOfBirth: '1990-04-12', gender: 'female' },
  ...{
    nationality: 'KE',
    idType: 'national_id',
    idNumber: '29345678',
    phone: '+254712345678',
    email: 'asha@example.com',
  },
})

const loan = (more: Partial<ExportedLoan> = {}): ExportedLoan => ({
  ...{ id: 7n, accountNo: 1n, externalId: null, customerId: 9n, customerAccountNo: 2n, terms, entries: [] },
  ...{ product: { id: 1, name: 'Simu', repayEvery: 1, repayUnit: 'months', terms: null } },
  ...{ identity: WHOLE, isErased: false, hasConsent: true, noticeSentOn: null, disputedOn: null, isHeld: false },
  ...more,
})

const figures = (asOf: string, more: Partial<ExportedLoan> = {}) =>
  figuresOf(loan(more), { asOf, moment: startOfDay(asOf, ZONE) + 86_399_999, policy: PRESETS[0]!.policy })

const entry = (type: Replayable['type'], valueDate: string, amount: bigint, ordinal = 1): Replayable => ({
  ...{
    type,
    valueDate,
    amount,
    ordinal,
    place: ordinal,
    postedAt: startOfDay(valueDate, ZONE),
    token: null,
    note: null,
  },
  ...{ replaces: null, reversedAt: null, dueOn: null, restructure: null },
})

const SETTINGS = (format: ExportFormat) => Object.fromEntries(format.settings.map(({ name }) => [name, '1']))

const textOf = (format: ExportFormat, asOf: string, more: Partial<ExportedLoan> = {}) => {
  const line = lineOf(format, figures(asOf, more)!, SETTINGS(format))
  return 'text' in line ? line.text : line.faults
}

/** What each layout requires of the person, from the papers: the field, and the member of the identity. */
const REQUIRED: Readonly<Record<string, Readonly<Record<string, keyof Identity>>>> = {
  ke_dst_4_1_mobile: {
    ...{ Surname: 'lastName', Forename1: 'firstName', DateOfBirth: 'dateOfBirth', Gender: 'gender' },
    ...{ Nationality: 'nationality', PrimaryIDocumentType: 'idType', PrimaryIDocumentNumber: 'idNumber' },
    ...{ MobilePhoneNumber: 'phone' },
  },
  ug_cba: {
    ...{ II_Nationality: 'nationality', GSCAFB_Surname: 'lastName', GSCAFB_Forename1: 'firstName' },
    ...{ GSCAFB_Gender: 'gender', GSCAFB_Date_of_Birth: 'dateOfBirth' },
  },
  creditinfo_contract: {
    ...{ Surname: 'lastName', FirstName: 'firstName', Gender: 'gender', DateOfBirth: 'dateOfBirth' },
  },
  portfolio_return: {},
}

describe('a loan of whose borrower something is missing', () => {
  it.each(BUILT_IN.map((one) => [one.name, one] as const))(
    '%s: each required field that is missing is told, and no other',
    (name, format) => {
      const random = randomFrom(Number(process.env.MKOPO_SEED ?? 3))
      const members = Object.keys(WHOLE) as (keyof Identity)[]
      for (let round = 0; round < 300; round++) {
        const gone = members.filter((member) => member !== 'middleName' && random(4) === 0)
        const identity = { ...WHOLE, ...Object.fromEntries(gone.map((member) => [member, null])) } as Identity
        const line = lineOf(format, figures('2026-02-20', { identity })!, SETTINGS(format))
        const expected = Object.entries(REQUIRED[name]!).flatMap(([field, member]) =>
          gone.includes(member) ? [{ field, rule: 'required', value: null }] : [],
        )
        const told = 'faults' in line ? line.faults.filter(({ field }) => field !== 'FullName') : []
        expect(told.toSorted(byField)).toEqual(expected.toSorted(byField))
        if (gone.length === 0 && name === KENYA.name) expect('text' in line && kenyanFaults(line.text)).toEqual([])
      }
    },
  )
})

const byField = (one: { field: string }, other: { field: string }) => (one.field < other.field ? -1 : 1)

describe('a row for Kenya', () => {
  it('has the figures of the day: before a payment, after it, late, and paid off', () => {
    const paid = [entry('Repayment', '2026-02-15', 60_000n), entry('Repayment', '2026-03-05', 1_040_000n, 2)]
    const row = (asOf: string) => textOf(KENYA, asOf, { entries: paid })
    const who = 'Otieno,Asha,Wanjiru,,,19900412,9,7,F,KE,001,29345678,+254712345678,I'
    expect(row('2026-02-10')).toBe(
      `${who},20260210,1000000,KES,1100000,1100000,0,,0,0,A,F,20260110,2,20260110,550000,,0`,
    )
    expect(row('2026-02-20')).toBe(
      `${who},20260210,1000000,KES,1040000,1040000,490000,20260211,10,1,A,F,20260110,2,20260110,550000,20260215,60000`,
    )
    expect(row('2026-03-31')).toBe(
      `${who},20260310,1000000,KES,0,0,0,,0,0,A,A,20260305,2,20260110,550000,20260305,1040000`,
    )
  })

  it('has the status of a loan that is written off, and of one that is disputed', () => {
    const lost = [entry('Write-off', '2026-06-01', 1_100_000n)]
    expect(textOf(KENYA, '2026-06-02', { entries: lost })).toContain(',0,0,0,,0,0,A,C,20260601,')
    expect(textOf(KENYA, '2026-06-02', { entries: lost, disputedOn: '2026-05-30' })).toContain(',A,P,20260530,')
  })

  it('has no amount in shillings of a loan in another currency: none is converted', () => {
    const other = { ...terms, currency: { code: 'TZS', decimals: 2 } }
    expect(textOf(KENYA, '2026-02-10', { terms: other })).toEqual([
      { field: 'CurrentBalanceInKES', rule: 'currency', value: 'TZS' },
    ])
  })

  it('quotes what needs quotes', () => {
    const identity = { ...WHOLE, lastName: 'Otieno, "Junior"' }
    expect(textOf(KENYA, '2026-02-10', { identity })).toMatch(/^"Otieno, ""Junior""",Asha,/)
  })
})

describe('a row for Uganda', () => {
  const inShillings = { ...terms, currency: { code: 'UGX', decimals: 0 } }

  it('begins with its mark, and the file with a row of its own', () => {
    expect(textOf(UGANDA, '2026-02-20', { terms: inShillings })).toMatch(
      /^D\|1\|1\|9\|1\|7\|20260110\|1000000\|1000000\|1\|\|20260220\|UGX\|1\|20260310\|1\|1\|60\.00\|60\.00\|20260210\|/,
    )
    expect(headerOf(UGANDA, { asOf: '2026-02-20' }, SETTINGS(UGANDA))).toBe('H|1|1|20260220|1|20260220|1')
  })

  it('has fields for what is overdue only while something is', () => {
    const cells = String(textOf(UGANDA, '2026-02-10', { terms: inShillings })).split('|')
    const at = (name: string) => cells[1 + UGANDA.fields.findIndex((field) => field.name === name)]
    expect(['Number_of_Days_in_Arrears', 'Balance_Overdue', 'Last_Payment_Date'].map(at)).toEqual(['', '', ''])
    expect(at('Credit_Account_Status')).toBe('5')
    expect(at('Flag_for_Restructured_Credit')).toBe('1')
  })

  it('takes no separator in a value, and no amount that would be rounded', () => {
    const identity = { ...WHOLE, lastName: 'A|B' }
    const faults = textOf(UGANDA, '2026-02-20', { identity, terms: { ...terms, principal: 1_000_050n } })
    expect(faults).toEqual([
      { field: 'Credit_Amount', rule: 'amount', value: '1000050' },
      { field: 'Facility_Amount_Granted', rule: 'amount', value: '1000050' },
      ...[{ field: 'GSCAFB_Surname', rule: 'characters', value: 'A|B' }],
    ])
  })
})

describe('a row of a format of a lender', () => {
  type Field = ExportFormat['fields'][number]

  /** A format with one field, and what is given in place of its members. */
  const formatOf = (field: Partial<Field>, more: Partial<ExportFormat> = {}): ExportFormat => ({
    ...KENYA,
    mark: null,
    fields: [{ name: 'Field', type: 'text', need: 'mandatory', from: { source: 'loan.id' }, ...field }],
    ...more,
  })
  const told = (field: Partial<Field>, more: Partial<ExportFormat> = {}) => {
    const row = textOf(formatOf(field, more), '2026-02-20')
    return typeof row === 'string' ? row : row.map(({ rule, value }) => `${rule} ${value}`)
  }

  it.each<[Partial<Field>, string | string[]]>([
    [{ from: { constant: 'x' } }, 'x'],
    [{ from: { setting: 'none of these' } }, ['required null']],
    [{ from: { setting: 'none of these' }, need: 'optional' }, ''],
    [{ from: null, need: 'optional' }, ''],
    [{ from: { constant: '12a' }, type: 'digits' }, ['digits 12a']],
    [{ from: { constant: 'abcd' }, longest: 3 }, ['longest abcd']],
    [{ from: { constant: 'a\tb' } }, ['characters a\tb']],
    [{ from: { source: 'loan.principal' }, type: 'amount', onlyCurrency: 'TZS' }, ['currency KES']],
    [{ from: { source: 'loan.principal' }, type: 'amount', onlyCurrency: 'TZS', need: 'optional' }, ''],
    [{ from: { source: 'identity.gender' }, map: 'gender' }, 'F'],
    [{ from: { source: 'identity.gender' }, map: 'others' }, ['map female']],
  ])('of %j is %j', (field, row) => {
    expect(told(field, { maps: { ...KENYA.maps, others: { male: 'M' } } })).toEqual(row)
  })

  it.each([
    ['YYYY-MM-DD', '2026-01-10'],
    ['YYYYMMDD', '20260110'],
    ['DD/MM/YYYY', '10/01/2026'],
  ] as const)('writes days as %s', (dates, day) => {
    expect(told({ type: 'date', from: { source: 'loan.disbursedOn' } }, { dates })).toBe(day)
  })

  it('comes after the row that the format asks for: none, names, or fields', () => {
    const header = (row: ExportFormat['header'], mark: string | null = null) =>
      headerOf(formatOf({}, { header: row, mark }), { asOf: '2026-02-20' }, { branch: 'Moshi' })
    expect(header({ kind: 'none' })).toBeUndefined()
    expect([header({ kind: 'names' }), header({ kind: 'names' }, 'D')]).toEqual(['Field', 'D,Field'])
    const field = (from: Field['from']): Field => ({ name: 'F', type: 'text', need: 'optional', from })
    const origins = [null, { constant: 'x' }, { setting: 'branch' }, { setting: 'none' }, { source: 'export.asOf' }]
    const fields = origins.map((from) => field(from as Field['from']))
    expect(header({ kind: 'fields', mark: 'H', fields })).toBe('H,,x,Moshi,,20260220')
  })
})

describe('rows of loans that are paid at random', () => {
  it.each([
    [KENYA, 'KES', kenyanFaults],
    [UGANDA, 'UGX', ugandanFaults],
    [CREDITINFO, 'TZS', creditinfoFaults],
    [PORTFOLIO, 'KES', portfolioFaults],
  ] as const)('$name are taken by a validator that was written from its paper', (format, code, faultsIn) => {
    const random = randomFrom(Number(process.env.MKOPO_SEED ?? 4))
    const day = (from: LocalDate, most: number) => addPeriods(from, random(most), 'days')
    const lent = { ...terms, currency: { code, decimals: code === 'UGX' ? 0 : 2 } }
    for (let round = 0; round < 500; round++) {
      let paidOn = terms.disbursedOn
      const entries: Replayable[] = []
      let paid = 0n
      for (let left = random(5); left > 0; left--) {
        paidOn = day(paidOn, 60)
        const amount = BigInt(1 + random(600_000))
        // Nothing is left to be written off of a loan that is paid, and a loan that is written off takes no repayment.
        const isLost = random(12) === 0 && paid < 1_100_000n
        entries.push(entry(isLost ? 'Write-off' : 'Repayment', paidOn, amount, entries.length + 1))
        if (isLost) break
        paid += amount
      }
      const told = { hasConsent: random(2) === 0, noticeSentOn: random(2) === 0 ? terms.disbursedOn : null }
      const row = String(textOf(format, day(paidOn, 500), { terms: lent, entries, ...told }))
      expect([row, faultsIn(row)]).toEqual([row, []])
    }
  })
})

describe('a loan that a file leaves out', () => {
  it('ended before the month, has no consent, or is disputed, as the format says', () => {
    const paid = [entry('Repayment', '2026-02-15', 1_100_000n)]
    const why = (format: ExportFormat, asOf: string, more: Partial<ExportedLoan>) =>
      exclusionOf(format, figures(asOf, more)!)
    expect(why(KENYA, '2026-02-28', { entries: paid })).toBe(null)
    expect(why(KENYA, '2026-03-01', { entries: paid })).toBe('ended_before')
    expect(why(CREDITINFO, '2026-02-20', { hasConsent: false })).toBe('no_consent')
    expect(why(CREDITINFO, '2026-02-20', { disputedOn: '2026-02-01' })).toBe('disputed')
    expect(why(KENYA, '2026-02-20', { disputedOn: '2026-02-01' })).toBe(null)
    expect(why(KENYA, '2026-02-20', { isHeld: true })).toBe('on_hold')
    expect(why(KENYA, '2026-02-20', { isErased: true, identity: null })).toBe('person_erased')
    expect(why(PORTFOLIO, '2026-02-20', { isErased: true, identity: null })).toBe(null)
  })

  it('is late, and its borrower was not told in time; or owes little', () => {
    const why = (asOf: string, more: Partial<ExportedLoan> = {}) => exclusionOf(KENYA, figures(asOf, more)!)
    expect(why('2026-05-11')).toBe(null)
    expect(why('2026-05-12')).toBe('notice_missing')
    expect(why('2026-05-12', { noticeSentOn: '2026-04-13' })).toBe('notice_missing')
    expect(why('2026-05-12', { noticeSentOn: '2026-04-12' })).toBe(null)
    expect(why('2026-06-10', { entries: [entry('Repayment', '2026-06-10', 1_000_000n)] })).toBe('below_listing_amount')
  })

  it('was not lent by the day: it is in no list', () => {
    expect(figures('2026-01-09')).toBeUndefined()
  })
})
