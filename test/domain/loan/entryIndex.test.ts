import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Entry } from '../../../src/domain/loan/entry.ts'
import { findByToken, type Loan } from '../../../src/domain/loan/loan.ts'
import { findById } from '../../../src/domain/recordStyle/loanRecord.ts'

/** Adds entries one by one to the same list, as with many repayments at once, and searches between. */
const key = fc.integer({ min: 0, max: 40 })
const step = fc.oneof(fc.record({ post: key, bare: fc.boolean() }), fc.record({ ask: key }))

/** Each way to find an entry, and how to look through all of them instead. */
const ways: [string, (loan: Loan, key: number) => Entry | undefined, (entry: Entry, key: number) => boolean][] = [
  ['token', (loan, key) => findByToken(loan, `token ${key}`), (entry, key) => entry.token === `token ${key}`],
  ['id', (loan, key) => findById(loan, BigInt(key)), (entry, key) => entry.id === BigInt(key)],
]

describe('the entry of a loan', () => {
  it.each(ways)('by its %s: found at every search, with any entries posted since', (_, find, has) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const entries: Entry[] = []
        const loan = { terms: {}, entries } as unknown as Loan
        for (const one of steps) {
          if ('ask' in one) {
            expect(find(loan, one.ask)).toBe(entries.find((entry) => has(entry, one.ask)))
            continue
          }
          // No two entries have the same token, but many may have none.
          if (entries.some((entry) => entry.id === BigInt(one.post))) continue
          entries.push({ id: BigInt(one.post), token: one.bare ? null : `token ${one.post}` } as Entry)
        }
      }),
    )
  })
})
