import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '../../src/db/postgres/migrate.ts'
import { currencyCodes, currencyOf } from '../../src/domain/money.ts'
import { type Books, openBooks, type TrialBalanceWire } from '../support/books.ts'
import { asRole, freshDatabase, openPatiently } from '../support/database.ts'
import { anotherLender } from '../support/lenders.ts'
import { opsThrough } from '../support/ops.ts'
import { aRoleName, ownersOps, READER_PASSWORD, signInAs } from '../support/reporting.ts'
import type { Wire } from '../support/wire.ts'

const FORBIDDEN = { code: '42501' }

let books: Books
let ops: ReturnType<typeof ownersOps>
let role: string
let other: string
let reader: pg.Client
let ofOther: pg.Client
let theirs: Wire
beforeAll(async () => {
  books = await openBooks()
  const { service } = books
  ops = ownersOps(service)
  await books.customer('asha')
  for (const [principal, product] of [
    [100_000, 1],
    [60_000, 3],
    [60_000, 3],
  ] as const)
    await books.lend('asha', principal, product)
  const token = await anotherLender(service, 2, 'UGX')
  await service.post('/v1/customers', { token, body: { externalId: 'their-secret' } })
  theirs = (
    await service.post('/v1/loans', {
      token,
      body: { customerId: 'their-secret', productId: 1, principal: 7_777_777, externalId: 'their-loan' },
    })
  ).body
  ;[role, other] = [aRoleName(), aRoleName()]
  for (const [organization, name] of [
    [1, role],
    [2, other],
  ] as const)
    expect(
      await ops(`reporting grant -o ${organization} --role ${name} --connections 3`, { stdin: `${READER_PASSWORD}\n` }),
    ).toMatchObject({ code: 0, out: expect.not.stringContaining(READER_PASSWORD) })
  reader = await signInAs(service, role)
  ofOther = await signInAs(service, other)
})
afterAll(async () => {
  for (const client of [reader, ofOther]) await client.end().catch(() => undefined)
  for (const [organization, name] of [
    [1, role],
    [2, other],
  ] as const)
    await ops(`reporting revoke -o ${organization} --role ${name} --yes`)
  await books.end()
})

const rowsOf = async (client: pg.Client, text: string) => (await client.query(text)).rows
const documented = [
  ...readFileSync(fileURLToPath(new URL('../../docs/operating/reporting.md', import.meta.url)), 'utf8').matchAll(
    /^\| `(\w+\.\w+)` \| `(\w+)` \|/gm,
  ),
].map(([, column, type]) => `${column} ${type}`)
const views = [...new Set(documented.map((one) => one.split('.')[0]!))]

