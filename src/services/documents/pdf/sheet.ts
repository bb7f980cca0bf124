import PDFDocument from 'pdfkit'
import type { Logo } from '../../../domain/organization/logo.ts'
import { type Style, Typesetter } from './typesetter.ts'

/** The edges of what is written on a page, in points. */
const MARGIN = { side: 42, top: 44, bottom: 58 } as const
const GREY = '#5b6470'
const RULE = '#c9d1da'
const BAND = '#eaeff5'

export const BODY: Style = { size: 8 }
export const STRONG: Style = { size: 8, weight: 'bold' }
export const SMALL: Style = { size: 7, color: GREY }
const LEADING = { body: 11, small: 9.5 } as const
const ROW_PADDING = 4

/** What the file of a document says of itself. */
export interface FileFacts {
  readonly title: string
  readonly author: string
  readonly language: string
  /** The moment that the file names as that of its making: a fixed one, so that the same document has the same bytes. */
  readonly at: Date
  readonly size: 'A4' | 'A5'
}

/** A column of a table: its title, its width in points, and whether its texts end at its right edge. */
export interface Column {
  readonly title: string
  readonly width: number
  readonly right?: true
}

/** A cell of a table: its lines, each in its style. */
export type Cell = readonly (readonly [text: string, style: Style])[]

/** What stands on every page. */
export interface EveryPage {
  /** At the top of each page but the first. */
  readonly head: string
  readonly foot: string
  pageOf(page: number, pages: number): string
}

/** The pages of a document, which are written from top to bottom. */
export class Sheet {
  readonly type: Typesetter
  readonly left = MARGIN.side
  readonly right: number
  /** The top of what is written next, in points from the top of the page. */
  y: number = MARGIN.top
  private readonly document: InstanceType<typeof PDFDocument>
  private readonly everyPage: EveryPage
  private readonly chunks: Buffer[] = []
  private readonly floor: number

  constructor({ title, author, language, at, size }: FileFacts, everyPage: EveryPage) {
    this.document = new PDFDocument({
      size,
      margin: 0,
      bufferPages: true,
      lang: language,
      displayTitle: true,
      pdfVersion: '1.7',
      info: { Title: title, Author: author, Creator: 'Mkopo', CreationDate: at },
    })
    this.document.on('data', (chunk: Buffer) => this.chunks.push(chunk))
    this.type = new Typesetter(this.document)
    this.everyPage = everyPage
    this.right = this.document.page.width - MARGIN.side
    this.floor = this.document.page.height - MARGIN.bottom
  }

  get width(): number {
    return this.right - this.left
  }

  /** Places a picture within a box at the left edge. @returns its width, 0 where the bytes are no picture that can be read */
  picture(logo: Logo | null, box: { readonly width: number; readonly height: number }): number {
    if (!logo) return 0
    try {
      this.document.image(Buffer.from(logo.content), this.left, this.y, { fit: [box.width, box.height] })
      return box.width
    } catch {
      return 0
    }
  }

  /** Writes a text in lines of a width from a place on. @returns the height that it took */
  paragraph(text: string, x: number, width: number, style: Style): number {
    const leading = style.size * 1.35
    const lines = this.type.wrap(text, width, style)
    for (const [index, line] of lines.entries())
      this.type.write(line, { x, y: this.y + style.size + index * leading }, style)
    return lines.length * leading
  }

  /** Begins another page where less than a height is left. */
  keep(height: number): boolean {
    if (this.y + height <= this.floor) return false
    this.document.addPage()
    this.type.write(this.everyPage.head, { x: this.left, y: MARGIN.top - 10 }, SMALL)
    this.y = MARGIN.top + 4
    return true
  }

  /** Writes a heading, on a page that has room for more below it. */
  heading(text: string, below = 110): void {
    this.keep(below)
    this.y += 10
    this.type.write(text, { x: this.left, y: this.y + 10 }, { size: 10, weight: 'bold' })
    this.y += 18
  }

