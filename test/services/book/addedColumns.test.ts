import { expect, it } from 'vitest'
import { SEALED } from '../../../src/db/events/sealedColumns.ts'
import { differencesOfRows } from '../../../src/services/book/sealDifferences.ts'
import { digestOf, marksOf, readMarks } from '../../../src/services/events/seal.ts'

// A row that was sealed by a version that did not have a column has no value in that column.

const values = SEALED.loan_product.columns.map((column) => (column === 'terms' ? null : '1'))
const sealed = { table: 'loan_product' as const, key: '1', values: values.slice(0, -1) }
const of = { digest: digestOf([sealed]), marks: readMarks(marksOf([], [sealed]))!, isChangedLater: false }

it('of a column that was added later, an empty value is as it was sealed', () => {
  expect(differencesOfRows(7n, [{ ...sealed, values }], of)).toEqual([])
})

it('of a column that was added later, any other value is named', () => {
  const changed = { ...sealed, values: [...sealed.values, '{"fees": []}'] }
  expect(differencesOfRows(7n, [changed], of)).toEqual([
    { of: 'loan_product 1', message: 'terms is not what change 7 sealed' },
  ])
})
