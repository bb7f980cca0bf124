import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Test files that take long, the longest first: they begin first, so that none of them is alone at the end. What is not
 * here takes a few seconds at most, and follows by its path. A run of all files with `--reporter=json` measures them again.
 */
const LONGEST = [
  'test/office/office.browser.test.ts',
  'test/services/walletStatements/hostile.test.ts',
  'test/ops/everyColumn.test.ts',
  'test/api/partner/payments/wallets.test.ts',
  'test/process/workers.test.ts',
  'test/ops/bookImport.test.ts',
  'test/bench/bench.test.ts',
  'test/standby.test.ts',
  'test/readme.test.ts',
  'test/observability/logEveryOperation.test.ts',
  'test/process/ends.test.ts',
  'test/ops/sealFaults.test.ts',
  'test/attack.test.ts',
  'test/outage.test.ts',
  'test/api/partner/boostRefusals.test.ts',
  'test/ops/process.test.ts',
  'test/ops/importFiles.test.ts',
  'test/process/banner.test.ts',
  'test/stop.test.ts',
  'test/fullDisk.test.ts',
  'test/observability/tracing.test.ts',
  'test/api/openapi/collection/collection.test.ts',
  'test/app/main.test.ts',
  'test/ops/rotation.test.ts',
  'test/services/book/manyCommands.test.ts',
  'test/process/npmStart.test.ts',
  'test/db/postgres/roles.test.ts',
  'test/services/access/guesses.test.ts',
  'test/ops/restructureFaults.test.ts',
  'test/clients/typescript/service.test.ts',
  'test/ops/bookCheck.test.ts',
  'test/db/embedded/embedded.test.ts',
  'test/services/loans/sweep.test.ts',
  'test/fuzz.test.ts',
  'test/model/model.test.ts',
  'test/process/withoutDev.test.ts',
  'test/sequencer.test.ts',
  'test/silentConnection.test.ts',
  'test/api/limits/unreadAnswers.test.ts',
  'test/db/postgres/silence.test.ts',
  'test/api/partner/hangUp.test.ts',
  'test/api/partner/worked.test.ts',
  'test/services/testClock/passing.test.ts',
  'test/services/portfolio/backDated.test.ts',
  'test/ops/seal.test.ts',
  'test/api/partner/creditLimit.test.ts',
  'test/ops/bookCheckFaults.test.ts',
  'test/db/loans/lockedRows.test.ts',
  'test/ops/accounts.test.ts',
  'test/services/testClock/race.test.ts',
  'test/api/partner/testClock/testClock.test.ts',
  'test/services/accounting/bookProvisions.test.ts',
  'test/ops/bookKeys.test.ts',
  'test/db/events/sealedRows.test.ts',
  'test/services/portfolio/knownThen.test.ts',
  'test/services/access/auditor.test.ts',
  'test/domain/restructure/laws.test.ts',
  'test/api/record/size.test.ts',
]

/** The projects one after the other: a process is ended where the next file is of another project, and what it has loaded is lost. */
const PROJECTS = ['elsewhere', 'service', 'tidy']

/** Runs the files of a project together, and of those the files that take long before the others. */
export class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const projectOf = ({ project }: TestSpecification) => PROJECTS.indexOf(project.name)
    const placeOf = ({ moduleId, project }: TestSpecification) => {
      const place = LONGEST.indexOf(relative(project.config.root, moduleId))
      return place === -1 ? LONGEST.length : place
    }
    return specifications.toSorted(
      (a, b) => projectOf(a) - projectOf(b) || placeOf(a) - placeOf(b) || (a.moduleId < b.moduleId ? -1 : 1),
    )
  }
}
