import { readAmountsHere } from '../../../db/payments/reconciliations.ts'
import type { Caller } from '../../access/caller.ts'
import type { Ranged } from '../../paging.ts'
import type { DecideDeps } from '../decidePayments.ts'
import { type LinesRequest, listLines, type Reconciliation, type StoredLine } from './reconcile.ts'

/** A line of a comparison, with its amount in the statement and here, minor units; null where it is not there. */
export interface LineAmounts extends StoredLine {
  readonly there: bigint | null
  readonly here: bigint | null
}

/**
 * Returns lines of a comparison in their order, with both amounts.
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument`
 */
export async function listLineAmounts(
  deps: Pick<DecideDeps, 'db'>,
  caller: Caller,
  run: Reconciliation,
  request: LinesRequest,
): Promise<Ranged<LineAmounts>> {
  const part = await listLines(deps, caller, run.id, request)
  const places = part.items.map(({ line }) => line)
  const here = await readAmountsHere(deps.db, run, places)
  const items = part.items.map((line) => {
    const there = line.kind === 'missing_there' ? null : line.amount
    return { ...line, there, here: here.get(line.line) ?? null }
  })
  return { ...part, items }
}
