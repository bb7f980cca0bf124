import { z } from 'zod'

// Patterns of texts for the documents, in the part of the syntax that regular expressions of every language share.

const CONTROL = '\\x00-\\x1F\\x7F-\\x9F'
const CONTROL_BUT_LINES = '\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F\\x7F-\\x9F'

/** Returns the pattern of a text without control characters, and not of spaces only where it may not be empty. */
export function textPattern({ min = 1, lines = false }: { readonly min?: 0 | 1; readonly lines?: boolean }): string {
  const control = lines ? CONTROL_BUT_LINES : CONTROL
  return min === 0 ? `^[^${control}]*$` : `^[^${control}]*[^\\s${control}][^${control}]*$`
}

/** The pattern of a text without control characters, and without spaces at its ends. */
export const TRIMMED = `^[^\\s${CONTROL}](?:[^${CONTROL}]*[^\\s${CONTROL}])?$`

/** The pattern of an externalId that a path can name: not `.`, not `..`, not of spaces only. */
export const NEW_EXTERNAL_ID = `^(?: +[^\\s${CONTROL}]|[^\\s.${CONTROL}]|\\.[^.${CONTROL}]|\\.\\.[^${CONTROL}])[^${CONTROL}]*$`

/** The pattern of an e-mail address with a dot in its domain, or of an empty text. */
export const EMAIL_OR_EMPTY = `^(?:${z.regexes.html5Email.source.slice(1, -2)}+)?$`
