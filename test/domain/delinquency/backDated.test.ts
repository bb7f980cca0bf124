import { beforeAll, describe, expect, it } from 'vitest'
import type { DelinquencyPolicy } from '../../../src/domain/delinquency/policy.ts'
import { PRESETS } from '../../../src/domain/delinquency/policy.ts'
import { positionsOn } from '../../../src/domain/delinquency/position.ts'
import { spansOf } from '../../../src/domain/delinquency/segments.ts'
import { Cells, monthOf, sumsOf } from '../../../src/domain/portfolio/cells.ts'
import { rollOf, rollRatesOf } from '../../../src/domain/portfolio/rolls.ts'
import { dateOf, dayAt, startOf } from '../terms/naive/calendar.ts'
import { type TwiceKeptBook, twiceKeptBook } from './backDated.ts'

// A book whose entries were posted on their days, and the same book with all of them dated back and posted in any order, some
// of them wrong at first: both have the same history of arrears (contract 11).

let book: TwiceKeptBook
beforeAll(() => {
  book = twiceKeptBook(Number(process.env.MKOPO_SEED ?? 12), 420, 26)
})

const [par, cbk] = PRESETS.map(({ policy }) => policy) as [DelinquencyPolicy, DelinquencyPolicy]
const POLICIES: readonly (readonly [string, DelinquencyPolicy])[] = [
  ['par', par],
  [
    'cbk from the first arrears, with days of cure and a material share',
    { ...cbk, countFrom: 'first_arrears', cureDays: 9, materiality: { amount: null, percentOfPrincipal: 2_000_000n } },
  ],
]

type Kept = 'inOrder' | 'backDated'

/** Returns the positions of each loan at the end of every seventeenth day. */
function positionsOf(kept: Kept, policy: DelinquencyPolicy) {
  const known = positions.get(policy) ?? {}
  known[kept] ??= computedPositions(kept, policy)
  positions.set(policy, known)
  return known[kept]
}

const positions = new Map<DelinquencyPolicy, Partial<Record<Kept, ReturnType<typeof computedPositions>>>>()

function computedPositions(kept: Kept, policy: DelinquencyPolicy) {
  const [first, last] = [dayAt(Math.min(...book.loans.map(({ terms }) => terms.disbursedAt))), dayAt(book.end)]
  const moments: number[] = []
  for (let day = first; day < last; day += 17) moments.push(startOf(day + 1) - 1)
  const loans = book.loans.map((loan) => ({
    terms: loan.terms,
    positions: positionsOn({ terms: loan.terms, entries: loan[kept] }, policy, moments),
  }))
  return { days: moments.map((moment) => dateOf(dayAt(moment))), loans }
}

function portfolioOf(kept: Kept, policy: DelinquencyPolicy) {
  const { days, loans } = positionsOf(kept, policy)
  return days.map((day, place) => {
    const cells = new Cells()
    for (const { terms, positions } of loans) {
      const position = positions[place]!
      const key = {
        ...{ productId: 1, currency: terms.currency.code, month: monthOf(terms.disbursedOn), isRestructured: false },
      }
      if (typeof position !== 'string') cells.add({ ...key, index: position.index, ...sumsOf(position) })
    }
    return [day, cells.list()] as const
  })
}

/** Returns how the loans moved from each of the days to the third after it. */
function rollsOf(kept: Kept, policy: DelinquencyPolicy) {
  const { days, loans } = positionsOf(kept, policy)
  return days.slice(3).map((day, place) => {
    const rolls = loans.flatMap(({ terms, positions }) => {
      const roll = rollOf(terms.currency.code, positions[place]!, positions[place + 3]!)
      return roll ? [roll] : []
    })
    return [day, rollRatesOf(rolls, policy)] as const
  })
}

it('has ten thousand entries that are dated back, reversed and adjusted ones among them', () => {
  expect(book.counts.entries).toBeGreaterThan(10_000)
  expect(book.counts.reversed).toBeGreaterThan(1_000)
  expect(book.counts.adjusted).toBeGreaterThan(1_000)
})

describe.each(POLICIES)('by %s', (_, policy) => {
  it('the spans of each loan are the same', () => {
    let spans = 0
    for (const [place, { terms, inOrder, backDated }] of book.loans.entries()) {
      const found = spansOf(terms, backDated, policy, book.end)
      expect([place, found]).toEqual([place, spansOf(terms, inOrder, policy, book.end)])
      spans += found.length
    }
    expect(spans).toBeGreaterThan(1_000)
  })

  it('the portfolio of each day is the same', () => {
    const days = portfolioOf('backDated', policy)
    expect(days).toEqual(portfolioOf('inOrder', policy))
    expect(Math.max(...days.map(([, cells]) => cells.length))).toBeGreaterThan(10)
  })

  it('the loans moved between the buckets in the same way', () => {
    const days = rollsOf('backDated', policy)
    expect(days).toEqual(rollsOf('inOrder', policy))
    expect(days.some(([, rates]) => rates.some(({ reopened }) => reopened.loans > 0))).toBe(true)
  })
})
