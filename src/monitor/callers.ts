import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { Config } from '../app/config.ts'
import { LendingError } from '../domain/errors.ts'

/**
 * Whether the operators' port is meant by a Host header: an address, a loopback name, `OPS_HOST` or one of `OPS_NAMES`.
 * Any other name may be that of a page elsewhere, which has the operator's browser call this port under its own name (DNS
 * rebinding), and would then read what is answered. An address cannot be led elsewhere.
 */
export function knowsHost({ opsHost, opsNames }: Pick<Config, 'opsHost' | 'opsNames'>): (header?: string) => boolean {
  const names = new Set(['localhost', opsHost.toLowerCase(), ...opsNames])
  return (header = '') => {
    const [, written = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(header.trim().toLowerCase()) ?? []
    const name = written.replace(/\.$/, '')
    return names.has(name) || name.endsWith('.localhost') || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
  }
}

/**
 * Lets those read the metrics who send the token, compared in a time that does not depend on how much of it is right.
 * Without a token everybody may.
 * @throws LendingError `unauthenticated`
 */
export function requireMetricsToken({ metricsToken }: Pick<Config, 'metricsToken'>, header: string | undefined): void {
  if (metricsToken === undefined) return
  const given = /^Bearer +([^\s]+) *$/i.exec(header ?? '')?.[1]
  if (given === undefined)
    throw new LendingError(
      'unauthenticated',
      'The metrics are behind a token: send Authorization: Bearer <METRICS_TOKEN>',
    )
  if (!timingSafeEqual(digest(given), digest(metricsToken)))
    throw new LendingError('unauthenticated', 'This is not the token of METRICS_TOKEN')
}

/** Digests are of one length, which the comparison asks for. */
const digest = (text: string) => createHash('sha256').update(text).digest()
