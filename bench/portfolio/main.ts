import { chmod, mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import { readConfig } from '../../src/app/config.ts'
import type { Deps } from '../../src/app/deps.ts'
import { openService } from '../../src/app/service.ts'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import { addPeriods, dateIn } from '../../src/domain/dates.ts'
import { operator } from '../../src/services/access/caller.ts'
import { setPolicy } from '../../src/services/delinquency/policies.ts'
import { sequenceAll } from '../../src/services/events/sequencer.ts'
import { sweepOnce } from '../../src/services/loans/sweep.ts'
import { readPortfolio, readRollRates } from '../../src/services/portfolio/portfolio.ts'
import { createPortfolioKeeper } from '../../src/services/portfolio/portfolioKeeper.ts'
import { fillBook } from '../fillBook.ts'

// Times the questions about the portfolio of a large book, each once on a database that has just been read.

const ORGANIZATION = 1
const { values } = parseArgs({
  options: {
    loans: { type: 'string', default: '1000000' },
    transactions: { type: 'string', default: '3000000' },
    /** A directory for the book, which stays there and is used again. */
    directory: { type: 'string' },
  },
})
const say = (text: string) => process.stdout.write(`${text}\n`)
const closing: (() => unknown)[] = []

/** Fills the book unless it is there. */
async function lay({ db, config }: Deps): Promise<void> {
  const { rows } = await db.pool.query<{ n: bigint }>('SELECT count(*) AS n FROM (SELECT FROM loan LIMIT 1) AS one')
  if (rows[0]!.n > 0n) return
  const size = { loans: Number(values.loans), transactions: Number(values.transactions) }
  const book = await fillBook(db.pool, size, config.zone, ORGANIZATION)
  say(`${book.loans.toLocaleString('en')} open loans, ${size.transactions.toLocaleString('en')} transactions`)
}

/** Lets time do what it does, so that no loan waits for the sweep. */
async function sweep(deps: Deps): Promise<void> {
  for (;;) if ((await sweepOnce(deps, [])).found === 0) break
  await sequenceAll(deps)
}

interface Timed {
  readonly question: string
  readonly seconds: number
  readonly loans: number
  readonly megabytes: number
}

async function time(question: string, ask: () => Promise<number>): Promise<Timed> {
  const began = performance.now()
  const loans = await ask()
  const seconds = (performance.now() - began) / 1000
  const timed = { question, seconds, loans, megabytes: Math.round(process.memoryUsage.rss() / 1e6) }
  say(`${question}: ${seconds.toFixed(2)} s`)
  return timed
}

async function measure(deps: Deps): Promise<Timed[]> {
  const who = { organizationId: ORGANIZATION }
  const today = dateIn(deps.config.zone, deps.now(ORGANIZATION))
  const ago = (days: number) => addPeriods(today, -days, 'days')
  const ask = async (request: Parameters<typeof readPortfolio>[2]) =>
    (await readPortfolio(deps, who, request)).cells.reduce((sum, { loans }) => sum + loans, 0)
  const rolls = async (from: string) =>
    (await readRollRates(deps, who, { from })).rates
      .flatMap((rate) => [...rate.from, rate.lent])
      .reduce((sum, { loans }) => sum + loans, 0)
  const keep = async () => {
    const keeper = createPortfolioKeeper(deps)
    while (!(await keeper.round()).isDone);
    return 0
  }
  const caller = operator(ORGANIZATION, 'portfolio:try')
  // A book that is used again has kept days, and another policy.
  await setPolicy(deps, caller, { preset: 'par' })
  await deps.db.pool.query('DELETE FROM portfolio_day')
  await ask({})
  const timed = [
    await time('today', () => ask({})),
    await time('yesterday, not kept', () => ask({ asOf: ago(1) })),
    await time('30 days ago, not kept', () => ask({ asOf: ago(30) })),
    await time('30 days ago, kept', () => ask({ asOf: ago(30) })),
    await time('60 days ago, not kept', () => ask({ asOf: ago(60) })),
    await time('10 days ago, as known 5 days ago', () =>
      ask({ asOf: ago(10), knownAt: deps.now(ORGANIZATION) - 5 * 86_400_000 }),
    ),
    await time('today, as published by cbk', () => ask({ policy: 'cbk' })),
    await time('roll rates of 30 days', () => rolls(ago(30))),
    await time('the job that notes buckets and keeps 31 days, the first time', keep),
  ]
  const buckets = [
    { name: 'current', fromDays: 0, toDays: 0 },
    { name: 'late', fromDays: 1 },
  ]
  await setPolicy(deps, caller, { buckets, countFrom: 'first_arrears', cureDays: 10 })
  return [...timed, await time('today, by the first arrears and days of cure', () => ask({}))]
}

function tableOf(timed: readonly Timed[]): string {
  const head = ['question', 'seconds', 'loans', 'RSS, MB']
  const table = new Table({ head, colAligns: ['left', 'right', 'right', 'right'], style: { head: [], border: [] } })
  for (const { question, seconds, loans, megabytes } of timed)
    table.push([question, seconds.toFixed(2), loans.toLocaleString('en'), megabytes])
  return table.toString()
}

async function run(): Promise<void> {
  const directory = values.directory ?? join(tmpdir(), `mkopo-portfolio-${process.pid}`)
  await mkdir(directory, { recursive: true })
  if (values.directory === undefined)
    closing.push(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))
  await chmod(directory, 0o755)
  const quiet = { debug: () => undefined, info: () => undefined, warn: say }
  const server = await startEmbedded({ directory: join(directory, 'data'), durable: false, log: quiet })
  closing.push(() => server.stop())
  const config = readConfig({ KEY_ENCRYPTION_SECRET: 'a secret of the bench', SEED_DEMO: 'true' })
  const deps = await openService({ config, databaseUrl: server.url, now: Date.now })
  closing.push(() => deps.db.close())
  await lay(deps)
  await sweep(deps)
  say(tableOf(await measure(deps)))
}

try {
  await run()
} finally {
  for (const close of closing.toReversed()) await close()
}