describe('the views of reporting', () => {
  it('have the columns that docs/operating/reporting.md says, in that order, and no others', async () => {
    const rows = await rowsOf(
      reader,
      `SELECT c.relname || '.' || a.attname || ' ' || t.typname AS said, c.relname AS view
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 JOIN pg_type t ON t.oid = a.atttypid
       WHERE c.relnamespace = 'reporting'::regnamespace ORDER BY c.relname, a.attnum`,
    )
    const of = (view: string) => rows.filter((one) => one.view === view).map(({ said }) => said)
    expect([...new Set(rows.map(({ view }) => view))].sort()).toEqual(views.toSorted())
    expect(views.flatMap(of)).toEqual(documented)
    expect(views).toHaveLength(8)
  })

  it('have the loans of the organization as the service has them, in whole units, exactly', async () => {
    const { items } = (await books.service.get<{ items: Wire[] }>('/v1/loans')).body
    const rows = await rowsOf(reader, 'SELECT * FROM loans ORDER BY loan_id')
    expect(
      rows.map(({ loan_id, principal, total_outstanding, currency }) => [
        loan_id,
        Number(principal),
        Number(total_outstanding),
        currency,
      ]),
    ).toEqual(
      items
        .toSorted((one, two) => Number(BigInt(one.id) - BigInt(two.id)))
        .map(({ id, principal, totalOutstanding }) => [id, principal, totalOutstanding, 'TZS']),
    )
    expect(rows[0].principal).toBe('100000.00')
    expect((await rowsOf(ofOther, 'SELECT principal FROM loans'))[0].principal).toBe('7777777')
  })

  it('know the minor units of every currency of the book', async () => {
    const { rows } = await books.service.owner.pool.query<{ definition: string }>(
      "SELECT pg_get_viewdef('reporting_rows.loans'::regclass) AS definition",
    )
    const [, whole = ''] = /ARRAY\[(.*?)\]/.exec(rows[0]!.definition) ?? []
    const named = [...whole.matchAll(/'(\w+)'/g)].map(([, code]) => code)
    expect(named).toEqual(currencyCodes.filter((code) => currencyOf(code).decimals === 0).toSorted())
    expect(currencyCodes.every((code) => [0, 2].includes(currencyOf(code).decimals))).toBe(true)
  })

  it('say what is settled of each instalment as the schedule of the loan does', async () => {
    const { items } = (await books.service.get<{ items: Wire[] }>('/v1/loans')).body
    const [one, two] = items.filter(({ principal }) => principal === 60_000)
    const token = books.service.tokens.operator
    const act = async (path: string, body: object) =>
      (await books.service.post(`/v1/loans/${path}`, { token, body })).body
    await act(`${one!.id}/repayments`, { transactionAmount: 17_333.33 })
    await act(`${one!.id}/repayments/waive-interest`, { transactionAmount: 4_000.5 })
    await act(`${two!.id}/repayments`, { transactionAmount: 40_000 })
    const { id } = await act(`${two!.id}/repayments`, { transactionAmount: 9_000 })
    await act(`${two!.id}/repayments/${id}/reverse`, {})
    for (const loan of [one!, two!]) {
      const { repaymentSchedule: schedule } = (
        await books.service.get<{ repaymentSchedule: Wire[] }>(`/v1/loans/${loan.id}`)
      ).body
      const rows = await rowsOf(reader, `SELECT * FROM instalments WHERE loan_id = ${loan.id} ORDER BY instalment`)
      expect(rows).toHaveLength(6)
      const scheduled = schedule.map((line) => [line.principalDue, line.interestDue])
      expect(rows.map((row) => [Number(row.principal_scheduled), Number(row.interest_scheduled)])).toEqual(scheduled)
      expect(rows.map((row) => Number(row.principal_settled))).toEqual(schedule.map((line) => line.principalPaid))
      // What was waived is settled, too.
      const settled = rows.reduce((sum, row) => sum + Number(row.interest_settled), 0)
      const paid = schedule.reduce((sum, line) => sum + Number(line.interestPaid), 0)
      expect(settled).toBeCloseTo(paid + (loan === one ? 4_000.5 : 0), 2)
    }
    const [transaction] = await rowsOf(reader, `SELECT * FROM loan_transactions WHERE transaction_id = ${id}`)
    expect(transaction).toMatchObject({ amount: '9000.00', is_reversed: true, currency: 'TZS' })
  })

  it('have a trial balance whose totals are those of the service, and postings that sum to it', async () => {
    const balance = (await books.get<TrialBalanceWire>('trial-balance')).body
    const sums = await rowsOf(
      reader,
      `SELECT sum(debit) AS debit, sum(credit) AS credit FROM trial_balance
       UNION ALL SELECT sum(debit), sum(credit) FROM postings`,
    )
    const total = balance.totalDebit.toFixed(2)
    expect(balance.totalDebit).toBeGreaterThan(200_000)
    expect(sums).toEqual([
      { debit: total, credit: total },
      { debit: total, credit: total },
    ])
    const slots = await rowsOf(
      reader,
      `SELECT DISTINCT ON (slot) slot, balance FROM trial_balance ORDER BY slot, booked_on DESC`,
    )
    const cash = balance.accounts.find(({ code }) => code === '1000')
    expect(Number(slots.find(({ slot }) => slot === 'cash').balance)).toBe(cash!.balance)
    expect(slots.reduce((sum, one) => sum + Number(one.balance), 0)).toBe(0)
  })

  it('have no word of a person, and no id that somebody else has given', async () => {
    for (const view of views) {
      const text = JSON.stringify(await rowsOf(ofOther, `SELECT * FROM ${view}`))
      expect(text).not.toContain('their-')
    }
    expect(await rowsOf(ofOther, 'SELECT customer_id FROM customers')).toHaveLength(1)
  })
})

