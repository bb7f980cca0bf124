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

const toText = (part: Part): string => {
  if (part instanceof Html) return part.text
  if (part === undefined || part === false) return ''
  if (typeof part === 'object') return part.map(toText).join('')
  return String(part).replace(/[&<>"']/g, (character) => ESCAPES[character]!)
}

/** Builds HTML from a template; values that are no HTML are escaped. */
export const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(texts.map((text, index) => text + toText(parts[index])).join(''))
