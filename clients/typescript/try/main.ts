import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startTried } from '../../try/service.ts'
import { claimWork, WORK } from '../../try/tools.ts'
import { bundleAll, compileAll, installClient, runAll } from './installed.ts'
import { postThroughLosses } from './losses.ts'

// Tries the packed client as integrators have it: compilers, versions of Node, a bundler, and a network that loses answers.

const USAGE = `npm run try -- client [options]

  --only a,b        parts: installed, losses; default all
  --repayments N    repayments that are posted through losses, default 100000`

const PARTS = ['installed', 'losses']
const LENDERS = ['installed', 'losses']
const REPAYMENTS = '100000'

const say = (text: string) => process.stdout.write(`${text}\n`)

async function tryClient(closing: (() => unknown)[]): Promise<void> {
  const { values } = parseArgs({ options: { only: { type: 'string' }, repayments: { type: 'string' } } })
  const parts = values.only?.split(',') ?? PARTS
  const unknown = parts.find((part) => !PARTS.includes(part))
  if (unknown !== undefined) throw new Error(`--only: no such part: ${unknown}; there are ${PARTS.join(', ')}`)
  const repayments = Number(values.repayments ?? REPAYMENTS)
  if (!(Number.isInteger(repayments) && repayments > 0)) throw new Error('--repayments: must be a whole number above 0')
  await claimWork()
  const tried = await startTried({ into: join(WORK, 'documents'), lenders: LENDERS, closing, say })
  const { partner: baseUrl, record: recordsUrl } = tried.urls
  if (parts.includes('installed')) {
    const installed = await installClient(join(WORK, 'client'))
    await compileAll(installed, say)
    const { email, password } = tried.credentialsOf('installed')
    const environment = { BASE_URL: baseUrl, RECORDS_URL: recordsUrl, EMAIL: email, PASSWORD: password }
    await runAll(installed, environment, say)
    await bundleAll(installed, say)
  }
  if (parts.includes('losses')) {
    const credentials = tried.credentialsOf('losses')
    await postThroughLosses({ baseUrl, databaseUrl: tried.databaseUrl, credentials, repayments, say })
  }
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
  await Promise.race([tryClient(closing), interrupted.promise])
  passed = true
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
}
for (const close of closing.reverse()) await Promise.resolve(close()).catch((error: unknown) => say(String(error)))
process.exit(passed ? 0 : 1)
