import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService, type TestService } from '../../support/service.ts'

interface Sent {
  readonly text: string
  readonly values: unknown[]
}

/** The statements of lists, as the service sends them. */
const sent: Sent[] = []
let service: TestService

/** The lists, and the filters of each with the indexes by which the rows are found, step by step. */
const LISTS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  '/v1/loans': {
    '': ['loan_arrival'],
    'status=Overpaid': ['loan_status_arrival'],
    'status=Overpaid,Closed (written off)': ['loan_status_arrival'],
    'overdue=true': ['loan_status_arrival'],
    'overdue=false': ['loan_arrival'],
    'chargedOff=true': ['loan_charged_off'],
    'productId=2': ['loan_product_arrival'],
    'externalId=l': ['loan_external_id'],
    'customerId=1': ['loan_customer'],
    'customerExternalId=asha': ['customer_external_id', 'loan_customer'],
    'dueBefore=2025-01-01': ['loan_due'],
    'dueAfter=2027-01-01': ['loan_due'],
    'disbursedFrom=2027-01-01': ['loan_disbursed_at'],
    'disbursedTo=2025-01-01': ['loan_disbursed_at'],
    'updatedSince=2026-01-01': ['audit_entry_pkey', 'audit_entry_entity', 'loan_pkey'],
    'updatedSince=2026-01-01&status=Overpaid': ['audit_entry_pkey', 'audit_entry_entity', 'loan_pkey'],
  },
  '/v1/transactions': {
    '': ['loan_entry_arrival', 'loan_entry_arrival_rest'],
    'type=Repayment': ['loan_entry_arrival', 'loan_entry_arrival_rest'],
    'type=Refund': ['loan_entry_arrival_rest'],
    'status=reversed': ['loan_entry_arrival_rest'],
    'status=posted&type=Repayment': ['loan_entry_arrival'],
    'idempotencyKey=k': ['loan_entry_token'],
    'postedFrom=2027-01-01': ['loan_entry_posted'],
    'postedTo=2025-01-01': ['loan_entry_posted'],
    'dateFrom=2027-01-01': ['loan_entry_value_date'],
    'dateTo=2025-01-01': ['loan_entry_value_date'],
    'updatedSince=2026-01-01': ['audit_entry_pkey', 'loan_entry_pkey'],
  },
  '/v1/loans/external/l/transactions': {
    '': ['loan_entry_ordinal'],
    'type=Refund': ['loan_entry_ordinal'],
    'dateFrom=2026-01-01': ['loan_entry_ordinal'],
    'updatedSince=2026-01-01': ['audit_entry_entity', 'loan_entry_pkey'],
  },
  '/v1/customers': {
    '': ['customer_arrival'],
    'status=Closed': ['customer_status'],
    'phone=2557': ['customer_phone'],
    'name=as': ['customer_display_name', 'customer_business_name'],
    'updatedSince=2026-01-01': ['audit_entry_customer', 'audit_entry_entity', 'customer_pkey'],
  },
  '/v1/loan-products': { '': ['loan_product_pkey'] },
  '/v1/audit-trail': {
    '': ['audit_entry_pkey'],
    'entity=loan&entityId=1': ['audit_entry_entity'],
    'action=reverse': ['audit_entry_rare'],
    'accountId=1': ['audit_entry_time'],
    'from=2027-01-01': ['audit_entry_time'],
    'to=2025-01-01': ['audit_entry_time'],
  },
}

/** The orders of a page of loans, and the index of each. */
const ORDERS = { id: 'loan_pkey', principal: 'loan_principal', disbursedAt: 'loan_disbursed_at' }

