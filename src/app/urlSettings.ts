import { z } from 'zod'

/** An origin, `https://host[:port]`: the host selects a style, so a path in it would never match. */
export const hostUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) URL such as http://api.localhost:3000' })
  .refine(
    (text) => URL.canParse(text) && /^\/?$/.test(new URL(text).pathname),
    'must have no path: the host selects the style',
  )
  .refine((text) => !/[?#]/.test(text), 'must have no query and no fragment: the host selects the style')
  .refine((text) => !text.includes('@'), 'must have no user and no password: clients see this URL')
  .transform((text) => text.replace(/\/$/, ''))
  .optional()

/**
 * Returns whether the driver reads a database's URL as it was meant. A URL whose password has a `#`, `/` or `?` is
 * invalid, or names another server: the `@` before the host then comes after it.
 */
function isDatabaseUrl(text: string): boolean {
  // For a socket, which the query names, the driver accepts an empty host after a user.
  const url = URL.parse(text) ?? URL.parse(text.replace('@/', '@localhost/'))
  if (url === null || url.hash !== '' || url.pathname.includes('@')) return false
  if ([...url.searchParams.keys()].some((key) => key.includes('@'))) return false
  try {
    decodeURIComponent(`${url.username}${url.password}${url.pathname}`.replace(/%(?![0-9a-f]{2})/gi, '%25'))
    return true
  } catch {
    return false
  }
}

/** The URL of a database; empty: the embedded one. */
export const databaseUrl = z
  .string()
  .max(2000)
  .refine(
    (url) => url === '' || /^postgres(ql)?:\/\//.test(url),
    'must be a postgres:// URL, or empty for the embedded database',
  )
  .refine(
    (url) => url === '' || isDatabaseUrl(url),
    'must be a URL such as postgres://user:password@host:5432/database, with special characters in the password percent-encoded: # as %23, / as %2F, ? as %3F',
  )
  .default('')
