/** The first character of a CSV file: without it a spreadsheet reads the file in the encoding of its country. */
export const BYTE_ORDER_MARK = '\uFEFF'

/** Texts that a spreadsheet would run, or read as a number or a date, without the mark before them. */
const RUNS = /^'*[=+\-@\t\r]/
/**
 * Digits that a spreadsheet would round after 15 of them, or strip of leading zeros; and texts that it reads as a power
 * of ten.
 */
const CHANGES = /^'*(?:\d{16,}|0\d+|\d+e\d+)$/i
const MARK = "'"

const needsMark = (text: string): boolean => RUNS.test(text) || CHANGES.test(text)

/**
 * Writes a text as a cell of a CSV file that a spreadsheet shows unchanged: an apostrophe precedes a text that it would
 * run as a formula, and digits that it would change.
 */
export const markText = (text: string): string => (needsMark(text) ? MARK + text : text)

/** Returns the text of a cell that `markText` wrote; any other cell is its own text. */
export const unmarkText = (cell: string): string =>
  cell.startsWith(MARK) && needsMark(cell.slice(1)) ? cell.slice(1) : cell
