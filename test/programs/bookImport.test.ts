import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeBookFiles } from '../../bench/bookFiles.ts'
import { openTexts } from '../../src/db/customers/words.ts'
import { endChildren, startNode } from '../support/children.ts'
import { freshDatabase } from '../support/database.ts'
import { opsOn } from '../support/ops.ts'
import { within } from '../support/patience.ts'
import { startService, type TestService } from '../support/service.ts'
import type { Wire } from '../support/wire.ts'

let folder: string
let service: TestService
let ops: ReturnType<typeof opsOn>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mkopo-import-'))
  service = await startService()
  service.clock.set('2026-11-20')
  ops = opsOn(service)
})
afterAll(async () => {
  await endChildren()
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

const sql = async (text: string) => (await service.deps.db.pool.query(text)).rows
async function file(name: string, lines: readonly (object | string)[]): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''))
  return path
}
const refusals = async (path: string) =>
  (await readFile(`${path}.refused.ndjson`, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

const asha = { externalId: 'asha', activationDate: '2026-01-01', phone: '+255 700 000 001' }
const loan = {
  externalId: 'l1',
  customerId: 'asha',
  productId: 2,
  principal: 100_000,
  disbursedAt: '2026-01-31T09:30:00+03:00',
}
const paid = { loanExternalId: 'l1', transactionAmount: 40_000.5, transactionDate: '2026-02-10', idempotencyKey: 'p1' }

describe('book import', () => {
  it('customers, loans and transactions become what requests at their time would have made', async () => {
    const customers = await file('a-customers.ndjson', [asha])
    const loans = await file('a-loans.ndjson', [loan])
    const transactions = await file('a-transactions.ndjson', [
      paid,
      { ...paid, transactionAmount: 1_000, transactionDate: '2026-02-01', idempotencyKey: 'p0', note: 'at the till' },
    ])
    const run = await ops<Wire[]>(
      ['book', 'import', '--customers', customers, '--loans', loans, '--transactions', transactions, '--json'],
      { says: true },
    )
    expect(run.code).toBe(0)
    expect(run.json.map(({ imported, refused }) => [imported, refused])).toEqual([
      [1, 0],
      [1, 0],
      [2, 0],
    ])
    const { body } = await service.get('/v1/loans/external/l1')
    expect(body).toMatchObject({
      disbursedAt: '2026-01-31T09:30:00.000+03:00',
      dueDateTime: '2026-02-28T09:30:00.000+03:00',
      // The penalty of product 2 was due long before the import.
      penaltyCharged: 10_000,
      totalPaid: 41_000.5,
      totalOutstanding: 120_000 - 41_000.5,
      overdueSince: '2026-03-01',
    })
    expect(body.repaymentHistory).toMatchObject([
      { idempotencyKey: 'p0', date: '2026-02-01', interest: 1_000, note: 'at the till' },
      { idempotencyKey: 'p1', date: '2026-02-10', interest: 9_000, principal: 31_000.5 },
    ])
    expect((await service.get('/v1/customers/external/asha')).body).toMatchObject({ activationDate: '2026-01-01' })
    expect(await sql("SELECT phone FROM customer WHERE external_id = 'asha'")).toEqual([{ phone: '+255 700 000 001' }])
    const trail = await sql(`SELECT action, account_id FROM audit_entry WHERE request_id = 'ops:tester:1' ORDER BY id`)
    expect(trail.map(({ action }) => action)).toEqual(['create', 'create', 'Repayment', 'Repayment'])
  })

  it('the same files again change nothing; other content under the same id is refused', async () => {
    const customers = await file('a-customers.ndjson', [asha])
    const loans = await file('b-loans.ndjson', [loan, { ...loan, principal: 99_000 }])
    const early = { ...paid, transactionDate: '2025-12-31', idempotencyKey: 'early' }
    const transactions = await file('b-transactions.ndjson', [paid, { ...paid, transactionAmount: 1 }, early])
    const run = await ops<Wire[]>([
      ...['book', 'import', '--customers', customers, '--loans', loans, '--transactions', transactions],
      ...['--json', '--yes'],
    ])
    expect(run.code).toBe(1)
    const told = run.json.map((one) => [one.kind, one.imported, one.present, one.refused])
    expect(told.join(' ')).toBe('customers,0,1,0 loans,0,1,1 transactions,0,1,2')
    expect((await refusals(transactions))[1].message).toMatch(/^transactionDate: must be on or after/)
    expect(await refusals(loans)).toMatchObject([{ line: 2, code: 'already_exists' }])
    expect((await service.get('/v1/loans/external/l1')).body.totalPaid).toBe(41_000.5)
  })

  it('a report names each refused line and the reason, and the others are imported', async () => {
    const path = await file('c.ndjson', [
      { ...loan, externalId: 'c1' },
      '{"externalId": "c2", ',
      { ...loan, externalId: 'c3', principal: 100.001 },
      { ...loan, externalId: 'c4', customerId: 'nobody' },
      { ...loan, externalId: 'c5', disbursedAt: '2026-12-31T09:30:00+03:00' },
      { ...loan, externalId: 'c6', amount: 1 },
      '',
      { ...loan, externalId: 'c7', productId: 9 },
      '[]',
      { ...loan, externalId: 'c8' },
      { ...loan, externalId: '..' },
      { ...loan, externalId: 'c12', disbursedAt: '2026-02-30T09:30:00+03:00' },
      { ...loan, externalId: 'c13', disbursedAt: '0000-01-01T09:30:00+03:00' },
    ])
    const run = await ops(['book', 'import', '--loans', path, '--yes'])
    expect(run.code).toBe(1)
    expect(run.err).toContain(`refused lines are in ${path}.refused.ndjson`)
    const told = await refusals(path)
    expect(told.map(({ line, code }) => [line, code])).toEqual([
      [2, 'invalid_argument'],
      [3, 'invalid_argument'],
      [4, 'not_found'],
      [5, 'invalid_argument'],
      [6, 'invalid_argument'],
      [8, 'not_found'],
      [9, 'invalid_argument'],
      [11, 'invalid_argument'],
      [12, 'invalid_argument'],
      [13, 'invalid_argument'],
    ])
    expect(told[1]).toMatchObject({ message: 'principal: must have at most 2 decimals in TZS' })
    expect(told[4]).toMatchObject({ message: 'amount: is not a known field' })
    expect(told[8].message).toMatch(/^disbursedAt: must be a time of the calendar/)
    expect(told[5].record).toContain('"productId":9')
    expect((await stat(`${path}.refused.ndjson`)).mode & 0o777).toBe(0o600)
    expect(
      (await sql("SELECT external_id FROM loan WHERE external_id LIKE 'c%' ORDER BY 1")).map((row) => row.external_id),
    ).toEqual(['c1', 'c8'])
  })

  it('CSV gives the same; commas, quotes and line breaks belong to a field', async () => {
    const customers = await file('d-customers.csv', [
      'externalId,activationDate,address',
      'juma,2026-01-01,"Plot 4, ""Kariakoo""\nDar"',
    ])
    const loans = await file('d-loans.csv', [
      'externalId,customerId,productId,principal,disbursedAt',
      'd1,juma,1,2500.50,2026-03-01T10:00:00+03:00',
      'd2,juma,1,much,2026-03-01T10:00:00+03:00',
    ])
    const run = await ops(['book', 'import', '--customers', customers, '--loans', loans, '--json', '--yes'])
    expect(run.json).toMatchObject([{ imported: 1 }, { imported: 1, refused: 1 }])
    expect(await refusals(loans)).toMatchObject([{ line: 3, record: { externalId: 'd2', principal: 'much' } }])
    expect((await service.get('/v1/loans/external/d1')).body.principal).toBe(2_500.5)
    expect(await sql("SELECT address FROM customer WHERE external_id = 'juma'")).toEqual([
      { address: 'Plot 4, "Kariakoo"\nDar' },
    ])
  })

  it.each([
    [['--loans', 'no-such.ndjson', '-y'], 2, /cannot be read/],
    [['--loans', 'book.xlsx', '-y'], 2, /ends in .ndjson, .jsonl or .csv/],
    [['-y'], 2, /name a file/],
  ])('%j: exit code %i', async (options, code, message) => {
    const run = await ops(['book', 'import', ...options])
    expect(run.code).toBe(code)
    expect(run.err).toMatch(message)
  })

  it('asks before, and without a terminal takes --yes', async () => {
    const path = await file('e.ndjson', [{ ...loan, externalId: 'e1' }])
    expect((await ops(['book', 'import', '--loans', path])).code).toBe(1)
    expect((await ops(['book', 'import', '--loans', path], { says: false })).err).toContain(
      'Import into organization 1, Demo Lender',
    )
    expect(await sql("SELECT 1 FROM loan WHERE external_id = 'e1'")).toEqual([])
  })
})

describe('book export', () => {
  it.each(['ndjson', 'csv'])('what %s has can be imported into another book, and is the same there', async (format) => {
    const out = join(folder, `out-${format}`)
    const exported = await ops<Wire[]>(['book', 'export', out, '--format', format, '--json'])
    expect(exported.code).toBe(0)
    expect(exported.json.map(({ kind }) => kind)).toEqual([
      ...['customers', 'consents', 'loans', 'guarantors', 'collateral'],
      ...['instalments', 'transactions', 'payments'],
    ])
    expect((await stat(join(out, `loans.${format}`))).mode & 0o777).toBe(0o600)
    expect(await ops(['book', 'export', out, '--format', format])).toMatchObject({
      code: 1,
      err: expect.stringContaining('is there already'),
    })
    const elsewhere = await startService()
    elsewhere.clock.set('2026-11-20')
    const named = ['customers', 'loans', 'transactions'].flatMap((kind) => [
      `--${kind}`,
      join(out, `${kind}.${format}`),
    ])
    const run = await opsOn(elsewhere)(['book', 'import', ...named, '--yes', '--json'])
    expect(run.json).toMatchObject([{ refused: 0 }, { refused: 0 }, { refused: 0 }])
    expect(await bookOf(elsewhere)).toEqual(await bookOf(service))
    await elsewhere.close()
  })
})

describe('who customers are', () => {
  it('is exported only where it is asked for, and imported: encrypted, found, the same again', async () => {
    const identity = {
      firstName: 'Asha',
      lastName: 'Mushi',
      dateOfBirth: '1990-05-17',
      gender: 'female',
      nationality: 'TZ',
      idType: 'national_id',
      idNumber: '19900517-1',
      phone: '0700123456',
      address: 'Plot 12\nKariakoo',
      verification: { by: 'NIDA', on: '2026-01-30', result: 'verified', reference: 'N-1' },
    }
    const from = await startService()
    await from.post('/v1/customers', { body: { externalId: 'asha', identity } })
    await from.post('/v1/customers', { body: { externalId: 'juma' } })
    const run = opsOn(from)
    const [plain, whole] = [join(folder, 'plain'), join(folder, 'whole')]
    expect((await run(['book', 'export', plain, '-o', '1'])).code).toBe(0)
    expect(await readFile(join(plain, 'customers.ndjson'), 'utf8')).not.toMatch(/Mushi|person/i)
    expect((await run(['book', 'export', whole, '-o', '1', '--format', 'csv', '--identities'])).code).toBe(0)
    const to = await startService()
    const file = join(whole, 'customers.csv')
    const imported = await opsOn(to)(['book', 'import', '-o', '1', '--customers', file, '--yes', '--json'])
    expect(imported.json).toMatchObject([{ imported: 2, refused: 0 }])
    const operator = { token: to.tokens.operator }
    const { body: found } = await to.get('/v1/customers?person=mushi', operator)
    expect(found.items.map(({ externalId }) => externalId)).toEqual(['asha'])
    expect((await to.get('/v1/customers/external/asha/identity', operator)).body).toEqual(identity)
    const { rows } = await to.owner.pool.query("SELECT after::text FROM audit_entry WHERE entity = 'customer'")
    expect(JSON.stringify(rows)).not.toContain('Mushi')
    const others = join(folder, 'others.ndjson')
    const lines = [
      { externalId: 'asha', personFirstName: 'Asha', personLastName: 'Juma' },
      { externalId: 'neema', personVerifiedBy: 'NIDA' },
      { externalId: 'neema', personDateOfBirth: '2999-01-01' },
      { externalId: 'juma' },
    ]
    await writeFile(others, lines.map((line) => JSON.stringify(line)).join('\n'))
    const refused = await opsOn(to)(['book', 'import', '-o', '1', '--customers', others, '--yes', '--json'])
    expect(refused.json).toMatchObject([{ imported: 0, present: 1, refused: 3 }])
    expect(await readFile(`${others}.refused.ndjson`, 'utf8')).toContain('personVerifiedOn: is required')
    await Promise.all([from.close(), to.close()])
  })
})

/** A book without what depends on when and under which numbers it was made. */
async function bookOf({ deps }: Pick<TestService, 'deps'>) {
  const { rows } = await deps.db.pool.query<{ external_id: string }>(`
    SELECT l.external_id, c.external_id AS customer, l.product_id, l.principal, l.disbursed_at, l.due_at, l.status,
      l.entry_count, l.principal_outstanding, l.interest_outstanding, l.penalty_outstanding, l.total_paid,
      l.total_overpaid, l.total_overdue, l.next_due_on, l.overdue_since, l.closed_on, l.next_change_at,
      (SELECT json_agg(json_build_array(e.ordinal, e.place, e.type, e.value_date, e.amount, e.token, e.note) ORDER BY e.ordinal)
         FROM loan_entry e WHERE e.loan_id = l.id) AS entries
    FROM loan l JOIN customer c ON c.id = l.customer_id ORDER BY l.external_id`)
  const { rows: customers } = await deps.db.pool.query(
    'SELECT external_id, status, activation_date, phone, address FROM customer ORDER BY external_id',
  )
  return { customers, loans: await openTexts(deps.db, rows, () => 1) }
}

describe('killed in the middle', () => {
  it('with kill -9, again and again, it ends with the same book and report', { timeout: within(60_000) }, async () => {
    const files = join(folder, 'killed')
    await writeBookFiles(files, 500, 'by date')
    const text = (await readFile(join(files, 'transactions.ndjson'), 'utf8')).trimEnd().split('\n')
    // Two lines in a hundred are refused: so that the report is cut short and continued, too.
    const spoilt = text.map((line, index) =>
      index % 50 === 7 ? line.replace('"transactionAmount":', '"transactionAmount":-') : line,
    )
    await writeFile(join(files, 'transactions.ndjson'), `${spoilt.join('\n')}\n`)
    const named = ['customers', 'loans', 'transactions'].flatMap((kind) => [`--${kind}`, join(files, `${kind}.ndjson`)])
    const whole = await ops(['book', 'import', ...named, '--report', join(files, 'whole'), '-y', '--json'])
    expect(whole.json).toMatchObject([{ imported: 250 }, { imported: 500 }, { imported: 2_940, refused: 60 }])

    const target = await freshDatabase()
    const env = { DATABASE_URL: target.url, KEY_ENCRYPTION_SECRET: 'a secret of the tests' }
    const start = () =>
      startNode(['src/ops/main.ts', 'book', 'import', ...named, '--report', join(files, 'killed'), '-y', '--json'], env)
    const linesDone = async () =>
      Number(
        (await target.db.pool.query('SELECT coalesce(sum(lines_done), 0) AS lines FROM book_import')).rows[0].lines,
      )
    let kills = 0
    for (const goal of [1, 500, 1_000, 3_250]) {
      const child = start()
      let over = false
      void child.ended.then(() => {
        over = true
      })
      while (!over && (await linesDone()) < goal) await pause(5)
      // Somewhere in the next batch, not at its edge.
      await pause(Math.random() * 150)
      child.process.kill('SIGKILL')
      const { signal } = await child.ended
      if (signal === 'SIGKILL') kills++
    }
    expect(kills).toBeGreaterThanOrEqual(2)
    const { code, out } = await start().ended
    expect(code).toBe(1)
    expect(JSON.parse(out)[2]).toMatchObject({ linesDone: 3_000, refused: 60, finished: true })

    const elsewhere = { deps: { ...service.deps, db: target.db } }
    const only = async (of: Pick<TestService, 'deps'>) => {
      const { customers, loans } = await bookOf(of)
      return {
        customers: customers
          .map(({ activation_date: _, ...one }) => one)
          .filter((one) => one.external_id.startsWith('cust-')),
        loans: loans.filter((one) => one.external_id.startsWith('loan-')),
      }
    }
    expect(await only(elsewhere)).toEqual(await only(service))
    const report = (name: string) => readFile(join(files, `${name}.transactions.ndjson`), 'utf8')
    expect(await report('killed')).toBe(await report('whole'))
    expect((await opsOn(elsewhere)('book check --json')).json).toMatchObject({ found: 0, loans: 500, entries: 2_940 })
    await target.drop()
  })

  it('two runs of one file at once: one continues, and the book is complete', async () => {
    const path = await file(
      'twice.ndjson',
      Array.from({ length: 1_100 }, (_, index) => ({ ...loan, externalId: `t${index}`, productId: 1 })),
    )
    const runs = await Promise.all(
      [1, 2].map((number) =>
        ops(['book', 'import', '--loans', path, '--report', join(folder, `twice-${number}`), '-y', '--json']),
      ),
    )
    expect(runs.map(({ code }) => code).sort(), JSON.stringify(runs)).not.toEqual([1, 1])
    const again = await ops(['book', 'import', '--loans', path, '-y', '--json'])
    expect(again.json).toMatchObject([{ imported: 0, present: 1_100, refused: 0 }])
    expect(await sql("SELECT count(*) FROM loan WHERE external_id LIKE 't%'")).toEqual([{ count: 1_100n }])
    expect((await ops('book check --json')).json).toMatchObject({ found: 0 })
  })
})
