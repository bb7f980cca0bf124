import { join } from 'node:path'
import { GENERATORS, lendersOf, tryClients } from './clients.ts'
import { lint } from './lint.ts'
import { readOptions, USAGE } from './options.ts'
import type { Line } from './outcomes.ts'
import { hasFailed, summaryOf, tableOf } from './report.ts'
import { fuzz } from './schemathesis.ts'
import { startTried } from './service.ts'
import { claimWork, WORK } from './tools.ts'

const say = (text: string) => process.stdout.write(`${text}\n`)

async function tryAll(closing: (() => unknown)[]): Promise<boolean> {
  const { parts, tools, seconds, examples } = readOptions(process.argv.slice(2))
  const generators = GENERATORS.filter(({ tool }) => tools === undefined || tools.includes(tool))
  const unknown = tools?.find((name) => !GENERATORS.some(({ tool }) => tool === name))
  if (unknown !== undefined)
    throw new Error(`--tools: no such tool: ${unknown}; there are ${GENERATORS.map(({ tool }) => tool).join(', ')}`)
  await claimWork()
  const lenders = lendersOf(generators)
  const tried = await startTried({ into: join(WORK, 'documents'), lenders, closing, say })

  const tables: (readonly Line[])[] = []
  if (parts.includes('lint')) tables.push(await lint(tried, say))
  if (parts.includes('clients')) tables.push(await tryClients(tried, generators, say))
  if (parts.includes('schemathesis')) tables.push(await fuzz(tried, { seconds, examples }, say))
  for (const lines of tables) say(tableOf(lines))
  say(`Steps: ${summaryOf(tables.flat())}`)
  say(`Documents, clients and logs: ${WORK}`)
  return !hasFailed(tables.flat())
}

if (process.argv.includes('--help')) {
  say(USAGE)
  process.exit(0)
}
// Ctrl-C ends what was started, too: Postgres and the service are in process groups of their own.
const interrupted = Promise.withResolvers<never>()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => interrupted.reject(new Error(`interrupted by ${signal}`)))

const closing: (() => unknown)[] = []
let passed = false
try {
  passed = await Promise.race([tryAll(closing), interrupted.promise])
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
}
for (const close of closing.reverse()) await Promise.resolve(close()).catch((error: unknown) => say(String(error)))
process.exit(passed ? 0 : 1)
