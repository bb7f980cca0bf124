import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { inflateSync } from 'node:zlib'
import type PDFDocument from 'pdfkit'
import { byNumber, showHidden } from '../../../domain/visibleText.ts'

type Document = InstanceType<typeof PDFDocument>

/** The weights in which a document is written. */
type Weight = 'regular' | 'bold'

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
interface Font {
  /** The name under which the document has it. */
  readonly name: string
  has(codePoint: number): boolean
  /** True for a script that is written from right to left. */
  readonly isRightToLeft: boolean
}

const require = createRequire(import.meta.url)
const files = new Map<string, Buffer>()

/** The lengths of the heads of WOFF and OpenType files, and of a table's line in their lists of tables, in bytes. */
const WOFF = { head: 44, line: 20 } as const
const SFNT = { head: 12, line: 16 } as const

/** Texts of which each character has a glyph of its own in the first font, whatever stands beside it. */
const PLAIN = /^[\x20-\x7e\xa0-\xac\xae-\xff]*$/

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

/** How a text is written; the size in points. */
export interface Style {
  readonly size: number
  readonly weight?: Weight
  readonly color?: string
}

/** A part of a text in one font. */
interface Run {
  readonly font: Font
  readonly text: string
}

const INK = '#1b1f24'
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/**
 * Writes texts into a document, each character in a font that has it. A text can have come from anybody: what cannot be
 * shown is written by its number.
 */
export class Typesetter {
  private readonly document: Document
  /** The fonts that were opened, and those that are left to open. */
  private readonly fonts: Record<Weight, { readonly opened: Font[]; readonly rest: Generator<Font> }>
  private readonly known = new Map<string, readonly Run[]>()

  constructor(document: Document) {
    this.document = document
    this.fonts = {
      regular: { opened: [], rest: fontsOf(document, 'regular') },
      bold: { opened: [], rest: fontsOf(document, 'bold') },
    }
  }

  /** Returns the width of a text on one line, in points. */
  width(text: string, { size, weight = 'regular' }: Style): number {
    let width = 0
    for (const run of this.runsOf(text, weight))
      width += this.document.font(run.font.name).fontSize(size).widthOfString(run.text)
    return width
  }

  /** Writes a text on one line. @param at its left end and its baseline; with `right`, its right end */
  write(text: string, at: { readonly x: number; readonly y: number; readonly right?: true }, style: Style): void {
    const { size, weight = 'regular', color = INK } = style
    let x = at.right ? at.x - this.width(text, style) : at.x
    this.document.fillColor(color)
    for (const run of this.runsOf(text, weight)) {
      this.document.font(run.font.name).fontSize(size)
      this.document.text(run.text, x, at.y, { lineBreak: false, baseline: 'alphabetic' })
      x += this.document.widthOfString(run.text)
    }
  }

  /** Divides a text into lines of at most a width: between words, or within one that is longer than a line. */
  wrap(text: string, width: number, style: Style): string[] {
    if (this.width(text, style) <= width) return [text]
    const lines: string[] = []
    let line = ''
    let used = 0
    /** Adds a piece to the line, if there is room for it. */
    const add = (piece: string, joint = '') => {
      const more = this.width(line === '' ? piece : joint + piece, style)
      if (used + more > width) return false
      line += line === '' ? piece : joint + piece
      used += more
      return true
    }
    const end = () => {
      if (line !== '') lines.push(line)
      line = ''
      used = 0
    }
    for (const word of text.split(' ')) {
      if (add(word, ' ')) continue
      end()
      if (add(word)) continue
      for (const { segment } of graphemes.segment(word)) {
        if (add(segment)) continue
        end()
        line = segment
        used = this.width(segment, style)
      }
    }
    end()
    return lines
  }

  private runsOf(text: string, weight: Weight): readonly Run[] {
    if (text === '') return []
    if (PLAIN.test(text)) return [{ font: this.firstOf(weight), text }]
    const key = weight + text
    const runs = this.known.get(key) ?? this.divide(showHidden(text), weight)
    this.known.set(key, runs)
    return runs
  }

  private firstOf(weight: Weight): Font {
    return this.fontAt(weight, 0)!
  }

  private fontAt(weight: Weight, index: number): Font | undefined {
    const { opened, rest } = this.fonts[weight]
    if (index === opened.length) {
      const next = rest.next()
      if (!next.done) opened.push(next.value)
    }
    return opened[index]
  }

  /** Returns the first font that has all characters of a text. */
  private fontOf(text: string, weight: Weight): Font | undefined {
    const codePoints = Array.from(text, (character) => character.codePointAt(0)!)
    for (let index = 0; ; index++) {
      const font = this.fontAt(weight, index)
      if (!font || codePoints.every((one) => font.has(one))) return font
    }
  }

  private divide(text: string, weight: Weight): Run[] {
    const runs: { font: Font; text: string }[] = []
    const add = (piece: string, font: Font) => {
      const last = runs.at(-1)
      if (last?.font === font) last.text += piece
      else runs.push({ font, text: piece })
    }
    for (const { segment } of graphemes.segment(text)) {
      const whole = this.fontOf(segment, weight)
      if (whole) add(segment, whole)
      else
        for (const character of segment) {
          const font = this.fontOf(character, weight)
          add(font ? character : byNumber(character), font ?? this.firstOf(weight))
        }
    }
    return inReadingOrder(runs)
  }
}

/** Puts words of a script from right to left that follow each other into their order on the line. */
function inReadingOrder(runs: readonly Run[]): Run[] {
  const ordered: Run[] = []
  for (let at = 0; at < runs.length; ) {
    let end = at
    while (runs[end]?.font.isRightToLeft) {
      end++
      if (runs[end]?.text === ' ' && runs[end + 1]?.font.isRightToLeft) end++
    }
    if (end === at) ordered.push(runs[at++]!)
    else {
      ordered.push(...runs.slice(at, end).reverse())
      at = end
    }
  }
  return ordered
}

/** Reads the file of a font, once in each thread. */
function fileOf(name: string): Buffer {
  const bytes = files.get(name) ?? unpack(readFileSync(require.resolve(name)))
  files.set(name, bytes)
  return bytes
}

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

/** Returns the fonts of a weight in a document, each of which is read when it is asked for the first time. */
function* fontsOf(document: Document, weight: Weight): Generator<Font> {
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
