import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { requestClose } from '../../src/db/accounting/periods.ts'
import { operator } from '../../src/services/access/caller.ts'
import { rotateRootSecret } from '../../src/services/access/rootSecret.ts'
import { bookProvisions } from '../../src/services/accounting/bookProvisions.ts'
import { setChart } from '../../src/services/accounting/charts.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { sweepJob } from '../../src/services/loans/sweep.ts'
import { portfolioJob } from '../../src/services/portfolio/keepDays.ts'
import { keepJournal, keptBeside } from './journal.ts'
import { opsOn } from './ops.ts'
import { aPng } from './pictures.ts'
import { SECOND_CHART } from './randomBook.ts'
import { type BookIds, makeEveryKind } from './sealedBook.ts'
import type { TestService } from './service.ts'

/** Rows that no request of this book makes, or not soon. Book check does not look at any of these tables. */
const BY_HAND = `
  INSERT INTO book_figures VALUES (1, now(), 5, '{}') ON CONFLICT DO NOTHING;
  INSERT INTO collections_head VALUES (1, 0, '2026-01-01') ON CONFLICT DO NOTHING;
  INSERT INTO loan_reminder VALUES (1, 1, '2026-01-01');
  INSERT INTO rate_limit (key, points, expire) VALUES ('by hand', 1, 5) ON CONFLICT DO NOTHING;
  INSERT INTO access_entry (organization_id, at, account_id, outcome, route, address, request_id)
    VALUES (1, now(), 1, 'issued', '/v1/auth/token', '127.0.0.1', 'r');
  INSERT INTO payment_inbox (organization_id, channel_id, received_at, message, state) VALUES (1, 1, now(), 'm', 'done');
  INSERT INTO absent_organization VALUES (9999, now());
  INSERT INTO book_slot VALUES (0, 'first');
  INSERT INTO organization_place VALUES (1, 'first', 'second', 'a run', true);
  INSERT INTO credential_place VALUES ('account', 'ada@example.com', 1);
  INSERT INTO page_session VALUES (1, 1, 'ab', 'cd', now(), now());
  INSERT INTO webhook_parked SELECT organization_id, id, 1, 'loan 1', 'loan.closed', 1, now() FROM webhook_endpoint LIMIT 1;
  INSERT INTO webhook_attempt (organization_id, endpoint_id, sequence, type, attempt, at, state, status, ms, error, next_attempt_at)
    SELECT organization_id, id, 1, 'loan.closed', 1, now(), 'failed', 500, 5, 'gone', now() FROM webhook_endpoint LIMIT 1`

/** Makes a book that has rows in every table: of every kind that a change makes true, and of all that is beside them. */
export async function makeFullBook(service: TestService): Promise<BookIds> {
  const ids = await makeEveryKind(service)
  const caller = operator(1, 'test')
  const token = service.tokens.operator
  const ok = async (answer: Promise<{ status: number; text: string }>) => {
    const { status, text } = await answer
    expect(status, text).toBeLessThan(300)
  }
  await ok(service.patch('/v1/organization', { body: { logo: aPng(20, 10).toString('base64') }, token }))
  const keyed = { 'idempotency-key': 'a key' }
  await ok(service.post(`/v1/loans/${ids.plain}/repayments`, { body: { transactionAmount: 75 }, headers: keyed }))
  await ok(service.get(`/v1/loans/${ids.plain}/statement`))
  await ok(service.get(`/v1/loans/${ids.plain}/repayments/${ids.entry}/receipt`))
  await ok(
    service.put('/v1/roles/cashier', { body: { permissions: ['repayments.post'], description: 'pays in' }, token }),
  )
  const provider = {
    issuer: 'https://login.example.com',
    clientId: 'office',
    clientSecret: 'secret',
    roleClaim: 'groups',
  }
  await ok(service.patch('/v1/office-sign-in', { body: { provider: { ...provider, roles: { a: 'USER' } } }, token }))
  await service.owner.pool.query(
    "INSERT INTO second_factor (organization_id, account_id, secret, recovery, created_at) SELECT organization_id, id, 'x', '{a}', now() FROM account ORDER BY id LIMIT 1",
  )
  await ok(service.post('/v1/webhook-endpoints', { body: { url: 'http://127.0.0.1:9/' }, token }))
  const endpoint = await service.owner.pool.query<{ id: string }>('SELECT id::text FROM webhook_endpoint')
  await ok(service.post(`/v1/webhook-endpoints/${endpoint.rows[0]!.id}/rotate-secret`, { body: {}, token }))
  const file = join(tmpdir(), `mkopo-customers-${process.pid}-${Date.now()}.csv`)
  await writeFile(file, 'externalId\nduka-7\n')
  expect((await opsOn(service)(['book', 'import', '-o', '1', '--customers', file, '--yes'])).code).toBe(0)
  await Promise.all([file, `${file}.refused.ndjson`].map((path) => rm(path)))
  await rotateRootSecret(service.deps, caller, 'a secret of the tests')
  await drain(sweepJob(service.deps))
  await keepJournal(service.deps)
  const month = { firstDay: '2026-01-01', month: '2026-01', now: service.deps.now(1) }
  await requestClose(service.deps.db, { organizationId: 1, accountId: null, requestId: null }, month)
  await keepJournal(service.deps)
  await keptBeside(service.deps, setChart(service.deps, caller, SECOND_CHART))
  const provisions = [{ productId: 3, currency: 'TZS', amount: 45_000n }]
  await keptBeside(service.deps, bookProvisions(service.deps, caller, { asOf: '2026-07-02', policy: {}, provisions }))
  await keepPortfolios(service)
  service.clock.set('2026-07-03')
  await drain(sweepJob(service.deps))
  await keepJournal(service.deps)
  await keepPortfolios(service)
  await keepJournal(service.deps)
  await service.owner.pool.query(BY_HAND)
  return ids
}

async function keepPortfolios({ deps }: TestService): Promise<void> {
  await drain(portfolioJob(deps))
}
