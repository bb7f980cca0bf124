import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import type { FastifyInstance } from 'fastify'
import { createMetrics } from '../../src/observability/metrics.ts'
import { rememberRecent } from '../../src/office/recent.ts'
import { buildMonitor } from '../../src/office/server.ts'
import { journalJob } from '../../src/services/accounting/keeper.ts'
import { createTotals } from '../../src/services/book/totals.ts'
import type { Deps } from '../../src/services/deps.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { DEMO_OPERATOR } from '../../src/services/organizations/seedDemo.ts'
import { portfolioJob } from '../../src/services/portfolio/keepDays.ts'
import { ORGANIZATION, say, withLargeBook } from '../largeBook.ts'

// Times every page of the office on a large book: each page once after the start, and then several times.

const { values } = parseArgs({
  options: {
    loans: { type: 'string', default: '1000000' },
    transactions: { type: 'string', default: '3000000' },
    /** A directory for the book, which stays there and is used again. */
    directory: { type: 'string' },
  },
})

const TIMES = 5

/** Signs in. @returns the cookie */
async function signIn(monitor: FastifyInstance): Promise<string> {
  const { email, password } = DEMO_OPERATOR
  const answer = await monitor.inject({
    ...{ method: 'POST', url: '/sign-in' },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ email, password }).toString(),
  })
  const [{ name, value } = { name: '', value: '' }] = answer.cookies
  return `${name}=${value}`
}

/** Returns the pages, with a customer, a loan and a transaction of the book in their addresses. */
async function pagesOf({ db }: Deps): Promise<string[]> {
  const { rows } = await db.pool.query<Record<'customer' | 'external' | 'loan' | 'entry', string>>(
    `SELECT l.customer_id::text AS customer, c.external_id AS external, l.id::text AS loan, e.id::text AS entry
    FROM loan l JOIN customer c ON c.organization_id = l.organization_id AND c.id = l.customer_id
    JOIN loan_entry e ON e.organization_id = l.organization_id AND e.loan_id = l.id
    WHERE l.organization_id = $1 AND l.status = 'Active' LIMIT 1`,
    [ORGANIZATION],
  )
  const { customer, external, loan, entry } = rows[0]!
  const searched = [external, external.slice(0, 3), '0712345678', entry, loan, 'nobody has this']
  return [
    ...['/', '/customers', `/customers/${customer}`, `/loans/${loan}`],
    ...searched.map((text) => `/search?q=${encodeURIComponent(text)}`),
    ...['/arrears', '/arrears?bucket=over%2090', '/portfolio-at-risk', '/pending', '/products', '/documents'],
    ...['/journal', '/trial-balance', '/webhooks', '/audit', '/exports', '/book', `/loans/${loan}/do/waive`],
  ]
}

async function measure(deps: Deps): Promise<void> {
  await drain(journalJob(deps))
  await drain(portfolioJob(deps)).catch((error: unknown) => say(String(error)))
  const totals = createTotals(deps)
  await drain(totals.job)
  const recent = rememberRecent(deps.machineNow)
  const log = { error: (context: object) => say(JSON.stringify(context)) }
  const monitor = buildMonitor({ deps, metrics: createMetrics(deps.machineNow), recent, totals, log })
  const cookie = await signIn(monitor)
  const head = ['page', 'status', 'first, ms', `slowest of ${TIMES}, ms`, 'kB']
  const table = new Table({
    head,
    colAligns: ['left', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [] },
  })
  for (const url of await pagesOf(deps)) {
    const took: number[] = []
    let [status, bytes] = [0, 0]
    for (let time = 0; time <= TIMES; time++) {
      const began = performance.now()
      const answer = await monitor.inject({ url, headers: { cookie } })
      took.push(performance.now() - began)
      ;[status, bytes] = [answer.statusCode, answer.rawPayload.length]
    }
    const [first, ...others] = took.map((ms) => Math.round(ms))
    table.push([url, status, first!, Math.max(...others), Math.round(bytes / 1000)])
  }
  say(table.toString())
  await monitor.close()
}

const { loans, transactions, directory } = values
await withLargeBook({ loans: Number(loans), transactions: Number(transactions), directory }, measure)
