import { readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { buildApp } from '../../src/app/app.ts'
import { createMetrics, type Metrics } from '../../src/observability/metrics.ts'
import { createTotals } from '../../src/services/book/totals.ts'
import type { Deps } from '../../src/services/deps.ts'
import { sequencerJob } from '../../src/services/events/sequencer.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { type Family, readExposition } from '../support/exposition.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let metrics: Metrics
let families: Map<string, Family>

const read = (file: string) => readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8')
const value = (name: string, labels: Record<string, string> = {}) =>
  [...families.values()]
    .flatMap(({ samples }) => samples)
    .find(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([label, wanted]) => sample.labels[label] === wanted),
    )?.value

beforeAll(async () => {
  service = await startService()
  metrics = createMetrics(service.clock.machineNow)
  const deps: Deps = { ...service.deps, listener: metrics.listener }
  const app = await buildApp(deps)
  const { host } = new URL(deps.config.baseUrl)
  const call = async (method: 'GET' | 'POST', url: string, payload?: object, headers: Record<string, string> = {}) => {
    const answer = await app.inject({
      method,
      url,
      headers: { host, authorization: `Bearer ${service.tokens.partner}`, ...headers },
      ...(payload && { payload }),
    })
    return answer.json()
  }
  await call('POST', '/v1/customers', { externalId: 'asha' })
  const { id } = await call('POST', '/v1/loans', { customerId: 'asha', productId: 1, principal: 100_000 })
  for (const idempotencyKey of ['one', 'one', 'two'])
    await call('POST', `/v1/loans/${id}/repayments`, { transactionAmount: 1_500.5, idempotencyKey })
  await call('POST', `/v1/loans/${id}/repayments`, { transactionAmount: 7, idempotencyKey: 'two' })
  const twice = { 'idempotency-key': 'three' }
  for (let index = 0; index < 2; index++)
    await call('POST', `/v1/loans/${id}/repayments/waive-interest`, { transactionAmount: 100 }, twice)
  const records = { host: new URL(deps.config.recordsUrl).host }
  const address = { business_name: 'Duka', phone: '+255700000001', address: 'Arusha', type: 'shop', region: 'Arusha' }
  await call('POST', '/v1/borrowers', { id: 1, ...address }, records)
  const lent = { principal_amount: 500, released_date: '2026-01-31', due_date: '2026-03-31', duration: 2 }
  await call('POST', '/v1/loans', { loan_id: 1, borrower_id: 1, ...lent, duration_period: 'Months' }, records)
  const collected = { repayment_id: 1, loan_id: 1, amount: 50, collection_date: '2026-01-31' }
  for (let index = 0; index < 2; index++) await call('POST', '/v1/repayments', collected, records)
  await call('GET', '/v1/loans/7')
  await call('GET', '/v1/nothing/"quoted"')
  await call('GET', '/v1/%E0')
  await Promise.all([
    call('POST', `/v1/loans/${id}/repayments`, { transactionAmount: 1 }),
    service.another().then((other) => other.post(`/v1/loans/${id}/repayments`, { body: { transactionAmount: 1 } })),
  ])
  // The moments of a sweep and of the sums are told exactly.
  service.clock.stand(new Date(service.clock.now()).toISOString())
  metrics.listener.swept(3)
  metrics.listener.loanNotSwept()
  metrics.listener.jobSucceeded('sweep')
  metrics.listener.jobSucceeded('sequencer')
  metrics.listener.jobFailed('sequencer')
  metrics.listener.limited('account')
  metrics.listener.requestBegun()
  metrics.listener.answered({ style: 'office', route: '/', method: 'HEAD', status: 200, seconds: 0.01 })
  await drain(sequencerJob(deps))
  metrics.listener.webhookAttempted('delivered')
  const endpoints = { active: 2, backing_off: 1, disabled: 0 }
  const totals = createTotals(deps)
  await drain(totals.job)
  metrics.observe({
    pool: deps.db.pool,
    databaseUp: () => true,
    databaseWell: () => false,
    clockAheadMs: () => -1_500,
    stopping: () => false,
    lagMs: () => 1.5,
    totals: totals.latest,
    heads: totals.heads,
    jobs: ['journal', 'sequencer'],
    webhooks: () => ({ endpoints, behind: 7, worst: 5, oldestSeconds: 1.5 }),
  })
  await app.close()
  families = readExposition((await metrics.page()).text)
})
afterAll(() => service.close())

