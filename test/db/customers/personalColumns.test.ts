import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { anAccount, letWaitAbove } from '../../support/approvals.ts'
import { keepJournal } from '../../support/journal.ts'
import { aPaidLoanOf, aPersonOf, WORDS } from '../../support/person.ts'
import { recordsOf } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'

// The register of personal columns, docs/operating/personal-data.md, against the tables of a book in which everything is said of a person.

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

/** Words of a borrower and of its loan, beside those of `WORDS`. */
const MORE = { business_name: 'Duka la Zawadixa', phone: '0788555123', email: 'duka@xuma.example', address: 'Njia 7X' }
const ALL = [...Object.values(WORDS), ...Object.values(MORE), 'zawadixa']

/** Says everything of a person that a caller can say. */
async function sayAll(): Promise<void> {
  const maker = { token: service.tokens.operator }
  const checker = { token: await anAccount(service, 'checker') }
  const id = await aPersonOf(service)
  await aPaidLoanOf(service, id, WORDS.externalId)
  const asked = await service.post(`/v1/customers/${id}/data-requests`, {
    body: { kind: 'access', reason: WORDS.note },
  })
  await service.post(`/v1/data-requests/${asked.body.id}/complete`, { body: { note: WORDS.note }, ...maker })
  await service.post(`/v1/customers/${id}/close`, { body: { reason: WORDS.note } })
  const records = recordsOf(service)
  expect(
    (await records.post('/v1/borrowers', { body: { id: 9, type: 'Shop', region: 'R', country: 'TZ', ...MORE } }))
      .status,
  ).toBe(200)
  const terms = { principal_amount: 5_000, duration: 1, duration_period: 'Months' }
  const days = { released_date: '2026-01-31', due_date: '2026-03-01' }
  const lent = { loan_id: 9, borrower_id: 9, ...terms, ...days, description: WORDS.note }
  expect((await records.post('/v1/loans', { body: lent })).status).toBe(200)
  const dispute = { openedOn: '2026-01-31', reason: WORDS.note }
  const disputed = await service.post('/v1/loans/9/disputes', { body: dispute, ...maker })
  expect(disputed.status, disputed.text).toBe(200)
  const payment = { channelId: '1', receipt: 'other', amount: 10, reference: WORDS.phone }
  const { body: paid } = await service.post('/v1/payments', { body: payment })
  const allocations = [{ loanId: '9', amount: 10 }]
  await service.post(`/v1/payments/${paid.id}/allocations`, { body: { allocations }, ...maker })
  const back = await service.post(`/v1/payments/${paid.id}/allocations/reverse`, {
    body: { note: WORDS.note },
    ...maker,
  })
  expect(back.body.cause, back.text).toBe(WORDS.note)
  await letWaitAbove(service, 0)
  const waits = await service.post('/v1/loans/9/write-off', { body: { note: WORDS.note }, ...maker })
  expect(waits.status, waits.text).toBe(202)
  await service.post(`/v1/pending-actions/${waits.body.id}/reject`, { body: { reason: WORDS.note }, ...checker })
  await letWaitAbove(service, null)
  await keepJournal(service.deps)
}

interface Column {
  readonly table: string
  readonly column: string
}

/** Finds the columns of all tables of which a row holds, by a condition on its text `v`. */
async function columnsWhere(condition: string, values: readonly unknown[] = []): Promise<string[]> {
  const { pool } = service.owner
  const { rows } = await pool.query<Column>(
    `SELECT c.relname AS "table", a.attname AS "column" FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1, 2`,
  )
  const found: string[] = []
  for (const { table, column } of rows) {
    const { rowCount } = await pool.query(
      `SELECT FROM (SELECT ${column}::text AS v FROM ${table}) t WHERE ${condition} LIMIT 1`,
      [...values],
    )
    if (rowCount) found.push(`${table}.${column}`)
  }
  return found
}

it('has each column with the words of a person, and how it is kept', async () => {
  await sayAll()
  const page = await readFile('docs/operating/personal-data.md', 'utf8')
  const register = [...page.matchAll(/^\| `(\w+\.\w+)` \|[^|]*\| (plain|encrypted|sealed away)/gm)].map(
    ([, column, kept]) => [column, kept],
  )
  const keptAs = (how: string) =>
    register
      .filter(([, kept]) => kept === how)
      .map(([column]) => column)
      .toSorted()
  const plain = await columnsWhere('EXISTS (SELECT FROM unnest($1::text[]) w WHERE v ILIKE $2 || w || $2)', [ALL, '%'])
  expect(plain).toEqual(keptAs('plain'))
  const marked = await columnsWhere(`v LIKE '%sealed:customer.%' OR v LIKE '%sealed:payment.%'`)
  // What has a column of its own needs no mark.
  const ofPeople = ['customer.identity', 'guarantor.identity', 'collateral.details']
  const unmarked = [...ofPeople, 'dispute.reason', 'dispute.resolution', 'export_line.content']
  expect([...marked, ...unmarked].toSorted()).toEqual(keptAs('encrypted'))
  const boxed = await columnsWhere(`v ~ '^[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{16}\\.[A-Za-z0-9_-]{22}\\.'`)
  const keys = boxed.filter((column) => /\.\w*(key|secret|encrypted)/.test(column))
  expect(boxed.filter((column) => !keys.includes(column)).toSorted()).toEqual(
    keptAs('sealed away').filter((column) => column !== 'payment_inbox.message'),
  )
})
