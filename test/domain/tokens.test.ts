import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Entry } from '../../src/domain/entry.ts'
import { findByToken, type Loan } from '../../src/domain/loan.ts'

/** Entries come one by one on the same list, as they do where many repayments arrive at once, and are asked between. */
const step = fc.oneof(
  fc.record({ post: fc.option(fc.integer({ min: 0, max: 40 })) }),
  fc.record({ ask: fc.integer({ min: 0, max: 40 }) }),
)

it('the entry of a token is found however often the list was asked, and whatever was posted since', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const entries: Entry[] = []
      const loan = { terms: {}, entries } as unknown as Loan
      for (const one of steps) {
        if ('ask' in one) {
          const token = `token ${one.ask}`
          expect(findByToken(loan, token)).toBe(entries.find((entry) => entry.token === token))
          continue
        }
        // A token stands once on a loan; an entry without one may stand there as often as it likes.
        const token = one.post === null ? null : `token ${one.post}`
        if (token !== null && entries.some((entry) => entry.token === token)) continue
        entries.push({ token, ordinal: entries.length + 1 } as Entry)
      }
    }),
  )
})
