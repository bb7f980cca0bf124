import { createRequire } from 'node:module'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import type { Config } from './config.ts'
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

/**
 * JSON lines without secrets and personal data; in a terminal, where pino-pretty is installed (it is for development),
 * lines for people.
 * @param to where the lines go, standard output unless told
 */
export function makeLog({ logLevel }: Pick<Config, 'logLevel'>, to?: DestinationStream): Logger {
  const options = optionsOf(logLevel)
  if (to) return pino(options, to)
  return process.stdout.isTTY && isInstalled('pino-pretty')
    ? pino({ ...options, transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } } })
    : pino(options, byTurns(pino.destination({ dest: 1, sync: true, minLength: MOST_KEPT })))
}

/** Bytes; more than that are written at once. */
const MOST_KEPT = 8_192

/**
 * Writes what was logged in a turn of the event loop at its end: requests that are answered together share one system
 * call. A process that is killed loses no line of an earlier turn, and one that ends by itself none.
 */
function byTurns(to: ReturnType<typeof pino.destination>): DestinationStream {
  let scheduled = false
  const flush = () => {
    scheduled = false
    to.flushSync()
  }
  process.once('exit', flush)
  return {
    write: (line) => {
      to.write(line)
      if (scheduled) return
      scheduled = true
      setImmediate(flush)
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
