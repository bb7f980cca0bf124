import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { connectAsOwner, deleteOrganization, unpublish } from '../../src/db/directory/moving.ts'
import { aloneFor } from '../../src/db/postgres/transaction.ts'
import { checkBook } from '../../src/services/book/bookCheck.ts'
import { DEMO_OPERATOR, DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { within } from '../support/patience.ts'
import { lendIn, repayUntilStopped, type SeveralBooks, startSeveralBooks } from '../support/severalBooks.ts'
import type { Wire } from '../support/wire.ts'

const PASSWORD = 'a password of the tests'
const SECOND = { email: 'admin@second.example', password: PASSWORD }

/** The books, as readiness says of them. */
const ALL_WELL = { one: 'ok', two: 'ok', directory: 'ok' }

let several: SeveralBooks
/** Tokens of a USER of organization 1, of the book `one`, and of an ADMIN of organization 2, of the book `two`. */
let tokens: { first: string; second: string }

beforeAll(async () => {
  several = await startSeveralBooks()
  const { ops, call, tokenOf } = several
  // A book to which connecting takes over 2 s is opened after the start.
  const isWell = async () => expect((await call('/health/ready')).body.books).toEqual(ALL_WELL)
  await vi.waitFor(isWell, { timeout: within(30_000) })
  // Of the slot 1 * 2654435761 mod 1024: the books share the slots in halves.
  expect((await ops('organizations create Second --currency KES --id 2')).code).toBe(0)
  const { email, password } = SECOND
  const made = await ops(`accounts create ${email} -o 2 --role ADMIN`, { stdin: password })
  expect(made.err).toBe('')
  tokens = { first: await tokenOf(DEMO_PARTNER.email, DEMO_PARTNER.password), second: await tokenOf(email, password) }
}, within(60_000))
afterAll(async () => several?.close())

/** Waits until a call of a path is answered with a status. */
const answers = (path: string, token: string, status: number) =>
  expect.poll(async () => (await several.call(path, { token })).status, { timeout: within(10_000) }).toBe(status)

describe('a service of two books', { timeout: within(60_000) }, () => {
  it('has taken in what a book had that was served alone, and makes new organizations in the book of their slot', async () => {
    const { ops } = several
    const { json } = await ops<Wire>('books list --json')
    expect(json).toEqual([
      { book: 'one', organizations: 2, slots: 512 },
      { book: 'two', organizations: 1, slots: 512 },
    ])
    expect((await several.books.two.db.pool.query('SELECT id FROM organization')).rows).toEqual([{ id: 2 }])
    const listed = await ops<Wire[]>('organizations list --json')
    expect(listed.json.map(({ id }) => id).sort()).toEqual([1, 100, 2])
  })

  it('serves each organization from its book: by a token, an API key, and the address of a payment channel', async () => {
    const { call, ops } = several
    const who = async (token: string) => (await call('/v1/auth/authenticate', { token })).body.organizationId
    expect([await who(tokens.first), await who(tokens.second)]).toEqual(['1', '2'])
    const { json: made } = await ops<Wire>('api-keys create till -o 2 --role ADMIN --json')
    expect((await call('/v1/loan-products', { token: String(made.key) })).status).toBe(401)
    const body = { name: 'Till', adapter: 'canonical' }
    const channel = await call('/v1/payment-channels', { token: tokens.second, body })
    expect([channel.status, channel.text]).toEqual([200, expect.any(String)])
    const path = new URL(String(channel.body.inboundUrl)).pathname
    expect((await call(path, { body: { nothing: true } })).status).not.toBe(404)
    expect((await call(`${path}x`, { body: { nothing: true } })).status).toBe(404)
  })

  it('keeps an e-mail for one account over all books, and says so', async () => {
    const { ops } = several
    const again = await ops(`accounts create ${DEMO_PARTNER.email} -o 2 --role USER`, { stdin: PASSWORD })
    expect([again.code, again.err]).toEqual([1, 'mkopo: an account with that e-mail exists already\n'])
  })

  it('refuses a number that an organization of another book has, and keeps that one in its place', async () => {
    const { ops } = several
    const again = await ops('organizations create Again --currency KES --id 1')
    expect([again.code, again.err]).toEqual([1, 'mkopo: an organization with that id exists already\n'])
    await answers('/v1/loan-products', tokens.first, 200)
  })

  it('lets people sign in at one page, and shows each the pages of their own organization', async () => {
    const { opsOrigin } = several
    for (const [{ email, password }, name] of [
      [DEMO_OPERATOR, DEMO_OPERATOR.email],
      [SECOND, SECOND.email],
    ] as const) {
      const signedIn = await fetch(`${opsOrigin}/sign-in`, {
        method: 'POST',
        body: new URLSearchParams({ email, password, next: '/' }),
        redirect: 'manual',
      })
      expect(signedIn.status).toBe(303)
      const [cookie] = signedIn.headers.getSetCookie().map((one) => one.split(';')[0])
      const page = await fetch(`${opsOrigin}/`, { headers: { cookie: cookie! } })
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(name)])
    }
  })

  it('says in readiness and in the metrics how each book is', async () => {
    const { call, opsOrigin } = several
    await expect.poll(async () => (await call('/health/ready')).body).toEqual({ status: 'ok', books: ALL_WELL })
    const page = await (await fetch(`${opsOrigin}/metrics`)).text()
    for (const book of ['one', 'two', 'directory']) expect(page).toContain(`mkopo_db_up{book="${book}"} 1`)
    expect(page).toMatch(/mkopo_job_last_success_timestamp_seconds\{job="sequencer",book="two"\}/)
  })

  it('checks the books one after the other, and reads a list of all', async () => {
    const { ops } = several
    const checked = await ops('book check')
    expect([checked.code, checked.out.match(/nothing differs/g)]).toEqual([0, ['nothing differs', 'nothing differs']])
    const accounts = await ops<Wire[]>('accounts list --json')
    const emails = accounts.json.map(({ email }) => email)
    expect(emails).toEqual(expect.arrayContaining([DEMO_PARTNER.email, SECOND.email]))
    const listed = await ops('products list')
    expect([listed.code, listed.err]).toEqual([
      2,
      'mkopo: there are several organizations: say which, with --organization <id>\n',
    ])
  })

  it('refuses the lenders of a book that is gone, within 3 s, and serves the others meanwhile', async () => {
    const { call, ways } = several
    ways.two.cut()
    const begun = performance.now()
    const [refused, served] = await Promise.all([
      call('/v1/loan-products', { token: tokens.second }),
      call('/v1/loan-products', { token: tokens.first }),
    ])
    expect([refused.status, refused.body.code, served.status]).toEqual([503, 'unavailable', 200])
    expect(performance.now() - begun).toBeLessThan(within(3_000))
    await expect
      .poll(async () => (await call('/health/ready')).body.books, { timeout: within(10_000) })
      .toEqual({ one: 'ok', two: 'the database is gone', directory: 'ok' })
    ways.two.mend()
    await answers('/v1/loan-products', tokens.second, 200)
  })

  it('goes on without the directory for those who are signed in, and refuses a sign-in', async () => {
    const { call, ways, tokenOf } = several
    ways.directory.cut()
    await expect
      .poll(async () => (await call('/health/ready')).body.books, { timeout: within(10_000) })
      .toMatchObject({ directory: 'the directory does not answer' })
    // Longer than keys and accounts that were read are fresh.
    for (let tries = 0; tries < 12; tries++) {
      for (const token of [tokens.first, tokens.second])
        expect((await call('/v1/loan-products', { token })).status).toBe(200)
      await pause(500)
    }
    expect(await tokenOf(SECOND.email, SECOND.password)).toBeUndefined()
    ways.directory.mend()
    await expect.poll(() => tokenOf(SECOND.email, SECOND.password), { timeout: within(10_000) }).toBeTruthy()
  })
})