describe('the metrics page', () => {
  it('is what Prometheus reads', async () => {
    expect((await metrics.page()).type).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(families.size).toBeGreaterThan(30)
  })

  it('has requests by style, route pattern and method, and answers by status; never a path', () => {
    const name = 'mkopo_http_requests_total'
    const answered = 'mkopo_http_answers_total'
    const route = '/v1/loans/:id/repayments'
    expect(value(name, { style: 'partner', route, method: 'POST' })).toBe(5)
    expect(value('mkopo_http_request_seconds_total', { style: 'partner', route, method: 'POST' })).toBeGreaterThan(0)
    expect(value('mkopo_http_request_duration_seconds_count', { style: 'partner', method: 'POST' })).toBe(9)
    expect(value(name, { style: 'partner', route: '(unknown)' })).toBe(2)
    expect(value(answered, { style: 'partner', status: '404' })).toBe(2)
    expect(value(answered, { style: 'partner', status: '400' })).toBe(1)
    expect(value(name, { method: 'HEAD' })).toBeUndefined()
    expect(value(name, { style: 'office', route: '/', method: 'GET' })).toBe(1)
    expect(value('mkopo_http_requests_in_flight')).toBe(0)
    expect(value('mkopo_refusals_total', { style: 'partner', code: 'not_found' })).toBe(2)
    const routes = [...families.values()].flatMap(({ samples }) => samples.map(({ labels }) => labels.route ?? ''))
    expect(routes.filter((one) => /asha|quoted|\d{4}/.test(one))).toEqual([])
  })

  it('has the attempts of webhooks by what came of them, and how far the endpoints are behind', () => {
    expect(value('mkopo_webhook_attempts_total', { outcome: 'delivered' })).toBe(1)
    expect(value('mkopo_webhook_attempts_total', { outcome: 'exhausted' })).toBe(0)
    expect(value('mkopo_webhook_endpoints', { state: 'backing_off' })).toBe(1)
    expect(value('mkopo_webhook_behind_events')).toBe(7)
    expect(value('mkopo_webhook_worst_behind_events')).toBe(5)
    expect(value('mkopo_webhook_oldest_undelivered_seconds')).toBe(1.5)
  })

  it('has the money that moved in both styles, by currency, in its units', () => {
    const tzs = { currency: 'TZS' }
    expect(value('mkopo_loans_disbursed_total', tzs)).toBe(2)
    expect(value('mkopo_disbursed_amount_total', tzs)).toBe(100_500)
    expect(value('mkopo_repayments_posted_total', tzs)).toBe(4)
    expect(value('mkopo_repaid_amount_total', tzs)).toBe(3_052)
    expect(value('mkopo_transactions_posted_total', { ...tzs, type: 'Waive Interest' })).toBe(1)
    expect(value('mkopo_duplicates_answered_total', { by: 'token' })).toBe(3)
    expect(value('mkopo_token_mismatches_total')).toBe(1)
    expect(value('mkopo_duplicates_answered_total', { by: 'idempotency_key' })).toBe(1)
    expect(value('mkopo_retries_total')).toBeGreaterThanOrEqual(0)
  })

  it('has the book by organization and currency, the pool and the event loop', () => {
    const tzs = { organization: '1', currency: 'TZS' }
    expect(value('mkopo_book_loans', tzs)).toBe(2)
    // Interest 10,000 less 100 waived; 3,003 paid by both instances.
    expect(value('mkopo_book_outstanding', tzs)).toBe(106_897 + 450)
    expect(value('mkopo_book_principal', tzs)).toBe(100_450)
    expect(value('mkopo_book_overdue', tzs)).toBe(0)
    expect(value('mkopo_book_computed_timestamp_seconds')).toBe(service.clock.machineNow() / 1000)
    expect(value('mkopo_db_pool_connections', { state: 'idle' })).toBeGreaterThan(0)
    expect(value('mkopo_db_up')).toBe(1)
    expect(value('mkopo_db_well')).toBe(0)
    expect(value('mkopo_db_clock_ahead_seconds')).toBe(-1.5)
    expect(value('mkopo_sealed_change', { organization: '1' })).toBeGreaterThan(10)
    expect(value('mkopo_sealed_sequence', { organization: '1' })).toBeGreaterThanOrEqual(8)
    expect(value('mkopo_sealed_sequence', { organization: '0' })).toBe(0)
    expect(value('mkopo_event_loop_late_seconds')).toBe(0.0015)
    expect(value('mkopo_job_last_success_timestamp_seconds', { job: 'sequencer' })).toBe(
      service.clock.machineNow() / 1000,
    )
    expect(value('mkopo_job_failures_total', { job: 'sequencer' })).toBe(1)
    expect(value('mkopo_job_failures_total', { job: 'journal' })).toBe(0)
    expect(value('mkopo_sweep_loans_total')).toBe(3)
    expect(value('mkopo_sweep_loans_left_out_total')).toBe(1)
  })
})

