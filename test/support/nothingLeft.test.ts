import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endChildren, startNode } from './children.ts'

const root = join(import.meta.dirname, '../..')

/** What a file does and does not put back, and what the check says of it. */
const LEFT: Readonly<Record<string, readonly [text: string, said: string]>> = {
  variable: [`process.env.LEFT = 'here'`, 'the environment variable LEFT'],
  removed: ['delete process.env.HOME', 'the environment variable HOME'],
  timers: ['vi.useFakeTimers()', 'fake timers'],
  mock: ['globalThis.fetch = async () => new Response()', 'another globalThis.fetch'],
  clock: ['Date.now = () => 0', 'another Date.now'],
  listener: [`process.on('SIGTERM', () => undefined)`, 'a listener of process for SIGTERM'],
  server: [`await once(createServer().listen(0, '127.0.0.1'), 'listening')`, 'an open TCPServerWrap'],
  child: [`spawn(process.execPath, ['-e', 'setTimeout(() => 0, 20000)'], { stdio: 'ignore' })`, 'an open ProcessWrap'],
  database: [`openDatabases.add('test_1')`, 'the database test_1'],
  told: [
    `quiet.error({ err: new Error('cut') }, 'could not seal')`,
    'an error that a job told, could not seal: Error: cut',
  ],
}

const fileOf = (text: string) => `import { spawn } from 'node:child_process'
  import { once } from 'node:events'
  import { createServer } from 'node:net'
  import { expect, it, vi } from 'vitest'
  import { openDatabases } from './support/database.ts'
  import { quiet } from './support/quiet.ts'
  it('passes', async () => { void [expect, once, spawn, createServer, vi, openDatabases, quiet]; ${text} })`

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mkopo-left-'))
  await mkdir(join(folder, 'support'))
  for (const name of ['nothingLeft.ts', 'patience.ts', 'quiet.ts'])
    await cp(join(root, 'test/support', name), join(folder, 'support', name))
  // In place of the one that opens databases.
  await writeFile(join(folder, 'support/database.ts'), 'export const openDatabases = new Set<string>()')
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(
    join(folder, 'vitest.config.ts'),
    `export default { test: { isolate: false, maxWorkers: 1, setupFiles: ['support/nothingLeft.ts'] } }`,
  )
  for (const [name, [text]] of Object.entries(LEFT)) {
    await writeFile(join(folder, `${name}.test.ts`), fileOf(text))
    // After each file that leaves something one that leaves nothing.
    await writeFile(join(folder, `${name}After.test.ts`), fileOf(''))
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
})
afterAll(async () => {
  await endChildren()
  await rm(folder, { recursive: true, force: true })
})

interface Report {
  readonly testResults: readonly { readonly name: string; readonly status: string; readonly message: string }[]
}

it('a file that leaves something behind fails with its name, and no other does', async () => {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const report = join(folder, 'report.json')
  const args = ['run', '--root', folder, '--reporter=json', `--outputFile.json=${report}`]
  const { code } = await startNode([vitest, ...args], { TEST_PATIENCE: '0.02' }).ended
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as Report
  const failed = testResults.filter(({ status }) => status === 'failed')
  const said = Object.fromEntries(failed.map(({ name, message }) => [name.split('/').at(-1), message.split('\n')[0]]))
  const expected = Object.entries(LEFT).map(([name, [, text]]) => [
    `${name}.test.ts`,
    expect.stringMatching(new RegExp(`this file leaves behind: .*${text}`)),
  ])
  expect({ code, said }).toEqual({ code: 1, said: Object.fromEntries(expected) })
  expect(testResults).toHaveLength(Object.keys(LEFT).length * 2)
})
