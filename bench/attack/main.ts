import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import { readConfig } from '../../src/app/config.ts'
import { openService } from '../../src/app/service.ts'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import type { Deps } from '../../src/services/deps.ts'
import { startPeer } from '../peer.ts'
import { freePort, SECRET, startService } from '../startService.ts'
import type { AttackerDuties } from './attacker.ts'
import { FLOODS, type Tally } from './floods.ts'
import { type Met, work } from './honest.ts'
import { differencesAfter, type Laid, layAttack } from './lay.ts'
import { watchMemory } from './memory.ts'

const MIB = 2 ** 20
/** How much longer than without a flood an honest caller's p99 may be. */
const MOST_RATIO = 3
/** What the service and its descendants may have of memory under any flood, in MiB. */
const MOST_MEMORY = 1_024
/** A flood is under way before honest callers are measured, and is over before the next. */
const LEAD_MS = 1_500
const REST_MS = 4_000

const { values } = parseArgs({ options: { only: { type: 'string' }, seconds: { type: 'string', default: '10' } } })
const milliseconds = Number(values.seconds) * 1000
const names = values.only?.split(',') ?? Object.keys(FLOODS)
const say = (text: string) => process.stdout.write(`${text}\n`)
const closing: (() => unknown)[] = []

interface Line {
  readonly name: string
  readonly met: Met
  readonly before: Met
  readonly memory: number
  readonly tally: Tally
}

async function run(): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'mkopo-attack-'))
  closing.push(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))
  await chmod(directory, 0o755)
  const quiet = { debug: () => undefined, info: () => undefined, warn: say }
  const server = await startEmbedded({ directory: join(directory, 'data'), durable: true, log: quiet })
  closing.push(() => server.stop())
  const opsPort = await freePort()
  const service = await startService('.', server.url, {
    processes: undefined,
    environment: { OPS_PORT: String(opsPort) },
  })
  closing.push(() => service.stop())
  const laid = await lay(server.url)
  const attacker = startPeer<AttackerDuties>('attack/attacker.ts', [], true)
  closing.push(() => attacker.end())
  await attacker.ask('begin', undefined)

  const honest = { port: service.port, ...laid.honest }
  await work(honest, 3_000)
  const lines: Line[] = []
  for (const name of names) {
    const before = await work(honest, milliseconds)
    const aim = { port: service.port, opsPort, ...laid.attacker, milliseconds: milliseconds + LEAD_MS }
    const memory = watchMemory(service.pid)
    const flood = attacker.ask('flood', { name, aim })
    await pause(LEAD_MS)
    const met = await work(honest, milliseconds)
    lines.push({ name, met, before, tally: await flood, memory: memory() / MIB })
    say(`${name}: ${FLOODS[name]!.says}`)
    await pause(REST_MS)
  }
  say(`\n${tableOf(lines)}`)
  const wrong = [...lines.flatMap(faultsOf), ...(await withDeps(server.url, (deps) => differencesAfter(deps, laid)))]
  for (const one of wrong) say(`WRONG: ${one}`)
  return wrong.length === 0
}

const lay = (databaseUrl: string): Promise<Laid> =>
  withDeps(databaseUrl, (deps) => layAttack(deps, { longLoans: 100, instalments: 2_000, repayments: 20_000 }))

/** Runs work with the parts of a service in this process, on the database that is attacked. */
async function withDeps<T>(databaseUrl: string, work: (deps: Deps) => Promise<T>): Promise<T> {
  const config = readConfig({
    DATABASE_URL: databaseUrl,
    KEY_ENCRYPTION_SECRET: SECRET,
    SEED_DEMO: 'true',
    AUTH_URL: 'http://auth.localhost',
  })
  const deps = await openService({ config, databaseUrl, now: Date.now })
  try {
    return await work(deps)
  } finally {
    deps.statements.close()
    await deps.db.close()
  }
}

function tableOf(lines: readonly Line[]): string {
  const table = new Table({
    head: [
      'flood',
      'p50, p99 before',
      'p50, p99 under it',
      'ratio',
      'refused',
      'health max',
      'memory',
      'answers to the flood',
    ],
    style: { head: [], border: [] },
  })
  for (const { name, met, before, memory, tally } of lines)
    table.push([
      name,
      `${before.p50.toFixed(1)}, ${before.p99.toFixed(1)} ms`,
      `${met.p50.toFixed(1)}, ${met.p99.toFixed(1)} ms`,
      (met.p99 / before.p99).toFixed(2),
      `${met.refused.length} of ${met.sent}`,
      `${met.healthMs.toFixed(0)} ms`,
      `${memory.toFixed(0)} MiB`,
      Object.entries(tally)
        .map(([status, count]) => `${status}: ${count}`)
        .join(', '),
    ])
  return table.toString()
}

function faultsOf({ name, met, before, memory }: Line): string[] {
  const ratio = met.p99 / before.p99
  return [
    ...(met.refused.length > 0 ? [`${name}: ${met.refused.length} honest requests failed: ${met.refused[0]}`] : []),
    ...(met.unhealthy > 0 ? [`${name}: health was not 200, ${met.unhealthy} times`] : []),
    ...(ratio > MOST_RATIO ? [`${name}: p99 is ${ratio.toFixed(2)} times that without`] : []),
    ...(memory > MOST_MEMORY ? [`${name}: ${memory.toFixed(0)} MiB of memory`] : []),
  ]
}

let failed = true
try {
  failed = !(await run())
} catch (error) {
  process.stderr.write(`${(error as Error).stack}\n`)
}
for (const close of closing.reverse()) await Promise.resolve(close()).catch((error: unknown) => say(String(error)))
process.exit(failed ? 1 : 0)
