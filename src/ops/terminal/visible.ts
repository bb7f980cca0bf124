import { BYTE_ORDER_MARK } from '../../domain/spreadsheetText.ts'

/** Control characters, and characters that are invisible or reverse a text: a terminal acts on them. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

const escaped = (character: string): string =>
  [...character].map((one) => `\\u{${one.codePointAt(0)!.toString(16)}}`).join('')

/** Escapes a text that somebody else chose, for a terminal: a control character becomes `\u{1b}`, for instance. */
export const visible = (text: string): string => text.replace(HIDDEN, escaped)

/** Escapes a finished output, except its line breaks. */
export const visibleLines = (text: string): string =>
  text.replace(HIDDEN, (character) => (character === '\n' ? character : escaped(character)))

/** Escapes JSON, by JSON's own escapes, except its line breaks. */
export const visibleJson = (json: string): string =>
  json.replace(HIDDEN, (character) =>
    character === '\n'
      ? character
      : Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
          .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
          .join(''),
  )

/** Escapes a CSV file that is written to a terminal or a file, except its line breaks and the mark of its encoding. */
export const visibleCsv = (text: string): string =>
  text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK + visibleLines(text.slice(1)) : visibleLines(text)