/** A book of 20,000 loans, in which every filter meets few rows. */
const BOOK = `
  INSERT INTO customer (organization_id, external_id, status, business_name, phone, created_at, updated_at, account_no)
  SELECT 1, 'c-' || n, 'Active', 'Shop ' || n, '25570' || n, now(), now(), 100000 + n FROM generate_series(1, 20000) n;
  INSERT INTO loan (organization_id, customer_id, product_id, external_id, currency, principal, number_of_repayments,
    rate_per_period, disbursed_at, disbursed_on, due_on, due_at, status, principal_outstanding, interest_outstanding,
    next_due_on, charged_off_on, created_at, updated_at, account_no)
  SELECT 1, c.id, 1, c.external_id, 'TZS', 500000, 1, 0, day, day::date, day::date + 30, day + interval '30 days',
    CASE WHEN n % 500 = 0 THEN 'Overpaid' WHEN n % 10 = 0 THEN 'Active' ELSE 'Closed (obligations met)' END, 500000, 0,
    day::date + 30, CASE WHEN n % 500 = 0 THEN day::date END, day, day, 100000 + n
  FROM (SELECT *, row_number() OVER (ORDER BY arrival) AS n FROM customer WHERE external_id LIKE 'c-%') AS c
  CROSS JOIN LATERAL (SELECT '2025-06-01'::timestamptz + n * interval '20 minutes' AS day) AS at;
  INSERT INTO loan_entry (organization_id, loan_id, ordinal, place, type, value_date, posted_at, amount, token, reversed_at)
  SELECT 1, l.id, n, n, CASE WHEN n = 1 THEN 'Repayment' ELSE 'Interest Waiver' END, l.disbursed_on, l.disbursed_at, 100,
    'token-' || l.id || '-' || n, CASE WHEN l.id % 500 = 0 THEN l.disbursed_at END
  FROM loan l CROSS JOIN generate_series(1, 2) n WHERE l.external_id LIKE 'c-%' ORDER BY l.arrival;
  INSERT INTO audit_entry (organization_id, at, account_id, action, entity, entity_id, after)
  SELECT 1, l.disbursed_at, 7, 'create', 'loan', l.id::text, '{}' FROM loan l WHERE l.external_id LIKE 'c-%' ORDER BY l.arrival;
  ANALYZE customer, loan, loan_entry, audit_entry`

/** The statements of each list and filter: of a page, and of a step by cursor. */
const statements = new Map<string, { readonly page: Sent[]; readonly step: Sent[] }>()

beforeAll(async () => {
  service = await startService()
  service.damages('loans without schedules are inserted by SQL')
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
  for (const [list, filters] of Object.entries(LISTS))
    for (const filter of Object.keys(filters)) {
      // A cursor of the same order, also where the filter meets nothing.
      const { next } = await get(`${list}?rows=1&${/updatedSince=[^&]*/.exec(filter)?.[0] ?? ''}`)
      const page = await statementsOf(`${list}?${filter}`)
      statements.set(`${list}?${filter}`, { page, step: await statementsOf(`${list}?${filter}&after=${next}`) })
    }
  for (const by of Object.keys(ORDERS))
    statements.set(by, { page: await statementsOf(`/v1/loans?orderBy=${by}`), step: [] })
  // Afterwards: the service could not read these loans, which have no schedule.
  await service.owner.pool.query(BOOK)
})
afterAll(() => service.close())

async function get(path: string) {
  const { status, body } = await service.get(path, { token: service.tokens.operator })
  expect([path, status]).toEqual([path, 200])
  return body
}

async function statementsOf(path: string): Promise<Sent[]> {
  sent.length = 0
  await get(path)
  const reading = sent.filter(({ text }) => /^\s*(SELECT|WITH|\()/i.test(text))
  expect(reading).not.toEqual([])
  return reading
}

/** Returns the plans of statements, one below the other. */
async function plansOf(explained: readonly Sent[]): Promise<string> {
  const client = await service.owner.pool.connect()
  try {
    // A table that is small, or read whole, is scanned because that is cheaper; forbidden to, the planner has to choose.
    await client.query('SET enable_seqscan = off')
    const plans: string[] = []
    for (const { text, values } of explained) {
      const { rows } = await client.query(`EXPLAIN ${text}`, values)
      plans.push(text, ...rows.map((row) => row['QUERY PLAN']))
    }
    return plans.join('\n')
  } finally {
    client.release(true)
  }
}

/** Returns the indexes that plans name. */
const indexesOf = (plans: string) =>
  [...plans.matchAll(/(?:Scan.* using|Index Scan on) (\w+)/g)].map(([, name]) => name)

describe.each(Object.entries(LISTS))('the statements of %s', (list, filters) => {
  it.each(Object.entries(filters))('?%s: a step by cursor uses the indexes %j', async (filter, expected) => {
    const plans = await plansOf(statements.get(`${list}?${filter}`)!.step)
    expect(indexesOf(plans), plans).toEqual(expect.arrayContaining([...expected]))
  })

  it('read no table from end to end, by page or by cursor', async () => {
    for (const filter of Object.keys(filters)) {
      const { page, step } = statements.get(`${list}?${filter}`)!
      expect(await plansOf([...page, ...step])).not.toContain('Seq Scan')
    }
  })
})

describe('a page of loans in an order of the caller', () => {
  it.each(Object.entries(ORDERS))('by %s uses the index %s', async (by, index) => {
    expect(indexesOf(await plansOf(statements.get(by)!.page))).toContain(index)
  })
})
