import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { readConfig } from '../../../src/app/config.ts'
import { explain } from '../../../src/app/explain.ts'
import { openService } from '../../../src/app/service.ts'
import { purgeKeys } from '../../../src/db/access/idempotency.ts'
import { grantService, roleWarning } from '../../../src/db/postgres/roles.ts'
import { openBook } from '../../../src/ops/open.ts'
import { asRole, type FreshDatabase, freshDatabase, openPatiently } from '../../support/database.ts'
import { opsThrough } from '../../support/ops.ts'
import { startProcess } from '../../support/process.ts'
import { serveHere } from '../../support/served.ts'
import { startService, type TestService, testConfig } from '../../support/service.ts'
import { sweep } from '../../support/sweep.ts'

const SECRET = 'a secret of the tests'
const FORBIDDEN = { code: '42501' }

let service: TestService
let bare: FreshDatabase
beforeAll(async () => {
  service = await startService()
  bare = await freshDatabase('template0')
  const { post } = service
  await post('/v1/customers', { body: { externalId: 'asha' } })
  await post('/v1/loans', { body: { customerId: 'asha', productId: 1, principal: 1_000, externalId: 'order' } })
  await post('/v1/loans/external/order/repayments', { body: { transactionAmount: 100, idempotencyKey: 'one' } })
})
afterAll(async () => {
  await service.close()
  await bare.drop()
})

const asService = (text: string) => service.deps.db.pool.query(text)
const columnsOf = async (table: string) => {
  const { rows } = await service.owner.pool.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
    [table],
  )
  return rows.map(({ name }) => name)
}

describe("the service's role", () => {
  it('is no superuser, and may not make roles or databases', async () => {
    const { rows } = await asService(
      'SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS may FROM pg_roles WHERE rolname = current_user',
    )
    expect(rows).toEqual([{ may: false }])
    expect(await roleWarning(service.deps.db)).toBeUndefined()
  })

  it.each(['audit_entry', 'loan_entry'])('may not delete rows of %s, nor truncate it', async (table) => {
    expect((await asService(`SELECT FROM ${table}`)).rowCount).toBeGreaterThan(0)
    await expect(asService(`DELETE FROM ${table}`)).rejects.toMatchObject(FORBIDDEN)
    await expect(asService(`TRUNCATE ${table}`)).rejects.toMatchObject(FORBIDDEN)
    await expect(asService(`TRUNCATE ${table} CASCADE`)).rejects.toMatchObject(FORBIDDEN)
    await expect(asService(`DROP TABLE ${table}`)).rejects.toMatchObject(FORBIDDEN)
    await expect(asService(`ALTER TABLE ${table} OWNER TO current_user`)).rejects.toMatchObject(FORBIDDEN)
    // Postgres warns that nothing was granted.
    await asService(`GRANT DELETE ON ${table} TO current_user`)
    await expect(asService(`DELETE FROM ${table}`)).rejects.toMatchObject(FORBIDDEN)
  })

  it('may set when an entry was reversed, and no other column of an entry or of the audit trail', async () => {
    const all = await Promise.all(
      ['audit_entry', 'loan_entry'].map(async (table) => (await columnsOf(table)).map((column) => ({ table, column }))),
    )
    expect(all.flat().length).toBeGreaterThan(20)
    for (const { table, column } of all.flat()) {
      const changed = asService(`UPDATE ${table} SET ${column} = ${column} WHERE false`)
      if (column === 'reversed_at') await changed
      // A column whose values Postgres makes is refused earlier, by another rule.
      else
        await expect(changed, `${table}.${column}`).rejects.toThrow(/permission denied|can only be updated to DEFAULT/)
    }
    await expect(asService(`UPDATE loan_entry SET arrival = DEFAULT`)).rejects.toMatchObject(FORBIDDEN)
    await expect(asService(`UPDATE audit_entry SET id = DEFAULT`)).rejects.toMatchObject(FORBIDDEN)
  })

  it('may not delete a loan that has entries, so that they would go with it', async () => {
    await expect(asService('DELETE FROM loan_period; DELETE FROM loan')).rejects.toMatchObject({ code: '23503' })
  })

  it('may not migrate, nor change the record of migrations', async () => {
    await expect(asService('ALTER TABLE loan ADD COLUMN x int')).rejects.toMatchObject(FORBIDDEN)
    await expect(asService('CREATE TABLE x ()')).rejects.toMatchObject(FORBIDDEN)
    await expect(asService('DELETE FROM _prisma_migrations')).rejects.toMatchObject(FORBIDDEN)
  })

  it('is enough to post, to reverse, and to sweep', async () => {
    const posted = await service.post('/v1/loans/external/order/repayments', { body: { transactionAmount: 200 } })
    const path = `/v1/loans/external/order/repayments/${posted.body.id}/reverse`
    expect((await service.post(path, { token: service.tokens.operator })).status).toBe(200)
    service.clock.set('2026-06-01')
    expect(await sweep(service.deps)).toBe(1)
    expect(await purgeKeys(service.deps.db, 10, service.clock.now())).toBe(0)
  })
})

