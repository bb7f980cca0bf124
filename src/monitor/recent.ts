import type { Events, Refusal } from '../services/events.ts'

/** A refusal or failure, and when it was. */
export interface Remembered extends Refusal {
  readonly at: number
}

/** What the operator's page shows of this instance's recent past; held in memory, and gone with the process. */
export interface Recent {
  readonly events: Partial<Events>
  /** Latest first: those of an organization, and those of callers who were not identified. */
  refusals(organizationId: number): Remembered[]
  readonly sweep: { readonly lastAt: number | undefined; readonly loans: number; readonly failures: number }
}

const MOST_REFUSALS = 200

/** Remembers the latest refusals and the sweeps that are told to its `events`. */
export function rememberRecent(now: () => number): Recent {
  const refusals: Remembered[] = []
  const sweep = { lastAt: undefined as number | undefined, loans: 0, failures: 0 }
  return {
    events: {
      refused: (refusal) => {
        refusals.unshift({ ...refusal, at: now() })
        if (refusals.length > MOST_REFUSALS) refusals.length = MOST_REFUSALS
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
      refusals.filter((one) => one.organizationId === undefined || one.organizationId === organizationId),
    sweep,
  }
}
