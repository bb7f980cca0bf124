import type { Deps } from '../../src/app/deps.ts'
import type { DamagedLoan } from '../../src/db/loans/sweep.ts'
import { LOANS_A_ROUND, sweepOnce } from '../../src/services/loans/sweep.ts'

/**
 * Sweeps until nothing is due.
 * @returns how many loans were brought up to date
 */
export async function sweepAll(deps: Deps): Promise<number> {
  let total = 0
  const except: DamagedLoan[] = []
  await deps.testClocks.refreshAll()
  for (;;) {
    const { saved, found, damaged, isBehind } = await sweepOnce(deps, except)
    total += saved
    except.push(...damaged)
    // What was found and not saved had nothing changed, or was changed by somebody else, and says when it is due again.
    if (found < LOANS_A_ROUND && !isBehind) return total
  }
}
