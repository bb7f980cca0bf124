import type { Deps } from '../../app/deps.ts'
import { purgeKeys } from '../../db/access/idempotency.ts'
import { type DamagedLoan, findTestsDue, type SweepOptions, type Swept, sweepLoans } from '../../db/loans/sweep.ts'
import type { Instant } from '../../domain/dates.ts'
import { dayThatWasOver, loanReviewed } from '../../domain/loan/change.ts'
import { stateOf } from '../../domain/loan/loan.ts'
import { whileItStands } from '../testClock/whileItStands.ts'

export { countDue } from '../../db/loans/sweep.ts'

/** Loans saved in one transaction: few enough that a repayment never waits long for one of them. */
export const LOANS_A_ROUND = 100
const KEYS_A_ROUND = 1_000
/** The most damaged loans that are left out; with more of them the sweep does not continue at once. */
const MOST_DAMAGED = 10_000

/** The pause after a round that found no loan to sweep. */
const IDLE_MS = 5_000
/** The pause after a failure, for the database to recover. */
const AFTER_FAILURE_MS = 10_000

/**
 * Saves what time alone changes in loans: overdue marks, penalties, cached columns. No answer waits for a sweep,
 * because every read is a replay as of now; lists by state, reports and totals are as fresh as the last round. Any
 * number of instances may sweep at once.
 */
export async function sweepOnce(deps: Deps, except: readonly DamagedLoan[]): Promise<Swept> {
  const rounds = [await sweepBook(deps, deps.testClocks.liveNow(), { except })]
  if (deps.testClocks.organizations().length > 0)
    for (const id of await findTestsDue(deps.db, deps.testClocks.liveNow())) {
      const swept = await whileItStands(deps, id, () => sweepTestOrganization(deps, id, except))
      if (swept) rounds.push(swept)
    }
  return {
    saved: rounds.reduce((sum, { saved }) => sum + saved, 0),
    found: Math.max(...rounds.map(({ found }) => found)),
    isBehind: rounds.some(({ isBehind }) => isBehind),
    damaged: rounds.flatMap(({ damaged }) => damaged),
  }
}

/** Saves what time has changed in the loans of a test organization by its clock, as `sweepOnce`. */
export const sweepTestOrganization = (
  deps: SweepDeps,
  organizationId: number,
  except: readonly DamagedLoan[],
): Promise<Swept> => sweepBook(deps, deps.now(organizationId), { except, testOrganizationId: organizationId })

type SweepDeps = Pick<Deps, 'db' | 'config' | 'now'>

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

/** The background job that sweeps. */
export interface Sweeper {
  stop(): Promise<void>
}

/** Starts to sweep loans and to delete expired Idempotency-Keys, until it is stopped. */
export function startSweeper(deps: Deps, log: { error(context: object, message: string): void }): Sweeper {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let round: Promise<void> = Promise.resolve()
  /** Damaged loans, each logged once; the next process tries them again. */
  const except: DamagedLoan[] = []

  const next = (delay: number) => {
    if (!stopped) timer = setTimeout(() => (round = run()), delay)
  }

  async function run(): Promise<void> {
    try {
      await deps.testClocks.refreshAll()
      const { found, saved, damaged, isBehind } = await sweepOnce(deps, except)
      for (const { organizationId, id, error } of damaged) {
        const context = { err: error, organization: organizationId, loan: String(id) }
        log.error(context, 'a loan cannot be replayed, and is left out of the sweep; run `book check`')
        deps.listener.sweepFailed()
      }
      except.push(...damaged.slice(0, MOST_DAMAGED - except.length))
      const purged = await purgeKeys(deps.db, KEYS_A_ROUND, deps.machineNow())
      deps.listener.swept(saved)
      const isMore = (isBehind || found === LOANS_A_ROUND) && except.length < MOST_DAMAGED
      next(isMore || purged === KEYS_A_ROUND ? 0 : IDLE_MS)
    } catch (error) {
      deps.listener.sweepFailed()
      log.error({ err: error }, 'the sweep failed; it will be tried again')
      next(AFTER_FAILURE_MS)
    }
  }

  next(0)
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await round
    },
  }
}
