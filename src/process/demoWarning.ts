import type { Logger } from 'pino'
import type { Config } from '../app/config.ts'
import type { Db } from '../db/postgres/client.ts'
import { findOpenDemoAccounts } from '../services/lenders/seedDemo.ts'

/** Addresses that only this machine can call. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i

/** Warns in a line when other machines can call and the demonstration accounts accept their published passwords. */
export async function warnOfDemo({ host }: Pick<Config, 'host'>, db: Db, log: Logger): Promise<void> {
  if (LOOPBACK.test(host)) return
  const open = await findOpenDemoAccounts(db)
  if (open.length > 0)
    log.warn(
      `HOST: ${host} lets other machines call, and the demonstration accounts (${open.join(', ')}) still take their published passwords; disable them with mkopo accounts disable, or set HOST to 127.0.0.1`,
    )
}
