import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { programOf } from '../support/children.ts'
import { within } from '../support/patience.ts'
import { randomFrom } from '../support/random.ts'
import {
  lendIn,
  makeTwoLenders,
  repaymentsIn,
  repayUntilStopped,
  type SeveralBooks,
  startSeveralBooks,
} from '../support/severalBooks.ts'

// A lender whose move is killed again and again. The suite has whole moves in books.test.ts; `npm run try -- moves` runs this file.

const MOVES = Number(process.env.MKOPO_MOVES ?? 0)
const LOANS = Number(process.env.MKOPO_LOANS ?? 4)
const SEED = Number(process.env.MKOPO_SEED ?? 1)
/** The loans that are repaid while the lender moves, and the payers. */
const REPAID = 1_600
const PAYERS = 16

const below = randomFrom(SEED)
const random = () => below(1_000) / 1_000
let several: SeveralBooks

type Book = 'one' | 'two'
const otherThan = (book: Book): Book => (book === 'one' ? 'two' : 'one')

/** Returns the ids of the loans of an organization that a book has. */
async function loansIn({ book, organizationId }: { readonly book: Book; readonly organizationId: number }) {
  const text = 'SELECT id::text AS id FROM loan WHERE organization_id = $1'
  const { rows } = await several.books[book].db.pool.query<{ id: string }>(text, [organizationId])
  return new Set(rows.map(({ id }) => id))
}

/** Runs `mkopo organizations move` in a process. @returns whether it came to its end before it was killed */
async function moveAndBeKilled(to: string, killAfterMs: number): Promise<boolean> {
  const { config } = several
  const ofBooks = (url: 'url' | 'ownerUrl') => config.books.map((book) => `${book.name}=${book[url]}`).join()
  const child = spawn(process.execPath, [programOf('src/ops/main.ts'), 'organizations', 'move', '1', '--to', to], {
    env: {
      ...process.env,
      DATABASE_URL: config.databaseUrl,
      DATABASE_OWNER_URL: config.databaseOwnerUrl,
      BOOKS: ofBooks('url'),
      BOOKS_OWNERS: ofBooks('ownerUrl'),
      KEY_ENCRYPTION_SECRET: 'a secret of the tests',
      // The runner of the tests has one of its own.
      BASE_URL: '',
      SEED_DEMO: '',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (data) => {
    said += data
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  clearTimeout(timer)
  if (signal === null && code !== 0) throw new Error(said)
  return code === 0
}

describe.runIf(MOVES > 0)(`a lender of ${LOANS} loans whose move is killed again and again`, () => {
  let token: string
  let loans: string[]
  beforeAll(
    async () => {
      several = await startSeveralBooks()
      token = (await makeTwoLenders(several)).first
      // The servers of the tests have no autovacuum: a server that is used has one, and its plans are not those of an empty book.
      const { pool } = several.books.one.db
      await pool.query('ALTER SYSTEM SET autovacuum = on')
      await pool.query(`ALTER SYSTEM SET autovacuum_naptime = '5s'`)
      await pool.query('SELECT pg_reload_conf()')
      loans = await lendIn(several, token, Math.min(LOANS, 1_000))
      await pool.query('ANALYZE')
      loans.push(...(await lendIn(several, token, LOANS - loans.length)))
      console.info(`${LOANS} loans are lent`)
    },
    within(120_000 + LOANS * 10),
  )
  afterAll(async () => several?.close())

  it('is whole in one book each time, and each acknowledged repayment is there once', {
    timeout: within(3_600_000),
  }, async () => {
    const repaid = loans.slice(0, REPAID)
    const load = repayUntilStopped(several, token, repaid, { everyMs: 200, payers: Math.min(PAYERS, repaid.length) })
    let book: Book = 'one'
    let [kills, whole] = [0, 0]
    /** Milliseconds that the last whole move took: half of the moves are killed before they would end. */
    let took = within(15_000 + LOANS)
    const durations: number[] = []
    for (let move = 0; move < MOVES; move++) {
      const to = otherThan(book)
      // Longer with each try, so that it comes to its end at last.
      for (let tries = 0; ; tries++) {
        const begun = performance.now()
        const isDone = await moveAndBeKilled(to, 1_000 + (2 * random() + tries / 2) * took)
        if (isDone && tries === 0) {
          took = performance.now() - begun
          durations.push(took)
        }
        if (isDone) break
        kills++
        const before = load.took.length
        // It goes on, in the one book or in the other.
        await expect.poll(() => load.took.length, { timeout: within(15_000) }).toBeGreaterThan(before)
      }
      whole++
      book = to
      console.info(
        `move ${whole}: ${kills} killed so far, ${load.took.length} repayments, at most ${Math.round(load.longestGap())} ms without one`,
      )
    }
    await load.stop()
    expect(whole).toBe(MOVES)
    const there = { book, organizationId: 1 }
    const gone = { book: otherThan(book), organizationId: 1 }
    expect(await repaymentsIn(several, there, repaid)).toEqual(load.acknowledged)
    expect([...(await repaymentsIn(several, gone, repaid)).values()].flat()).toEqual([])
    const kept = await loansIn(there)
    expect(loans.filter((id) => !kept.has(id))).toEqual([])
    expect((await loansIn(gone)).size).toBe(0)
    const checked = await several.ops('book check -o 1')
    expect([checked.code, checked.err]).toEqual([0, ''])
    console.info(
      `${MOVES} moves, ${kills} killed before their end; ${load.took.length} repayments, ${load.refusals.length} refusals; at most ${Math.round(load.longestGap())} ms without one; a move took ${Math.round(Math.min(...durations))} to ${Math.round(Math.max(...durations))} ms`,
    )
  })
})
