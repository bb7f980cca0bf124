import { LRUCache } from 'lru-cache'
import type { Events, Refusal } from '../services/events.ts'

/** A refusal or failure, and when it was. */
export interface Remembered extends Refusal {
  readonly at: number
  /** Greater than that of any refusal before it. */
  readonly order: number
}

/** What the operator's page shows of this instance's recent past; held in memory, and gone with the process. */
export interface Recent {
  readonly events: Partial<Events>
  /** Latest first: those of an organization, and those of callers who were not identified. */
  refusals(organizationId: number): Remembered[]
  readonly sweep: { readonly lastAt: number | undefined; readonly loans: number; readonly failures: number }
}

/** Refusals remembered of an organization, and of callers that were not identified: those must not push out the others. */
const MOST_REFUSALS = { identified: 200, unidentified: 100 }
const MOST_ORGANIZATIONS = 1_000

/** Remembers the latest refusals and the sweeps that are told to its `events`. */
export function rememberRecent(now: () => number): Recent {
  const refusals = new LRUCache<number, Remembered[]>({ max: MOST_ORGANIZATIONS })
  const unidentified: Remembered[] = []
  let count = 0
  const sweep = { lastAt: undefined as number | undefined, loans: 0, failures: 0 }
  return {
    events: {
      refused: (refusal) => {
        const { organizationId } = refusal
        const list = organizationId === undefined ? unidentified : (refusals.get(organizationId) ?? [])
        if (organizationId !== undefined) refusals.set(organizationId, list)
        const most = MOST_REFUSALS[organizationId === undefined ? 'unidentified' : 'identified']
        list.unshift({ ...refusal, at: now(), order: ++count })
        if (list.length > most) list.length = most
      },
      swept: (loans) => {
        sweep.lastAt = now()
        sweep.loans += loans
      },
      sweepFailed: () => {
        sweep.failures++
      },
    },
    refusals: (organizationId) =>
      [...(refusals.get(organizationId) ?? []), ...unidentified].sort((a, b) => b.order - a.order),
    sweep,
  }
}
