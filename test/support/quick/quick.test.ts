import { spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeSettings } from '../children.ts'
import { within } from '../patience.ts'

const root = join(import.meta.dirname, '../../..')
const hasGit = spawnSync('git', ['--version']).status === 0

/** A repository of its own: two projects, and a test that says which number it finds. */
const FILES = {
  '.gitignore': 'node_modules\n',
  'package.json': '{ "type": "module" }',
  'vitest.config.ts': `export default { test: { projects: [
    { test: { name: 'service', include: ['test/**/*.test.ts'], exclude: ['test/tidy*.test.ts'] } },
    { test: { name: 'tidy', include: ['test/tidy*.test.ts'] } },
  ] } }`,
  'src/one.ts': 'export const one: number = 1',
  'src/two.ts': 'export const two: number = 2',
  'test/one.test.ts': `import { expect, it } from 'vitest'
    import { one } from '../src/one.ts'
    it('is one', () => expect(one).toBe(1))`,
  'test/two.test.ts': `import { expect, it } from 'vitest'
    import { two } from '../src/two.ts'
    it('is two', () => expect(two).toBe(2))`,
  'test/tidyNames.test.ts': `import { it } from 'vitest'
    it('is tidy', () => undefined)`,
}

describe.skipIf(!hasGit)('npm run test:quick (skipped where git is not installed)', { timeout: within(60_000) }, () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mkopo-quick-'))
    for (const name of ['quick/main.ts', 'quick/reach.ts', 'quick/repository.ts', 'imports.ts'])
      await cp(join(root, 'test/support', name), join(folder, 'test/support', name))
    await mkdir(join(folder, 'src'))
    for (const [path, text] of Object.entries(FILES)) await writeFile(join(folder, path), text)
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    git('init', '--quiet', '--initial-branch=main')
    git('add', '--all')
    git('commit', '--quiet', '--message', 'first')
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  function git(...args: string[]): void {
    const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false']
    const { status, stderr } = spawnSync('git', [...who, ...args], { cwd: folder, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  }

  function testQuickly(...args: string[]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['test/support/quick/main.ts', ...args], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1', ...nodeSettings() },
    })
    return { status, output: stdout + stderr }
  }

  it('says that nothing has changed, and passes', () => {
    expect(testQuickly()).toEqual({
      status: 0,
      output: expect.stringMatching(/^Nothing has changed since \w{10}: there is nothing to test\.\n$/),
    })
  })

  it('runs the tests that a change can reach, and the rules, and no other', async () => {
    await writeFile(join(folder, 'src/one.ts'), 'export const one: number = 2 - 1')
    const { status, output } = testQuickly()
    expect({ status, output }).toMatchObject({ status: 0, output: expect.stringContaining('test/one.test.ts') })
    expect(output).toContain('test/tidyNames.test.ts')
    expect(output).not.toContain('test/two.test.ts')
  })

  it('fails where one of them fails, also after the change was committed on a branch', async () => {
    git('switch', '--quiet', '--create', 'two')
    await writeFile(join(folder, 'src/two.ts'), 'export const two: number = 3')
    git('commit', '--quiet', '--all', '--message', 'second')
    const { status, output } = testQuickly()
    expect({ status, output }).toMatchObject({ status: 1, output: expect.stringContaining('FAIL') })
    expect(output).toContain('test/two.test.ts')
    expect(testQuickly('HEAD').output).toContain('Nothing has changed since')
  })

  it('says what is wrong with a commit that is not there', () => {
    expect(testQuickly('nowhere')).toEqual({
      status: 1,
      output: expect.stringMatching(/^npm run test:quick failed: .*Needed a single revision\n$/),
    })
  })
})
