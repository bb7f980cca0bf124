import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENTRY_TYPES } from '../../src/domain/loan/entry.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import type { BookTotals } from '../../src/services/book/totals.ts'
import { documentOf, operationsOf } from '../support/document.ts'
import { openOffice } from '../support/office.ts'
import { startService, type TestService } from '../support/service.ts'

// The page that Prometheus reads, of a service on which everything has happened.

const MOST_LINES = 1_760
const ORGANIZATIONS = 50
const CURRENCIES = ['TZS', 'KES', 'UGX']
const STATUSES = [200, 202, 204, 303, 400, 401, 403, 404, 405, 409, 413, 415, 429, 499, 500, 503]
const CODES = ['invalid_argument', 'unauthenticated', 'permission_denied', 'not_found', 'method_not_allowed']
const MORE_CODES = ['already_exists', 'failed_precondition', 'aborted', 'payload_too_large', 'unsupported_media_type']

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const organizations = Array.from({ length: ORGANIZATIONS }, (_, index) => index + 1)
const currencyOf = (organizationId: number) => CURRENCIES[organizationId % CURRENCIES.length]!

/** Returns the totals of an organization with two products, and as many buckets as a policy may have. */
const totalsOf = (organizationId: number): BookTotals => {
  const currency = currencyOf(organizationId)
  const sums = { loans: 7, overdueLoans: 2, outstanding: 9n, principal: 8n, overdue: 3n, atRisk: [4n, 3n, 2n, 1n] }
  const product = (productId: number) => ({ ...sums, productId, name: 'Flat', currency })
  const bucket = (place: number) => ({ currency, bucket: `late ${organizationId} ${place}`, loans: 1, principal: 5n })
  return {
    organizationId,
    computedAt: 0,
    tookMs: 1,
    products: [product(1), product(2)],
    buckets: Array.from({ length: 20 }, (_, place) => bucket(place)),
    days: [],
  }
}

/** Returns every route of both ports: style, method and pattern. */
async function everyRoute(): Promise<{ style: string; method: string; route: string }[]> {
  const { config } = service.deps
  const documents = { partner: config.baseUrl, record: config.recordsUrl, auth: config.authUrl }
  const routes = await Promise.all(
    Object.entries(documents).map(async ([style, url]) => {
      const body = await documentOf(service, new URL(url).host)
      const unlisted = ['/', '/docs', '/docs/*', '/openapi.json', '/openapi.yaml', '/health/live', '/health/ready']
      return [...operationsOf(body).map(([name]) => name), ...unlisted.map((path) => `GET ${path}`), 'GET (unknown)']
        .map((name) => name.split(' '))
        .map(([method = '', route = '']) => ({ style, method, route }))
    }),
  )
  const office = openOffice(service.deps)
  const tree = office.monitor.printRoutes({ commonPrefix: false })
  const paths = [...tree.matchAll(/(\/\S*) \(([A-Z, ]+)\)/g)]
  await office.monitor.close()
  const ofOffice = paths.flatMap(([, route = '', methods = '']) =>
    methods.split(', ').map((method) => ({ style: 'office', method, route })),
  )
  return [...routes.flat(), ...ofOffice]
}

describe('the metrics page', () => {
  it(`has at most ${MOST_LINES} lines with ${ORGANIZATIONS} organizations, whatever was called and answered`, async () => {
    const { listener, observe, page } = createMetrics(service.clock.now)
    const routes = await everyRoute()
    expect(routes.length).toBeGreaterThan(150)
    const told = { requestId: '1', organizationId: 1, accountId: 1, address: '', reason: '' }
    for (const { style, method, route } of routes) {
      for (const status of STATUSES) listener.answered({ style, route, method, status, seconds: 0.01 })
      for (const code of [...CODES, ...MORE_CODES, 'resource_exhausted', 'internal', 'unavailable'])
        listener.refused({ ...told, style, route, code: code as 'internal' })
    }
    for (const organizationId of organizations) {
      const movement = { organizationId, currency: currencyOf(organizationId), amount: 100n }
      listener.loanDisbursed(movement)
      for (const type of ENTRY_TYPES) listener.transactionPosted({ ...movement, type })
    }
    observe({
      pool: service.deps.db.pool,
      databaseUp: () => true,
      databaseWell: () => true,
      clockAheadMs: () => 0,
      stopping: () => false,
      lagMs: () => 0,
      jobs: ['sequencer', 'journal', 'portfolio'],
      totals: () => organizations.map(totalsOf),
      heads: () => [0, ...organizations].map((id) => ({ organizationId: id, changeId: 1n, sequence: 1n, hash: 'a' })),
      webhooks: () => ({
        endpoints: { active: 1, backing_off: 1, disabled: 1 },
        behind: 1,
        worst: 1,
        oldestSeconds: 1,
      }),
    })
    const { text } = await page()
    const lines = text.trimEnd().split('\n')
    expect(lines.filter((line) => line.startsWith('mkopo_book_outstanding{'))).toHaveLength(ORGANIZATIONS)
    const byMetric = Object.entries(Object.groupBy(lines, (line) => line.split(/[ {]/, 1).join()))
    const longest = byMetric.map(([name, of = []]) => [of.length, name] as const).sort(([one], [other]) => other - one)
    // 20 buckets of all organizations, and the others together, of each currency.
    const ofBuckets = lines.filter((line) => line.startsWith('mkopo_portfolio_loans{'))
    expect(ofBuckets).toHaveLength(20 + CURRENCIES.length)
    const loans = ofBuckets.map((line) => Number(line.split(' ').at(-1)))
    expect(loans.reduce((sum, one) => sum + one)).toBe(20 * ORGANIZATIONS)
    expect(lines.length, longest.slice(0, 12).join('; ')).toBeLessThanOrEqual(MOST_LINES)
  })
})
