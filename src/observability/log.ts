import { createRequire } from 'node:module'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import type { Config } from '../app/config.ts'

const optionsOf = (level: string): LoggerOptions => ({
  level,
  serializers: {
    err: toLoggedError,
    error: toLoggedError,
    // The multipart plugin traces its options, and in them every header of the request.
    busboyOptions: ({ limits }: { readonly limits?: unknown }) => ({ limits }),
  },
  // Redacts the finished line, at any depth: walking every object before that, as pino's own `redact` does, cost an
  // eighth of a repayment.
  hooks: { streamWrite: redact },
})

interface LogOptions {
  readonly to?: DestinationStream
  readonly several?: boolean
}

/**
 * Creates a logger of JSON lines without secrets and personal data; in a terminal where pino-pretty is installed (for
 * development), of lines for people.
 * @param to the stream of the lines; standard output when left out
 * @param several whether other processes write there, too: lines for people then name the process
 */
export function makeLog({ logLevel }: Pick<Config, 'logLevel'>, { to, several = false }: LogOptions = {}): Logger {
  const options = optionsOf(logLevel)
  if (to) return pino(options, to)
  const ignore = several ? 'hostname' : 'pid,hostname'
  return process.stdout.isTTY && isInstalled('pino-pretty')
    ? pino({ ...options, transport: { target: 'pino-pretty', options: { ignore } } })
    : pino(options, byTurns(pino.destination({ dest: 1, sync: true })))
}

/** Bytes that several processes may write to one pipe at once without mixing (POSIX, `PIPE_BUF`). */
const MOST_AT_ONCE = 4_096

/**
 * Writes the lines of a turn of the event loop at its end: requests that are answered together share one system call. A
 * process that is killed loses no line of an earlier turn, and one that ends in order loses none.
 */
function byTurns(to: DestinationStream): DestinationStream {
  let kept = ''
  const flush = () => {
    if (kept !== '') to.write(kept)
    kept = ''
  }
  process.once('exit', flush)
  return {
    write: (line) => {
      if (kept.length + line.length > MOST_AT_ONCE) flush()
      if (kept === '') setImmediate(flush)
      kept += line
    },
  }
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}

/** Names of members that are secret or personal. */
const NAMES = [
  ...[
    'password',
    'token',
    'authorization',
    'secret',
    'apiKey',
    'signingKey',
    'phone',
    'email',
    'mobileNumber',
    'fullName',
  ],
  ...['payerPhone', 'payerName', 'firstName', 'middleName', 'lastName', 'dateOfBirth', 'idNumber'],
  ...['first_name', 'middle_name', 'last_name', 'date_of_birth', 'id_number'],
].join('|')

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

/** An error in the log. */
export interface LoggedError {
  readonly type: string
  readonly message: string
  readonly code?: string
  readonly stack?: string
  readonly cause?: LoggedError
}

const DEEPEST_CAUSE = 3

/** Removes secrets and personal data from a text, as far as patterns can find them. */
export function redact(text: string): string {
  let clean = text
  for (const [what, instead] of SECRETS) clean = clean.replace(what, instead)
  // This pattern costs more than the others together, and most lines have no `@`.
  return clean.includes('@') ? clean.replace(EMAIL, '[e-mail]') : clean
}

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
