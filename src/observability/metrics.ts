import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import manifest from '../../package.json' with { type: 'json' }
import { isCustomerRepayment } from '../domain/loan/entry.ts'
import { currencyOf, minorToNumber } from '../domain/money.ts'
import type { BookTotals } from '../services/book/totals.ts'
import type { Head } from '../services/events/chainHeads.ts'
import type { Listener, Movement } from '../services/listener.ts'
import type { WebhookFigures } from '../services/webhooks/figures.ts'
import { countPortfolios, showPortfolios } from './portfolioMetrics.ts'
import { countKept, countSealed, showHeads } from './sealMetrics.ts'
import { countWebhooks, showWebhooks } from './webhookMetrics.ts'

/** From half a millisecond, the time of a read, to ten seconds, which no request should take. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Gauges of prom-client whose names end as a counter's, which promtool refuses; other metrics hold their sums. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/** Values that are read when the page is requested, and not when they change. */
export interface Sources {
  readonly pool: { readonly totalCount: number; readonly idleCount: number; readonly waitingCount: number }
  readonly databaseUp: () => boolean
  readonly databaseWell: () => boolean
  readonly clockAheadMs: () => number
  readonly stopping: () => boolean
  readonly lagMs: () => number
  readonly totals: () => readonly BookTotals[]
  readonly heads: () => readonly Head[]
  readonly webhooks: () => WebhookFigures
}

/** The metrics of this instance. */
export interface Metrics {
  readonly listener: Listener
  /** Shows these values from now on, too. */
  observe(sources: Sources): void
  /** Returns the page that Prometheus reads, and its media type. */
  page(): Promise<{ readonly type: string; readonly text: string }>
}

/**
 * Creates metrics that count from 0 what their `listener` hears of, in a registry of their own.
 * @param now milliseconds since 1970, for the time of the last sweep
 * @param isTest whether an organization is a test one, whose money is none and is not counted
 */
export function createMetrics(now: () => number, isTest: (organizationId: number) => boolean = () => false): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  new Gauge({ name: 'mkopo_build_info', help: 'Always 1; says the version.', labelNames: ['version'], registers })
    .labels(manifest.version)
    .set(1)

  return {
    listener: {
      ...{ ...countRequests(registers), ...countMoney(registers, isTest) },
      ...countSweeps(registers, now),
      ...countSealed(registers, now),
      ...countKept(registers, now),
      ...countPortfolios(registers, now),
      ...countWebhooks(registers),
    },
    observe: (sources) => {
      showState(registers, sources)
      showBook(registers, sources.totals)
      showPortfolios(registers, sources.totals)
      showHeads(registers, sources.heads)
      showWebhooks(registers, sources.webhooks)
    },
    page: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  }
}

function countRequests(registers: Registry[]) {
  const seconds = new Histogram({
    name: 'mkopo_http_request_duration_seconds',
    help: 'Requests answered, by style, route pattern, method and status.',
    labelNames: ['style', 'route', 'method', 'status'] as const,
    buckets: SECONDS,
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
      seconds.observe({ style, route, method, status }, taken)
    },
    refused: ({ style, code }) => refused.inc({ style, code }),
    signedIn: () => issued.inc(),
    limited: (by) => limited.inc({ by }),
    shed: (because) => shed.inc({ because }),
  } satisfies Partial<Listener>
}

function countMoney(registers: Registry[], isTest: (organizationId: number) => boolean) {
  const labelNames = ['organization', 'currency'] as const
  const disbursed = new Counter({
    name: 'mkopo_loans_disbursed_total',
    help: 'Loans disbursed.',
    labelNames,
    registers,
  })
  const disbursedAmount = new Counter({
    name: 'mkopo_disbursed_amount_total',
    help: 'Principal disbursed, in units of the currency.',
    labelNames,
    registers,
  })
  const posted = new Counter({
    name: 'mkopo_transactions_posted_total',
    help: 'Transactions posted, by type.',
    labelNames: [...labelNames, 'type'] as const,
    registers,
  })
  const repaid = new Counter({
    name: 'mkopo_repayments_posted_total',
    help: 'Repayments posted.',
    labelNames,
    registers,
  })
  const repaidAmount = new Counter({
    name: 'mkopo_repaid_amount_total',
    help: 'Repayments posted, in units of the currency.',
    labelNames,
    registers,
  })
  const duplicates = new Counter({
    name: 'mkopo_duplicates_answered_total',
    help: 'Requests answered with an earlier result, and nothing posted twice.',
    labelNames: ['by'] as const,
    registers,
  })
  const retries = new Counter({
    name: 'mkopo_retries_total',
    help: 'Changes of a loan decided again, because another change was saved first.',
    registers,
  })
  for (const by of ['token', 'idempotency_key'] as const) duplicates.inc({ by }, 0)
  const of = ({ organizationId, currency }: Movement) => ({ organization: organizationId, currency })
  const units = ({ amount, currency }: Movement) => minorToNumber(amount, currencyOf(currency))
  return {
    loanDisbursed: (loan) => {
      if (isTest(loan.organizationId)) return
      disbursed.inc(of(loan))
      disbursedAmount.inc(of(loan), units(loan))
    },
    transactionPosted: (transaction) => {
      if (isTest(transaction.organizationId)) return
      posted.inc({ ...of(transaction), type: transaction.type })
      if (!isCustomerRepayment(transaction.type)) return
      repaid.inc(of(transaction))
      repaidAmount.inc(of(transaction), units(transaction))
    },
    duplicateAnswered: (by) => duplicates.inc({ by }),
    retried: () => retries.inc(),
  } satisfies Partial<Listener>
}

