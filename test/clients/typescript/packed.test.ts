import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { build, compactScript, DIST, MOST_BYTES, pack } from '../../../clients/typescript/generate/pack.ts'
import { within } from '../../support/patience.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mkopo-client-'))
  await build()
}, within(60_000))
afterAll(() => rm(folder, { recursive: true, force: true }))

it('the packed client stays below its size', { timeout: within(30_000) }, async () => {
  const { bytes } = await pack(folder)
  expect(bytes).toBeLessThan(MOST_BYTES)
})

it('its scripts have no indentation, and its declarations keep their comments', async () => {
  const files = await readdir(DIST, { recursive: true })
  const read = (file: string) => readFile(join(DIST, file), 'utf8')
  for (const file of files.filter((one) => /\.(js|d\.ts)$/.test(one)))
    expect([file, /^ /m.test((await read(file)).replace(/^ \*.*$/gm, ''))]).toEqual([file, false])
  expect(await read('generated/partner.d.ts')).toContain('/** Read the chart of accounts. */')
})

it('a text of several lines in a script is refused: it would lose its indentation', () => {
  expect(compactScript('if (a) {\n    b(`c`, `d`);\n}\n')).toBe('if (a) {\nb(`c`, `d`);\n}\n')
  expect(() => compactScript('const a = `b\n    c`;\n')).toThrow(
    'line 1 of a script begins or ends a text of several lines',
  )
})
