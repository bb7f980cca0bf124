import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../src/app/config.ts'
import { freshDatabase } from './support/database.ts'
import { freePort } from './support/freePort.ts'
import { type OpsForShells, serveOps } from './support/opsForShells.ts'
import { type Pasted, pasteInto, SHELLS } from './support/paste.ts'
import { within } from './support/patience.ts'
import { type ServiceProcess, startProcess } from './support/process.ts'
import { readStatementsHere } from './support/readHere.ts'
import { type Block, blocksOf, PASTED_DOCUMENTS, readmeBlocks } from './support/readmeBlocks.ts'
import { type Served, serveHere } from './support/served.ts'

const root = join(import.meta.dirname, '..')
const blocks = readmeBlocks()
const shellBlocks = blocks.filter(({ language }) => language === 'sh')

/** The two commands that install and run all: how this test is run itself. */
const INSTALLING = /^npm ci && npm (?:start|test)$/

/** The lines that a command may say beside its result; whether the last changes are sealed already is chance. */
const REMARK =
  /^(?:\S+: refused lines are in \S+\.|(?:as of|from) \d{4}-.*, by version \d+ of the policy.*|\d+ changes? (?:is|are) not sealed yet\.)\n?/gm

let service: ServiceProcess | undefined
let served: Served | undefined
let folder: string | undefined
let bin: string | undefined
let ops: OpsForShells | undefined
afterEach(async () => {
  service?.child.kill('SIGKILL')
  await served?.stop()
  served = undefined
  await ops?.close()
  ops = undefined
  for (const one of [folder, bin]) if (one !== undefined) await rm(one, { recursive: true, force: true })
})

/** A folder that looks like the repository, in which a block may leave files. */
async function checkout(): Promise<string> {
  folder = await mkdtemp(join(tmpdir(), 'mkopo-readme-'))
  for (const name of await readdir(root))
    if (!name.startsWith('.') || name === '.npmrc') await symlink(join(root, name), join(folder, name))
  return folder
}

/** The output that a document shows after a block, in pieces: "…" stands for what it leaves out. */
function shownAfter(block: Block): string[] {
  const next = blocks[blocks.indexOf(block) + 1]
  return next?.language === '' && next.document === block.document && next.chapter === block.chapter
    ? next.text.split(/…|\n/).filter((piece) => piece.trim() !== '')
    : []
}

/** Each block has printed what its document shows after it, and no refusal that it does not show. */
function expectAsShown(pasted: readonly Block[], printed: readonly Pasted[]): void {
  for (const [index, block] of pasted.entries()) {
    const { out, err } = printed[index]!
    const at = `${block.document}:${block.line}`
    const shown = shownAfter(block)
    expect({ at, err: err.replace(REMARK, '') }).toEqual({ at, err: '' })
    for (const piece of shown) expect({ at, out }).toEqual({ at, out: expect.stringContaining(piece) })
    if (shown.length === 0) expect({ at, out }).toEqual({ at, out: expect.not.stringContaining('"code":') })
  }
}

/**
 * A folder of programs in place of npm, whose commands run in this process, and of those of Docker's image.
 * @param settings the environment of the commands
 */
