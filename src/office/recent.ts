import type { Listener, Place, Refusal } from '../services/listener.ts'
import { createLru } from '../toolbox/lru.ts'

/** A refusal or failure, or an answer to a token that came with another content, and its time. */
export interface Remembered extends Place {
  readonly code: Refusal['code'] | 'idempotency_mismatch'
  readonly reason: string
  readonly at: number
  /** Greater than the number of any earlier refusal. */
  readonly order: number
}

/** The recent past of this instance for the operators' page; held in memory, and lost with the process. */
export interface Recent {
  readonly listener: Partial<Listener>
  /** Returns refusals, latest first: those of an organization, and those of clients that were not identified. */
  refusals(organizationId: number): Remembered[]
  readonly sweep: { readonly lastAt: number | undefined; readonly loans: number; readonly failures: number }
}

/** Refusals kept of each organization, and of clients that were not identified, which must not push out the others. */
const MOST_REFUSALS = { identified: 200, unidentified: 100 }
const MOST_ORGANIZATIONS = 1_000

/** Keeps the latest refusals and sweeps that its `listener` hears of. */
export function rememberRecent(now: () => number): Recent {
  const refusals = createLru<number, Remembered[]>(MOST_ORGANIZATIONS)
  const unidentified: Remembered[] = []
  let count = 0
  const sweep = { lastAt: undefined as number | undefined, loans: 0, failures: 0 }
  const remember = (one: Omit<Remembered, 'at' | 'order'>) => {
    const { organizationId } = one
    const list = organizationId === undefined ? unidentified : (refusals.get(organizationId) ?? [])
    if (organizationId !== undefined) refusals.set(organizationId, list)
    const most = MOST_REFUSALS[organizationId === undefined ? 'unidentified' : 'identified']
    list.unshift({ ...one, at: now(), order: ++count })
    if (list.length > most) list.length = most
  }
  return {
    listener: {
      refused: remember,
      tokenMismatched: ({ members, ...place }) =>
        remember({
          ...place,
          code: 'idempotency_mismatch',
          reason: `a token seen before came with another ${members}`,
        }),
      swept: (loans) => {
        sweep.lastAt = now()
        sweep.loans += loans
      },
      loanNotSwept: () => {
        sweep.failures++
      },
      jobFailed: (job) => {
        if (job === 'sweep') sweep.failures++
      },
    },
    refusals: (organizationId) =>
      [...(refusals.get(organizationId) ?? []), ...unidentified].sort((a, b) => b.order - a.order),
    sweep,
  }
}
