/** Text that is HTML already; any other text is escaped when it is put into a page. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** The values that a page can be put together from. */
export type Part = Html | string | number | bigint | undefined | false | readonly Part[]

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/**
 * Control characters, and characters that turn the text around them or break its line: a page shows each as its number.
 * Marks that join letters of a script are left as they are.
 */
const HIDDEN = /[^\P{Cc}\t\n\r]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu

const numbered = (character: string) => `\\u{${character.codePointAt(0)!.toString(16)}}`

const toText = (part: Part): string => {
  if (part instanceof Html) return part.text
  if (part === undefined || part === false) return ''
  if (typeof part === 'object') return part.map(toText).join('')
  return String(part)
    .replace(/[&<>"']/g, (character) => ESCAPES[character]!)
    .replace(HIDDEN, numbered)
}

/** Builds HTML from a template; values that are no HTML are escaped. */
export const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(texts.map((text, index) => text + toText(parts[index])).join(''))
