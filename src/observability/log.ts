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
  // The finished line, whoever wrote it and however deep a secret sits in it: walking every object for it beforehand, as
  // pino's own `redact` does, cost an eighth of a repayment.
  hooks: { streamWrite: redact },
})

interface LogOptions {
  readonly to?: DestinationStream
  readonly several?: boolean
}

/**
 * JSON lines without secrets and personal data; in a terminal, where pino-pretty is installed (it is for development),
 * lines for people.
 * @param to where the lines go, standard output unless told
 * @param several whether other processes write there, too: lines for people then tell the process
 */
export function makeLog({ logLevel }: Pick<Config, 'logLevel'>, { to, several = false }: LogOptions = {}): Logger {
  const options = optionsOf(logLevel)
  if (to) return pino(options, to)
  const ignore = several ? 'hostname' : 'pid,hostname'
  return process.stdout.isTTY && isInstalled('pino-pretty')
    ? pino({ ...options, transport: { target: 'pino-pretty', options: { ignore } } })
    : pino(options, byTurns(pino.destination({ dest: 1, sync: true })))
}

/** What several processes write to one pipe is not mixed up as long as it is no more at once (POSIX, `PIPE_BUF`). */
const MOST_AT_ONCE = 4_096

/**
 * Writes what was logged in a turn of the event loop at its end: requests that are answered together share one system
 * call. A process that is killed loses no line of an earlier turn, and one that ends by itself none.
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