describe('grants', () => {
  const role = `roles_test_${randomBytes(4).toString('hex')}`
  const password = randomBytes(8).toString('hex')
  const settings = () => ({
    DATABASE_URL: asRole(bare.url, { name: role, password }),
    KEY_ENCRYPTION_SECRET: SECRET,
    STOP_GRACE_MS: '0',
  })
  const rightsOn = async (table: string) => {
    const { rows } = await bare.db.pool.query<{ rights: string }>(
      `SELECT string_agg(privilege_type, ' ' ORDER BY privilege_type) AS rights
       FROM information_schema.role_table_grants WHERE grantee = $1 AND table_name = $2`,
      [role, table],
    )
    return rows[0]!.rights
  }
  const start = async (ownerUrl: string | undefined, url = settings().DATABASE_URL) => {
    const said: string[] = []
    const note = (message: string) => void said.push(message)
    const { db, statements } = await openService({
      config: testConfig({ DATABASE_URL: url, SEED_DEMO: 'false' }),
      databaseUrl: url,
      ...(ownerUrl !== undefined && { ownerUrl }),
      now: Date.now,
      log: { info: note, warn: note },
    })
    statements.close()
    await db.close()
    return said.filter((line) => !line.startsWith('applied migration'))
  }
  /** Processes ask for the token of the metrics, and are connected by the role of the service alone. */
  const expectBothRoles = async (processes: readonly { readonly opsOrigin: string }[]) => {
    for (const { opsOrigin } of processes) expect((await fetch(`${opsOrigin}/metrics`)).status).toBe(401)
    const { rows } = await bare.db.pool.query<{ role: string }>(
      `SELECT DISTINCT usename AS role FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'mkopo%' AND usename <> current_user`,
    )
    expect(rows).toEqual([{ role }])
  }
  afterAll(async () => {
    await bare.db.pool.query(`DROP OWNED BY ${role}`)
    await bare.db.pool.query(`DROP ROLE ${role}`)
  })

  it('for a role that is not there: says how to make it', async () => {
    await expect(grantService(bare.db, role)).rejects.toThrow(
      `DATABASE_URL: the server has no role ${role}; make it, as ${new URL(bare.url).username}, with CREATE ROLE "${role}" LOGIN`,
    )
    await bare.db.pool.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`)
  })

  it("an empty database that the service's role cannot migrate: says what to set", async () => {
    await expect(start(undefined)).rejects.toThrow(
      'permission denied for schema public: migrations are for the role that owns the tables; set DATABASE_OWNER_URL to its URL, or run mkopo migrate with that',
    )
  })

  it("mkopo migrate needs the name of the service's role, and not its password", async () => {
    const unknown = Object.assign(new URL(settings().DATABASE_URL), { password: '' }).href
    const env = { ...settings(), DATABASE_URL: unknown, DATABASE_OWNER_URL: bare.url }
    for (const [name, value] of Object.entries({ BASE_URL: undefined, ...env })) vi.stubEnv(name, value)
    const { code } = await opsThrough(openBook)('migrate')
    vi.unstubAllEnvs()
    expect(code).toBe(0)
    expect(await rightsOn('loan')).toBe('DELETE INSERT SELECT UPDATE')
    expect(await rightsOn('audit_entry')).toBe('INSERT SELECT')
    expect(await rightsOn('loan_entry')).toBe('INSERT SELECT')
    expect(await rightsOn('_prisma_migrations')).toBe('SELECT')
  })

  it('a start by the service alone finds nothing to do, and warns of nothing', async () => {
    expect(await start(undefined)).toEqual([])
  })

  it('are put right where somebody has changed them, and cover what a later migration makes', async () => {
    await bare.db.pool.query(`
      CREATE TABLE later (n integer GENERATED ALWAYS AS IDENTITY, m integer); CREATE SEQUENCE later_seq;
      GRANT ALL ON audit_entry, _prisma_migrations TO ${role}; GRANT UPDATE (amount) ON loan_entry TO ${role};
      REVOKE ALL ON customer, loan_id_seq FROM ${role}`)
    expect(await start(bare.url)).toEqual([])
    expect(await rightsOn('audit_entry')).toBe('INSERT SELECT')
    expect(await rightsOn('customer')).toBe('DELETE INSERT SELECT UPDATE')
    const db = openPatiently(settings().DATABASE_URL)
    await db.pool.query(
      `INSERT INTO later (m) VALUES (nextval('later_seq')); DELETE FROM later; SELECT nextval('loan_id_seq')`,
    )
    await expect(db.pool.query('UPDATE loan_entry SET amount = 1')).rejects.toMatchObject(FORBIDDEN)
    await db.close()
    await bare.db.pool.query('DROP TABLE later; DROP SEQUENCE later_seq')
  })

  it('an owner who does not own the tables is refused, naming both', async () => {
    const other = `${role}_other`
    await bare.db.pool.query(
      `CREATE ROLE ${other} LOGIN PASSWORD '${password}'; GRANT SELECT ON _prisma_migrations, customer, loan TO ${other}`,
    )
    await expect(start(asRole(bare.url, { name: other, password }))).rejects.toThrow(
      `DATABASE_OWNER_URL: its role ${other} does not own the tables, ${new URL(bare.url).username} does`,
    )
    await bare.db.pool.query(`DROP OWNED BY ${other}; DROP ROLE ${other}`)
  })

  it('several that start together do not break each other', async () => {
    await bare.db.pool.query(`REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${role}`)
    await Promise.all([start(bare.url), start(bare.url), start(bare.url)])
    expect(await rightsOn('loan')).toBe('DELETE INSERT SELECT UPDATE')
  })

  it('one role for all goes on working, with one warning that says what it may', async () => {
    const owner = new URL(bare.url).username
    const line = `DATABASE_URL: its role ${owner} is a superuser and may change and delete rows of audit_entry, event, and loan_entry; give the service a role that may not, and set DATABASE_OWNER_URL to that of the tables' owner`
    expect(await start(undefined, bare.url)).toEqual([line])
    // The same role given twice is one role.
    expect(await start(bare.url, bare.url)).toEqual([line])
  })

  it.each([
    [
      'a member of the owner',
      (owner: string) => `GRANT ${owner} TO ${role}`,
      (owner: string) => `REVOKE ${owner} FROM ${role}`,
    ],
    [
      'a grant to everybody',
      () => 'GRANT DELETE ON audit_entry TO PUBLIC',
      () => 'REVOKE DELETE ON audit_entry FROM PUBLIC',
    ],
    [
      'a column',
      () => `GRANT UPDATE (note) ON loan_entry TO ${role}`,
      () => `REVOKE UPDATE (note) ON loan_entry FROM ${role}`,
    ],
    ['may make roles', () => `ALTER ROLE ${role} CREATEROLE`, () => `ALTER ROLE ${role} NOCREATEROLE`],
  ])('too much by %s is warned of', async (_, give, takeBack) => {
    const owner = new URL(bare.url).username
    await bare.db.pool.query(give(owner))
    expect(await start(undefined)).toEqual([expect.stringContaining(`its role ${role} may`)])
    await bare.db.pool.query(takeBack(owner))
    expect(await start(undefined)).toEqual([])
  })

  it('an owner who cannot sign in is blamed on DATABASE_OWNER_URL', async () => {
    const wrong = Object.assign(new URL(bare.url), { password: 'wrong' }).href
    const why = await start(wrong).then(() => undefined, explain)
    expect(why).toMatch(/^DATABASE_OWNER_URL: the database cannot be reached: /)
  })

  it('one process of the service, and two, by both roles, with secrets in files: no warning', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mkopo-secrets-'))
    const secrets = { ...settings(), DATABASE_OWNER_URL: bare.url, METRICS_TOKEN: 'a-token-of-the-tests' }
    const { STOP_GRACE_MS, ...inFiles } = secrets
    const env: Record<string, string> = { STOP_GRACE_MS, WEB_CONCURRENCY: '2' }
    for (const [name, secret] of Object.entries(inFiles)) {
      await writeFile(join(folder, name), `${secret}\n`)
      env[`${name}_FILE`] = join(folder, name)
    }
    const alone = await serveHere(readConfig({ ...env, WEB_CONCURRENCY: '1', PORT: '0', OPS_PORT: '0' }))
    await expectBothRoles([alone])
    await alone.stop()
    expect(alone.log()).not.toContain('DATABASE')
    const running = await startProcess(env)
    await rm(folder, { recursive: true })
    await expectBothRoles(running.workers)
    expect(running.output()).not.toContain('DATABASE')
    running.child.kill('SIGTERM')
    await running.ended
  })

  it('the tests themselves run the service by a role of its own', async () => {
    const client = new pg.Client(service.url)
    await client.connect()
    expect((await client.query('SELECT current_user AS role')).rows).toEqual([{ role: inject('serviceRole').name }])
    await client.end()
  })
})
