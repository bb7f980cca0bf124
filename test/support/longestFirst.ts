import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Test files that take long, the longest first: they begin first, so that none of them is alone at the end. What is not
 * here takes a few seconds at most, and follows by its path. A run of all files with `--reporter=json` measures them again.
 */
const LONGEST = ['test/readme.test.ts']

/** Runs the files that take long before the others. */
export class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId, project }: TestSpecification) => {
      const place = LONGEST.indexOf(relative(project.config.root, moduleId))
      return place === -1 ? LONGEST.length : place
    }
    return specifications.toSorted((a, b) => placeOf(a) - placeOf(b) || (a.moduleId < b.moduleId ? -1 : 1))
  }
}
