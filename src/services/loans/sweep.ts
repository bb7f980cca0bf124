import { type DamagedLoan, findTestsDue, type SweepOptions, type Swept, sweepLoans } from '../../db/loans/sweep.ts'
import type { Instant } from '../../domain/dates.ts'
import { dayThatWasOver, loanReviewed } from '../../domain/loan/change/change.ts'
import { stateOf } from '../../domain/loan/loan.ts'
import type { Core } from '../deps.ts'
import { type Job, SERVICE } from '../jobs/job.ts'
import { whileItStands } from '../testClock/testClocks.ts'

export { countDue } from '../../db/loans/sweep.ts'

interface Log {
  error(context: object, message: string): void
}

const noLog: Log = { error: () => undefined }

/** Loans saved in one transaction: few enough that a repayment never waits long for one of them. */
export const LOANS_A_ROUND = 100
/** The most damaged loans that are left out; with more of them the sweep does not continue at once. */
const MOST_DAMAGED = 10_000

/** The pause after a round that found no loan to sweep. */
const EVERY_MS = 5_000

/**
 * Creates the job that saves what time alone changes in loans: overdue marks, penalties, cached columns. No answer waits
 * for it, because every read is a replay as of now; lists by state, reports and totals are as fresh as the last round. Any
 * number of instances may sweep at once. The loans of all live organizations are swept together, and those of a test
 * organization by its own clock.
 * @param log nothing is logged when it is left out
 */
export function sweepJob(deps: Core, log: Log = noLog): Job {
  /** Damaged loans, each logged once; the next process tries them again. */
  const except: DamagedLoan[] = []

  function leaveOut(damaged: readonly DamagedLoan[]): void {
    for (const { organizationId, id, error } of damaged) {
      const context = { err: error, organization: organizationId, loan: String(id) }
      log.error(context, 'a loan cannot be replayed, and is left out of the sweep; run `book check`')
      deps.listener.loanNotSwept()
    }
    except.push(...damaged.slice(0, MOST_DAMAGED - except.length))
  }

  return {
    name: 'sweep',
    failure: 'what time has changed in loans could not be saved',
    everyMs: EVERY_MS,
    // What a day changes in a large book is saved as fast as the database takes it.
    share: 1,
    async organizations() {
      const { testClocks, db } = deps
      await testClocks.refreshAll()
      const hasTests = testClocks.organizations().length > 0
      return [SERVICE, ...(hasTests ? await findTestsDue(db, testClocks.liveNow()) : [])]
    },
    async work(organizationId) {
      const swept =
        organizationId === SERVICE
          ? await sweepBook(deps, deps.testClocks.liveNow(), { except })
          : await whileItStands(deps, organizationId, () => sweepTestOrganization(deps, organizationId, except))
      if (!swept) return 'waits'
      leaveOut(swept.damaged)
      deps.listener.swept(swept.saved)
      const isMore = (swept.isBehind || swept.found === LOANS_A_ROUND) && except.length < MOST_DAMAGED
      return isMore ? 'more' : 'done'
    },
  }
}

/** Saves what time has changed in the loans of a test organization by its clock. */
export const sweepTestOrganization = (
  deps: SweepDeps,
  organizationId: number,
  except: readonly DamagedLoan[],
): Promise<Swept> => sweepBook(deps, deps.now(organizationId), { except, testOrganizationId: organizationId })

type SweepDeps = Pick<Core, 'db' | 'config' | 'now'>

const sweepBook = ({ db, config }: SweepDeps, now: Instant, options: Omit<SweepOptions, 'most'>): Promise<Swept> =>
  sweepLoans(db, config.zone, now, { most: LOANS_A_ROUND, ...options }, (loan) => {
    const review = loan.nextChangeAt ?? now
    // The columns still have the state of the moment before.
    const before = stateOf(loan, Math.max(loan.terms.disbursedAt, review - 1))
    const reviewed = stateOf(loan, review)
    const isBehind = reviewed.nextChangeAt !== null && reviewed.nextChangeAt <= now
    const after = isBehind ? reviewed : stateOf(loan, now)
    const change = { version: loan.version + 1, on: dayThatWasOver(loan, now), before, after }
    return { changed: loanReviewed(loan, change), after, isBehind }
  })