describe('the metrics of the portfolio', () => {
  it('have the loans of each bucket of the policy in force, and the principal at risk', () => {
    const tzs = { organization: '1', currency: 'TZS' }
    expect(value('mkopo_portfolio_loans', { currency: 'TZS', bucket: 'current' })).toBe(2)
    expect(value('mkopo_portfolio_loans', { currency: 'TZS', bucket: 'over 90' })).toBe(0)
    expect(value('mkopo_portfolio_principal', { currency: 'TZS', bucket: 'current' })).toBe(100_000 + 450)
    expect(value('mkopo_portfolio_at_risk', { ...tzs, days: '30' })).toBe(0)
    expect(families.get('mkopo_portfolio_loans')?.samples).toHaveLength(5)
  })
})

describe('what readExposition refuses', () => {
  const head = '# HELP a_total b\n# TYPE a_total counter\n'
  it.each([
    ['a counter without _total', '# HELP a b\n# TYPE a counter\na 1\n'],
    ['a gauge with _total', '# HELP a_total b\n# TYPE a_total gauge\na_total 1\n'],
    ['a series twice', `${head}a_total 1\na_total 2\n`],
    ['a sample before its TYPE', 'a_total 1\n'],
    ['a bad label', `${head}a_total{b=c} 1\n`],
    ['an unescaped quote', `${head}a_total{b="c"d"} 1\n`],
    ['a bad value', `${head}a_total one\n`],
    ['no end of line', `${head}a_total 1`],
    [
      'a histogram that does not add up',
      '# HELP h b\n# TYPE h histogram\nh_bucket{le="1"} 3\nh_bucket{le="+Inf"} 2\nh_sum 1\nh_count 2\n',
    ],
  ])('%s', (_, text) => expect(() => readExposition(text)).toThrow())
})

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: Record<string, string>
  readonly annotations: Record<string, string>
}

const rules: Rule[] = parse(read('prometheus/alerts.yml')).groups.flatMap(({ rules: all }: { rules: Rule[] }) => all)
const dashboard: {
  panels: { id: number; title: string; gridPos: Record<string, number>; targets?: { expr: string }[] }[]
} = JSON.parse(read('grafana/mkopo.json'))

const expressions: [where: string, expr: string][] = [
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }): [string, string] => [title, expr.replaceAll('$__rate_interval', '5m')]),
  ),
]

describe('dashboard and alert rules', () => {
  it.each(expressions)('%s: is PromQL, and names only metrics and labels that exist: %s', (_, expr) => {
    const names: string[] = []
    const labels: string[] = []
    parser.parse(expr).iterate({
      enter: ({ type, from, to }) => {
        if (type.isError) throw new Error(`not PromQL at ${from}: ${expr.slice(from, from + 20)}`)
        if (type.name === 'Identifier') names.push(expr.slice(from, to))
        if (type.name === 'LabelName') labels.push(expr.slice(from, to))
      },
    })
    const all = [...families.values()].flatMap(({ name, type }) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    )
    // `up` and the labels job and instance are Prometheus's own.
    expect(names.filter((name) => name !== 'up' && !all.includes(name))).toEqual([])
    const known = [...families.values()].flatMap(({ samples }) => samples.flatMap((one) => Object.keys(one.labels)))
    expect(labels.filter((label) => !['job', 'instance', ...known].includes(label))).toEqual([])
    expect(names.length).toBeGreaterThan(0)
  })

  it('each rule has a name of its own, a severity and a summary', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    for (const { alert, for: wait = '1m', labels, annotations } of rules) {
      expect(alert).toMatch(/^Mkopo[A-Z]\w+$/)
      expect(wait).toMatch(/^\d+[smh]$/)
      expect(labels.severity).toMatch(/^(page|warn|info)$/)
      expect(annotations.summary).toBeTruthy()
    }
  })

  it('panels have ids of their own and do not overlap', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
    const cells = dashboard.panels.flatMap(({ gridPos: { x = 0, y = 0, w = 0, h = 0 } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
  })
})
