import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import manifest from '../../package.json' with { type: 'json' }
import { currencyOf, minorToNumber } from '../domain/money.ts'
import type { BookTotals } from '../services/book/totals.ts'
import type { Head } from '../services/events/chainHeads.ts'
import type { JobName } from '../services/jobs/job.ts'
import type { Listener } from '../services/listener.ts'
import type { WebhookFigures } from '../services/webhooks/figures.ts'
import { countKept, countMoney, countSealed, showHeads, showPortfolios } from './bookMetrics.ts'

/** Gauges of prom-client whose names end as a counter's, which promtool refuses; other metrics hold their sums. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/** Values that are read when the page is requested, and not when they change. */
export interface Sources {
  /** The name of the book that they are of; left out where there is one book. */
  readonly book?: string
  readonly pool: { readonly totalCount: number; readonly idleCount: number; readonly waitingCount: number }
  readonly databaseUp: () => boolean
  readonly databaseWell: () => boolean
  readonly clockAheadMs: () => number
  readonly stopping: () => boolean
  readonly lagMs: () => number
  readonly totals: () => readonly BookTotals[]
  readonly heads: () => readonly Head[]
  readonly webhooks: () => WebhookFigures
  /** The names of the jobs that this process works at. */
  readonly jobs: readonly JobName[]
}

/** The metrics of this instance. */
export interface Metrics {
  readonly listener: Listener
  /** Returns a listener to the jobs of one of several books. */
  jobsOf(book: string): Pick<Listener, 'jobSucceeded' | 'jobFailed'>
  /** Shows the values of one more book from now on. */
  observe(sources: Sources): void
  /** Returns the page that Prometheus reads, and its media type. */
  page(): Promise<{ readonly type: string; readonly text: string }>
}

/**
 * Creates metrics that count from 0 what their `listener` hears of, in a registry of their own.
 * @param now milliseconds since 1970, for the time of the last success of a job
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

  const jobs = countJobs(registers, now)
  const observed: Sources[] = []
  return {
    jobsOf: jobs.of,
    listener: {
      ...countRequests(registers),
      ...countMoney(registers, isTest),
      ...countSweeps(registers),
      ...countSealed(registers),
      ...countKept(registers),
      ...jobs.of(undefined),
      ...countWebhooks(registers),
    },
    observe: (sources) => {
      jobs.show(sources)
      observed.push(sources)
      if (observed.length > 1) return
      const totals = () => observed.flatMap((one) => one.totals())
      showState(registers, observed)
      showBook(registers, totals)
      showPortfolios(registers, totals)
      showHeads(registers, () => observed.flatMap((one) => one.heads()))
      showWebhooks(registers, () => together(observed.map((one) => one.webhooks())))
    },
    // An empty line stands between two metrics, for nobody.
    page: async () => ({ type: registry.contentType, text: (await registry.metrics()).replace(/\n{2,}/g, '\n') }),
  }
}

/** Returns the label of a book; none where there is one book. */
const ofBook = (book: string | undefined) => (book === undefined ? {} : { book })

/** Tells of the background jobs: one pair of metrics for all of them. */
function countJobs(registers: Registry[], now: () => number) {
  const labelNames = ['job', 'book'] as const
  const last = new Gauge({
    name: 'mkopo_job_last_success_timestamp_seconds',
    help: 'When a round of the job last did some work or found none, while no organization failed or was left alone.',
    labelNames,
    registers,
  })
  const failed = new Counter({
    name: 'mkopo_job_failures_total',
    help: 'Times that the job failed for an organization, or for all.',
    labelNames,
    registers,
  })
  return {
    /** Shows jobs that have not failed yet, too. */
    show: ({ jobs, book }: Pick<Sources, 'jobs' | 'book'>) => {
      for (const job of jobs) failed.inc({ job, ...ofBook(book) }, 0)
    },
    of: (book: string | undefined) =>
      ({
        jobSucceeded: (job) => last.set({ job, ...ofBook(book) }, now() / 1000),
        jobFailed: (job) => failed.inc({ job, ...ofBook(book) }),
      }) satisfies Partial<Listener>,
  }
}

function countSweeps(registers: Registry[]) {
  const swept = new Counter({
    name: 'mkopo_sweep_loans_total',
    help: 'Loans whose figures the sweep brought up to date.',
    registers,
  })
  const leftOut = new Counter({
    name: 'mkopo_sweep_loans_left_out_total',
    help: 'Loans that the sweep left out, because a row of the book is damaged; book check names it.',
    registers,
  })
  return {
    swept: (loans) => swept.inc(loans),
    loanNotSwept: () => leftOut.inc(),
  } satisfies Partial<Listener>
}

