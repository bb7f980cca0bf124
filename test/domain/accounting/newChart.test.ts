import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_CHART, methodOf, missingSlots } from '../../../src/domain/accounting/chart.ts'
import { METHODS } from '../../../src/domain/accounting/contribution.ts'
import { chartOf, conflictOf, MOST_ACCOUNTS, type NewChart } from '../../../src/domain/accounting/newChart.ts'
import { amountsFromText, amountsToText, SLOTS } from '../../../src/domain/accounting/slots.ts'
import { fromStoredChart, toStoredChart } from '../../../src/domain/accounting/storedChart.ts'
import type { LendingError } from '../../../src/domain/errors.ts'

const PRODUCTS = new Set([1, 2])
const GOOD: NewChart = { accounts: DEFAULT_CHART.accounts, slots: DEFAULT_CHART.slots, method: 'cash' }

function faultsOf(chart: NewChart): string[] {
  try {
    chartOf(chart, PRODUCTS)
    return []
  } catch (error) {
    return (error as LendingError).faults.map(({ role, wording }) => `${role}: ${wording}`)
  }
}

const NAME_WORDS =
  'must be 1 to 100 characters that can be seen, and spaces: no control characters, no invisible ones, and none that turn the text around'

describe('a chart that is asked for', () => {
  it('is taken where each slot has an account of its type', () => {
    const chart = chartOf({ ...GOOD, method: { default: 'accrual_periodic', products: { 2: 'cash' } } }, PRODUCTS)
    expect([methodOf(chart, 1), methodOf(chart, 2), methodOf(chart, null)]).toEqual([
      ...['accrual_periodic', 'cash', 'accrual_periodic'],
    ])
  })

  it('names each fault with what would be right', () => {
    const faults = faultsOf({
      accounts: [...GOOD.accounts, { code: 'é', name: ' ', type: 'asset' }],
      slots: { ...GOOD.slots, cash: '2000', write_offs: 'none', profit: '4000' },
      method: { default: 'now', products: { 3: 'cash', 1: 'later', __proto__x: 'cash' } },
    })
    expect(faults).toEqual([
      'accounts[19].code: must be 1 to 20 letters without accents, digits, dots, hyphens and underscores',
      `accounts[19].name: ${NAME_WORDS}`,
      `slots.profit: is no slot; the slots are ${SLOTS.join(', ')}`,
      'slots.cash: must be an account of the type asset, and the type of that account is liability',
      'slots.write_offs: must be the code of one of the accounts',
      `method.default: must be one of ${METHODS.join(', ')}`,
      `method.products.1: must be one of ${METHODS.join(', ')}`,
      'method.products.3: no loan product has that id',
      'method.products.__proto__x: no loan product has that id',
    ])
  })

  it('has at most so many accounts', () => {
    const many = Array.from({ length: MOST_ACCOUNTS }, (_, n) => ({ code: `x${n}`, name: 'x', type: 'asset' as const }))
    expect(faultsOf({ ...GOOD, accounts: [...GOOD.accounts, ...many] })[0]).toBe(
      `accounts: must have 1 to ${MOST_ACCOUNTS} accounts, not ${MOST_ACCOUNTS + 19}`,
    )
  })

  it('may have waivers as income, and losses against an asset', () => {
    const slots = { ...GOOD.slots, waivers: '4000', write_offs: '1100', charge_offs: '1100', unearned_interest: '1200' }
    expect(faultsOf({ ...GOOD, slots })).toEqual([])
    expect(faultsOf({ ...GOOD, slots: { ...GOOD.slots, waivers: '1100' } })).toEqual([
      'slots.waivers: must be an account of the type expense or income, and the type of that account is asset',
    ])
  })
})

