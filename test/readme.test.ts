import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { freshDatabase } from './support/database.ts'
import { pasteInto, SHELLS } from './support/paste.ts'
import { type ServiceProcess, startProcess } from './support/process.ts'
import { type Block, readmeBlocks } from './support/readmeBlocks.ts'

const root = join(import.meta.dirname, '..')
const blocks = readmeBlocks()
const shellBlocks = blocks.filter(({ language }) => language === 'sh')

/** Not pasted here: the two commands that install and run all, and what needs a container engine. */
const ELSEWHERE = /^npm ci && npm (?:start|test)$|^docker |^cp deploy\/compose/m

/** What a command may say beside its result. */
const REMARK = /^\S+: refused lines are in \S+\.$/

let service: ServiceProcess | undefined
let folder: string | undefined
afterEach(async () => {
  service?.child.kill('SIGKILL')
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

/** A folder that looks like the repository, in which a block may leave files. */
async function checkout(): Promise<string> {
  folder = await mkdtemp(join(tmpdir(), 'mkopo-readme-'))
  for (const name of await readdir(root))
    if (!name.startsWith('.') || name === '.npmrc') await symlink(join(root, name), join(folder, name))
  return folder
}

/** The output that README.md shows after a block, in pieces: "…" stands for what it leaves out. */
function shownAfter(block: Block): string[] {
  const next = blocks[blocks.indexOf(block) + 1]
  return next?.language === '' ? next.text.split(/…|\n/).filter((piece) => piece.trim() !== '') : []
}

describe('the shell blocks of README.md', () => {
  it('have no comments: a shell that a person types into may take them for commands', () => {
    const commented = shellBlocks.flatMap(({ line, text }) =>
      text
        .replace(/<<'(\w+)'[\s\S]*?^\1$/gm, '')
        .replace(/'[^']*'/g, "''")
        .split('\n')
        .flatMap((command) => (/(?:^|\s)#/.test(command) ? [`${line}: ${command}`] : [])),
    )
    expect(commented).toEqual([])
  })

  for (const shell of Object.keys(SHELLS) as (keyof typeof SHELLS)[])
    it.skipIf(spawnSync(shell, ['-c', 'exit 0']).status !== 0)(
      `pasted into ${shell}, each runs and prints what README.md shows (skipped where ${shell} is not installed)`,
      { timeout: 180_000 },
      async () => {
        const database = await freshDatabase()
        const settings = { DATABASE_URL: database.url, KEY_ENCRYPTION_SECRET: 'a secret of the tests' }
        service = await startProcess({ ...settings, SEED_DEMO: 'true', STOP_GRACE_MS: '0' })
        const pasted = shellBlocks.filter(({ text }) => !ELSEWHERE.test(text))
        expect(pasted.length).toBeGreaterThan(15)
        const texts = pasted.map(({ text }) => text.replaceAll('http://127.0.0.1:3000', service!.origin))
        const printed = await pasteInto(shell, texts, { cwd: await checkout(), env: settings })
        for (const [index, block] of pasted.entries()) {
          const { out, err } = printed[index]!
          const at = `README.md:${block.line}`
          const shown = shownAfter(block)
          expect({ at, err: err.replace(REMARK, '') }).toEqual({ at, err: '' })
          for (const piece of shown) expect({ at, out }).toEqual({ at, out: expect.stringContaining(piece) })
          if (shown.length === 0) expect({ at, out }).toEqual({ at, out: expect.not.stringContaining('"code":') })
        }
        expect(await database.db.pool.query('SELECT count(*)::int AS loans FROM loan')).toMatchObject({
          rows: [{ loans: 5 }],
        })
        service.child.kill('SIGTERM')
        await service.ended
        await database.drop()
      },
    )
})
