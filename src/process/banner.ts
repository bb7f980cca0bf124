import type { Logger } from 'pino'
import { type Config, hostOf } from '../app/config.ts'
import type { Db } from '../db/postgres/client.ts'
import {
  DEMO_AUDITOR,
  DEMO_OPERATOR,
  DEMO_PARTNER,
  DEMO_SANDBOX,
  findOpenDemoAccounts,
} from '../services/organizations/seedDemo.ts'

/** A process with pages for operators; with its id where there are several. */
interface Shown {
  readonly opsOrigin: string
  readonly pid?: number | undefined
}

/** Every address of the machine, as the host of an origin: one can listen there, and cannot call it. */
const EVERY_ADDRESS = /^(https?:\/\/)(0\.0\.0\.0|\[::\])(?=:|$)/

/** Returns an origin that this machine can call, of one on which a process listens. */
const callable = (origin: string): string => origin.replace(EVERY_ADDRESS, '$1127.0.0.1')

/** Returns whether a URL of the settings is one that others call: the names under localhost are this machine. */
const isPublic = (url: string): boolean => !/(^|\.)localhost$/.test(hostOf(url))

/**
 * Builds the text that a start prints: where the service listens, what it serves, and a call to paste.
 * @param origin on which it listens
 */
export function banner(config: Config, origin: string, listening: readonly Shown[]): string {
  const isEverywhere = EVERY_ADDRESS.test(origin)
  const at = callable(origin)
  const processes = listening.map(({ opsOrigin, pid }) => ({ opsOrigin: callable(opsOrigin), pid }))
  const everywhere = ' and every other address of this machine (of a container: on the port that it publishes)'
  /**
   * Returns the options and the address of a call. Where other host names are not answered, the call names the style's
   * host in a header: the machine may not resolve that name.
   */
  const call = (url: string, options: string, path: string) => {
    if (isEverywhere && isPublic(url)) return `curl -s ${options} ${url}${path}`
    return `curl -s${config.fallbackStyle === 'none' ? ` -H 'Host: ${hostOf(url)}'` : ''} ${options} ${at}${path}`
  }
  const lines = [
    `Mkopo listens on ${at}${isEverywhere ? everywhere : ''}${processes.length > 1 ? ` in ${processes.length} processes` : ''}`,
    '',
    `  tokens    ${config.authUrl}    ${config.authUrl}/docs`,
    `  partner   ${config.baseUrl}    ${config.baseUrl}/docs`,
    `  records   ${config.recordsUrl}    ${config.recordsUrl}/docs`,
    ...processes.map(
      ({ opsOrigin, pid }) =>
        `  operators ${opsOrigin}    ${opsOrigin}/metrics${pid === undefined ? '' : `    process ${pid}`}`,
    ),
    '',
  ]
  if (config.seedDemo)
    lines.push(
      'Demonstration accounts, with their passwords:',
      '',
      `  ${DEMO_PARTNER.email} / ${DEMO_PARTNER.password}    USER: an integrator`,
      `  ${DEMO_OPERATOR.email} / ${DEMO_OPERATOR.password}    ADMIN: an operator, at ${processes[0]?.opsOrigin} as well`,
      `  ${DEMO_AUDITOR.email} / ${DEMO_AUDITOR.password}    AUDITOR: reads everything, and changes nothing`,
      `  ${DEMO_SANDBOX.email} / ${DEMO_SANDBOX.password}    ADMIN of a test organization, whose clock can be advanced`,
      '',
      'A first call to paste:',
      '',
      `  TOKEN=$(${call(config.authUrl, `-u ${DEMO_PARTNER.email}:${DEMO_PARTNER.password}`, '/v1/auth/token')} | cut -d '"' -f 4)`,
      `  ${call(config.baseUrl, '-H "Authorization: Bearer $TOKEN"', '/v1/loan-products')}`,
      '',
    )
  lines.push('Ctrl-C stops it.', '', '')
  return lines.join('\n')
}

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
