import { isUnavailable } from '../db/postgres/errors.ts'
import { WrongSecretError } from '../services/access/keyRing.ts'
import { ConfigError } from './config.ts'

/**
 * Returns a handler that adds to an error of listening or connecting the setting that names the place, since the same
 * error can belong to several settings.
 */
export const withSetting =
  (setting: 'PORT' | 'OPS_PORT' | 'DATABASE_URL' | 'DATABASE_OWNER_URL') =>
  (error: unknown): never => {
    throw Object.assign(Object(error), { setting })
  }

/**
 * Returns why a start, or a command of the command line, failed: one line that names the setting when the operator can
 * correct it, else the whole message.
 */
export function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof WrongSecretError) return error.message
  const { code, port, address, hostname, setting } = error as NodeJS.ErrnoException & {
    port?: number
    hostname?: string
    address?: string
    setting?: string
  }
  if (setting === 'DATABASE_URL' || setting === 'DATABASE_OWNER_URL')
    return `${setting}: the database cannot be reached: ${messageOf(error)}`
  // An error without a setting is about the database, once it was reached.
  if (setting !== undefined) {
    if (code === 'EADDRINUSE')
      return `${setting}: ${port} on ${address} is taken by another program; stop it, or set ${setting} to a free one`
    if (code === 'EACCES') return `${setting}: ${port} may not be used by this user; set ${setting} to another`
    if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL')
      return `${setting === 'OPS_PORT' ? 'OPS_HOST' : 'HOST'}: ${hostname ?? address} is not an address of this machine`
    return `${setting}: it cannot be listened on: ${messageOf(error)}`
  }
  return isUnavailable(error)
    ? `the database cannot be reached or takes no changes: ${messageOf(error)}`
    : messageOf(error)
}

/** Returns one line for any error: a connection that fails on several addresses has no message of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

/** Writes the reason of a failed start to stderr. */
export function printStartFailure(why: string): void {
  process.stderr.write(`mkopo could not start: ${why}\n`)
}
