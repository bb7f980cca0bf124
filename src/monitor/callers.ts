import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { Config } from '../app/config.ts'
import { LendingError } from '../domain/errors.ts'

/**
 * Returns a function that tells whether a Host header names the operators' port: an address, a loopback name,
 * `OPS_HOST` or one of `OPS_NAMES`. Any other name may belong to a page elsewhere that makes the operator's browser
 * call this port under that name (DNS rebinding) and then reads the answers. An address cannot be misused so.
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
 * Requires the token of the metrics, compared in a time that does not depend on how much of it is right. Without a
 * configured token, every client may read the metrics.
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

/** Hashes a text: digests have one length, which the comparison requires. */
const digest = (text: string) => createHash('sha256').update(text).digest()
