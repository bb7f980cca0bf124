import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

// The threat model: a threat without a test that holds it is a wish.

const root = join(import.meta.dirname, '..')
const text = readFileSync(join(root, 'docs/threat-model.md'), 'utf8')
const threats = (text.split('\n## Threats\n')[1]?.split('\n## ')[0] ?? '')
  .split('\n')
  .filter((line) => /^\| (?!Threat |-)/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, threat = '', , tests = '']) => ({
    threat,
    tests: [...tests.matchAll(/`([^`]+)`/g)].map(([, path]) => path!),
  }))

describe('docs/threat-model.md', () => {
  it('has threats, each of them once', () => {
    expect(threats.length).toBeGreaterThan(25)
    expect(new Set(threats.map(({ threat }) => threat)).size).toBe(threats.length)
  })

  it.each(threats)('$threat: is held by tests that are there', ({ tests }) => {
    expect(tests.length).toBeGreaterThan(0)
    for (const path of tests) {
      expect(path).toMatch(/^test\/[\w/]+(?:\.\w+)?\.test\.ts$/)
      expect({ path, isThere: existsSync(join(root, path)) }).toEqual({ path, isThere: true })
      // A file of which every test is skipped would hold nothing.
      expect({
        path,
        tests: /^\s*(?:it|test)(?:\.each|\(|\.skipIf)/m.test(readFileSync(join(root, path), 'utf8')),
      }).toEqual({
        path,
        tests: true,
      })
    }
  })
})
