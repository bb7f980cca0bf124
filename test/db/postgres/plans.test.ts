import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { portfolioJob } from '../../../src/services/portfolio/keepDays.ts'
import { startService, type TestService } from '../../support/service.ts'

/** The statements of the money path, by name, as the service sends them. */
const statements = new Map<string, string>()
/** What they were sent with last. */
const sent = new Map<string, unknown[]>()
/** Those that carry the rows of many requests, and those of one that comes alone. */
const SHARED = [
  ...['find-applicants', 'find-heads-by-externalId', 'find-heads-by-id'],
  ...['find-loans-by-externalId', 'find-loans-by-id', 'insert-loans', 'save-loans'],
]
const ALONE = SHARED.map((name) => `${name}-alone`)
let service: TestService

beforeAll(async () => {
  service = await startService()
  const { pool } = service.deps.db
  const listen = (config: unknown) => {
    if (typeof config === 'string') statements.set(config.slice(0, 60), config)
    else if (typeof config === 'object' && config !== null && 'text' in config) {
      const name = 'name' in config ? String(config.name) : String(config.text).slice(0, 60)
      statements.set(name, String(config.text))
      if ('values' in config && Array.isArray(config.values)) sent.set(name, config.values)
    }
  }
  const query = pool.query.bind(pool) as (...args: unknown[]) => unknown
  pool.query = ((...args: unknown[]) => {
    listen(args[0])
    return query(...args)
  }) as typeof pool.query

  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  const application = { customerId: 'asha', productId: 2, principal: 5_000, externalId: 'order' }
  const { body: loan } = await service.post('/v1/loans', { body: application, headers: { 'idempotency-key': 'k' } })
  for (const path of [`/v1/loans/${loan.id}`, '/v1/loans/external/order']) {
    await service.post(`${path}/repayments`, { body: { transactionAmount: 5 } })
    await service.get(path)
  }
  const { body: other } = await service.post('/v1/loans', { body: { ...application, externalId: 'other' } })
  const pairs = [
    [`/v1/loans/${loan.id}`, `/v1/loans/${other.id}`],
    ['/v1/loans/external/order', '/v1/loans/external/other'],
  ]
  // Three times, so that some wait for the first and go together.
  for (const pair of pairs) {
    const paths = [...pair, ...pair, ...pair]
    await Promise.all(paths.map((path) => service.get(path)))
    await Promise.all(paths.map((path) => service.post(`${path}/repayments`, { body: { transactionAmount: 5 } })))
  }
  // Of one instalment, so that it is one row of everything.
  await service.post('/v1/loans', { body: { ...application, productId: 1, externalId: 'short' } })
  const { externalId: _, ...more } = application
  await Promise.all([more, more, more].map((body) => service.post('/v1/loans', { body })))
  await service.get('/v1/loans?customerExternalId=asha&status=Active')
  await service.get(`/v1/loans?customerId=${loan.customerId}&orderBy=disbursedAt`)
  await service.get('/v1/loans?orderBy=principal&sortOrder=DESC')
  await service.get('/v1/credit-scorecard/asha')
  await service.get('/v1/borrowers')
  await service.get('/v1/customers')
  await drain(sequencerJob(service.deps))
  for (const filter of ['', '?types=loan.*', `?loanId=${loan.id}`, '?customerExternalId=asha&types=loan.*'])
    await service.get(`/v1/events${filter}`)
  const { body: feed } = await service.get('/v1/events?rows=2')
  await service.get(`/v1/events?after=${feed.next}`)
  service.clock.set('2026-03-05')
  await drain(sweepJob(service.deps))
  await drain(portfolioJob(service.deps))
})
afterAll(() => service.close())

/** The plan for any values, as JSON or text; `EXPLAIN (GENERIC_PLAN)` is not there before PostgreSQL 16. */
async function explainGeneric(client: pg.PoolClient, text: string, format: 'JSON' | 'TEXT'): Promise<unknown[]> {
  const parameters = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
  const nulls = parameters === 0 ? '' : `(${Array(parameters).fill('NULL').join(', ')})`
  await client.query(`SET plan_cache_mode = force_generic_plan; PREPARE explained AS ${text}`)
  const { rows } = await client.query(`EXPLAIN (FORMAT ${format}) EXECUTE explained${nulls}`)
  await client.query('DEALLOCATE explained; RESET plan_cache_mode')
  return rows.map((row) => row['QUERY PLAN'])
}

