import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MOST_LOGO_BYTES, readLogo } from '../../../src/domain/organization/logo.ts'
import { aJpeg, aPng } from '../../support/pictures.ts'

describe('a logo is read by its first bytes', () => {
  it.each([
    ['image/png', aPng(2_000, 1)],
    ['image/jpeg', aJpeg(1, 2_000)],
  ])('%s', (type, content) => expect(readLogo(content)).toEqual({ type, content }))

  it.each([
    ['no bytes', Buffer.alloc(0), /^must not be empty$/],
    ['a word', Buffer.from('GIF89a and more than thirty-three bytes of it'), /^must be a PNG or a JPEG picture$/],
    ['a PNG that is cut off', aPng(10, 10).subarray(0, 20), /PNG or a JPEG/],
    ['a JPEG without a frame', aJpeg(10, 10).subarray(0, 20), /PNG or a JPEG/],
    ['too wide', aPng(2_001, 10), /2000 pixels wide and high, and is 2001 × 10/],
    ['too high', aJpeg(10, 2_001), /and is 10 × 2001/],
    ['without a width', aPng(0, 10), /and is 0 × 10/],
    ['wider than 16 bits', aPng(2 ** 31, 10), /and is 2147483648 × 10/],
    ['too many bytes', Buffer.alloc(MOST_LOGO_BYTES + 1), /at most 65536 bytes, and has 65537/],
  ])('refused: %s', (_, content, message) => expect(readLogo(content)).toMatch(message))

  it('answers for any bytes', () => {
    const bytes = fc.uint8Array({ maxLength: 200 })
    fc.assert(
      fc.property(bytes, (tail) => {
        for (const head of [[], [0xff, 0xd8], [0xff, 0xd8, 0xff, 0xff]])
          expect(['string', 'object']).toContain(typeof readLogo(Uint8Array.from([...head, ...tail])))
      }),
    )
  })
})
