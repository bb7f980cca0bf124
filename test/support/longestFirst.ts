import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Test files that take long, the longest first: they begin first, so that none of them is alone at the end. What is not
 * here takes a few seconds at most, and follows by its path. A run of all files with `--reporter=json` measures them again.
 */
const LONGEST = [
  'test/programs/ends.test.ts',
  'test/readme.test.ts',
  'test/process/books.test.ts',
  'test/programs/logEveryOperation.test.ts',
  'test/programs/workers.test.ts',
  'test/programs/fullDisk.test.ts',
  'test/office/office.browser.test.ts',
  'test/programs/attack.test.ts',
  'test/programs/bookImport.test.ts',
  'test/programs/hostile.test.ts',
  'test/programs/ops.test.ts',
  'test/programs/outage.test.ts',
  'test/programs/tracing.test.ts',
  'test/programs/wallets.test.ts',
  'test/ops/everyColumn.test.ts',
  'test/api/openapi/collection/collection.test.ts',
  'test/fuzz.test.ts',
  'test/programs/stop.test.ts',
  'test/api/everyOperation.test.ts',
  'test/programs/standby.test.ts',
  'test/services/walletStatements/layouts.test.ts',
  'test/ops/sealFaults.test.ts',
  'test/ops/rotation.test.ts',
  'test/programs/silentConnection.test.ts',
  'test/db/postgres/roles.test.ts',
  'test/api/limits/unreadAnswers.test.ts',
  'test/api/partner/exports/manyExports.test.ts',
  'test/services/testClock/passing.test.ts',
  'test/programs/npmStart.test.ts',
  'test/programs/booksUnderLoad.test.ts',
  'test/closeRace.test.ts',
  'test/office/today.test.ts',
  'test/services/portfolio/knownThen.test.ts',
  'test/bench/bench.test.ts',
  'test/services/book/manyCommands.test.ts',
  'test/services/documents/manyDocuments.test.ts',
  'test/services/accounting/postings.test.ts',
  'test/model/model.test.ts',
  'test/api/partner/testClock/testClock.test.ts',
  'test/api/lists/walksOfAChangingBook.test.ts',
  'test/office/permissionsMatrix.test.ts',
  'test/ops/accounts.test.ts',
  'test/api/partner/people/manyErasures.test.ts',
  'test/clients/typescript/service.test.ts',
  'test/programs/withoutDev.test.ts',
  'test/db/postgres/silence.test.ts',
  'test/ops/mcp.test.ts',
  'test/db/embedded/embedded.test.ts',
  'test/api/partner/boostRefusals.test.ts',
  'test/api/partner/people/results.test.ts',
  'test/office/provider.test.ts',
  'test/services/accounting/randomBook.test.ts',
  'test/api/openapi/reference.test.ts',
  'test/services/approvals/killed.test.ts',
  'test/services/testClock/race.test.ts',
  'test/db/loans/lockedRows.test.ts',
  'test/services/loans/killedTopUps.test.ts',
  'test/api/lists/plans.test.ts',
  'test/services/accounting/hledger.test.ts',
  'test/api/permissionsMatrix.test.ts',
  'test/api/partner/worked.test.ts',
  'test/office/namesMatrix.test.ts',
  'test/sequencer.test.ts',
  'test/services/walletStatements/refusals.test.ts',
  'test/api/partner/hangUp.test.ts',
  'test/services/events/sequencer.test.ts',
  'test/app/service.test.ts',
  'test/api/limits/overload.test.ts',
  'test/api/partner/heavy.test.ts',
  'test/ops/bookCheck.test.ts',
  'test/services/portfolio/positions.test.ts',
  'test/api/record/size.test.ts',
  'test/services/access/roles.test.ts',
  'test/model/laws.test.ts',
  'test/api/limits/largeBodies.test.ts',
  'test/services/portfolio/backDated.test.ts',
]

/** The projects one after the other: a process is ended where the next file is of another project, and what it has loaded is lost. */
const PROJECTS = ['service', 'programs', 'tidy']

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