describe('the plans of the money path', () => {
  it('know an index for every table: nothing has to be read from end to end', async () => {
    const client = await service.deps.db.pool.connect()
    try {
      // Small tables are read whole because that is cheaper; forbidden to, the planner shows whether it has a choice.
      await client.query('SET enable_seqscan = off')
      const scanned: string[] = []
      for (const [name, text] of statements) {
        if (!/^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)/i.test(text) || /count\(\*\) AS total/.test(text)) continue
        const plan = (await explainGeneric(client, text, 'TEXT')).join('\n')
        if (/Seq Scan/.test(plan)) scanned.push(`${name}\n${plan}`)
      }
      expect(scanned).toEqual([])
    } finally {
      client.release(true)
    }
  })

  it('look at one row of each organization, to find what a job has to do', async () => {
    const client = await service.deps.db.pool.connect()
    try {
      // Where a table is large, the planner may find a join of all its rows cheaper; it must not have the choice.
      await client.query('SET enable_seqscan = off; SET enable_nestloop = off; SET enable_indexonlyscan = off')
      for (const [name, table] of [
        ['find-unsealed', 'audit_entry'],
        ['find-portfolios', 'loan'],
      ] as const) {
        const plan = (await explainGeneric(client, statements.get(name)!, 'TEXT')).join('\n')
        const scan = new RegExp(
          `Limit.*\\n.*Index Scan using ${table}_pkey on ${table} .*\\n.*Index Cond: \\(\\(?organization_id = o`,
        )
        expect(plan, name).toMatch(scan)
      }
    } finally {
      client.release(true)
    }
  })

  it('cost as much for the one row that is sent as for any number, so that they are made once', async () => {
    type Plan = [{ Plan: { 'Total Cost': number } }]
    const costOf = ([plan]: unknown[]) => (plan as Plan)[0].Plan['Total Cost']
    const client = await service.deps.db.pool.connect()
    try {
      for (const name of SHARED) {
        const text = statements.get(name)!
        const { rows } = await client.query(`EXPLAIN (FORMAT JSON) ${text}`, sent.get(name))
        const ofOne = costOf(rows.map((row) => row['QUERY PLAN']))
        expect([name, ofOne]).toEqual([name, costOf(await explainGeneric(client, text, 'JSON'))])
      }
    } finally {
      client.release(true)
    }
  })

  it('of what comes alone are made once, too: after five of its own, Postgres keeps to the one for any values', async () => {
    const client = await service.deps.db.pool.connect()
    try {
      // What was made is there already: for an organization that is not, nothing is made.
      const [, ...loan] = sent.get('insert-loans-alone')!
      sent.set('insert-loans-alone', [0, ...loan])
      for (const name of ALONE)
        for (let index = 0; index < 8; index++) {
          await client.query('BEGIN')
          await client.query({ name: `again-${name}`, text: statements.get(name)!, values: sent.get(name)! })
          await client.query('ROLLBACK')
        }
      const { rows } = await client.query(
        'SELECT name, custom_plans FROM pg_prepared_statements WHERE name LIKE \'again-%\' ORDER BY name COLLATE "C"',
      )
      expect(rows).toEqual(ALONE.map((name) => ({ name: `again-${name}`, custom_plans: 5n })))
    } finally {
      client.release(true)
    }
  })

  it('are of the statements that matter', () => {
    const ofEvents = ['find-unsealed', 'read-events', 'read-events-of', 'loans-of-events', 'event-sealed-at']
    expect([...statements.keys()]).toEqual(expect.arrayContaining([...SHARED, ...ALONE, ...ofEvents]))
  })
})

describe('the pages of the loans', () => {
  // One change a page: what is left of it by more depends on who may still see the old versions, an analysis for one.
  it('have room for what becomes of a loan: it stays in its own', async () => {
    const { pool } = service.deps.db
    const pageOf = async (ids: readonly number[]): Promise<number[]> => {
      const text = 'SELECT (ctid::text::point)[0]::int AS page FROM loan WHERE id = ANY ($1) ORDER BY id'
      return (await pool.query(text, [ids])).rows.map(({ page }) => page)
    }
    const body = { customerId: 'asha', productId: 2, principal: 5_000 }
    const made = await Promise.all(Array.from({ length: 200 }, () => service.post('/v1/loans', { body })))
    const ids = made.map(({ body: loan }) => Number(loan.id)).sort((one, other) => one - other)
    const pages = await pageOf(ids)
    // Not the first page, which other loans have changed in, nor the last, which is not full.
    const full = [...new Set(pages)].sort((one, other) => one - other).slice(1, -1)
    const ofEach = full.map((page) => ids[pages.indexOf(page)]!)
    for (const id of ofEach) await service.post(`/v1/loans/${id}/repayments`, { body: { transactionAmount: 5 } })
    expect((await pageOf(ofEach)).sort((one, other) => one - other)).toEqual(full)
    expect(full.length).toBeGreaterThan(3)
  })
})
