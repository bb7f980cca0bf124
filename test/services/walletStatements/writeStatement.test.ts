import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { currencyOf } from '../../../src/domain/money.ts'
import { readHere } from '../../support/readHere.ts'

const TZS = currencyOf('TZS')

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mkopo-statement-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** `npm run statement -- …`. */
const write = (...args: string[]) =>
  promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../support/writeStatement.ts'), ...args], {
    cwd: folder,
  })

describe('npm run statement', () => {
  it('left to itself: half a year that ended yesterday, of M-Pesa', async () => {
    await write()
    const { layout, months, to } = await readHere(await readFile(join(folder, 'statement.pdf')), TZS)
    expect({ layout, months }).toEqual({ layout: 'mpesa', months: 6 })
    const ago = Date.now() - Date.parse(`${to}T00:00:00+03:00`)
    expect(ago).toBeGreaterThan(86_400_000)
    expect(ago).toBeLessThan(2 * 86_400_000 + 60_000)
  })

  it.each(['mpesa', 'airtel', 'yas', 'bank'])('of %s, for any owner and any period', async (layout) => {
    const whose = ['--owner', 'NEEMA JOHN', '--phone', '255713000777']
    const { stdout } = await write('x.pdf', '--layout', layout, ...whose, '--from', '2026-02-01', '--to', '2026-04-15')
    expect(stdout).toBe(`x.pdf: ${layout}, 2026-02-01 to 2026-04-15, of NEEMA JOHN, 255713000777\n`)
    expect(await readHere(await readFile(join(folder, 'x.pdf')), TZS)).toMatchObject({
      ...{ layout, owner: 'NEEMA JOHN', phone: layout === 'bank' ? null : '255713000777' },
      ...{ from: '2026-02-01', to: '2026-04-15', months: 2 },
    })
  })

  it('--help: how', async () => {
    expect((await write('--help')).stdout).toMatch(
      /^usage: npm run statement -- \[file\] \[--layout mpesa\|airtel\|yas\|bank\]/,
    )
  })

  it.each([
    [['--layout', 'cheque'], '--layout must be one of mpesa, airtel, yas, bank'],
    [['--to', '31/12/2026'], '--to must be a date, YYYY-MM-DD'],
    [['--from', '2026-05-01', '--to', '2026-04-01'], '--from must be before --to, by ten years at most'],
    [['a.pdf', 'b.pdf'], 'one file, not also b.pdf'],
    [['--colour', 'red'], "Unknown option '--colour'"],
  ])('%j: exit code 2, and says how', async (args, message) => {
    await expect(write(...args)).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(new RegExp(`^${message}[^]*\\nusage: npm run statement`)),
    })
  })
})
