import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { within } from '../support/patience.ts'
import { randomFrom } from '../support/random.ts'
import {
  lendIn,
  repaymentsIn,
  repayUntilStopped,
  type SeveralBooks,
  startSeveralBooks,
} from '../support/severalBooks.ts'

// Two lenders of two books, who go on posting while a move is killed again and again, and while a book is cut off. `npm run try --
// books` does it more often.

/** A move takes half a minute: the suite has two of them in books.test.ts, and none is killed there. */
const MOVES = Number(process.env.MKOPO_MOVES ?? 0)
const CUTS = Number(process.env.MKOPO_CUTS ?? 2)
const LOANS = Number(process.env.MKOPO_LOANS ?? 4)
const SEED = Number(process.env.MKOPO_SEED ?? 1)
const PASSWORD = 'a password of the tests'

const below = randomFrom(SEED)
const random = () => below(1_000) / 1_000
let several: SeveralBooks
let tokens: { first: string; second: string }
let loans: { first: string[]; second: string[] }

beforeAll(async () => {
  several = await startSeveralBooks()
  const { ops, tokenOf } = several
  await ops('organizations create Second --currency TZS --id 2')
  await ops('accounts create admin@second.example -o 2 --role ADMIN', { stdin: PASSWORD })
  const product = 'products create Plain -o 2 --min 1 --max 100000000 --instalments 1 --rate 0'
  const made = await ops(product)
  expect([made.err, made.code]).toEqual(['', 0])
  tokens = {
    first: await tokenOf(DEMO_PARTNER.email, DEMO_PARTNER.password),
    second: await tokenOf('admin@second.example', PASSWORD),
  }
  loans = { first: await lendIn(several, tokens.first, LOANS), second: await lendIn(several, tokens.second, LOANS) }
}, within(120_000))
afterAll(async () => several?.close())

/** Runs `mkopo organizations move` in a process. @returns whether it came to its end before it was killed */
async function moveAndBeKilled(to: string, killAfterMs: number): Promise<boolean> {
  const { config } = several
  const ofBooks = (url: 'url' | 'ownerUrl') => config.books.map((book) => `${book.name}=${book[url]}`).join()
  const child = spawn(process.execPath, ['src/ops/main.ts', 'organizations', 'move', '1', '--to', to], {
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

describe.runIf(MOVES > 0)('an organization whose move is killed again and again while it works', () => {
  it('is whole in one book each time, and each acknowledged repayment is there once', {
    timeout: within(3_600_000),
  }, async () => {
    const load = repayUntilStopped(several, tokens.first, loans.first, 200)
    let book: 'one' | 'two' = 'one'
    let [kills, whole] = [0, 0]
    /** Milliseconds that the last whole move took: half of the moves are killed before they would end. */
    let took = within(15_000)
    const durations: number[] = []
    for (let move = 0; move < MOVES; move++) {
      const to: 'one' | 'two' = book === 'one' ? 'two' : 'one'
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
      console.info(`move ${whole}: ${kills} killed before it, ${load.took.length} repayments`)
    }
    await load.stop()
    expect(whole).toBe(MOVES)
    expect(await repaymentsIn(several, { book, organizationId: 1 }, loans.first)).toEqual(load.acknowledged)
    const other = book === 'one' ? 'two' : 'one'
    expect([...(await repaymentsIn(several, { book: other, organizationId: 1 }, loans.first)).values()].flat()).toEqual(
      [],
    )
    const checked = await several.ops('book check -o 1')
    expect([checked.code, checked.err]).toEqual([0, ''])
    console.info(
      `${MOVES} moves, ${kills} killed before their end; ${load.took.length} repayments, ${load.refused()} refusals; at most ${Math.round(load.longestGap())} ms without one; a move took ${Math.round(Math.min(...durations))} to ${Math.round(Math.max(...durations))} ms`,
    )
  })
})

describe('a book that is cut off again and again', () => {
  it('refuses its own lender alone: the other loses nothing, and nothing is lost or doubled', {
    timeout: within(3_600_000),
  }, async () => {
    const own = repayUntilStopped(several, tokens.second, loans.second)
    const others = repayUntilStopped(several, tokens.first, loans.first)
    const before = others.acknowledged
    for (let cut = 0; cut < CUTS; cut++) {
      await pause(500 + random() * 1_000)
      several.ways.two.cut()
      await pause(500 + random() * 2_500)
      several.ways.two.mend()
      const so = own.took.length
      await expect.poll(() => own.took.length, { timeout: within(15_000) }).toBeGreaterThan(so)
    }
    await Promise.all([own.stop(), others.stop()])
    const { rows } = await several.directory.db.pool.query<{ book: 'one' | 'two' }>(
      'SELECT book FROM organization_place WHERE organization_id = 1',
    )
    const isApart = rows[0]!.book === 'one'
    expect(await repaymentsIn(several, { book: 'two', organizationId: 2 }, loans.second)).toEqual(own.acknowledged)
    if (isApart) expect(others.refused()).toBe(0)
    expect(before.size).toBe(LOANS)
    console.info(
      `${CUTS} cuts: ${own.took.length} repayments of the book, ${own.refused()} refusals; ${others.took.length} of the other, ${others.refused()} refusals`,
    )
  })
})
