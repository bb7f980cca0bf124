import { describe, expect, it } from 'vitest'
import { PRESETS } from '../../../src/domain/delinquency/policy.ts'
import {
  type Cell,
  Cells,
  cellsFromJson,
  cellsToJson,
  groupsOf,
  plusSums,
  sumsOf,
} from '../../../src/domain/portfolio/cells.ts'

const [{ policy }] = PRESETS
const late = (daysPastDue: number, principal = 100n) => sumsOf({ index: 0, daysPastDue, principal, provision: 7n })

describe('portfolio at risk', () => {
  it.each([
    [0, [0n, 0n, 0n, 0n]],
    [1, [100n, 0n, 0n, 0n]],
    [30, [100n, 0n, 0n, 0n]],
    [31, [100n, 100n, 0n, 0n]],
    [60, [100n, 100n, 0n, 0n]],
    [61, [100n, 100n, 100n, 0n]],
    [90, [100n, 100n, 100n, 0n]],
    [91, [100n, 100n, 100n, 100n]],
  ])(
    'of a loan that is %s days past due is its principal in PAR 1, or in those above which the days are',
    (days, atRisk) => {
      expect(late(days).atRisk).toEqual(atRisk)
    },
  )
})

const cell = (more: Partial<Cell>): Cell => ({
  ...{ productId: 1, currency: 'TZS', month: '2026-01', isRestructured: false, index: 0 },
  ...late(0),
  ...more,
})

describe('cells', () => {
  it('are summed up by currency, product, month, restructured or not, and bucket, in that order', () => {
    const cells = new Cells()
    for (const one of [
      cell({ index: 2, ...late(31) }),
      cell({ productId: null }),
      cell({ currency: 'KES' }),
      cell({ month: '2025-12' }),
      cell({}),
      cell({ isRestructured: true }),
      cell({ principal: 5n }),
    ])
      cells.add(one)
    const found = cells.list()
    expect(
      found.map(({ currency, productId, month, isRestructured, index, loans }) => [
        ...[currency, productId, month, isRestructured, index, loans],
      ]),
    ).toEqual([
      ['KES', 1, '2026-01', false, 0, 1],
      ['TZS', null, '2026-01', false, 0, 1],
      ['TZS', 1, '2025-12', false, 0, 1],
      ['TZS', 1, '2026-01', false, 0, 2],
      ['TZS', 1, '2026-01', false, 2, 1],
      ['TZS', 1, '2026-01', true, 0, 1],
    ])
    expect(cellsFromJson(JSON.parse(JSON.stringify(cellsToJson(found))))).toEqual(found)
  })

  it('are read as none where what is kept is damaged', () => {
    for (const damaged of [[[1]], [['x']], 7, null, [[1, 'TZS', '2026-01', true, 0, 1, 'x', '0', '0', '0', '0', '0']]])
      expect(cellsFromJson(damaged)).toBeUndefined()
  })

  it('make groups of which each has every bucket, and whose buckets sum to the total', () => {
    const cells = [
      cell({}),
      cell({ index: 2, ...late(31) }),
      cell({ productId: 2, isRestructured: true }),
      cell({ currency: 'KES' }),
    ]
    for (const by of [[], ['product'], ['month', 'currency'], ['product', 'month'], ['restructured']] as const)
      for (const { buckets, total } of groupsOf(cells, policy, by)) {
        expect(buckets.map(({ bucket }) => bucket)).toEqual(policy.buckets)
        const sums = buckets.map(({ bucket: _, ...sum }) => sum)
        expect(sums.reduce((a, b) => plusSums(a, b))).toEqual(total)
      }
    expect(groupsOf(cells, policy, []).map(({ currency }) => currency)).toEqual(['TZS', 'KES'])
    const divided = groupsOf(cells, policy, ['restructured'])
    expect(divided.map(({ currency, isRestructured, total }) => [currency, isRestructured, total.loans])).toEqual([
      ['TZS', false, 2],
      ['TZS', true, 1],
      ['KES', false, 1],
    ])
  })
})
