import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }

// A Node that is too old cannot read TypeScript: it has to be refused before any of it is read.

const root = join(import.meta.dirname, '../..')
const argumentsOf = (script: 'start' | 'ops') => manifest.scripts[script].replace(/^exec node /, '').split(' ')

/** What is started on Node, with the arguments to it. */
const STARTED = [
  ['npm start', argumentsOf('start')],
  ['npm run ops', argumentsOf('ops')],
  ['mkopo', [manifest.bin.mkopo, 'products', 'list']],
] as const

/** The version that is needed, as the manifest has it. */
const NEEDED = Number(/^>=(\d+)$/.exec(manifest.engines.node)?.[1])

/** A Node on the path that is too old, where there is one. */
const oldNode = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .find((path) => {
    const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
    return status === 0 && Number(/^v(\d+)/.exec(stdout)?.[1]) < NEEDED
  })

async function run(node: string, args: readonly string[]) {
  const child = spawn(node, [...args], { cwd: root, env: { PATH: process.env.PATH, DATA_DIR: '/proc/none' } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const [code] = await once(child, 'close')
  return { code, output }
}

const line = (version: string) =>
  expect.stringMatching(
    new RegExp(
      `^mkopo needs Node ${NEEDED} or newer, and this is Node ${version} \\(/.+\\): install it, or run npm ci without --omit=dev, which brings it\\n$`,
    ),
  )

describe.each(STARTED)('%s on a Node that is too old', (_, args) => {
  let folder: string
  let pretence: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mkopo-node-'))
    pretence = join(folder, 'old.cjs')
    await writeFile(
      pretence,
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.22.1' } })`,
    )
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('says so in one line that names the version, and does nothing', async () => {
    expect(await run(process.execPath, ['--require', pretence, ...args])).toEqual({ code: 1, output: line('22.22.1') })
  })

  it.runIf(oldNode)('says so on such a Node of this machine, too', async () => {
    expect(await run(oldNode!, args)).toEqual({ code: 1, output: line('\\d+\\.\\d+\\.\\d+') })
  })
})

it('a Node that is new enough runs the command', async () => {
  const { code, output } = await run(process.execPath, [manifest.bin.mkopo, '--version'])
  expect({ code, output }).toEqual({ code: 0, output: `${manifest.version}\n` })
})
