import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { CAMPAIGNS } from '../../bench/try.ts'
import manifest from '../../package.json' with { type: 'json' }
import { endChildren, startNode } from '../support/children.ts'

const root = join(import.meta.dirname, '../..')
const run = (args: readonly string[], env: Record<string, string> = {}) =>
  startNode([join(root, 'bench/try.ts'), ...args], env).ended

afterAll(endChildren)

describe('npm run try', () => {
  it('without a name prints a line for each campaign, with its settings', async () => {
    const { code, out } = await run([])
    expect(code).toBe(0)
    const [usage, empty, ...lines] = out.trimEnd().split('\n')
    expect([usage, empty]).toEqual(['npm run try -- <campaign> [arguments of the campaign]', ''])
    expect(lines.map((line) => line.trim().split(/\s/)[0])).toEqual(Object.keys(CAMPAIGNS))
    expect(out).toContain('events without a gap while sequencers are killed (MKOPO_CHANGES=100000 MKOPO_KILLS=100)')
  })

  it.each(['nothing', 'toString'])('refuses %s, and prints the campaigns that there are', async (name) => {
    const { code, out, err } = await run([name])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(new RegExp(`^there is no campaign ${name}\\n`))
    for (const campaign of Object.keys(CAMPAIGNS)) expect(err).toContain(`\n  ${campaign} `)
  })

  it('gives a campaign the arguments that follow, and ends with its exit code', async () => {
    expect(await run(['clients', '--help'])).toMatchObject({ code: 0, out: expect.stringContaining('--tools a,b') })
    expect(await run(['clients', '--seconds', '1'])).toMatchObject({
      code: 1,
      err: '--seconds: must be a whole number of at least 15\n',
    })
  })

  it('runs a campaign with its settings, and with those of the environment in their place', async () => {
    const { code, out } = await run(['terms'], { MKOPO_LOANS: '3' })
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('3 loans of seed 1 ') })
  })

  it('ends the campaign where it is told to end, and says by which signal', async () => {
    const child = startNode([join(root, 'bench/try.ts'), 'terms'], { MKOPO_LOANS: '999999999' })
    await expect.poll(() => child.out()).toContain('999999999 loans of seed 1 ')
    child.process.kill('SIGTERM')
    // What it has started holds the other end of its output, so that both have ended.
    expect((await child.ended).code).toBe(143)
  })

  it.each(['many', '0', '-1', '1e3', ''])('refuses a setting of %j, with which it would try nothing', async (given) => {
    expect(await run(['terms'], { MKOPO_LOANS: given })).toMatchObject({
      code: 2,
      err: `MKOPO_LOANS: must be a whole number above 0, not ${given}\n`,
    })
  })
})

describe('the campaigns', () => {
  it.each(Object.entries(CAMPAIGNS))('%s runs files that are there, which read its settings', (_, campaign) => {
    const { command, settings = {} } = campaign
    const paths = command.filter((argument) => argument.includes('/') && !argument.includes('*'))
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
    const files = paths.flatMap((path) => (path.endsWith('.ts') ? [path] : globSync(`${path}/**/*.ts`, { cwd: root })))
    const texts = [...files, 'test/support/ahead.ts', 'test/support/runs.ts']
      .map((file) => readFileSync(join(root, file), 'utf8'))
      .join('\n')
    expect(Object.keys(settings).filter((name) => !texts.includes(`process.env.${name}`))).toEqual([])
  })

  it('are no scripts of their own', () => {
    const scripts = Object.entries<string>(manifest.scripts).filter(([name]) => name !== 'test:one')
    const campaigns = Object.values(CAMPAIGNS).map(({ command }) => command.at(-1)!)
    expect(scripts.filter(([, script]) => campaigns.some((file) => script.includes(file)))).toEqual([])
    expect(manifest.scripts.try).toBe('node bench/try.ts')
  })
})
