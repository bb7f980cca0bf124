import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { macOf } from '../../../src/db/audit/mac.ts'

describe('the HMAC of a key', () => {
  it('is that of the library, for any key of a block at most, bytes and text, one after the other', () => {
    const message = fc.record({
      before: fc.option(fc.uint8Array({ maxLength: 100 }), { nil: undefined }),
      text: fc.string({ unit: 'binary', maxLength: 2_000 }),
    })
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), fc.array(message, { minLength: 1 }), (key, all) => {
        const mac = macOf(key)
        for (const { before, text } of all) {
          const expected = createHmac('sha256', key)
            .update(before ?? '')
            .update(text)
            .digest('hex')
          expect(mac(text, before).toString('hex')).toBe(expected)
        }
      }),
    )
  })
})
