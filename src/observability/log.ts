import { createRequire } from 'node:module'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import type { Config } from '../app/config.ts'
import { redact, toLoggedError } from './redact.ts'

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
