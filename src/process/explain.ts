import { ConfigError } from '../app/config.ts'
import { isUnavailable } from '../db/postgres/errors.ts'
import { WrongSecretError } from '../services/access/keyRing.ts'

/** Notes on an error of listening or connecting which setting says where: the same error can be about several. */
export const withSetting =
  (setting: 'PORT' | 'OPS_PORT' | 'DATABASE_URL' | 'DATABASE_OWNER_URL') =>
  (error: unknown): never => {
    throw Object.assign(Object(error), { setting })
  }

/**
 * Why a start, or a command of the operators', failed: one line that names the setting for what the operator can mend,
 * the whole message for what he cannot.
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
  // Without a setting it is about the database, once that was reached.
  if (setting !== undefined) {
    if (code === 'EADDRINUSE')
      return `${setting}: ${port} on ${address} is taken by another program; stop it, or set ${setting} to a free one`
    if (code === 'EACCES') return `${setting}: ${port} may not be used by this user; set ${setting} to another`
    if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL')
      return `${setting === 'OPS_PORT' ? 'OPS_HOST' : 'HOST'}: ${hostname ?? address} is not an address of this machine`
  }
  return isUnavailable(error)
    ? `the database cannot be reached or takes no changes: ${messageOf(error)}`
    : messageOf(error)
}

/** One line, whatever the error: a connection that fails on several addresses has none of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

/** Says it where whoever starts the service looks. */
export function printStartFailure(why: string): void {
  process.stderr.write(`mkopo could not start: ${why}\n`)
}
