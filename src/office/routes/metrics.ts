import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { whenClosed } from '../../api/http/request.ts'
import type { Config } from '../../app/config.ts'
import { LendingError } from '../../domain/errors.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { networkOf } from '../../services/access/caller.ts'
import { createGate, type GateBounds } from '../../toolbox/gate.ts'

/** The path of the metrics. */
export const METRICS = '/metrics'

const KEPT_MS = 1_000

/**
 * The places of those who read the metrics, by their addresses: one at a time, and a rest after each. The rest holds back a
 * reader that asks all the time, and none that asks every few seconds.
 */
export const READER_PLACES: GateBounds = {
  atOnce: 4,
  ofGroup: 1,
  waiting: { all: 16, ofGroup: 2 },
  waitMs: 5_000,
  restMs: () => 100,
  refusal: 'the metrics are being read from this address, or from many others; try again',
  againSeconds: 1,
}

/** A page, as it is sent. */
interface Page {
  readonly type: string
  readonly bytes: Buffer
}

/** Adds the metrics for Prometheus: computed once at a time, and kept for a second. */
export function addMetrics(app: FastifyInstance, config: Pick<Config, 'metricsToken'>, metrics: Pick<Metrics, 'page'>) {
  const readers = createGate(READER_PLACES)
  const page = keepFor(KEPT_MS, async (): Promise<Page> => {
    const { type, text } = await metrics.page()
    return { type, bytes: Buffer.from(text) }
  })
  const settings = { anybody: true, public: true, whileBusy: true }
  app.get(METRICS, { config: settings }, async (request: FastifyRequest, reply) => {
    requireMetricsToken(config, request.headers.authorization)
    const leave = await readers.take({ group: networkOf(request.ip) })
    // A connection that closed while the reader waited emits no close event again.
    if (reply.raw.destroyed) leave()
    else whenClosed(request, reply, leave)
    const { type, bytes } = await page()
    return reply.type(type).send(bytes)
  })
}

/** Returns a function that reads one at a time, and answers what was read for so long; a failure is not kept. */
function keepFor<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined
  let keptUntil = Number.POSITIVE_INFINITY
  return () => {
    if (reading && performance.now() < keptUntil) return reading
    keptUntil = Number.POSITIVE_INFINITY
    reading = read()
    reading.then(
      () => {
        keptUntil = performance.now() + ms
      },
      () => {
        reading = undefined
      },
    )
    return reading
  }
}

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
function requireMetricsToken({ metricsToken }: Pick<Config, 'metricsToken'>, header: string | undefined): void {
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
