import { describe, expect, it } from 'vitest'
import { brokenByChanges, type TrailedPosting } from '../../../src/domain/bookCheck/journalTrail.ts'

const change = {
  at: 1,
  action: 'adjust',
  postedId: '11',
  postedType: 'Waive Interest',
  reversedId: '10',
  reversedType: 'Waive Interest',
  first: 5n,
}

const posting = (id: bigint, transactionId: bigint): TrailedPosting => ({
  id,
  changeId: 7n,
  sequence: 5n,
  transactionId,
  kind: 'adjustment',
  method: 'accrual_upfront',
  postedAt: 1,
  change,
})

describe('the postings of an adjustment', () => {
  it.each([
    ['of both steps: the original, then its replacement', [10n, 11n], []],
    ['of the replacement alone, where the original moved no amount', [11n], []],
    ['of the original alone, where the replacement moves no amount', [10n], []],
    [
      'in the wrong order',
      [11n, 10n],
      [
        'posting 1 is of transaction 11, and by the trail of 10',
        'posting 2 is of transaction 10, and by the trail of 11',
      ],
    ],
    ['of another transaction', [12n], ['posting 1 is of transaction 12, and by the trail of 11']],
  ])('%s', (_what, transactions, faults) => {
    const postings = transactions.map((id, index) => posting(BigInt(index + 1), id))
    expect(brokenByChanges(postings).filter((fault) => fault.includes('transaction'))).toEqual(faults)
  })
})
