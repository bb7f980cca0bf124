import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { readLoans } from '../../db/loans/loans.ts'
import { invariant } from '../../domain/errors.ts'
import { stateOf } from '../../domain/loan/loan.ts'
import type { Caches, Core } from '../deps.ts'
import type { LoanNow } from './loans.ts'

/** A loan that was found, before it is read. */
export interface Weighted {
  readonly id: bigint
  /** Its instalments and entries: what it takes to read it. */
  readonly weight: number
}

/** Instalments and entries that are read and viewed before other requests get their turn. */
const SLICE = 2_500
/** Milliseconds of a turn from which other requests are taken to be there: an empty one takes some hundredths. */
const BUSY_MS = 0.5

/**
 * Reads loans as they are now, a few at a time, so that a page of long schedules neither delays other requests nor is in
 * memory as a whole.
 * @throws LendingError `resource_exhausted` when too many pages of such a size are requested at once
 */
export async function readInSlices(
  deps: Core & Pick<Caches, 'heavyReads'>,
  organizationId: number,
  found: readonly Weighted[],
  view: (now: LoanNow) => void,
): Promise<void> {
  const { zone } = deps.config
  const weight = found.reduce((sum, one) => sum + one.weight, 0)
  await deps.heavyReads.run(organizationId, weight, async () => {
    const now = deps.now(organizationId)
    for (const slice of slicesOf(found)) {
      const began = performance.now()
      const keys = slice.map(({ id }) => ({ organizationId, ref: { id }, zone }))
      for (const loan of await readLoans(deps.db, keys)) {
        invariant(loan, 'a loan of the list')
        view({ loan, state: stateOf(loan, now) })
      }
      await letOthers(performance.now() - began)
    }
  })
}

/**
 * Gives other requests their turn, and where there are any rests for as long as the slice took: each of their steps would wait for a
 * slice otherwise.
 */
async function letOthers(tookMs: number): Promise<void> {
  const began = performance.now()
  await turn()
  if (performance.now() - began > BUSY_MS) await pause(tookMs)
}

/** Divides loans into slices of at most `SLICE`, or of one larger loan. */
function slicesOf(found: readonly Weighted[]): Weighted[][] {
  const slices: Weighted[][] = []
  let left = 0
  for (const one of found) {
    if (one.weight > left) {
      slices.push([])
      left = SLICE
    }
    slices.at(-1)!.push(one)
    left -= one.weight
  }
  return slices
}
