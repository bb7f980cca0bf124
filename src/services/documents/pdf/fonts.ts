import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { inflateSync } from 'node:zlib'
import type PDFDocument from 'pdfkit'

type Document = InstanceType<typeof PDFDocument>

/** The weights in which a document is written. */
export type Weight = 'regular' | 'bold'

const WEIGHTS = { regular: 400, bold: 700 } as const

/**
 * The parts of the fonts, in the order in which they are asked for a character: Latin first, which nearly all texts are.
 * Their licence is the SIL Open Font License 1.1.
 */
const PARTS = [
  ...['latin', 'latin-ext', 'greek', 'cyrillic', 'vietnamese', 'devanagari', 'greek-ext', 'cyrillic-ext'].map(
    (part) => ({
      family: 'noto-sans',
      part,
    }),
  ),
  { family: 'noto-sans-arabic', part: 'arabic' },
  { family: 'noto-sans-ethiopic', part: 'ethiopic' },
]

/** A font of a document. */
export interface Font {
  /** The name under which the document has it. */
  readonly name: string
  has(codePoint: number): boolean
  /** True for a script that is written from right to left. */
  readonly isRightToLeft: boolean
}

const require = createRequire(import.meta.url)
const files = new Map<string, Buffer>()

/** Reads the file of a font, once in each thread. */
function fileOf(name: string): Buffer {
  const bytes = files.get(name) ?? unpack(readFileSync(require.resolve(name)))
  files.set(name, bytes)
  return bytes
}

/** The lengths of the heads of WOFF and OpenType files, and of a table's line in their lists of tables, in bytes. */
const WOFF = { head: 44, line: 20 } as const
const SFNT = { head: 12, line: 16 } as const

/**
 * Unpacks a font: writes a WOFF file as the OpenType file that it holds (W3C, WOFF File Format 1.0). The library of the
 * PDFs can unpack it, too, but takes a third of a second for it, in each document.
 */
function unpack(woff: Buffer): Buffer {
  const count = woff.readUInt16BE(12)
  const head = Buffer.alloc(SFNT.head + count * SFNT.line)
  woff.copy(head, 0, 4, 8)
  head.writeUInt16BE(count, 4)
  const tables: Buffer[] = []
  let end = head.length
  for (let index = 0; index < count; index++) {
    const at = WOFF.head + index * WOFF.line
    const [from, packed, length] = [4, 8, 12].map((field) => woff.readUInt32BE(at + field)) as [number, number, number]
    const data = woff.subarray(from, from + packed)
    const table = packed < length ? inflateSync(data) : data
    const line = SFNT.head + index * SFNT.line
    woff.copy(head, line, at, at + 4)
    woff.copy(head, line + 4, at + 16, at + 20)
    head.writeUInt32BE(end, line + 8)
    head.writeUInt32BE(length, line + 12)
    tables.push(table, Buffer.alloc(-length & 3))
    end += length + (-length & 3)
  }
  return Buffer.concat([head, ...tables])
}

/** Texts of which each character has a glyph of its own in the first font, whatever stands beside it. */
export const PLAIN = /^[\x20-\x7e\xa0-\xac\xae-\xff]*$/

/** Returns the fonts of a weight in a document, each of which is read when it is asked for the first time. */
export function* fontsOf(document: Document, weight: Weight): Generator<Font> {
  for (const { family, part } of PARTS) {
    const name = `${part}-${weight}`
    document.registerFont(name, fileOf(`@fontsource/${family}/files/${family}-${part}-${WEIGHTS[weight]}-normal.woff`))
    document.font(name)
    const opened = (document as unknown as { readonly _font: OpenedFont })._font
    layOutPlainTexts(opened)
    const has = (codePoint: number) => opened.font.hasGlyphForCodePoint(codePoint)
    yield { name, has, isRightToLeft: part === 'arabic' }
  }
}

interface Glyph {
  readonly advanceWidth: number
}

/** The place of a glyph after the one before it, in thousandths of the size. */
interface GlyphPlace {
  readonly xAdvance: number
  readonly advanceWidth: number
  readonly xOffset: 0
  readonly yOffset: 0
}

interface LaidOut {
  readonly glyphs: readonly Glyph[] | null
  readonly positions: readonly GlyphPlace[] | null
  readonly advanceWidth: number
}

/** The font that a document of pdfkit has opened, as far as it is needed here. */
interface OpenedFont {
  readonly scale: number
  readonly font: { hasGlyphForCodePoint(codePoint: number): boolean; glyphForCodePoint(codePoint: number): Glyph }
  layout(text: string, features?: object, onlyWidth?: boolean): LaidOut
}

/**
 * Lets a font lay plain texts out glyph by glyph, without kerning. Most texts of a document are plain, and the amounts
 * differ all: with the rules of the font, a statement of 2,000 lines takes three times as long.
 */
function layOutPlainTexts(opened: OpenedFont): void {
  const known: { readonly glyph: Glyph; readonly place: GlyphPlace }[] = []
  const one = (code: number) => {
    const glyph = opened.font.glyphForCodePoint(code)
    const advanceWidth = glyph.advanceWidth * opened.scale
    return { glyph, place: { xAdvance: advanceWidth, advanceWidth, xOffset: 0, yOffset: 0 } as const }
  }
  const byRules = opened.layout.bind(opened)
  opened.layout = (text, features, onlyWidth) => {
    if (features || !PLAIN.test(text)) return byRules(text, features, onlyWidth)
    const glyphs: Glyph[] = []
    const positions: GlyphPlace[] = []
    let advanceWidth = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      known[code] ??= one(code)
      const { glyph, place } = known[code]
      advanceWidth += place.advanceWidth
      if (onlyWidth) continue
      glyphs.push(glyph)
      positions.push(place)
    }
    return { glyphs, positions, advanceWidth }
  }
}