function countSweeps(registers: Registry[], now: () => number) {
  const swept = new Counter({
    name: 'mkopo_sweep_loans_total',
    help: 'Loans whose figures the sweep brought up to date.',
    registers,
  })
  const last = new Gauge({
    name: 'mkopo_sweep_last_success_timestamp_seconds',
    help: 'When the sweep last ended well.',
    registers,
  })
  const failed = new Counter({
    name: 'mkopo_sweep_failures_total',
    help: 'Rounds of the sweep that failed.',
    registers,
  })
  return {
    swept: (loans) => {
      swept.inc(loans)
      last.set(now() / 1000)
    },
    sweepFailed: () => failed.inc(),
  } satisfies Partial<Listener>
}

function showState(registers: Registry[], { pool, stopping, lagMs, ...database }: Sources): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })
  new Gauge({
    name: 'mkopo_db_pool_connections',
    help: 'Connections to the database, by what they do.',
    labelNames: ['state'] as const,
    registers,
    collect() {
      this.set({ state: 'idle' }, pool.idleCount)
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount)
    },
  })
  gauge('mkopo_db_pool_waiting', 'Statements that wait for a connection.', () => pool.waitingCount)
  gauge('mkopo_db_up', 'Whether the database answers, and is no standby.', () => Number(database.databaseUp()))
  gauge('mkopo_db_well', 'Whether the database takes changes, by a clock that is ours.', () =>
    Number(database.databaseWell()),
  )
  gauge(
    'mkopo_db_clock_ahead_seconds',
    "By how much the database's clock is ahead of ours.",
    () => database.clockAheadMs() / 1000,
  )
  gauge('mkopo_stopping', 'Whether a stop has begun.', () => Number(stopping()))
  gauge('mkopo_event_loop_late_seconds', 'How late timers are, over the last half second.', () => lagMs() / 1000)
}

/** Shows the totals of the book as they were last computed: reading them costs nothing, however large the book is. */
function showBook(registers: Registry[], totals: Sources['totals']): void {
  const labelNames = ['organization', 'currency'] as const
  type Sums = { loans: number; overdueLoans: number; outstanding: bigint; overdue: bigint }
  const sums = (): [{ organization: number; currency: string }, Sums][] =>
    totals().flatMap(({ organizationId, products }) =>
      [...Map.groupBy(products, ({ currency }) => currency)].map(
        ([currency, of]): [{ organization: number; currency: string }, Sums] => [
          { organization: organizationId, currency },
          of.reduce(
            (sum, product) => ({
              loans: sum.loans + product.loans,
              overdueLoans: sum.overdueLoans + product.overdueLoans,
              outstanding: sum.outstanding + product.outstanding,
              overdue: sum.overdue + product.overdue,
            }),
            { loans: 0, overdueLoans: 0, outstanding: 0n, overdue: 0n },
          ),
        ],
      ),
    )
  const show = (name: string, help: string, read: (sum: Sums, currency: string) => number) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset()
        for (const [labels, sum] of sums()) this.set(labels, read(sum, labels.currency))
      },
    })
  const units = (minor: bigint, currency: string) => minorToNumber(minor, currencyOf(currency))
  show('mkopo_book_loans', 'Active loans.', ({ loans }) => loans)
  show('mkopo_book_overdue_loans', 'Active loans that are overdue.', ({ overdueLoans }) => overdueLoans)
  show('mkopo_book_outstanding', 'What is owed, in units of the currency.', (sum, currency) =>
    units(sum.outstanding, currency),
  )
  show('mkopo_book_overdue', 'What is overdue, in units of the currency.', (sum, currency) =>
    units(sum.overdue, currency),
  )
  new Gauge({
    name: 'mkopo_book_computed_timestamp_seconds',
    help: 'When the book was last summed up.',
    registers,
    collect() {
      const [first] = totals()
      if (first) this.set(first.computedAt / 1000)
    },
  })
}
