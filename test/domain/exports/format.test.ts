import { describe, expect, it } from 'vitest'
import { checkFormat } from '../../../src/domain/exports/checkFormat.ts'
import { classOf } from '../../../src/domain/exports/format.ts'
import { KENYA } from '../../../src/domain/exports/formats/kenya.ts'
import { UGANDA } from '../../../src/domain/exports/formats/uganda.ts'
import { BUILT_IN } from '../../../src/services/exports/formats.ts'
import { KENYA_ROW, kenyanClass } from '../../support/exportRules.ts'

type Members = Record<string, unknown>

/** A right format, with some members in place of others. */
const withMembers = (more: Members): unknown => ({ ...(JSON.parse(JSON.stringify(KENYA)) as Members), ...more })

const field = (more: Members = {}): Members => ({
  name: 'Loan',
  type: 'text',
  need: 'mandatory',
  from: { source: 'loan.id' },
  ...more,
})

const faultsOf = (more: Members) => {
  const checked = checkFormat(withMembers(more))
  return Array.isArray(checked) ? checked.map(({ field: at, rule }) => `${at}: ${rule}`) : []
}

const fieldFaults = (more: Members) => faultsOf({ fields: [field(more)] })

describe('the formats that come with the service', () => {
  it.each(BUILT_IN.map((one) => [one.name, one] as const))('%s is right, as JSON', (_, format) => {
    expect(checkFormat(JSON.parse(JSON.stringify(format)))).toEqual(format)
  })

  it('Kenya has the fields of the template in their order, and each day in one class', () => {
    expect(KENYA.fields.map(({ name }) => name)).toEqual(KENYA_ROW.map(([name]) => name))
    for (let days = 0; days <= 400; days++) expect(classOf(KENYA, days)).toBe(kenyanClass(days))
    const required = KENYA.fields.filter(({ need }) => need === 'mandatory').map(({ name }) => name)
    expect(required).toEqual(KENYA_ROW.filter(([, isRequired]) => isRequired === true).map(([name]) => name))
  })

  it('Uganda has the 45 fields of an account, and then those of the person', () => {
    expect(UGANDA.fields.slice(0, 2).map(({ name }) => name)).toEqual([
      'PI_Identification_Code',
      'Branch_Identification_Code',
    ])
    expect(UGANDA.fields[33]!.name).toBe('Flag_for_Restructured_Credit')
    expect(UGANDA.fields[44]!.name).toBe('Loan_Purpose')
    expect(UGANDA.fields.filter(({ name }) => name.startsWith('II_')).length).toBe(18)
    expect(UGANDA.fields.filter(({ name }) => name.startsWith('GSCAFB_')).length).toBe(13)
  })
})

