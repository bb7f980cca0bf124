import type { Deps } from '../../src/services/deps.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { sweepJob } from '../../src/services/loans/sweep.ts'

/**
 * Sweeps until nothing is due.
 * @returns how many loans were brought up to date
 */
export async function sweep(deps: Deps): Promise<number> {
  let total = 0
  const swept = (loans: number) => {
    total += loans
  }
  await drain(sweepJob({ ...deps, listener: { ...deps.listener, swept } }))
  return total
}
