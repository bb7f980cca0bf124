import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import { addPeriods, dateIn } from '../../src/domain/dates.ts'
import { operator } from '../../src/services/access/caller.ts'
import { setPolicy } from '../../src/services/delinquency/policies.ts'
import type { Deps } from '../../src/services/deps.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { portfolioJob } from '../../src/services/portfolio/keepDays.ts'
import { readPortfolio, readRollRates } from '../../src/services/portfolio/portfolio.ts'
import { ORGANIZATION, say, withLargeBook } from '../largeBook.ts'

// Times the questions about the portfolio of a large book, each once on a database that has just been read.

const { values } = parseArgs({
  options: {
    loans: { type: 'string', default: '1000000' },
    transactions: { type: 'string', default: '3000000' },
    /** A directory for the book, which stays there and is used again. */
    directory: { type: 'string' },
  },
})
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
    await drain(portfolioJob(deps))
    return 0
  }
  const caller = operator(ORGANIZATION, 'try portfolio')
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

const { loans, transactions, directory } = values
await withLargeBook({ loans: Number(loans), transactions: Number(transactions), directory }, async (deps) =>
  say(tableOf(await measure(deps))),
)