describe('a format that is wrong', () => {
  it.each([
    [{ name: 'Ours' }, 'name: must begin with a small letter, and have small letters, digits and _ only'],
    [{ separator: '#' }, 'separator: must be one of ,, ;, |, \t'],
    [{ more: 1 }, /^more: is no member here/],
    [{ fields: undefined }, 'fields: is required'],
    [{ fields: [] }, 'fields: must have 1 to 250 members'],
    [{ fields: [field(), field()] }, 'fields[1].name: Loan is there twice'],
    [
      { classes: [{ from: 1, to: null, code: 'A' }] },
      'classes[0].from: must be 0: no day may be in no class or in two',
    ],
    [
      {
        classes: [
          { from: 0, to: 29, code: 'A' },
          { from: 31, to: null, code: 'B' },
        ],
      },
      'classes[1].from: must be 30: no day may be in no class or in two',
    ],
    [{ classes: [{ from: 0, to: 30, code: 'A' }] }, 'classes[0].to: must be null: the last has no end'],
    [{ classes: [] }, /^classes: must not be empty: fields\[23\] has the class/],
    [{ statuses: [] }, /^statuses: must not be empty/],
    [{ statuses: [{ when: 'late', code: 'X' }] }, /^statuses\[0\].when: must be one of always, open/],
    [{ maps: { gender: {}, document: { national_id: '1' } } }, /^maps.gender: must be an object with 1 to 100 codes/],
    [
      { maps: { gender: { woman: 'F' }, document: { passport: '1' } } },
      /^maps.gender.woman: is no word of identity.gender/,
    ],
    [{ exclude: null }, 'exclude: must be an object'],
    [
      { header: { kind: 'fields', mark: null, fields: [field()] } },
      /^header.fields\[0\].from.source: must be one of export.asOf/,
    ],
    [
      { settings: [{ name: 'a', means: 'b', longest: 0 }] },
      'settings[0].longest: must be a whole number from 1 to 500',
    ],
    [{ settings: ['a'] }, 'settings[0]: must be an object'],
    [{ title: 5 }, 'title: must be a text that is not empty'],
    [{ title: '' }, 'title: must be a text that is not empty'],
    [{ title: 'x'.repeat(501) }, 'title: must be at most 500 characters long'],
    [{ title: 'two\nlines' }, 'title: must not contain control characters'],
    [{ fields: {} }, 'fields: must be a list'],
    [{ fields: [null] }, 'fields[0]: must be an object'],
    [{ maps: undefined }, 'maps: is required'],
    [{ maps: [] }, 'maps: must be an object'],
    [{ maps: { gender: 'F' } }, 'maps.gender: must be an object with 1 to 100 codes'],
    [
      { maps: Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`m${index}`, { a: 'A' }])) },
      'maps: must have at most 30 maps',
    ],
    [{ classes: ['A'] }, 'classes[0]: must be an object'],
    [
      {
        classes: [
          { from: 0, to: null, code: 'A' },
          { from: 1, to: 2, code: 'B' },
        ],
      },
      'classes[1]: comes after a class without end',
    ],
    [{ classes: [{ from: 0, to: 'x', code: 'A' }] }, 'classes[0].to: must be a whole number from 0 to 100000'],
    [{ statuses: ['late'] }, 'statuses[0]: must be an object'],
    [{ exclude: { ...KENYA.exclude, consent: 'yes' } }, 'exclude.consent: must be true or false'],
    [{ exclude: { ...KENYA.exclude, notice: 30 } }, 'exclude.notice: must be an object'],
    [
      { exclude: { ...KENYA.exclude, notice: { fromDays: 90, days: 30, upTo: null, currency: 'KES' } } },
      'exclude.notice.upTo: must be a whole number from 0 to 1000000000',
    ],
    [{ header: { kind: 'none', mark: 'H' } }, 'header.mark: is of a header of the kind fields only'],
  ])('%j is told', (more, told) => {
    expect(faultsOf(more)).toEqual(
      expect.arrayContaining([typeof told === 'string' ? told : expect.stringMatching(told)]),
    )
  })

  it.each([
    [{ type: 'amount' }, 'fields[0].type: must be text or digits: loan.id is a text'],
    [{ need: 'conditional' }, /^fields\[0\].when: is required/],
    [{ when: 'overdue' }, 'fields[0].when: is of a conditional field only'],
    [{ from: { source: 'loan.shoeSize' } }, /^fields\[0\].from.source: must be one of/],
    [{ from: null }, 'fields[0].from: must not be null: the field is mandatory'],
    [
      { from: { setting: 'branch' } },
      'fields[0].from.setting: must be one of the settings of the format, which has none',
    ],
    [{ from: { source: 'loan.id', constant: 'x' } }, 'fields[0].from: must have one of source, constant and setting'],
    [{ map: 'gender' }, undefined],
    [{ map: 'nothing' }, 'fields[0].map: must be one of gender, document'],
    [{ decimals: 2 }, 'fields[0].decimals: is of the type decimal only'],
    [{ onlyCurrency: 'KES' }, 'fields[0].onlyCurrency: is of the type amount only'],
    [{ longest: 0 }, 'fields[0].longest: must be a whole number from 1 to 2000'],
    [{ from: 'loan.id' }, 'fields[0].from: must be an object'],
    [{ from: null, need: 'optional', map: 'gender' }, 'fields[0].map: has no value to map'],
    [{ from: { constant: 'x' }, map: 'gender' }, 'fields[0].map: is of a value of a source only'],
    [{ map: 5 }, 'fields[0].map: must be one of gender, document'],
    [
      { type: 'date', from: { source: 'loan.disbursedOn' }, map: 'gender' },
      'fields[0].map: maps words, and loan.disbursedOn is a date',
    ],
  ])('of a field %j is told', (more, told) => {
    const faults = fieldFaults(more)
    if (told === undefined) expect(faults).toEqual([])
    else expect(faults).toEqual(expect.arrayContaining([typeof told === 'string' ? told : expect.stringMatching(told)]))
  })

  it('without bounds for a notice, or with both, is right', () => {
    for (const bounds of [
      { upTo: null, currency: null },
      { upTo: 1_000, currency: 'KES' },
    ])
      expect(faultsOf({ exclude: { ...KENYA.exclude, notice: { fromDays: 90, days: 30, ...bounds } } })).toEqual([])
  })

  it.each([undefined, null, 'text', 5, [], {}])('%j is told, and nothing is thrown', (document) => {
    expect(Array.isArray(checkFormat(document))).toBe(true)
  })
})
