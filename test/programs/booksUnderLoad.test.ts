import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { percentile } from '../../bench/window.ts'
import { asRole } from '../support/database.ts'
import { within } from '../support/patience.ts'
import { randomFrom } from '../support/random.ts'
import { aRoleName, READER_PASSWORD } from '../support/reporting.ts'
import {
  lendIn,
  makeTwoLenders,
  repaymentsIn,
  repayUntilStopped,
  type SeveralBooks,
  startSeveralBooks,
  type TwoLenders,
} from '../support/severalBooks.ts'
import { ask, type Node, startPrimary, startStandby } from '../support/standby.ts'

// Two lenders of two books, each on a server of its own, who go on posting while the server of one is cut off, killed, and
// replaced by its standby. `npm run try -- books` does it more often, and is without the directory for longer.

const OUTAGES = Number(process.env.MKOPO_OUTAGES ?? 3)
const GONE_SECONDS = Number(process.env.MKOPO_GONE_SECONDS ?? 0)
const SEED = Number(process.env.MKOPO_SEED ?? 1)
const LOANS = 8
const EVERY_MS = 20
/** The milliseconds of load before each outage, against which it is compared. */
const QUIET_MS = OUTAGES > 3 ? 3_000 : 300

const below = randomFrom(SEED)
let node: Node
let several: SeveralBooks
let tokens: TwoLenders
let loans: { first: string[]; second: string[] }

beforeAll(async () => {
  node = await startPrimary()
  several = await startSeveralBooks(node)
  tokens = await makeTwoLenders(several)
  loans = { first: await lendIn(several, tokens.first, LOANS), second: await lendIn(several, tokens.second, LOANS) }
}, within(120_000))
afterAll(async () => {
  await several?.close()
  await node?.destroy()
})

/** Makes what an outage needs. @returns what begins it, and ends where the server of the second book is there again */
const KINDS: Readonly<Record<string, () => Promise<() => Promise<unknown>>>> = {
  cut: async () => async () => {
    several.ways.two.cut()
    await pause(500 + below(2_500))
    several.ways.two.mend()
  },
  killed: async () => async () => {
    node = await node.crash()
    several.ways.two.lead(node.url)
  },
  switched: async () => {
    const standby = await startStandby(node)
    return async () => {
      several.ways.two.lead(standby.url)
      await node.destroy()
      node = standby
      await pause(500 + below(1_000))
      await ask(node.url, 'SELECT pg_promote()')
    }
  },
}

/** Returns the middle, the 99th percentile and the longest of some times, in words. */
function spread(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => percentile(sorted, share).toFixed(1)
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)} ms of ${sorted.length}`
}

describe('a book whose server is cut off, killed, and replaced by its standby', () => {
  it('refuses its own lender alone, within 3 s: the other is refused nothing, and nothing is lost or doubled', {
    timeout: within(60_000 + OUTAGES * 60_000),
  }, async () => {
    const own = repayUntilStopped(several, tokens.second, loans.second, { everyMs: EVERY_MS })
    const others = repayUntilStopped(several, tokens.first, loans.first, { everyMs: EVERY_MS })
    const kinds = Object.keys(KINDS)
    const told = new Map<string, { before: number[]; during: number[] }>(
      kinds.map((kind) => [kind, { before: [], during: [] }]),
    )
    for (let outage = 0; outage < OUTAGES; outage++) {
      const kind = kinds[outage % kinds.length]!
      const begin = await KINDS[kind]!()
      const quiet = others.took.length
      await pause(QUIET_MS)
      const [before, refused] = [others.took.length, own.refusals.length]
      await begin()
      const ended = own.took.length
      await expect.poll(() => own.took.length, { timeout: within(15_000) }).toBeGreaterThan(ended + LOANS)
      expect(own.refusals.length).toBeGreaterThan(refused)
      told.get(kind)!.before.push(...others.took.slice(quiet, before))
      told.get(kind)!.during.push(...others.took.slice(before))
    }
    await Promise.all([own.stop(), others.stop()])
    const longest = Math.max(...own.refusals.map(({ ms }) => ms))
    expect(longest).toBeLessThan(within(3_000))
    expect(others.refusals).toEqual([])
    const [first, second] = [
      await repaymentsIn(several, { book: 'one', organizationId: 1 }, loans.first),
      await repaymentsIn(several, { book: 'two', organizationId: 2 }, loans.second),
    ]
    expect([first, second]).toEqual([others.acknowledged, own.acknowledged])
    const checked = await several.ops('book check')
    expect([checked.code, checked.out.match(/nothing differs/g)]).toEqual([0, ['nothing differs', 'nothing differs']])
    for (const [kind, { before, during }] of [...told].slice(0, OUTAGES))
      console.info(`the other lender, before a book is ${kind}: ${spread(before)}; during it: ${spread(during)}`)
    console.info(
      `${OUTAGES} outages: ${own.took.length} repayments of the book, ${own.refusals.length} refusals, each within ${longest.toFixed(0)} ms; ${others.took.length} of the other book, none refused`,
    )
  })
})

describe('a standby of a book', () => {
  it('answers the reports of a lender as of a moment that it tells', { timeout: within(60_000) }, async () => {
    const standby = await startStandby(node)
    const role = aRoleName()
    const granted = await several.ops(`reporting grant -o 2 --role ${role}`, { stdin: `${READER_PASSWORD}\n` })
    expect([granted.err, granted.code]).toEqual(['', 0])
    const [loan = ''] = await lendIn(several, tokens.second, 1)
    const report = async () => {
      const url = asRole(standby.url, { name: role, password: READER_PASSWORD })
      const text = `SELECT (SELECT count(*) FROM reporting.loans WHERE loan_id = $1::bigint)::int AS loans,
        pg_last_xact_replay_timestamp() AS "asOf", pg_is_in_recovery() AS "isStandby"`
      return (await ask(url, { text, values: [loan] })).rows[0]
    }
    await expect.poll(async () => (await report()).loans, { timeout: within(10_000) }).toBe(1)
    expect(await report()).toMatchObject({ asOf: expect.any(Date), isStandby: true })
    await ask(node.url, 'ALTER SYSTEM RESET synchronous_standby_names', 'SELECT pg_reload_conf()')
    await standby.destroy()
    expect((await several.ops(`reporting revoke -o 2 --role ${role} --yes`)).code).toBe(0)
  })
})

describe.runIf(GONE_SECONDS > 0)('a directory that is gone', () => {
  it('is missed by nobody who is signed in', { timeout: within(60_000) + GONE_SECONDS * 1_000 }, async () => {
    const loads = await Promise.all(
      [tokens.first, tokens.second].map(async (token) =>
        repayUntilStopped(several, token, await lendIn(several, token, LOANS), { everyMs: EVERY_MS }),
      ),
    )
    several.ways.directory.cut()
    await pause(GONE_SECONDS * 1_000)
    several.ways.directory.mend()
    for (const load of loads) await load.stop()
    expect(loads.map(({ refusals }) => refusals)).toEqual([[], []])
    console.info(
      `${GONE_SECONDS} s without the directory: ${loads.map(({ took }) => took.length).join(' and ')} repayments, none refused; ${spread(loads.flatMap(({ took }) => took))}`,
    )
  })
})