describe('the slots of provisions', () => {
  const { provision_expense: expense, loan_loss_allowance: allowance, ...others } = DEFAULT_CHART.slots

  it('may be left out, and are stored as they are', () => {
    const chart = chartOf({ ...GOOD, slots: others }, PRODUCTS)
    expect(missingSlots(chart)).toEqual(['provision_expense', 'loan_loss_allowance'])
    const stored = JSON.parse(JSON.stringify(toStoredChart(chart)))
    expect(Object.keys(stored.slots)).not.toContain('provision_expense')
    expect(missingSlots(fromStoredChart(stored))).toHaveLength(2)
    expect(missingSlots(chartOf({ ...GOOD, slots: { ...others, provision_expense: expense } }, PRODUCTS))).toEqual([
      'loan_loss_allowance',
    ])
    expect(missingSlots(DEFAULT_CHART)).toEqual([])
  })

  it('have accounts of their types, and the allowance one of its own', () => {
    const faults = (more: object) => faultsOf({ ...GOOD, slots: { ...others, provision_expense: expense, ...more } })
    expect(faults({ loan_loss_allowance: '2000' })).toEqual([
      'slots.loan_loss_allowance: must be an account of its own: its balance says what is booked, and overpayments has that account, too',
    ])
    expect(faults({ loan_loss_allowance: allowance, provision_expense: '5100' })).toEqual([])
    expect(faults({ provision_expense: '4000' })).toEqual([
      'slots.provision_expense: must be an account of the type expense, and the type of that account is income',
    ])
  })

  it('are read from a text of amounts of before, and leave such texts as they were', () => {
    const text = '-110,100,,,,,10'
    expect(amountsFromText(text)).toMatchObject({ cash: -110n, loan_loss_allowance: 0n, provision_expense: 0n })
    expect(amountsToText(amountsFromText(text)!)).toBe(text)
  })
})

describe('a chart that follows another', () => {
  const before = new Map(DEFAULT_CHART.accounts.map((account) => [account.code, account]))

  it('has each account with postings, of the same type; its name may change', () => {
    const without = { ...DEFAULT_CHART, accounts: DEFAULT_CHART.accounts.filter(({ code }) => code !== '5100') }
    expect(conflictOf(without, before, ['1000'])).toBeUndefined()
    expect(conflictOf(without, before, ['1000', '5100'])).toMatch(/^account 5100 has postings and cannot be removed/)
    const change = (more: object) => ({
      ...DEFAULT_CHART,
      accounts: DEFAULT_CHART.accounts.map((one) => (one.code === '5100' ? { ...one, ...more } : one)),
    })
    expect(conflictOf(change({ name: 'Losses' }), before, ['5100'])).toBeUndefined()
    expect(conflictOf(change({ type: 'asset' }), before, ['5100'])).toMatch(/from expense to asset/)
  })
})

it('a chart is stored and read as what it is', () => {
  const methods = fc.dictionary(fc.integer({ min: 1, max: 2 ** 31 - 1 }).map(String), fc.constantFrom(...METHODS))
  const accounts = fc.shuffledSubarray([...DEFAULT_CHART.accounts], { minLength: 1 })
  fc.assert(
    fc.property(accounts, methods, fc.constantFrom(...METHODS), (some, products, method) => {
      const productMethods = new Map(Object.entries(products).map(([id, one]) => [Number(id), one]))
      const stored = toStoredChart({ ...DEFAULT_CHART, accounts: some, method, productMethods })
      const chart = fromStoredChart(JSON.parse(JSON.stringify(stored)))
      expect(chart.productMethods).toEqual(productMethods)
      expect(toStoredChart(chart)).toEqual(stored)
      expect(chart.accounts.toSorted((a, b) => (a.code < b.code ? -1 : 1))).toEqual(chart.accounts)
    }),
  )
  expect(() => fromStoredChart({ ...toStoredChart(DEFAULT_CHART), method: 'now' })).toThrow('a stored chart')
})

it.each(['\u202e evil', 'a\u2066b', '\u200b', '\u00a0', '\u3164', '\u2800', 'a\u2028b', 'a\tb', 'x'.repeat(101)])(
  'refuses the name %j of an account',
  (name) => {
    const accounts = [...GOOD.accounts, { code: '9', name, type: 'asset' as const }]
    expect(faultsOf({ ...GOOD, accounts })).toEqual([`accounts[19].name: ${NAME_WORDS}`])
  },
)

it('takes names of every script', () => {
  const names = ['Comptes à recevoir', 'حساب القروض', '貸付金', '😀'.repeat(100), '#']
  const more = names.map((name, index) => ({ code: `9${index}`, name, type: 'asset' as const }))
  expect(chartOf({ ...GOOD, accounts: [...GOOD.accounts, ...more] }, new Set()).accounts).toHaveLength(24)
})
