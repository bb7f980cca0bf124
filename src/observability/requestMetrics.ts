import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Listener } from '../services/listener.ts'

/** From half a millisecond, the time of a read, to ten seconds, which no request should take. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/**
 * Counts requests. Durations are by style and method, and each route has one count and one sum: a histogram of each route and
 * status would be thousands of lines, which a scraper reads every few seconds.
 */
export function countRequests(registers: Registry[]) {
  const seconds = new Histogram({
    name: 'mkopo_http_request_duration_seconds',
    help: 'How long answers took, by style and method.',
    labelNames: ['style', 'method'] as const,
    buckets: SECONDS,
    registers,
  })
  const byRoute = ['style', 'route', 'method'] as const
  const requests = new Counter({
    name: 'mkopo_http_requests_total',
    help: 'Requests answered, by style, route pattern and method.',
    labelNames: byRoute,
    registers,
  })
  const sums = new Counter({
    name: 'mkopo_http_request_seconds_total',
    help: 'How long the answers of a route took, all together.',
    labelNames: byRoute,
    registers,
  })
  const answers = new Counter({
    name: 'mkopo_http_answers_total',
    help: 'Requests answered, by style and status.',
    labelNames: ['style', 'status'] as const,
    registers,
  })
  const inFlight = new Gauge({ name: 'mkopo_http_requests_in_flight', help: 'Requests in work.', registers })
  const refused = new Counter({
    name: 'mkopo_refusals_total',
    help: 'Requests refused or failed, by style and error code.',
    labelNames: ['style', 'code'] as const,
    registers,
  })
  const limited = new Counter({
    name: 'mkopo_rate_limited_total',
    help: 'Requests refused for a rate limit, by what it is counted by.',
    labelNames: ['by'] as const,
    registers,
  })
  const shed = new Counter({
    name: 'mkopo_shed_total',
    help: 'Requests turned away early, by reason.',
    labelNames: ['because'] as const,
    registers,
  })
  const issued = new Counter({ name: 'mkopo_tokens_issued_total', help: 'Tokens issued.', registers })
  // A counter starts at 0 explicitly: otherwise its first increase would not show.
  for (const by of ['account', 'address'] as const) limited.inc({ by }, 0)
  for (const because of ['event_loop', 'in_flight', 'share', 'database'] as const) shed.inc({ because }, 0)
  return {
    requestBegun: () => inFlight.inc(),
    answered: ({ style, route, method, status, seconds: taken }) => {
      inFlight.dec()
      seconds.observe({ style, method }, taken)
      requests.inc({ style, route, method })
      sums.inc({ style, route, method }, taken)
      answers.inc({ style, status })
    },
    refused: ({ style, code }) => refused.inc({ style, code }),
    signedIn: () => issued.inc(),
    limited: (by) => limited.inc({ by }),
    shed: (because) => shed.inc({ because }),
  } satisfies Partial<Listener>
}
