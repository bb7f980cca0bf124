import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, vi } from 'vitest'
import { openDatabases } from './database.ts'
import { within } from './patience.ts'
import { toldErrors } from './quiet.ts'

// Runs before and after each test file. One process runs many of them (`isolate: false`): a file that leaves something behind would
// change what the next one finds. It fails itself instead, once all of its own hooks have run.

/** Objects whose functions a test may replace. */
const SHARED: Readonly<Record<string, object>> = {
  globalThis,
  console,
  process,
  Math,
  Date,
  JSON,
  performance,
  crypto,
}

/** What the library of the browser replaces when it is loaded, for as long as the process runs. */
const OF_LIBRARIES = new Set(['process.chdir', 'process.cwd'])

/** Variables that vitest sets from file to file. */
const OF_VITEST = /^VITEST/

/** What keeps a process alive after its work. Timers are left out: those of vitest come and go. */
const HANDLES = new Set(['TCPSocketWrap', 'TCPServerWrap', 'PipeWrap', 'ProcessWrap', 'MessagePort', 'FSEventWrap'])

const functionsOf = (one: object): Map<PropertyKey, unknown> =>
  new Map(
    Reflect.ownKeys(one).flatMap((key) => {
      const { value } = Object.getOwnPropertyDescriptor(one, key) ?? {}
      return typeof value === 'function' ? [[key, value] as const] : []
    }),
  )

const listeners = (): Map<string | symbol, number> =>
  new Map(process.eventNames().map((name) => [name, process.listenerCount(name)]))

function handles(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of process.getActiveResourcesInfo())
    if (HANDLES.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/** Returns the names that count more than before. */
const grown = <Name>(before: ReadonlyMap<Name, number>, after: ReadonlyMap<Name, number>): Name[] =>
  [...after].flatMap(([name, count]) => (count > (before.get(name) ?? 0) ? [name] : []))

const standing = () => ({
  environment: { ...process.env },
  functions: Object.entries(SHARED).map(([name, one]) => [name, one, functionsOf(one)] as const),
  listeners: listeners(),
  handles: handles(),
  folder: process.cwd(),
  databases: new Set(openDatabases),
})

/** Returns what a file has left behind that stays as it is, one text for each thing. */
function leftSince(before: ReturnType<typeof standing>): string[] {
  const { environment } = before
  const variables = [...new Set([...Object.keys(environment), ...Object.keys(process.env)])].filter(
    (name) => !OF_VITEST.test(name) && environment[name] !== process.env[name],
  )
  const replaced = before.functions
    .flatMap(([name, one, functions]) =>
      [...functions].flatMap(([key, value]) =>
        Object.getOwnPropertyDescriptor(one, key)?.value === value ? [] : [`${name}.${String(key)}`],
      ),
    )
    .filter((name) => !OF_LIBRARIES.has(name))
  return [
    ...variables.map((name) => `the environment variable ${name}`),
    ...(vi.isFakeTimers() ? ['fake timers'] : replaced.map((name) => `another ${name}`)),
    ...grown(before.listeners, listeners()).map((name) => `a listener of process for ${String(name)}`),
    ...(process.exitCode === undefined ? [] : [`the exit code ${process.exitCode}`]),
    ...(process.cwd() === before.folder ? [] : [`another working directory, ${process.cwd()}`]),
    ...[...openDatabases].filter((name) => !before.databases.has(name)).map((name) => `the database ${name}`),
    ...toldErrors.splice(0).map((told) => `an error that a job told, ${told}`),
  ]
}

function restore(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env))
    if (!OF_VITEST.test(name) && environment[name] === undefined) delete process.env[name]
  for (const [name, value] of Object.entries(environment)) if (!OF_VITEST.test(name)) process.env[name] = value
}

const before = standing()

afterAll(async () => {
  const left = leftSince(before)
  // So that the file which left them is the only one to fail.
  vi.useRealTimers()
  restore(before.environment)
  // What is closed takes a moment to be gone.
  const until = performance.now() + within(5_000)
  while (grown(before.handles, handles()).length > 0 && performance.now() < until) await pause(20)
  left.push(...grown(before.handles, handles()).map((name) => `an open ${name}`))
  if (left.length > 0) throw new Error(`this file leaves behind: ${left.join('; ')}`)
})
