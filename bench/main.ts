import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { arch, cpus, platform, totalmem } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { readConfig } from '../src/app/config.ts'
import { openService } from '../src/app/service.ts'
import { bars } from './bars.ts'
import { type Checked, checkBooks } from './checkBooks.ts'
import { messagesBeside } from './messages.ts'
import { type Options, readOptions, USAGE } from './options.ts'
import { checkOwnBook, makeOwnBook } from './ownBook.ts'
import { residentBytes, treeOf } from './processes.ts'
import { compareProfiles, microseconds } from './profile.ts'
import { figure, type Line, linesOf, priceTable, table } from './report.ts'
import { type Row, Runner, runRounds } from './rounds.ts'
import type { Scenario, Target } from './scenarios.ts'
import { CONNECTIONS, soak } from './soak.ts'
import { type Stack, startStack, type Version } from './stack.ts'
import { SECRET } from './startService.ts'

/** What the service makes of its own for `book check`. */
const OWN = { loans: 1_000, repayments: 10_000 }

/** Seconds for which a provider sends at full speed. */
const MESSAGES = 60
const QUICK_MESSAGES = 2

const say = (text: string) => process.stdout.write(`${text}\n`)

class Interrupted extends Error {}

const ended = Promise.withResolvers<never>()
ended.promise.catch(() => undefined)
process.once('SIGINT', () => ended.reject(new Interrupted()))
process.once('SIGTERM', () => ended.reject(new Interrupted()))