  /** Writes labels and values in two columns, the values wrapped. */
  pairs(pairs: readonly (readonly [label: string, value: string])[], x: number, width: number): void {
    const label = Math.min(110, width * 0.42)
    for (const [name, value] of pairs) {
      const values = this.type.wrap(value, width - label, BODY)
      const names = this.type.wrap(name, label - 6, SMALL)
      const height = Math.max(values.length, names.length) * LEADING.body
      this.keep(height)
      for (const [index, line] of names.entries()) this.type.write(line, this.at(x, index), SMALL)
      for (const [index, line] of values.entries()) this.type.write(line, this.at(x + label, index), BODY)
      this.y += height + 1
    }
  }

  private at(x: number, line: number) {
    return { x, y: this.y + 8 + line * LEADING.body }
  }

  /** Writes a band of figures: a label above each value. */
  band(figures: readonly (readonly [label: string, value: string])[]): void {
    const width = this.width / figures.length
    this.keep(40)
    this.document.rect(this.left, this.y, this.width, 34).fill(BAND)
    for (const [index, [label, value]] of figures.entries()) {
      const x = this.left + index * width + 8
      this.type.write(label, { x, y: this.y + 12 }, SMALL)
      this.type.write(value, { x, y: this.y + 26 }, { size: 9, weight: 'bold' })
    }
    this.y += 42
  }

  /** Writes a table, with its titles again on each page. */
  table(columns: readonly Column[], rows: Iterable<readonly Cell[]>): void {
    const titles = () => {
      this.document.rect(this.left, this.y, this.width, 16).fill(BAND)
      const cells = columns.map(({ title }): Cell => [[title, STRONG]])
      this.cells(columns, cells, this.y + 1)
      this.y += 18
    }
    this.keep(50)
    titles()
    for (const row of rows) {
      const wrapped = row.map((cell, index) => this.wrapped(cell, columns[index]!.width))
      const height = Math.max(...wrapped.map(heightOf)) + ROW_PADDING
      if (this.keep(height)) titles()
      this.cells(columns, wrapped, this.y)
      this.y += height
      this.document.moveTo(this.left, this.y).lineTo(this.right, this.y).lineWidth(0.4).strokeColor(RULE).stroke()
    }
  }

  private wrapped(cell: Cell, width: number): Cell {
    return cell.flatMap(([text, style]) =>
      this.type.wrap(text, width - 6, style).map((line): Cell[number] => [line, style]),
    )
  }

  private cells(columns: readonly Column[], cells: readonly Cell[], top: number): void {
    let x = this.left
    for (const [index, { width, right }] of columns.entries()) {
      let y = top + 2
      for (const [text, style] of cells[index] ?? []) {
        const baseline = y + style.size
        this.type.write(text, right ? { x: x + width - 3, y: baseline, right } : { x: x + 3, y: baseline }, style)
        y += leadingOf(style)
      }
      x += width
    }
  }

  /** Writes the foot of each page, and ends the document. @returns its bytes */
  async end(): Promise<Buffer> {
    const { count } = this.document.bufferedPageRange()
    for (let page = 0; page < count; page++) {
      this.document.switchToPage(page)
      const y = this.floor + 22
      this.document.moveTo(this.left, y).lineTo(this.right, y).lineWidth(0.6).strokeColor(RULE).stroke()
      this.type.write(this.everyPage.pageOf(page + 1, count), { x: this.right, y: y + 12, right: true }, SMALL)
      this.y = y + 4
      this.paragraph(this.everyPage.foot, this.left, this.width - 70, SMALL)
    }
    const ended = new Promise((resolve, reject) => this.document.on('end', resolve).on('error', reject))
    this.document.end()
    await ended
    return Buffer.concat(this.chunks)
  }
}

const leadingOf = ({ size }: Style): number => (size < BODY.size ? LEADING.small : LEADING.body)

const heightOf = (cell: Cell): number => cell.reduce((height, [, style]) => height + leadingOf(style), 0) + 2
