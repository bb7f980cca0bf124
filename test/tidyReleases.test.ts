import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }

// What was released stays as it was released.

const root = join(import.meta.dirname, '..')

/** The releases, the last first: the day, and the SHA-256 of each migration that came with it. */
const RELEASES = [
  {
    version: '0.1.0',
    day: '2026-11-26',
    migrations: { '0001_baseline': '2b18d5a25ade8c6335b156ca4bed88272a2b82a6cbb35f39fe90d675269ee3e0' },
  },
]

describe('a release', () => {
  it('has its heading in the changelog, the last first, and the last is the version of the package', () => {
    const headings = [...readFileSync(join(root, 'CHANGELOG.md'), 'utf8').matchAll(/^## \[(.+)$/gm)]
    expect(headings.map(([, heading]) => heading)).toEqual([
      'Unreleased]',
      ...RELEASES.map(({ version, day }) => `${version}] - ${day}`),
    ])
    expect(manifest.version).toBe(RELEASES[0]!.version)
  })

  it('keeps its migrations as they are: the start refuses a database that another text made', () => {
    const sums = globSync('prisma/migrations/*/migration.sql', { cwd: root }).map((path) => [
      path.split('/').at(-2),
      createHash('sha256')
        .update(readFileSync(join(root, path)))
        .digest('hex'),
    ])
    expect(Object.fromEntries(sums)).toMatchObject(
      Object.assign({}, ...RELEASES.map(({ migrations }) => migrations)) as Record<string, string>,
    )
  })
})
