import type { ErrorCode } from '../domain/errors.ts'
import type { EntryType } from '../domain/loan/entry.ts'
import type { JobName } from './jobs/job.ts'

/** A request that was answered. */
export interface Answered {
  readonly style: string
  /** The pattern of the route, never the path, which has ids of customers. */
  readonly route: string
  readonly method: string
  readonly status: number
  readonly seconds: number
}

/** Where a request came from, and where it went. */
export interface Place {
  readonly style: string
  readonly route: string
  readonly requestId: string
  /** Undefined where the caller was not identified. */
  readonly organizationId: number | undefined
  readonly accountId: number | null | undefined
  /** The caller's address without a port: personal data. */
  readonly address: string
}

/** A request that was refused or failed. */
export interface Refusal extends Place {
  readonly code: ErrorCode
  /** The reason, without values that the caller sent. */
  readonly reason: string
}

/** A request whose dedupe token found a transaction with another content. */
export interface Mismatched extends Place {
  /** The members of the request that differ, separated by commas. */
  readonly members: string
}

/** A sign-in: a token that was issued, or a session of the office pages. */
export interface SignedIn {
  readonly organizationId: number
  readonly accountId: number
  /** The style and the route of the sign-in. */
  readonly route: string
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

/** Listens to what happens in the service, in order to count. A listener must be cheap and never throw. */
export interface Listener {
  requestBegun(): void
  answered(request: Answered): void
  refused(refusal: Refusal): void
  signedIn(token: SignedIn): void
  loanDisbursed(loan: Movement): void
  transactionPosted(transaction: Movement & { readonly type: EntryType }): void
  /** The original was answered again, and nothing was posted. */
  duplicateAnswered(by: 'token' | 'idempotency_key'): void
  /** The original was answered to a request that differs from it. */
  tokenMismatched(request: Mismatched): void
  /** A change of a loan is tried again, because another change was saved first. */
  retried(): void
  limited(by: 'account' | 'address' | 'channel' | 'secret'): void
  /** A request was turned away early. */
  shed(because: 'event_loop' | 'in_flight' | 'share' | 'database'): void
  swept(loans: number): void
  /** A loan was left out of the sweep, because it cannot be replayed. */
  loanNotSwept(): void
  /** Changes were sealed, and their events numbered. */
  sealed(changes: number): void
  /** A row of the trail had no right stamp when it was sealed: it was changed or added past the service. */
  notStamped(): void
  /** Changes were taken into the journals. */
  kept(changes: number): void
  /** A change was left out of the journal, because its loan or the last posting of the loan is damaged. */
  changeNotPosted(): void
  /** An event could not be told as a whole, because a row of the book is damaged. */
  eventDamaged(): void
  /** A round of a background job did some work or found none, and no organization failed or is left alone. */
  jobSucceeded(job: JobName): void
  /** A background job failed for one organization, or for all. */
  jobFailed(job: JobName): void
  /** An event was sent to an endpoint of a webhook; `exhausted` is given up. */
  webhookAttempted(outcome: 'delivered' | 'failed' | 'exhausted'): void
}

/** Listens to nothing. */
export const noListener: Listener = {
  requestBegun() {},
  answered() {},
  refused() {},
  signedIn() {},
  loanDisbursed() {},
  transactionPosted() {},
  duplicateAnswered() {},
  tokenMismatched() {},
  retried() {},
  limited() {},
  shed() {},
  swept() {},
  loanNotSwept() {},
  sealed() {},
  notStamped() {},
  kept() {},
  changeNotPosted() {},
  eventDamaged() {},
  jobSucceeded() {},
  jobFailed() {},
  webhookAttempted() {},
}

/** Combines listeners into one that calls each of them. */
export function combineListeners(...listeners: readonly Partial<Listener>[]): Listener {
  const names = Object.keys(noListener) as (keyof Listener)[]
  const calls = names.map((name) => {
    const each = listeners.flatMap((listener) => (listener[name] ? [listener[name] as (event: unknown) => void] : []))
    const callEach = (event: unknown) => {
      for (const listener of each) listener(event)
    }
    return [name, callEach]
  })
  return Object.fromEntries(calls) as Listener
}
