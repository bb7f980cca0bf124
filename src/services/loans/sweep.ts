import type { Deps } from '../../app/deps.ts'
import { purgeKeys } from '../../db/access/idempotency.ts'
import { type DamagedLoan, type Swept, sweepLoans } from '../../db/loans/sweep.ts'
import { stateOf } from '../../domain/loan/loan.ts'

/** Loans saved in one transaction: few enough that a repayment never waits long for one of them. */
export const LOANS_A_ROUND = 100
const KEYS_A_ROUND = 1_000
/** Damaged loans that are left out: of a book with more of them, nothing is to be had by going on. */
const MOST_DAMAGED = 10_000

/** How often to look for loans whose time has come, where none was found. */
const IDLE_MS = 5_000
/** After a failure, the database is given some time. */
const AFTER_FAILURE_MS = 10_000

/**
 * What time does by itself, persisted: overdue marks, penalties, cached figures. Answers never wait for it, since every
 * read is a replay as of now; lists by state, reports and totals are as fresh as the last round. Any number of
 * instances may sweep at once.
 */
export async function sweepOnce(deps: Deps, except: readonly DamagedLoan[]): Promise<Swept> {
  const now = deps.now()
  return sweepLoans(deps.db, deps.config.zone, now, { most: LOANS_A_ROUND, except }, (loan) => ({
    // A moment before its time, the loan was what its columns still say.
    before: stateOf(loan, Math.max(loan.terms.disbursedAt, (loan.nextChangeAt ?? now) - 1)),
    after: stateOf(loan, now),
  }))
}

/** A background job: how it stands, and how to end it. */
export interface Sweeper {
  stop(): Promise<void>
}

/** Sweeps loans and expired Idempotency-Keys as long as the service runs. */
export function startSweeper(deps: Deps, log: { error(context: object, message: string): void }): Sweeper {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let round: Promise<void> = Promise.resolve()
  /** Told once, and looked at again by the next process. */
  const except: DamagedLoan[] = []

  const next = (delay: number) => {
    if (!stopped) timer = setTimeout(() => (round = run()), delay)
  }

  async function run(): Promise<void> {
    try {
      const { found, saved, damaged } = await sweepOnce(deps, except)
      for (const { organizationId, id, error } of damaged) {
        const context = { err: error, organization: organizationId, loan: String(id) }
        log.error(context, 'a loan cannot be replayed, and is left out of the sweep; run `book check`')
        deps.events.sweepFailed()
      }
      except.push(...damaged.slice(0, MOST_DAMAGED - except.length))
      const purged = await purgeKeys(deps.db, KEYS_A_ROUND, deps.now())
      deps.events.swept(saved)
      const isMore = found === LOANS_A_ROUND && except.length < MOST_DAMAGED
      next(isMore || purged === KEYS_A_ROUND ? 0 : IDLE_MS)
    } catch (error) {
      deps.events.sweepFailed()
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
