import { spawn } from 'node:child_process'
import { chmod, cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded/embedded.ts'
import { reachedTests } from '../../test/support/quick/reach.ts'
import { textsOfAll } from '../../test/support/quick/repository.ts'
import { chooseMutants, type Mutant } from './choose.ts'
import { mutated } from './mutations.ts'

// `npm run try -- mutants`: plants small faults in a copy of the repository, one after the other, and runs the tests that can reach
// each, the nearest first. A fault that no test fails for is one that the tests would let pass. Texts, such as SQL, have none.

const COUNT = Number(process.env.MKOPO_MUTANTS ?? 50)
const SEED = Number(process.env.MKOPO_SEED ?? 1)
/** How many test files are run for a mutant: of those that can reach it, the nearest. */
const FILES = Number(process.env.MKOPO_FILES ?? 30)
/** Milliseconds after which tests that have not ended never will: the mutant made them wait or turn for ever. */
const LONGEST_MS = 600_000

/** The settings of the campaign are none of the tests: these run as `npm test` does. */
const suiteEnvironment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('MKOPO_')))

const say = (text: string) => process.stdout.write(`${text}\n`)

interface Failure {
  readonly file: string
  readonly name: string
}

/** Ends what runs, when the campaign is told to end. */
const ending = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort())

/**
 * Runs test files of a copy of the repository until `bail` tests have failed, to their end where it is 0.
 * @returns the failures; undefined where the tests did not end
 */
async function failuresOf(
  { folder, databaseUrl }: { folder: string; databaseUrl: string },
  files: readonly string[],
  bail: number,
): Promise<readonly Failure[] | undefined> {
  if (files.length === 0) return []
  const child = spawn(process.execPath, [join(import.meta.dirname, 'runTests.ts'), folder, String(bail), ...files], {
    cwd: folder,
    env: { ...suiteEnvironment, TEST_DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'ignore'],
    // In a group of its own: a process that turns for ever ends by the signal to the group alone.
    detached: true,
  })
  const kill = () => process.kill(-child.pid!, 'SIGKILL')
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    kill()
  }, LONGEST_MS)
  ending.signal.addEventListener('abort', kill)
  const failures: Failure[] = []
  try {
    for await (const line of createInterface({ input: child.stdout }))
      if (line.startsWith('{"file":')) failures.push(JSON.parse(line))
    return isLate ? undefined : failures
  } finally {
    clearTimeout(timer)
    ending.signal.removeEventListener('abort', kill)
  }
}

/** Starts the server of the tests, which copies rows by logical replication: some tests move an organization to another book. */
async function startServer(directory: string): Promise<EmbeddedServer> {
  const nothing = () => undefined
  const options = { directory, durable: false, log: { debug: nothing, info: nothing, warn: nothing } }
  const first = await startEmbedded(options)
  try {
    const admin = new pg.Client(first.url)
    await admin.connect()
    await admin.query('ALTER SYSTEM SET wal_level = logical')
    await admin.end()
  } finally {
    await first.stop()
  }
  return startEmbedded(options)
}

/** Copies the files of a repository to a new folder, which shares its packages. */
async function copyOf(root: string, files: Iterable<string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mkopo-mutants-'))
  // A link to the packages of another checkout is a file to git.
  for (const file of files) if (file !== 'node_modules') await cp(join(root, file), join(folder, file))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** Returns what stands at the place of a mutant, and what stands there now. */
const described = ({ area, file, line, instead, text }: Mutant): string =>
  `${area.padEnd(7)} ${file}:${line} ${short(instead)} → ${short(text)}`
const short = (text: string) => {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 50 ? `${line.slice(0, 49)}…` : line
}

async function tryMutants(root: string, copy: { folder: string; databaseUrl: string }, texts: Map<string, string>) {
  const mutants = chooseMutants(texts, COUNT, SEED)
  const tests = new Map<string, string[]>()
  for (const file of new Set(mutants.map((mutant) => mutant.file))) {
    const reached = reachedTests(texts, [file]).filter((test) => !/^test\/tidy\w*\.test\.ts$/.test(test))
    tests.set(file, reached.slice(0, FILES))
  }
  const all = [...new Set([...tests.values()].flat())]
  say(`${mutants.length} mutants of seed ${SEED} in ${root}; first their ${all.length} test files without any.`)
  const before = await failuresOf(copy, all, 0)
  if (before === undefined) throw new Error('the tests do not end without a mutant')
  const failing = new Set(before.map(({ file }) => file))
  for (const file of failing) say(`${file} fails without a mutant, and is left out.`)
  const survivors: Mutant[] = []
  for (const mutant of mutants) {
    if (ending.signal.aborted) return
    const source = texts.get(mutant.file)!
    await writeFile(join(copy.folder, mutant.file), mutated(source, mutant))
    const failures = await failuresOf(
      copy,
      tests.get(mutant.file)!.filter((file) => !failing.has(file)),
      1,
    )
    await writeFile(join(copy.folder, mutant.file), source)
    if (ending.signal.aborted) return
    const [first] = failures ?? [{ file: 'its tests', name: 'did not end' }]
    if (first === undefined) survivors.push(mutant)
    say(`${first ? 'found   ' : 'SURVIVED'} ${described(mutant)}${first ? `: ${first.file}, ${first.name}` : ''}`)
  }
  say(`\n${mutants.length - survivors.length} of ${mutants.length} found.`)
  for (const mutant of survivors) say(`survived: ${described(mutant)}`)
}

const { values } = parseArgs({ options: { tree: { type: 'string' } } })
const root = resolve(values.tree ?? join(import.meta.dirname, '../..'))
const texts = textsOfAll(root)
const folder = await copyOf(root, texts.keys())
const directory = await mkdtemp(join(tmpdir(), 'mkopo-mutants-data-'))
await chmod(directory, 0o755)
const server = await startServer(directory)
try {
  await tryMutants(root, { folder, databaseUrl: server.url }, texts)
} finally {
  await server.stop()
  for (const one of [folder, directory]) await rm(one, { recursive: true, force: true, maxRetries: 20 })
}
