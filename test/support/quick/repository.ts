import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BaseSequencer, type TestSequencerConstructor, type TestSpecification } from 'vitest/node'

/** Returns what a call of git in a repository prints. @throws Error with the `stderr` of git */
export const gitIn = (root: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'pipe'] })

/** Returns the paths of what git lists with `-z`. */
export const paths = (listed: string): string[] => listed.split('\0').filter((path) => path !== '')

/** Returns the files that git knows or would add, each source with its text and every other file with none. */
export function textsOfAll(root: string): Map<string, string> {
  const files = paths(gitIn(root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'))
  const texts = files.flatMap((file) => {
    try {
      return [[file, /\.(ts|mjs|cjs)$/.test(file) ? readFileSync(join(root, file), 'utf8') : ''] as const]
    } catch {
      // It was deleted: nothing is left of it to run.
      return []
    }
  })
  return new Map(texts)
}

/** Returns what makes vitest run test files in their order in `files`, whose paths are from `root`. */
export function inOrderOf(root: string, files: readonly string[]): TestSequencerConstructor {
  const place = new Map(files.map((file, index) => [join(root, file), index]))
  return class extends BaseSequencer {
    override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
      return specifications.toSorted((a, b) => place.get(a.moduleId)! - place.get(b.moduleId)!)
    }
  }
}
