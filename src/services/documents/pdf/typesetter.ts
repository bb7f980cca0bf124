import type PDFDocument from 'pdfkit'
import { byNumber, showHidden } from '../../../domain/visibleText.ts'
import { type Font, fontsOf, PLAIN, type Weight } from './fonts.ts'

type Document = InstanceType<typeof PDFDocument>

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
