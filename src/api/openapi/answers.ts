import { z } from 'zod'

// Schemas of values in answers. The views that build answers are typed by them; nothing is checked with them.

/** A number of things that stays small. */
export const count = z.int().meta({ minimum: 0 })

/** A number of rows, which may grow beyond 2^31. */
export const total = () => z.int().meta({ format: 'int64', minimum: 0 })

/** A rate in percent: 10 is 10%. */
export const percent = z.number().meta({ minimum: 0 })

/** A text of a vocabulary to which a later version may add. */
export const word = (description: string, values: readonly string[]) => z.string().meta(openText(description, values))

/**
 * Describes a text whose known values a later version may add to. A list of all values (`enum`) would make generated
 * clients fail at a value that they do not know.
 */
export const openText = (description: string, values: readonly string[]) => ({
  type: 'string' as const,
  description: `${description}: ${values.map((value) => `\`${value}\``).join(', ')}. A later version may add values.`,
  'x-extensible-enum': values,
})

// Patterns of texts for the documents, in the part of the syntax that regular expressions of every language share.

const CONTROL = '\\x00-\\x1F\\x7F-\\x9F'
const CONTROL_BUT_LINES = '\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F\\x7F-\\x9F'

/** The pattern of a text without control characters, and without spaces at its ends. */
export const TRIMMED = `^[^\\s${CONTROL}](?:[^${CONTROL}]*[^\\s${CONTROL}])?$`

/** The pattern of an externalId that a path can name: not `.`, not `..`, not of spaces only. */
export const NEW_EXTERNAL_ID = `^(?: +[^\\s${CONTROL}]|[^\\s.${CONTROL}]|\\.[^.${CONTROL}]|\\.\\.[^${CONTROL}])[^${CONTROL}]*$`

/** The pattern of an e-mail address with a dot in its domain, or of an empty text. */
export const EMAIL_OR_EMPTY = `^(?:${z.regexes.html5Email.source.slice(1, -2)}+)?$`

/** Returns the pattern of a text without control characters, and not of spaces only where it may not be empty. */
export function textPattern({ min = 1, lines = false }: { readonly min?: 0 | 1; readonly lines?: boolean }): string {
  const control = lines ? CONTROL_BUT_LINES : CONTROL
  return min === 0 ? `^[^${control}]*$` : `^[^${control}]*[^\\s${control}][^${control}]*$`
}
