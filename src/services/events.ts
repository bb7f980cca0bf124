import type { ErrorCode } from '../domain/errors.ts'
import type { EntryType } from '../domain/loan/entry.ts'

/** A request that has its answer. */
export interface Answered {
  readonly style: string
  /** The pattern, never the path: that holds the ids of customers. */
  readonly route: string
  readonly method: string
  readonly status: number
  readonly seconds: number
}

/** A request that was refused, or failed. */
export interface Refusal {
  readonly style: string
  readonly route: string
  readonly requestId: string
  /** Undefined where nobody had been identified. */
  readonly organizationId: number | undefined
  readonly accountId: number | null | undefined
  /** The caller's, without a port: personal data. */
  readonly address: string
  readonly code: ErrorCode
  /** Why, without what the caller sent. */
  readonly reason: string
}

/** A token that was issued. */
export interface SignedIn {
  readonly organizationId: number
  readonly accountId: number
  readonly address: string
  readonly requestId: string
}

/** Money that moved. */
export interface Movement {
  readonly organizationId: number
  readonly currency: string
  /** Minor units. */
  readonly amount: bigint
}

/** What happens, told to whoever counts it. Telling must cost next to nothing and never throw. */
export interface Events {
  requestBegun(): void
  answered(request: Answered): void
  refused(refusal: Refusal): void
  signedIn(token: SignedIn): void
  loanDisbursed(loan: Movement): void
  transactionPosted(transaction: Movement & { readonly type: EntryType }): void
  /** The original was answered again, and nothing was posted. */
  duplicateAnswered(by: 'token' | 'idempotency_key'): void
  /** A change of a loan was decided anew, because another instance was faster. */
  retried(): void
  limited(by: 'account' | 'address'): void
  /** A request was turned away early. */
  shed(because: 'event_loop' | 'in_flight' | 'share' | 'database'): void
  swept(loans: number): void
  sweepFailed(): void
}

/** Nobody counts. */
export const noEvents: Events = {
  requestBegun() {},
  answered() {},
  refused() {},
  signedIn() {},
  loanDisbursed() {},
  transactionPosted() {},
  duplicateAnswered() {},
  retried() {},
  limited() {},
  shed() {},
  swept() {},
  sweepFailed() {},
}

/** Tells each of several. */
export function tellAll(...listeners: readonly Partial<Events>[]): Events {
  const names = Object.keys(noEvents) as (keyof Events)[]
  const told = names.map((name) => {
    const each = listeners.flatMap((listener) => (listener[name] ? [listener[name] as (event: unknown) => void] : []))
    const tell = (event: unknown) => {
      for (const listener of each) listener(event)
    }
    return [name, tell]
  })
  return Object.fromEntries(told) as Events
}
