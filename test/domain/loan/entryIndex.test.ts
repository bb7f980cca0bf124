import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Entry } from '../../../src/domain/loan/entry.ts'
import { withEntry } from '../../../src/domain/loan/entryIndex.ts'
import { findByToken, type Loan } from '../../../src/domain/loan/loan.ts'
import { findById } from '../../../src/domain/recordStyle/loanRecord.ts'

/** Adds entries one by one, as with many repayments at once, and searches between. */
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
        let entries: readonly Entry[] = []
        const lists = [entries]
        for (const one of steps) {
          if ('ask' in one) {
            // The last list has the index; a list before it is searched from its start again.
            for (const list of [entries, lists[one.ask % lists.length]!]) {
              const loan = { terms: {}, entries: list } as unknown as Loan
              expect(find(loan, one.ask)).toBe(list.find((entry) => has(entry, one.ask)))
            }
            continue
          }
          // No two entries have the same token, but many may have none.
          if (entries.some((entry) => entry.id === BigInt(one.post))) continue
          const posted = { id: BigInt(one.post), token: one.bare ? null : `token ${one.post}` } as Entry
          entries = withEntry(entries, posted)
          lists.push(entries)
        }
      }),
    )
  })
})