/** Shows the state of each database, and of the process, which all sources tell alike. */
function showState(registers: Registry[], observed: readonly Sources[]): void {
  const gauge = (name: string, help: string, read: (sources: Sources) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['book'] as const,
      registers,
      collect() {
        for (const sources of observed) this.set(ofBook(sources.book), read(sources))
      },
    })
  const gaugeOfProcess = (name: string, help: string, read: (sources: Sources) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read(observed[0]!))
      },
    })
  new Gauge({
    name: 'mkopo_db_pool_connections',
    help: 'Connections to the database, by what they do.',
    labelNames: ['state', 'book'] as const,
    registers,
    collect() {
      for (const { pool, book } of observed) {
        this.set({ state: 'idle', ...ofBook(book) }, pool.idleCount)
        this.set({ state: 'busy', ...ofBook(book) }, pool.totalCount - pool.idleCount)
      }
    },
  })
  gauge('mkopo_db_pool_waiting', 'Statements that wait for a connection.', ({ pool }) => pool.waitingCount)
  gauge('mkopo_db_up', 'Whether the database answers, and is no standby.', ({ databaseUp }) => Number(databaseUp()))
  gauge('mkopo_db_well', 'Whether the database takes changes, by a clock that is ours.', ({ databaseWell }) =>
    Number(databaseWell()),
  )
  gauge(
    'mkopo_db_clock_ahead_seconds',
    "By how much the database's clock is ahead of ours.",
    ({ clockAheadMs }) => clockAheadMs() / 1000,
  )
  gaugeOfProcess('mkopo_stopping', 'Whether a stop has begun.', ({ stopping }) => Number(stopping()))
  gaugeOfProcess(
    'mkopo_event_loop_late_seconds',
    'How late timers are, over the last half second.',
    ({ lagMs }) => lagMs() / 1000,
  )
}

/** Shows the totals of the book as they were last computed: reading them costs nothing, however large the book is. */
function showBook(registers: Registry[], totals: Sources['totals']): void {
  const labelNames = ['organization', 'currency'] as const
  type Sums = { loans: number; overdueLoans: number; outstanding: bigint; principal: bigint; overdue: bigint }
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
              principal: sum.principal + product.principal,
              overdue: sum.overdue + product.overdue,
            }),
            { loans: 0, overdueLoans: 0, outstanding: 0n, principal: 0n, overdue: 0n },
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
  show('mkopo_book_principal', 'The principal outstanding, in units of the currency.', (sum, currency) =>
    units(sum.principal, currency),
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

/** From half a millisecond, the time of a read, to ten seconds, which no request should take. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/**
 * Counts requests. Durations are by style and method, and each route has one count and one sum: a histogram of each route and
 * status would be thousands of lines, which a scraper reads every few seconds.
 */
function countRequests(registers: Registry[]) {
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
    answered: ({ style, route, method: asked, status, seconds: taken }) => {
      // A HEAD is answered by the handler of its GET, and each of them would have a line of its own.
      const method = asked === 'HEAD' ? 'GET' : asked
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

/** Counts attempts to send events. */
function countWebhooks(registers: Registry[]) {
  const attempts = new Counter({
    name: 'mkopo_webhook_attempts_total',
    help: 'Attempts to send an event to an endpoint, by what came of them; after exhausted, the event is given up.',
    labelNames: ['outcome'] as const,
    registers,
  })
  for (const outcome of ['delivered', 'failed', 'exhausted'] as const) attempts.inc({ outcome }, 0)
  return { webhookAttempted: (outcome) => attempts.inc({ outcome }) } satisfies Partial<Listener>
}

/** Returns the figures of the endpoints of several books together. */
const together = (figures: readonly WebhookFigures[]): WebhookFigures => ({
  endpoints: {
    active: sumOf(figures, ({ endpoints }) => endpoints.active),
    backing_off: sumOf(figures, ({ endpoints }) => endpoints.backing_off),
    disabled: sumOf(figures, ({ endpoints }) => endpoints.disabled),
  },
  behind: sumOf(figures, ({ behind }) => behind),
  worst: Math.max(0, ...figures.map(({ worst }) => worst)),
  oldestSeconds: Math.max(0, ...figures.map(({ oldestSeconds }) => oldestSeconds)),
})

const sumOf = (figures: readonly WebhookFigures[], read: (figures: WebhookFigures) => number) =>
  figures.reduce((sum, one) => sum + read(one), 0)

/** Shows how far the endpoints of all organizations are behind, as it was last read. */
function showWebhooks(registers: Registry[], figures: () => WebhookFigures): void {
  const gauge = (name: string, help: string, read: (figures: WebhookFigures) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read(figures()))
      },
    })
  new Gauge({
    name: 'mkopo_webhook_endpoints',
    help: 'Endpoints of webhooks, by state.',
    labelNames: ['state'] as const,
    registers,
    collect() {
      for (const [state, endpoints] of Object.entries(figures().endpoints)) this.set({ state }, endpoints)
    },
  })
  gauge(
    'mkopo_webhook_behind_events',
    'Events that endpoints have not taken yet, all together.',
    ({ behind }) => behind,
  )
  gauge(
    'mkopo_webhook_worst_behind_events',
    'Events that the endpoint furthest behind has not taken yet.',
    (read) => read.worst,
  )
  gauge(
    'mkopo_webhook_oldest_undelivered_seconds',
    'Age of the oldest event that an endpoint which is not disabled has not taken yet.',
    ({ oldestSeconds }) => oldestSeconds,
  )
}
