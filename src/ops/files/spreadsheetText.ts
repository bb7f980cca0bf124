/** What a spreadsheet runs, or takes for a number or a date of its own, once the mark before it is gone. */
const RUNS = /^'*[=+\-@\t\r]/
/** Digits that it would round beyond 15 of them, or strip of their first zeros; and what it reads as a power of ten. */
const CHANGES = /^'*(?:\d{16,}|0\d+|\d+e\d+)$/i
const MARK = "'"

const needsMark = (text: string): boolean => RUNS.test(text) || CHANGES.test(text)

/**
 * A text as a cell of a CSV file that a spreadsheet shows as it is: one that it would run as a formula, and digits that
 * it would change, get an apostrophe before them.
 */
export const markText = (text: string): string => (needsMark(text) ? MARK + text : text)

/** The text of a cell that `markText` made; any other cell is its own text. */
export const unmarkText = (cell: string): string =>
  cell.startsWith(MARK) && needsMark(cell.slice(1)) ? cell.slice(1) : cell
