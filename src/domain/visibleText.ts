/** Format characters and line separators: with them, two texts that look alike could differ (Unicode, UTS 39). */
const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}]/u

/** A character that is seen: no space, no control, no filler. U+2800 is a pattern of Braille without a dot. */
const VISIBLE = /[^\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u

/** Returns whether a text has characters that cannot be seen, or that turn the text around. */
export const hasInvisible = (text: string): boolean => INVISIBLE.test(text)

/** Returns whether a text has a character that can be seen. */
export const hasVisible = (text: string): boolean => VISIBLE.test(text)

/** Characters that nobody sees, or that change how others are seen. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** Returns how a character is written by its number: `[U+202E]`. */
export const byNumber = (character: string): string =>
  `[U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`

/** Returns a text with each character that is not seen by its number. */
export const showHidden = (text: string): string => text.replace(HIDDEN, byNumber)

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
