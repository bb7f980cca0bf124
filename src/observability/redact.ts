/** Names of members that are secret or personal. */
const NAMES = 'password|token|authorization|secret|apiKey|phone|email|mobileNumber|fullName'

/**
 * Patterns that no log may hold, and their replacements. This guard is the last, not the first.
 */
const SECRETS: readonly (readonly [what: RegExp, instead: string])[] = [
  // Members of an object at any depth.
  [new RegExp(`"(${NAMES})":(?:"(?:[^"\\\\]|\\\\.)*"|[\\d.eE+-]+)`, 'gi'), '"$1":"[redacted]"'],
  // A JWT, whole or its head and body; an API key of the service; credentials in a header or a URL.
  [/eyJ[\w-]{8,}(?:\.[\w-]+){0,2}/g, '[token]'],
  [/mk_[\w-]{8,}/g, '[api key]'],
  [/\b(Basic|Bearer) +[\w.~+/-]{6,}=*/gi, '$1 [redacted]'],
  [/(:\/\/)[^\s/@"]{1,500}@/g, '$1[redacted]@'],
  // Phones: with a plus, or as East Africa writes them without. A line break inside JSON is a backslash and a letter.
  [/(?<=^|\\[nrt]|[^\w.-])(?:\+\d[\d ()-]{6,17}\d|0[1-9]\d{8}|25[0-7]\d{9})(?![\w.]\d|\d)/g, '[phone]'],
]

const EMAIL = /[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}/g

/** Removes secrets and personal data from a text, as far as patterns can find them. */
export function redact(text: string): string {
  let clean = text
  for (const [what, instead] of SECRETS) clean = clean.replace(what, instead)
  // This pattern costs more than the others together, and most lines have no `@`.
  return clean.includes('@') ? clean.replace(EMAIL, '[e-mail]') : clean
}

/** An error in the log. */
export interface LoggedError {
  readonly type: string
  readonly message: string
  readonly code?: string
  readonly stack?: string
  readonly cause?: LoggedError
}

const DEEPEST_CAUSE = 3

/**
 * Returns the loggable parts of an error. A driver's errors carry the row at fault (`detail`, `where`) and Prisma's
 * carry the arguments of the call, so only the members here are logged, and never a quoted value that the database
 * could not read.
 */
export function toLoggedError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: redact(String(error)) }
  const { name, code, cause } = error as Error & { code?: unknown }
  // SQLSTATE class 22: the message quotes the invalid value.
  const unreadable = typeof code === 'string' && /^22/.test(code)
  const clean = (text: string) => redact(unreadable ? text.replace(/"[^"\n]*"/g, '"…"') : text)
  return {
    type: error.constructor.name || name,
    message: clean(error.message),
    ...(typeof code === 'string' && { code }),
    ...(error.stack !== undefined && { stack: clean(error.stack) }),
    ...(cause !== undefined && depth < DEEPEST_CAUSE && { cause: toLoggedError(cause, depth + 1) }),
  }
}
