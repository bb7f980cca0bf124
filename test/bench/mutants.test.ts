import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AREAS, chooseMutants } from '../../bench/mutants/choose.ts'
import { mutated, mutationsOf } from '../../bench/mutants/mutations.ts'

const root = join(import.meta.dirname, '../..')
const all = (source: string) => mutationsOf(source).map((mutation) => mutated(source, mutation))

describe('the faults that can be planted in a source', () => {
  it.each([
    ['another operator', 'f(a + b)', ['{}', 'f(a - b)']],
    ['another comparison', 'const x = a < b', ['const x = a <= b']],
    ['a condition turned round', 'if (a) b = c', ['if (!(a)) b = c', 'if (a) {}']],
    ['either branch', 'const x = a ? b : c', ['const x = !(a) ? b : c']],
    ['another constant', 'const x = 1_000n', ['const x = 1001n']],
    ['what is true false', 'const x = true', ['const x = false']],
    ['a sign', 'const x = -a', ['const x = a']],
    ['what is not', 'const x = !a', ['const x = a']],
    ['one and not the other', 'const x = a && b', ['const x = a || b']],
    ['a step the other way', 'for (; ; i++);', ['for (; ; i--);']],
    ['a sum the other way', 'a += b', ['{}', 'a -= b']],
    ['no refusal', 'throw error', ['{}']],
  ])('have %s', (_, source, expected) => expect(all(source)).toEqual(expected))

  it('are of what runs: not of types, imports and texts', () => {
    const source = `import { a } from 'a+b'\ntype One = 1 | 2\nconst b: One = a as 1\nconst c = '1 < 2' // 1 + 2`
    expect(all(source)).toEqual([])
  })

  it('are where they say, also behind letters of several bytes and within brackets', () => {
    expect(all(`const x = 'አበበ', y = (a /* a - b */ + b) * c`)).toEqual([
      `const x = 'አበበ', y = (a /* a - b */ - b) * c`,
      `const x = 'አበበ', y = (a /* a - b */ + b) / c`,
    ])
  })
})

describe('the mutants of the campaign', () => {
  const texts = new Map(
    globSync('src/**/*.ts', { cwd: root }).map((file) => [file, readFileSync(join(root, file), 'utf8')]),
  )
  const chosen = chooseMutants(texts, 50, 1)

  it('are as many of each area, each of a file that is there, and none twice', () => {
    for (const area of Object.keys(AREAS)) expect(chosen.filter((one) => one.area === area)).toHaveLength(10)
    expect(new Set(chosen.map(({ file, start, text }) => `${file} ${start} ${text}`)).size).toBe(50)
    for (const { file, start, end, instead } of chosen)
      expect(readFileSync(join(root, file), 'utf8').slice(start, end)).toBe(instead)
  })

  it('are the same for the same seed, and others for another', () => {
    expect(chooseMutants(texts, 50, 1)).toEqual(chosen)
    expect(chooseMutants(texts, 50, 2)).not.toEqual(chosen)
  })

  it('are as many as there can be, where that is fewer', () => {
    const sources = new Map([['src/domain/money.ts', 'const a = 1 + 2']])
    expect(chooseMutants(sources, 50, 1)).toHaveLength(3)
  })
})
