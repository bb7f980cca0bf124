/** Control characters, and those that are invisible or turn a text around: a terminal obeys them. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

const escaped = (character: string): string =>
  [...character].map((one) => `\\u{${one.codePointAt(0)!.toString(16)}}`).join('')

/** A text that somebody else chose, as a terminal may show it: what it would obey is escaped, `\u{1b}` for one. */
export const visible = (text: string): string => text.replace(HIDDEN, escaped)

/** The same for a finished output, whose line breaks are ours. */
export const visibleLines = (text: string): string =>
  text.replace(HIDDEN, (character) => (character === '\n' ? character : escaped(character)))

/** The same for JSON, which has escapes of its own. */
export const visibleJson = (json: string): string =>
  json.replace(HIDDEN, (character) =>
    character === '\n'
      ? character
      : Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
          .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
          .join(''),
  )
