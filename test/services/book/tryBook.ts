import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

// `npm run book:try`: random commands in every mode, and `book check` beside and after them (manyCommands.test.ts).

const USAGE = `npm run book:try -- [options]

  --commands N   commands that are accepted, default 100000
  --seed N       which commands, default 1
  --minutes N    the time after which it ends with fewer, default 600`

const COMMANDS = '100000'

function readOptions() {
  const text = { type: 'string' } as const
  const { values } = parseArgs({ options: { commands: text, seed: text, minutes: text } })
  const { commands = COMMANDS, seed = '1', minutes = '600' } = values
  for (const [name, value] of Object.entries({ commands, seed, minutes }))
    if (!/^[1-9]\d{0,8}$/.test(value)) throw new Error(`--${name}: must be a whole number above 0`)
  return { MKOPO_COMMANDS: commands, MKOPO_SEED: seed, MKOPO_MINUTES: minutes }
}

try {
  const env = { ...process.env, ...readOptions() }
  const vitest = join(import.meta.dirname, '../../../node_modules/.bin/vitest')
  const args = ['run', '--project', 'service', 'test/services/book/manyCommands.test.ts']
  spawn(vitest, args, { env, stdio: 'inherit' }).once('exit', (code) => process.exit(code ?? 1))
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n\n${USAGE}\n`)
  process.exitCode = 2
}