describe('a role of an organization', () => {
  it('sees no row of another one, in any view', async () => {
    expect(await rowsOf(ofOther, `SELECT loan_id FROM loans`)).toEqual([{ loan_id: theirs.id }])
    for (const view of views) {
      const rows = await rowsOf(reader, `SELECT * FROM ${view}`)
      const isTheirs = ({ loan_id: loan, currency }: Wire) => String(loan) === String(theirs.id) || currency === 'UGX'
      expect([view, rows.filter(isTheirs)]).toEqual([view, []])
    }
  })

  it('sees none by a function with side effects, which runs on its own rows alone', async () => {
    const seen: string[] = []
    reader.on('notice', ({ message }) => seen.push(String(message)))
    await reader.query('SET default_transaction_read_only = off')
    await reader.query(`CREATE FUNCTION pg_temp.tell(loan bigint, amount numeric) RETURNS boolean LANGUAGE plpgsql
      COST 0.0000001 AS $$ BEGIN RAISE NOTICE '% %', loan, amount; RETURN true; END $$`)
    await reader.query('SELECT * FROM loans WHERE pg_temp.tell(loan_id, principal)')
    expect(seen).toHaveLength(3)
    expect(seen.join()).not.toContain(String(theirs.id))
    // Nor by an error that tells the value.
    await reader.query('SELECT * FROM loans WHERE 1 / (principal - 7777777) IS NOT NULL')
    await reader.query('DROP FUNCTION pg_temp.tell')
    await reader.query('SET default_transaction_read_only = on')
  })

  it('sees none by a plan, nor by the statistics of the server', async () => {
    const plan = JSON.stringify(
      await rowsOf(reader, `EXPLAIN (VERBOSE, FORMAT JSON) SELECT * FROM loans WHERE loan_id = ${theirs.id}`),
    )
    expect(plan).not.toContain('7777777')
    await books.service.owner.pool.query('ANALYZE loan, customer, loan_entry')
    expect(await rowsOf(reader, `SELECT tablename FROM pg_stats WHERE schemaname = 'public'`)).toEqual([])
    await expect(reader.query('SELECT * FROM pg_statistic')).rejects.toMatchObject(FORBIDDEN)
    const analyzed = await rowsOf(
      reader,
      `EXPLAIN (ANALYZE, FORMAT TEXT) SELECT * FROM loans WHERE principal = 7777777`,
    )
    expect(JSON.stringify(analyzed)).toContain('rows=0')
  })

  it('stays of its organization, whatever its session sets', async () => {
    for (const text of ['RESET ROLE', `SET ROLE ${role}`, `SET SESSION AUTHORIZATION ${role}`]) {
      await reader.query(text)
      expect(await rowsOf(reader, `SELECT count(*)::int AS loans FROM loans`)).toEqual([{ loans: 3 }])
    }
    await expect(reader.query(`SET ROLE ${other}`)).rejects.toMatchObject(FORBIDDEN)
    await expect(reader.query(`SET SESSION AUTHORIZATION ${other}`)).rejects.toMatchObject(FORBIDDEN)
    await reader.query(`SET mkopo.organization_id = '2'`)
    // A table of the session in the place of that which says whose the role is.
    await reader.query('SET default_transaction_read_only = off')
    await reader.query(`CREATE TEMP TABLE reader AS SELECT '${role}'::name AS role_name, 2 AS organization_id`)
    await reader.query('SET search_path = pg_temp, reporting')
    expect(await rowsOf(reader, `SELECT count(*)::int AS loans FROM loans`)).toEqual([{ loans: 3 }])
    await reader.query('DROP TABLE pg_temp.reader')
    await reader.query('RESET ALL')
  })

  it('reads no table, nor the rows of all', async () => {
    await reader.query('SET default_transaction_read_only = off')
    for (const table of ['loan', 'customer', 'audit_entry', 'account', 'organization'])
      await expect(reader.query(`SELECT * FROM public.${table}`), table).rejects.toMatchObject(FORBIDDEN)
    for (const view of [...views, 'reader'])
      await expect(reader.query(`SELECT * FROM reporting_rows.${view}`), view).rejects.toMatchObject(FORBIDDEN)
    await reader.query('RESET ALL')
  })

  it('writes nothing', async () => {
    await expect(reader.query('CREATE TEMP TABLE mine ()')).rejects.toMatchObject({ code: '25006' })
    await reader.query('SET default_transaction_read_only = off')
    for (const text of [
      `UPDATE customers SET status = 'Closed'`,
      'DELETE FROM customers',
      'INSERT INTO products (name) VALUES (1)',
      'CREATE TABLE reporting.mine ()',
      'CREATE TABLE public.mine ()',
      'DROP VIEW reporting.loans',
      `SELECT empty_test_organization(1)`,
      'CREATE ROLE another',
      `COPY (SELECT 1) TO PROGRAM 'true'`,
    ])
      await expect(reader.query(text), text).rejects.toMatchObject({
        code: expect.stringMatching(/^(42501|55000|42883)$/),
      })
    await reader.query('RESET ALL')
  })

  it('has a time for its statements, and sessions of a number', async () => {
    expect(await rowsOf(reader, 'SHOW statement_timeout')).toEqual([{ statement_timeout: '1min' }])
    const more = [await signInAs(books.service, role), await signInAs(books.service, role)]
    await expect(signInAs(books.service, role)).rejects.toMatchObject({ code: '53300' })
    for (const client of more) await client.end()
  })
})