let options: Options
try {
  options = readOptions(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${USAGE}\n`)
  process.exit(2)
}

/** What was started, last first to be ended. */
const closing: (() => unknown)[] = []
let failed = true
try {
  failed = !(await Promise.race([run(options), ended.promise]))
} catch (error) {
  process.stderr.write(`${error instanceof Interrupted ? 'interrupted' : (error as Error).stack}\n`)
}
for (const close of closing.reverse()) await Promise.resolve(close()).catch((error: unknown) => say(String(error)))
process.exit(failed ? 1 : 0)

/** @returns whether every request was answered and the books are right */
async function run(options: Options): Promise<boolean> {
  const started = new Date()
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${platform()} ${arch()}, Node ${process.version}`
  say(machine)
  const stack = await startStack(options, closing, say)
  const runner = new Runner(stack, options)
  const atStart = residentBytes(stack.ours.service.pid)
  const scenarios = await servedOf(runner, options.soak === undefined ? options.scenarios : ['repayments'])
  await warmUp(runner, scenarios)

  const soaked =
    options.soak === undefined
      ? undefined
      : await soak(runner, stack, { minutes: options.soak, fullRate: options.fullRate }, say)
  const from = microseconds()
  const rows = soaked ? [] : await runRounds(runner, scenarios, options, say)
  const span = { from, until: microseconds() }
  const lines = linesOf(rows)
  if (!soaked) say(`\n${table(lines, await earlierLines(options.against))}\n\n${priceTable(lines)}\n`)
  const paced = await pace(runner, lines, options)
  const messages = lines.some(({ scenario }) => scenario === 'messages')
    ? await messagesBeside(
        runner,
        stack,
        { rate: options.messages, seconds: options.quick ? QUICK_MESSAGES : MESSAGES },
        say,
      )
    : undefined
  const resident = residentBytes(stack.ours.service.pid)
  say(
    `memory of the service: ${mebibytes(atStart.now)} MiB at its start, ${mebibytes(resident.now)} MiB now, ` +
      `${mebibytes(resident.peak)} MiB at most\n`,
  )
  // The bar is of one process.
  const ofOne = (options.processes ?? 1) === 1 ? resident.now : 0
  for (const bar of soaked ? [] : bars({ lines, pacedP99: paced?.p99, messages, resident: ofOne })) say(bar)

  const right = await verdict(runner, stack)
  const size = { loans: options.loans, transactions: options.transactions }
  await keep(options, started, {
    machine,
    size,
    durability: stack.ours.durability,
    lines,
    paced,
    messages,
    soaked,
    resident,
    rows,
  })
  if (options.profile) {
    const services = { ours: stack.ours.service, versus: stack.versus?.service }
    const profiled = [
      ...Object.entries(services).flatMap(([name, service]) =>
        service ? [{ name: name as Target, pids: treeOf(service.pid) }] : [],
      ),
      { name: 'floor' as const, pids: [stack.floor.pid] },
    ]
    await Promise.all([services.ours.stop(), services.versus?.stop(), stack.floor.end()])
    const targets = profiled.map((one) => ({ ...one, answered: answeredBy(rows, one.name) }))
    say(`\n${await compareProfiles(stack.directory, targets, span)}`)
  }
  return right
}

/** Requests of a target that were answered, the warm-up's too. */
function answeredBy(rows: readonly Row[], target: Target): number {
  const samples = rows.filter((row) => row.target === target).flatMap((row) => row.samples)
  return samples.reduce((sum, { answered }) => sum + answered, 0)
}

/** Leaves out what the service does not serve yet. */
async function servedOf(runner: Runner, asked: readonly Scenario[]): Promise<Scenario[]> {
  const served: Scenario[] = []
  for (const scenario of asked)
    if (await runner.isServed(scenario)) served.push(scenario)
    else say(`${scenario}: skipped, the service has no such route yet`)
  return served
}

/** Compilers and caches first, on every target alike. */
async function warmUp(runner: Runner, scenarios: readonly Scenario[]): Promise<void> {
  const [scenario = 'repayments'] = scenarios
  for (const target of runner.targetsOf(scenario))
    await runner.measure(scenario, target, 16, { seconds: 1, warmUp: 0.5 })
}

/** Latency where the service is half busy: requests come when they come. */
async function pace(runner: Runner, lines: readonly Line[], { rounds, seconds }: Options) {
  const highest = lines.find((one) => one.scenario === 'repayments' && one.connections === CONNECTIONS)
  if (!highest) return undefined
  const rate = highest.perSecond / 2
  const samples = []
  for (let round = 0; round < rounds; round++)
    samples.push(await runner.measure('repayments', 'ours', CONNECTIONS, { rate, seconds, isPriced: false }))
  const [line] = linesOf([{ scenario: 'repayments', connections: CONNECTIONS, target: 'ours', samples }])
  const { p50, p99, perSecond } = line!
  say(`at half of the highest rate, ${figure(perSecond)}/s in the open: p50 ${figure(p50)} ms, p99 ${figure(p99)} ms`)
  return { rate, p50, p99, samples }
}

/** Says what went wrong, and whether nothing did. */
async function verdict(runner: Runner, stack: Stack): Promise<boolean> {
  const { ours, byHand, versus } = stack
  const checked = [
    await checkBooks(ours, runner.tallies, ['ours']),
    await checkBooks(byHand, runner.tallies, ['floor', 'driver']),
    ...(versus ? [await checkBooks(versus, runner.tallies, ['versus'])] : []),
    await withOwnBook(ours),
  ]
  const said = checked.flatMap((one) => one.said)
  const wrong = checked.flatMap((one) => one.wrong)
  say(['', 'the books', ...said, ...wrong.map((one) => `WRONG: ${one}`)].join('\n'))
  if (runner.errors > 0) say([`${runner.errors} requests failed:`, ...runner.firstErrors.slice(0, 10)].join('\n  '))
  return wrong.length === 0 && runner.errors === 0
}

/** Lets the service make a book of its own, after all that is measured, and runs `book check` on it. */
async function withOwnBook({ databaseUrl, service }: Version): Promise<Checked> {
  const config = readConfig({ DATABASE_URL: databaseUrl, KEY_ENCRYPTION_SECRET: SECRET, LOG_LEVEL: 'silent' })
  const deps = await openService({ config, databaseUrl, now: Date.now, skipMigrations: true })
  try {
    await makeOwnBook(deps, service.port, OWN)
    return await checkOwnBook(deps)
  } finally {
    deps.statements.close()
    deps.webhookPoster.close()
    await deps.db.close()
  }
}

async function earlierLines(file: string | undefined): Promise<Line[] | undefined> {
  return file === undefined ? undefined : (JSON.parse(await readFile(file, 'utf8')) as { lines: Line[] }).lines
}

/** What a run came to; the samples of its rows are too many for the history. */
type Results = { readonly rows: readonly Row[]; readonly lines: readonly Line[] } & Readonly<Record<string, unknown>>

async function keep(options: Options, started: Date, results: Results): Promise<void> {
  const name = `${started.toISOString().slice(0, 19).replaceAll(':', '-')}.json`
  const file = options.out ?? join(import.meta.dirname, 'results', name)
  await mkdir(dirname(file), { recursive: true })
  const about = { startedAt: started, memoryMiB: Math.round(totalmem() / 2 ** 20), options }
  await writeFile(file, JSON.stringify({ ...about, ...results }))
  say(`\nresults: ${file}`)
  if (!options.keep) return
  const { rows: _, lines, ...figures } = results
  const versions = { commit: commitOf('.'), versus: options.versus && commitOf(options.versus) }
  const kept = join(import.meta.dirname, 'history', name.replace('.json', '.jsonl'))
  await mkdir(dirname(kept), { recursive: true })
  const written = [{ ...versions, ...about, ...figures }, ...lines].map((one) => `${JSON.stringify(one)}\n`)
  await writeFile(kept, written.join(''))
  say(`kept: ${kept}`)
}

/** Returns the commit of a checkout, with `+` where its files differ from it. */
function commitOf(checkout: string): string {
  const cwd = resolve(import.meta.dirname, '..', checkout)
  return execFileSync('git', ['describe', '--always', '--dirty=+'], { cwd, encoding: 'utf8' }).trim()
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0)
}
