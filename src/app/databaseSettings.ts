import { z } from 'zod'
import { ConfigError } from './environment.ts'

/** The URL of a database; empty: the embedded one. */
const databaseUrl = z
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

/** A database of `BOOKS`, by its name. */
export interface NamedBook {
  readonly name: string
  readonly url: string
  /** The URL of the role that owns the tables; empty: the role of `url`. */
  readonly ownerUrl: string
}

/** The most books of a service. */
const MOST_BOOKS = 64
/** The name that the directory itself has where books are listed. */
export const DIRECTORY = 'directory'

/** Reads databases by name, `name=postgres://…,other=postgres://…`. A comma in a password is percent-encoded. */
const namedUrls = z
  .string()
  .max(100_000)
  .transform((text, context) => {
    const found = new Map<string, string>()
    for (const one of text === '' ? [] : text.split(',')) {
      const [, name, url = ''] = /^\s*([a-z][a-z0-9-]{0,31})=(.*?)\s*$/.exec(one) ?? []
      const wrong =
        name === undefined || !/^postgres(ql)?:\/\//.test(url) || !isDatabaseUrl(url)
          ? 'must be names and URLs such as first=postgres://user:password@host:5432/database,second=postgres://…; a name has lower case letters, digits and hyphens'
          : name === DIRECTORY
            ? `must have another name than ${DIRECTORY}, which is that of DATABASE_URL`
            : found.has(name) || [...found.values()].includes(url)
              ? 'must name each book, and each database, once'
              : undefined
      if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrong })
      else found.set(name!, url)
    }
    if (found.size > MOST_BOOKS) context.addIssue({ code: 'custom', message: `must be ${MOST_BOOKS} books at most` })
    return found as ReadonlyMap<string, string>
  })
  .default(new Map())

/** The settings of the databases. */
export const databaseSettings = {
  DATABASE_URL: databaseUrl,
  DATABASE_OWNER_URL: databaseUrl,
  BOOKS: namedUrls,
  BOOKS_OWNERS: namedUrls,
}

type DatabaseSettings = { readonly [Name in keyof typeof databaseSettings]: z.output<(typeof databaseSettings)[Name]> }

interface Hosts {
  readonly HOST: string
  readonly OPS_HOST: string
}

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

/** Checks the settings of the database against each other. */
export function requireDatabaseSettings({
  DATABASE_URL,
  DATABASE_OWNER_URL,
  KEY_ENCRYPTION_SECRET,
}: DatabaseSettings & { readonly KEY_ENCRYPTION_SECRET?: string | undefined }): void {
  if (DATABASE_URL !== '' && KEY_ENCRYPTION_SECRET === undefined)
    throw new ConfigError(
      'KEY_ENCRYPTION_SECRET: is required with DATABASE_URL; signing keys are stored encrypted with it',
    )
  if (DATABASE_URL === '' && DATABASE_OWNER_URL !== '')
    throw new ConfigError(
      'DATABASE_OWNER_URL: is for a database that DATABASE_URL names; the embedded database has both roles already',
    )
}

/** Returns the books with the roles that own their tables. @throws ConfigError */
export function booksOf({
  DATABASE_URL,
  BOOKS,
  BOOKS_OWNERS,
  HOST,
  OPS_HOST,
}: DatabaseSettings & Hosts): readonly NamedBook[] {
  if (BOOKS.size > 0 && DATABASE_URL === '')
    throw new ConfigError('BOOKS: needs DATABASE_URL, the database that says in which book each organization is')
  if (BOOKS.size > 0 && [HOST, OPS_HOST].includes('localhost'))
    throw new ConfigError('HOST and OPS_HOST: with BOOKS they have to be addresses such as 127.0.0.1 or 0.0.0.0')
  for (const name of BOOKS_OWNERS.keys())
    if (!BOOKS.has(name)) throw new ConfigError(`BOOKS_OWNERS: has the name ${name}, which BOOKS does not have`)
  return Object.freeze([...BOOKS].map(([name, url]) => ({ name, url, ownerUrl: BOOKS_OWNERS.get(name) ?? '' })))
}
