import { describe, expect, it } from 'vitest'
import { SEALED } from '../../../src/db/events/sealedColumns.ts'
import type { SealedRow } from '../../../src/db/events/trailedChange.ts'
import { differencesOfRows } from '../../../src/services/book/sealParts.ts'
import { digestOf, markOf, marksOf, readMarks } from '../../../src/services/events/seal.ts'

const row = (table: SealedRow['table'], key: string, changes: Record<string, string | null> = {}): SealedRow => ({
  table,
  key,
  values: SEALED[table].columns.map((column) => (column in changes ? changes[column]! : `${key} ${column}`)),
})

/** The differences between rows now and the seal of rows then. */
const differences = (then: readonly SealedRow[], now: readonly SealedRow[], isChangedLater = false) => {
  const marks = readMarks(marksOf([], then))!
  return differencesOfRows(9n, now, { digest: digestOf(then), marks, isChangedLater }).map(
    ({ of, message }) => `${of}: ${message}`,
  )
}

const schedule = (...periods: number[]): SealedRow[] => [
  row('loan', '5'),
  ...periods.map((period) => row('loan_period', `5/${period}`)),
]

describe('a row compared with its seal', () => {
  it('is the same, or its changed columns are named', () => {
    expect(differences([row('customer', '7')], [row('customer', '7')])).toEqual([])
    expect(differences([row('customer', '7')], [row('customer', '7', { words: '1', identity: null })])).toEqual([
      'customer 7: words is not what change 9 sealed',
      'customer 7: identity is not what change 9 sealed',
    ])
  })

  it('is the same also where the mark of its account number is that of none', () => {
    const numbers = Array.from({ length: 1_000_000 }, (_, index) => String(index))
    const like = numbers.find((one) => markOf('account_no', one) === markOf('account_no', null))!
    const now = row('loan', '5', { account_no: like })
    expect(differences([now], [now])).toEqual([])
    expect(differences([now], [row('loan', '5', { account_no: like, currency: 'KES' })])).toEqual([
      'loan 5: currency is not what change 9 sealed',
    ])
  })

  it('is gone, or was added', () => {
    const nulls = { ...row('loan_entry', '3'), values: SEALED.loan_entry.columns.map(() => null) }
    expect(differences([row('loan_entry', '3')], [nulls])).toEqual([
      'loan_entry 3: is not there, and change 9 sealed it',
    ])
    expect(differences([nulls], [nulls])).toEqual([])
    expect(differences(schedule(1, 2, 3), schedule(1, 3))).toEqual([
      'loan_period 5/2: is not there, and change 9 sealed it',
    ])
    expect(differences(schedule(1, 2), schedule(1, 2, 3))).toEqual([
      'loan_period 5/3: is not among the rows that change 9 sealed',
    ])
  })

  it('that changed so that no mark is another is named without a column', () => {
    const then = [row('loan_entry', '3')]
    const marks = readMarks(marksOf([], then))!
    const digest = Buffer.alloc(32)
    expect(differencesOfRows(9n, then, { digest, marks, isChangedLater: false })).toEqual([
      { of: 'loan_entry 3', message: expect.stringMatching(/^is not what change 9 sealed, and the marks do not tell/) },
    ])
  })

  it('that a later change made is not compared; those beside it that never change are', () => {
    const raised = (limit: string, decided = 'a') => [
      row('credit_decision', '1', { result: decided }),
      row('credit_standing', '7', { boosted_limit: limit }),
    ]
    expect(differences(raised('5'), raised('6'), true)).toEqual([])
    expect(differences(raised('5'), raised('6', 'b'), true)).toEqual([
      'credit_decision 1: result is not what change 9 sealed',
    ])
    expect(differences(raised('5'), raised('6'))).toEqual([
      'credit_standing 7: boosted_limit is not what change 9 sealed',
    ])
    expect(differences([row('customer', '7')], [row('customer', '7', { words: '1' })], true)).toEqual([])
  })
})
