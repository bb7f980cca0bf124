/** The media types of a logo. */
export const LOGO_TYPES = ['image/png', 'image/jpeg'] as const
export type LogoType = (typeof LOGO_TYPES)[number]

/** The most bytes of a logo: 64 KiB. */
export const MOST_LOGO_BYTES = 65_536

/** The most pixels of a side of a logo. */
export const MOST_LOGO_PIXELS = 2_000

/** A picture in bytes, with its media type. */
export interface Logo {
  readonly type: LogoType
  readonly content: Uint8Array
}

/** The width and the height of a picture, in pixels. */
interface Size {
  readonly width: number
  readonly height: number
}

const PNG_BEGINS = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]

const twoBytes = (bytes: Uint8Array, at: number): number => bytes[at]! * 256 + bytes[at + 1]!

/** Returns the size of a PNG by its first bytes; undefined for bytes that are no PNG. */
function sizeOfPng(bytes: Uint8Array): Size | undefined {
  if (bytes.length < 33 || PNG_BEGINS.some((byte, at) => bytes[at] !== byte)) return undefined
  const side = (at: number) => twoBytes(bytes, at) * 65_536 + twoBytes(bytes, at + 2)
  return { width: side(16), height: side(20) }
}

/** Returns whether a marker of a JPEG begins a frame, which has the size of the picture. */
const isFrame = (marker: number): boolean => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

/** Returns the size of a JPEG by its first frame; undefined for bytes that are no JPEG. */
function sizeOfJpeg(bytes: Uint8Array): Size | undefined {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return undefined
  let at = 2
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return undefined
    const marker = bytes[at + 1]!
    if (isFrame(marker)) return { height: twoBytes(bytes, at + 5), width: twoBytes(bytes, at + 7) }
    const length = twoBytes(bytes, at + 2)
    if (length < 2) return undefined
    // A byte 0xff may fill the space before a marker.
    at += marker === 0xff ? 1 : 2 + length
  }
  return undefined
}

/**
 * Reads a logo by its first bytes: PNG or JPEG, at most 64 KiB and 2,000 pixels a side.
 * @returns the logo, or in words what is wrong with the bytes
 */
export function readLogo(content: Uint8Array): Logo | string {
  if (content.length === 0) return 'must not be empty'
  if (content.length > MOST_LOGO_BYTES) return `must be at most ${MOST_LOGO_BYTES} bytes, and has ${content.length}`
  const png = sizeOfPng(content)
  const size = png ?? sizeOfJpeg(content)
  if (!size) return 'must be a PNG or a JPEG picture'
  const { width, height } = size
  if (width < 1 || height < 1 || width > MOST_LOGO_PIXELS || height > MOST_LOGO_PIXELS)
    return `must be 1 to ${MOST_LOGO_PIXELS} pixels wide and high, and is ${width} × ${height}`
  return { type: png ? 'image/png' : 'image/jpeg', content }
}