async function standIns(settings: Record<string, string>): Promise<string> {
  ops = await serveOps(settings)
  bin = await mkdtemp(join(tmpdir(), 'mkopo-bin-'))
  const npm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim()
  const program = async (name: string, text: string) =>
    writeFile(join(bin!, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  // The first command is run by npm, in a process of its own; what npm makes of "npm run -s ops -- …" is the same each time.
  await program(
    'npm',
    `[ "$3" = ops ] && [ -e ${bin}/was-run ] || { touch ${bin}/was-run; exec "${npm}" "$@"; }\nshift 4\nexec ${bin}/mkopo "$@"`,
  )
  await program('mkopo', ops.program)
  // Of "docker compose exec -T mkopo-1 mkopo …" the command itself; whatever else needs an engine.
  await program('docker', `[ "$2" = exec ] || exit 0\nshift 2\n[ "$1" = -T ] && shift\nshift\nexec "$@"`)
  return bin
}

/** Documents with shell blocks that need another machine, a broken server, an editor, a provider or a second person, and so are not pasted. */
const NOT_PASTED = [
  'CONTRIBUTING.md',
  'docs/accounting.md',
  'docs/integrating/typescript.md',
  'docs/operating/access.md',
  'docs/operating/approvals.md',
  'docs/operating/people.md',
  'docs/operating/recovery.md',
  'docs/operating/reporting.md',
]

describe('the shell blocks of README.md and the documents', () => {
  it('are all known: each document that has some is pasted, or named as one that is not', () => {
    const documents = globSync(['*.md', 'docs/**/*.md'], { cwd: root })
    const having = documents.filter((document) => blocksOf(document).some(({ language }) => language === 'sh'))
    expect(having.sort()).toEqual([...PASTED_DOCUMENTS, ...NOT_PASTED].sort())
  })

  it('have no comments: a shell that a person types into may take them for commands', () => {
    const commented = shellBlocks.flatMap(({ document, line, text }) =>
      text
        .replace(/<<'(\w+)'[\s\S]*?^\1$/gm, '')
        .replace(/'[^']*'/g, "''")
        .split('\n')
        .flatMap((command) => (/(?:^|\s)#/.test(command) ? [`${document}:${line}: ${command}`] : [])),
    )
    expect(commented).toEqual([])
  })

  for (const shell of Object.keys(SHELLS) as (keyof typeof SHELLS)[])
    it.skipIf(spawnSync(shell, ['-c', 'exit 0']).status !== 0)(
      `pasted into ${shell}, each runs and prints what its document shows (skipped where ${shell} is not installed)`,
      { timeout: within(180_000) },
      async () => {
        const database = await freshDatabase()
        const settings = { DATABASE_URL: database.serviceUrl, KEY_ENCRYPTION_SECRET: 'a secret of the tests' }
        const more = { SEED_DEMO: 'true', WEBHOOKS_TO_PRIVATE: 'true', PORT: '0', OPS_PORT: '0' }
        served = await serveHere(readConfig({ ...settings, ...more }))
        // The process that reads a statement has a low priority, and a caller is asked to try again where the machine is busy.
        readStatementsHere(served.serving.front!)
        const pasted = shellBlocks.filter(({ chapter, text }) => chapter !== 'Docker' && !INSTALLING.test(text))
        expect(pasted.length).toBeGreaterThan(25)
        const receiver = String(await freePort())
        const texts = pasted.map(({ text }) =>
          text.replaceAll('http://127.0.0.1:3000', served!.origin).replaceAll('8099', receiver),
        )
        const env = { ...settings, PATH: `${await standIns(settings)}:${process.env.PATH}` }
        const printed = await pasteInto(shell, texts, { cwd: await checkout(), env })
        expectAsShown(pasted, printed)
        expect(await database.db.pool.query('SELECT count(*)::int AS loans FROM loan')).toMatchObject({
          rows: [{ loans: 8 }],
        })
        await served.stop()
        served = undefined
        await database.drop()
      },
    )

  for (const shell of Object.keys(SHELLS) as (keyof typeof SHELLS)[])
    it.skipIf(spawnSync(shell, ['-c', 'exit 0']).status !== 0)(
      `those of Docker, pasted into ${shell} against a service with the settings of docker-compose.yml, end with a loan`,
      { timeout: within(180_000) },
      async () => {
        const database = await freshDatabase('template0')
        const { 'x-settings': settings } = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), {
          merge: true,
        })
        // An empty setting counts as not set; `${NAME:-default}` is its default here.
        const composed = Object.entries<string | null>(settings).map(([name, value]) => [
          name,
          (value ?? '').replace(/^\$\{\w+:-(.*)\}$/, '$1'),
        ])
        const own = { DATABASE_URL: database.url, KEY_ENCRYPTION_SECRET: 'a secret of the tests', PGPASSWORD: '' }
        const env: Record<string, string> = { ...Object.fromEntries(composed), ...own, STOP_GRACE_MS: '0' }
        service = await startProcess(env)
        expect(env).toMatchObject({ FALLBACK_STYLE: 'none', SEED_DEMO: '', AUTH_URL: 'http://auth.localhost:3000' })
        const pasted = shellBlocks.filter(({ chapter }) => chapter === 'Docker')
        const at = new URL(service.origin).host
        const texts = pasted.map(({ text }) => text.replaceAll('127.0.0.1:3000', at))
        const PATH = `${await standIns(env)}:${process.env.PATH}`
        const cwd = await checkout()
        const printed = await pasteInto(shell, texts, { cwd, env: { ...env, PATH } })
        expectAsShown(pasted, printed)
        expect(readFileSync(join(cwd, '.env'), 'utf8')).toMatch(
          /^POSTGRES_PASSWORD=[0-9a-f]{64}\nSERVICE_PASSWORD=[0-9a-f]{64}\nKEY_ENCRYPTION_SECRET=[0-9a-f]{64}$/m,
        )
        expect(printed.at(-1)!.out).toMatch(/^\{"items":\[\{.*"principal_amount":5000.*"total":1/)
        const { rows } = await database.db.pool.query('SELECT external_id, total_paid FROM loan')
        expect(rows).toEqual([{ external_id: 'order-1', total_paid: 1_000_00n }])
        service.child.kill('SIGTERM')
        await service.ended
        await database.drop()
      },
    )
})
