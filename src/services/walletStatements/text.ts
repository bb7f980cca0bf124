/** A run of text on a line, and its place: points from the left edge of the page. */
export interface Cell {
  readonly text: string
  readonly left: number
  readonly right: number
}

/** A line of a page, its cells from left to right. */
export type Line = readonly Cell[]

/** The text of a document: pages of lines, from top to bottom. */
export type StatementText = readonly (readonly Line[])[]

/** Returns the text of a line. */
export const textOf = (line: Line): string => line.map(({ text }) => text).join(' ')

/** A piece of text as a PDF places it. */
export interface Placed {
  readonly text: string
  readonly left: number
  /** The baseline: points from the bottom of the page. */
  readonly base: number
  readonly width: number
  /** The font's size in points. */
  readonly size: number
}

/**
 * The gap between cells, as a share of the font's size: pieces nearer than this belong to one cell (a space is
 * 0.25–0.35).
 */
const CELL_GAP = 0.6
/** The gap between lines, as a share of the font's size: baselines nearer than this are one line. */
const LINE_GAP = 0.4

/** Returns the pieces of a page, drawn in any order, as lines of cells. */
export function linesOf(pieces: readonly Placed[]): Line[] {
  const lines: Placed[][] = []
  let base = Number.POSITIVE_INFINITY
  for (const piece of pieces.filter(({ text }) => text.trim() !== '').toSorted((a, b) => b.base - a.base)) {
    if (base - piece.base > LINE_GAP * piece.size) {
      lines.push([])
      base = piece.base
    }
    lines.at(-1)?.push(piece)
  }
  return lines.map((line) => cellsOf(line.toSorted((a, b) => a.left - b.left)))
}

function cellsOf(pieces: readonly Placed[]): Line {
  const cells: { text: string; left: number; right: number }[] = []
  for (const { text, left, width, size } of pieces) {
    const last = cells.at(-1)
    const gap = last ? left - last.right : Number.POSITIVE_INFINITY
    if (last && gap < CELL_GAP * size) {
      last.text += gap > 0.1 * size ? ` ${text}` : text
      last.right = Math.max(last.right, left + width)
    } else cells.push({ text, left, right: left + width })
  }
  return cells.map((cell) => ({ ...cell, text: cell.text.replace(/\s+/g, ' ').trim() }))
}
