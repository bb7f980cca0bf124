import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildApp, renderEvents } from '../src/app/app.ts'
import { readConfig } from '../src/app/config.ts'
import { openService } from '../src/app/service.ts'
import { startEmbedded } from '../src/db/embedded/embedded.ts'
import { drain } from '../src/services/jobs/job.ts'
import { createServiceJobs } from '../src/services/jobs/serviceJobs.ts'
import { DEMO_PARTNER } from '../src/services/organizations/seedDemo.ts'

// Measures the house: the files and lines of src, what the route of repayments imports, and the files whose functions run
// for one repayment, to its commit and until the background has told, sealed and posted it.

const root = fileURLToPath(new URL('../', import.meta.url))
const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  .filter((file) => !file.startsWith('src/db/generated'))

const ROUTE = 'src/api/partner/transactions.ts'

/** Returns the files that a file imports, by their paths from the root. */
const importsOf = (file: string, withTypes: boolean): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^(?:import|export)\s+(type\s+)?[^'"]*?from '(\.[^']+)'/gm)]
    .filter(([, type]) => withTypes || type === undefined)
    .map(([, , from]) => join(dirname(file), from!))
    .filter((target) => sources.includes(target))

function closureOf(file: string, withTypes: boolean): Set<string> {
  const reached = new Set<string>()
  const waiting = [file]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (reached.has(next)) continue
    reached.add(next)
    waiting.push(...importsOf(next, withTypes))
  }
  return reached
}

/** Runs work, and returns the files of src whose functions ran meanwhile. */
async function filesOf(session: Session, work: () => Promise<unknown>): Promise<Set<string>> {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  // What ran before is taken off first.
  await session.post('Profiler.takePreciseCoverage')
  await work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  const ran = result.filter(({ functions }) =>
    functions.some(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0),
  )
  return new Set(
    ran.map(({ url }) => relative(root, url.replace('file://', ''))).filter((file) => sources.includes(file)),
  )
}

const directory = await mkdtemp(join(tmpdir(), 'mkopo-house-'))
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
const server = await startEmbedded({ directory, durable: false, shared: false, log: silent })
const config = readConfig({ KEY_ENCRYPTION_SECRET: 'a secret of the measure', LOG_LEVEL: 'silent' })
const deps = await openService({ config, databaseUrl: server.url, now: Date.now })
const app = await buildApp(deps)
const session = new Session()
try {
  const token = await deps.signIn.issueToken(DEMO_PARTNER.email, DEMO_PARTNER.password, '127.0.0.1')
  const { host } = new URL(config.baseUrl)
  const post = async (url: string, payload: object) => {
    const answer = await app.inject({
      method: 'POST',
      url,
      payload,
      headers: { host, authorization: `Bearer ${token}` },
    })
    if (answer.statusCode !== 200) throw new Error(`${url} was answered with ${answer.statusCode}: ${answer.body}`)
    return answer.json()
  }
  const { jobs } = createServiceJobs(deps, { render: renderEvents(config.zone), log: silent })
  const background = async () => {
    for (const job of jobs) await drain(job)
  }
  await post('/v1/customers', { externalId: 'asha' })
  const { id } = await post('/v1/loans', { customerId: 'asha', productId: 1, principal: 5_000 })
  const repay = () => post(`/v1/loans/${id}/repayments`, { transactionAmount: 1 })
  // What runs once, such as a first read of a cache, is not of the repayment.
  await repay()
  await background()
  session.connect()
  await session.post('Profiler.enable')
  const toCommit = await filesOf(session, repay)
  const afterwards = await filesOf(session, background)
  const lines = sources.map((file) => readFileSync(join(root, file), 'utf8').trimEnd().split('\n').length)
  const figures: readonly (readonly [string, number])[] = [
    ['files of src', sources.length],
    ['lines of src', lines.reduce((sum, count) => sum + count, 0)],
    ['files that the route of repayments imports, over others too', closureOf(ROUTE, false).size],
    ['the same with files of which only types are imported', closureOf(ROUTE, true).size],
    ['files that a repayment runs, to its commit', toCommit.size],
    ['files that it runs until it is told, sealed and posted', new Set([...toCommit, ...afterwards]).size],
  ]
  for (const [what, count] of figures) process.stdout.write(`${String(count).padStart(7)} ${what}\n`)
} finally {
  session.disconnect()
  await app.close()
  deps.statements.close()
  deps.webhookPoster.close()
  await deps.db.close()
  await server.stop()
  await rm(directory, { recursive: true, force: true })
}
