import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Runs the tests of both styles over HTTP twice: as they are, and by the client. What the client cannot send (broken JSON, a
// path that is none) goes by plain HTTP in both, and is counted.

const ROOT = join(import.meta.dirname, '../../..')
const VITEST = join(ROOT, 'node_modules/.bin/vitest')
const TESTS = ['test/api/partner', 'test/api/record']

const given = process.argv.slice(2)
const isByClientAlone = given.includes('--by-client')
const tests = given.filter((one) => !one.startsWith('--'))

async function runTests(environment: Readonly<Record<string, string>>): Promise<boolean> {
  const args = ['run', '--project', 'service', ...(tests.length > 0 ? tests : TESTS)]
  const child = spawn(VITEST, args, { cwd: ROOT, env: { ...process.env, ...environment }, stdio: 'inherit' })
  const [code] = await once(child, 'close')
  return code === 0
}

const folder = await mkdtemp(join(tmpdir(), 'mkopo-contract-'))
try {
  const plain = isByClientAlone || (await runTests({}))
  const counts = join(folder, 'counts')
  await writeFile(counts, '')
  const byClient = await runTests({ MKOPO_TESTS_BY_CLIENT: counts })
  const lines = (await readFile(counts, 'utf8')).trim().split('\n')
  for (const [what, found] of Map.groupBy(lines, (line) => line)) process.stdout.write(`${found.length} ${what}\n`)
  process.exitCode = plain && byClient ? 0 : 1
} finally {
  await rm(folder, { recursive: true })
}
