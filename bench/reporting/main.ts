import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

// Exports a book as Parquet and reads the files with DuckDB, beside the reporting views: `npm run try -- reporting`. DuckDB is
// large, so it has a folder and a lock file of its own, which is installed here. The arguments are the tests that it runs.

const root = join(import.meta.dirname, '../..')

/** Runs a program to its end. @returns its exit code */
async function run(command: string, args: readonly string[], env: Record<string, string> = {}): Promise<number> {
  const child = spawn(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

const installed = await run('npm', ['ci', '--prefix', 'bench/reporting', '--ignore-scripts'])
const tests = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'service', ...process.argv.slice(2)]
const duckdb = join(import.meta.dirname, 'node_modules/@duckdb/node-api/lib/index.js')
process.exitCode = installed === 0 ? await run(process.execPath, tests, { MKOPO_DUCKDB: duckdb }) : installed
