import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService, type TestService } from '../../support/service.ts'

/** The statements of lists, as the service sends them. */
const sent: { text: string; values: unknown[] }[] = []
let service: TestService

beforeAll(async () => {
  service = await startService()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  await service.post('/v1/loans', { body: { customerId: 'asha', productId: 1, principal: 5_000, externalId: 'l' } })
  await service.post('/v1/loans/external/l/repayments', { body: { transactionAmount: 5 } })
  const { pool } = service.deps.db
  const query = pool.query.bind(pool) as (...args: unknown[]) => unknown
  pool.query = ((...args: unknown[]) => {
    const [first, values] = args
    const config = typeof first === 'string' ? { text: first, values } : (first as { text: string; values: unknown })
    sent.push({ text: config.text, values: (config.values ?? []) as unknown[] })
    return query(...args)
  }) as typeof pool.query
})
afterAll(() => service.close())

const LISTS: Readonly<Record<string, readonly string[]>> = {
  '/v1/loans': [
    ...[
      '',
      'status=Active',
      'status=Active,Overpaid',
      'overdue=true',
      'overdue=false',
      'chargedOff=true',
      'productId=1',
    ],
    ...['externalId=l', 'customerId=1', 'customerExternalId=asha', 'dueBefore=2026-03-01', 'dueAfter=2026-03-01'],
    ...['disbursedFrom=2026-01-01', 'disbursedTo=2026-01-01', 'updatedSince=2026-01-01', 'orderBy=principal'],
    'updatedSince=2026-01-01&status=Active',
  ],
  '/v1/transactions': [
    ...['', 'type=Repayment', 'type=Refund', 'status=reversed', 'status=posted&type=Repayment', 'idempotencyKey=k'],
    ...['postedFrom=2026-01-01', 'postedTo=2026-01-01', 'dateFrom=2026-01-01', 'dateTo=2026-01-01'],
    'updatedSince=2026-01-01',
  ],
  '/v1/loans/external/l/transactions': ['', 'type=Refund', 'dateFrom=2026-01-01', 'updatedSince=2026-01-01'],
  '/v1/customers': ['', 'status=Closed', 'phone=2557', 'name=as', 'updatedSince=2026-01-01'],
  '/v1/loan-products': [''],
  '/v1/audit-trail': [
    '',
    'entity=loan&entityId=1',
    'action=reverse',
    'accountId=1',
    'from=2026-01-01',
    'to=2026-01-01',
  ],
}

describe('the statements of the lists', () => {
  it.each(Object.entries(LISTS))(
    '%s: each filter knows an index: no table is read from end to end',
    async (list, queries) => {
      sent.length = 0
      for (const query of queries) {
        const token = service.tokens.operator
        const { status, body } = await service.get(`${list}?${query}`, { token })
        expect([query, status]).toEqual([query, 200])
        if (body.next !== undefined && !query.includes('orderBy'))
          expect((await service.get(`${list}?${query}&after=${body.next}`, { token })).status).toBe(200)
      }
      const client = await service.owner.pool.connect()
      try {
        // Small tables are read whole because that is cheaper; forbidden to, the planner shows whether it has a choice.
        await client.query('SET enable_seqscan = off')
        const scanned: string[] = []
        for (const { text, values } of sent.filter((one) => /^\s*(SELECT|WITH|\()/i.test(one.text))) {
          const { rows } = await client.query(`EXPLAIN ${text}`, values)
          const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
          if (/Seq Scan/.test(plan)) scanned.push(`${text}\n${plan}`)
        }
        expect(scanned).toEqual([])
        expect(sent.length).toBeGreaterThanOrEqual(queries.length)
      } finally {
        client.release(true)
      }
    },
  )
})