it('a slot of a move is dropped once its sender has ended, however long that takes', async () => {
  const book = await connectAsOwner(several.books.one.url)
  let refusals = 2
  const slow: typeof book = {
    ...book,
    query: async (text, values) => {
      if (text.includes('pg_drop_replication_slot') && refusals-- > 0)
        throw Object.assign(new Error('replication slot "mkopo_move_1" is active for PID 7'), { code: '55006' })
      return book.query(text, values)
    },
  }
  try {
    await book.query(`SELECT pg_create_logical_replication_slot('mkopo_move_1', 'pgoutput')`)
    await unpublish(slow, 1)
    expect(await book.query('SELECT FROM pg_replication_slots WHERE database = current_database()')).toEqual([])
  } finally {
    await book.end()
  }
})

describe('organizations move', { timeout: within(120_000) }, () => {
  const bookOf = async (organizationId: number) =>
    (
      await several.directory.db.pool.query<{ book: string; stopped: boolean; movingTo: string | null }>(
        'SELECT book, stopped, moving_to AS "movingTo" FROM organization_place WHERE organization_id = $1',
        [organizationId],
      )
    ).rows[0]

  const rowsIn = async (book: 'one' | 'two', table: string) =>
    Number(
      (await several.books[book].db.pool.query(`SELECT count(*) AS n FROM ${table} WHERE organization_id = 1`)).rows[0]
        .n,
    )

  it('moves a lender who goes on lending: each acknowledged repayment is there once, the chain is whole, the old rows are gone', async () => {
    const loans = await lendIn(several, tokens.first, 4)
    const load = repayUntilStopped(several, tokens.first, loans, { everyMs: 20 })
    const moved = await several.ops<Wire>('organizations move 1 --to two --json')
    expect([moved.err, moved.code]).toEqual(['', 0])
    expect(moved.json).toMatchObject({ organizationId: 1, book: 'two' })
    await pause(500)
    await load.stop()
    expect(await bookOf(1)).toEqual({ book: 'two', stopped: false, movingTo: null })
    for (const loan of loans) {
      const { rows } = await several.books.two.db.pool.query<{ token: string }>(
        'SELECT token FROM loan_entry WHERE organization_id = 1 AND loan_id = $1 AND token IS NOT NULL ORDER BY ordinal',
        [loan],
      )
      expect(rows.map((row) => row.token)).toEqual(load.acknowledged.get(loan))
    }
    expect(await rowsIn('one', 'loan')).toBe(0)
    expect(await rowsIn('one', 'audit_entry')).toBe(0)
    const two = several.serving
      .several!.books()
      .find(({ deps }) => deps.db.pool.options.connectionString?.includes(several.books.two.url.split('/').at(-1)!))!
    await expect
      .poll(async () => (await checkBook(two.deps, { organizationId: 1 })).differences, { timeout: within(20_000) })
      .toEqual([])
    const slots = await several.books.one.db.pool.query(
      'SELECT slot_name FROM pg_replication_slots WHERE database = current_database()',
    )
    expect(slots.rows).toEqual([])
  })

  it('moves it back, and what it had in that book before is no hindrance', async () => {
    const moved = await several.ops<Wire>('organizations move 1 --to one --json')
    expect([moved.err, moved.code]).toEqual(['', 0])
    await answers('/v1/loan-products', tokens.first, 200)
    expect((await lendIn(several, tokens.first, 1))[0]).toMatch(/^\d+$/)
    expect(await rowsIn('two', 'loan')).toBe(0)
  })

  it('says what is wrong, and changes nothing: the same book, no such book, no such organization, one book', async () => {
    const { ops } = several
    const said = async (command: string) => (await ops(command)).err
    expect(await said('organizations move 1 --to one')).toBe('mkopo: organization 1 is in the book one already\n')
    expect(await said('organizations move 1 --to six')).toBe('mkopo: there is no book six; there are one, two\n')
    expect(await said('organizations move 77 --to one')).toBe('mkopo: there is no organization 77\n')
    expect(await said('books give-slots six 0-3')).toBe('mkopo: there is no book six; there are one, two\n')
    expect((await ops('books give-slots two 9-3')).code).toBe(2)
    expect((await ops('books give-slots two 0-1024')).code).toBe(2)
    expect(await bookOf(1)).toEqual({ book: 'one', stopped: false, movingTo: null })
  })

  it('refuses what it cannot move, says why, and has the lender go on in the book that it is in', async () => {
    const { ops, directory } = several
    const run = (book: 'one' | 'two', text: string, values?: unknown[]) =>
      several.books[book].db.pool.query<{ row: object }>(text, values)
    const refusal = async () => {
      const { err } = await ops('organizations move 1 --to two')
      expect(await bookOf(1)).toEqual({ book: 'one', stopped: false, movingTo: null })
      expect(await rowsIn('two', 'loan')).toBe(0)
      return err
    }
    const another = { name: 'move of an organization', organizationId: 1 }
    expect(await aloneFor(directory.db, another, refusal)).toBe('mkopo: another run moves organization 1\n')

    await run('two', 'CREATE TABLE of_another_release (organization_id integer)')
    expect(await refusal()).toBe('mkopo: the books one and two have different tables: migrate both first\n')
    await run('two', 'DROP TABLE of_another_release')

    const [organization] = (await run('one', 'SELECT to_jsonb(o) AS row FROM organization o WHERE id = 1')).rows
    const copy = 'INSERT INTO organization SELECT (jsonb_populate_record(NULL::organization, $1)).*'
    await run('two', copy, [organization!.row])
    expect(await refusal()).toBe('mkopo: the book two has another organization 1\n')
    // A job of the service may have written the figures of the copy meanwhile.
    const owner = await connectAsOwner(several.books.two.url)
    await deleteOrganization(owner, [{ name: 'organization', column: 'id' }], 1)
    await owner.end()

    const email = 'UPDATE account SET email = $1 WHERE email = $2'
    await run('two', email, [DEMO_PARTNER.email, SECOND.email])
    expect(await refusal()).toContain(
      'mkopo: the rows could not be copied: the log of the server of the book two says why\n',
    )
    await run('two', email, [SECOND.email, DEMO_PARTNER.email])

    const paid = 'UPDATE loan SET total_paid = total_paid + $1 WHERE organization_id = 1'
    await run('one', paid, [1])
    expect(await refusal()).toMatch(
      /\nmkopo: book check finds \d+ differences of organization 1 in the book two, the first of /,
    )
    await run('one', paid, [-1])
    expect((await ops('book check')).code).toBe(0)
  })

  it('has a lender go on that a run had stopped which is gone, in the book that it was in', async () => {
    const { directory, books } = several
    await books.one.db.pool.query('INSERT INTO absent_organization (organization_id, left_at) VALUES (1, now())')
    await directory.db.pool.query(
      `UPDATE organization_place SET moving_to = 'two', mover = 'gone', stopped = true WHERE organization_id = 1`,
    )
    await directory.db.pool.query('UPDATE directory SET version = version + 1')
    await expect
      .poll(() => bookOf(1), { timeout: within(10_000) })
      .toEqual({ book: 'one', stopped: false, movingTo: null })
    await answers('/v1/loan-products', tokens.first, 200)
    expect((await books.one.db.pool.query('SELECT FROM absent_organization')).rowCount).toBe(0)
  })

  it('refuses a change of a lender that has left a book, also of a process that has not heard of the move', async () => {
    const { books, ops } = several
    await books.one.db.pool.query(
      `CREATE TRIGGER mkopo_moved_1 BEFORE INSERT OR UPDATE ON audit_entry FOR EACH ROW WHEN (NEW.organization_id = 1)
       EXECUTE FUNCTION refuse_moved('1')`,
    )
    const [loan = ''] = await lendIn(several, tokens.first, 1)
    await books.one.db.pool.query('INSERT INTO absent_organization (organization_id, left_at) VALUES (1, now())')
    const body = { transactionAmount: 1_000, idempotencyKey: 'after it left' }
    const refused = await several.call(`/v1/loans/${loan}/repayments`, { token: tokens.first, body })
    expect([refused.status, refused.body.code]).toEqual([503, 'unavailable'])
    await books.one.db.pool.query('DELETE FROM absent_organization')
    await books.one.db.pool.query('DROP TRIGGER mkopo_moved_1 ON audit_entry')
    expect((await several.call(`/v1/loans/${loan}/repayments`, { token: tokens.first, body })).status).toBe(200)
    expect((await ops('book check -o 1')).code).toBe(0)
  })
})