describe('mkopo reporting', () => {
  it('lists the roles, and the trail has them, without a password', async () => {
    expect((await ops('reporting list --json')).json).toEqual([
      { role, organizationId: 1 },
      { role: other, organizationId: 2 },
    ])
    const { out } = await ops('audit --entity reporting_role -o 1 --json'.replace('reporting_role', 'account'))
    expect(out).not.toContain(READER_PASSWORD)
    const { json } = await ops<Wire[]>(['audit', '--entity', 'reporting role', '-o', '1', '--json'])
    expect(json).toMatchObject([{ action: 'grant', after: { role } }])
    expect(JSON.stringify(json)).not.toMatch(/SCRAM|password"/)
  })

  it('grant gives another password, and revoke ends the sessions and drops the role', async () => {
    const name = aRoleName()
    const granted = await ops<{ password: string }>(`reporting grant -o 1 --role ${name} --generate --json`)
    const client = await signInAs(books.service, name, granted.json.password)
    const ended = new Promise((resolve) => client.once('end', resolve))
    const again = await ops(`reporting grant -o 1 --role ${name}`, { stdin: `${READER_PASSWORD}\n` })
    expect(again).toMatchObject({ code: 0, out: expect.not.stringContaining('password') })
    await expect(signInAs(books.service, name, granted.json.password)).rejects.toMatchObject({ code: '28P01' })
    await (await signInAs(books.service, name)).end()
    expect(await ops(`reporting revoke -o 1 --role ${name}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('Say --yes'),
    })
    expect(await ops(`reporting revoke -o 1 --role ${name} --yes`)).toMatchObject({ code: 0 })
    await ended
    await expect(signInAs(books.service, name)).rejects.toMatchObject({ code: '28P01' })
    expect(await ops(`reporting revoke -o 1 --role ${name} --yes`)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`the organization has no role ${name}`),
    })
  })

  it.each([
    [() => `grant -o 2 --role ${role}`, READER_PASSWORD, 'reads another organization'],
    [() => `revoke -o 2 --role ${role} --yes`, '', 'the organization has no role'],
    [() => 'grant -o 1 --role postgres_"x', READER_PASSWORD, 'must be of a-z, 0-9 and _'],
    [() => `grant -o 1 --role ${aRoleName()}`, 'short', '12 to 200 printable ASCII characters'],
    [() => `grant -o 1 --role ${aRoleName()} --connections 101`, READER_PASSWORD, 'must be 1 to 100'],
  ])('refuses %s', async (command, stdin, message) => {
    const run = await ops(`reporting ${command()}`, { stdin })
    expect(run).toMatchObject({ code: 1, err: expect.stringContaining(message) })
  })

  it('works as an owner who is no superuser and may make roles; and says so to one who may not', async () => {
    const bare = await freshDatabase('template0')
    const owner = aRoleName()
    const admin = bare.db.pool
    await admin.query(`CREATE ROLE ${owner} LOGIN CREATEROLE PASSWORD '${READER_PASSWORD}'`)
    await admin.query(`ALTER DATABASE ${new URL(bare.url).pathname.slice(1)} OWNER TO ${owner}`)
    const url = asRole(bare.url, { name: owner, password: READER_PASSWORD })
    const db = openPatiently(url, { max: 2 })
    const name = aRoleName()
    try {
      await migrate(db.pool)
      await db.pool.query(
        `INSERT INTO organization (id, name, currency, created_at) VALUES (3, 'Alone', 'KES', '2026-01-01')`,
      )
      const run = opsThrough(async () => ({ deps: { ...books.service.deps, db }, close: async () => undefined }))
      expect((await run(`reporting grant -o 3 --role ${name}`, { stdin: READER_PASSWORD })).err).toBe('')
      const client = await signInAs({ url }, name)
      expect((await client.query('SELECT * FROM loans')).rows).toEqual([])
      expect((await run(`reporting revoke -o 3 --role ${name} --yes`)).err).toBe('')
      await expect(signInAs({ url }, name)).rejects.toMatchObject({ code: '28P01' })
      await admin.query(`ALTER ROLE ${owner} NOCREATEROLE`)
      expect(await run(`reporting grant -o 3 --role ${name}`, { stdin: READER_PASSWORD })).toMatchObject({
        code: 1,
        err: expect.stringContaining('may make roles (CREATEROLE): set DATABASE_OWNER_URL'),
      })
    } finally {
      await db.close()
      await admin.query(`REASSIGN OWNED BY ${owner} TO CURRENT_USER; DROP OWNED BY ${owner}; DROP ROLE ${owner}`)
      await bare.drop()
    }
  })

  it("refuses a name that the server has already, and the service's own role", async () => {
    const { rows } = await books.service.deps.db.pool.query<{ name: string }>('SELECT current_user AS name')
    expect(await ops(`reporting grant -o 1 --role ${rows[0]!.name}`, { stdin: READER_PASSWORD })).toMatchObject({
      code: 1,
      err: expect.stringContaining('which was not made here'),
    })
  })
})
