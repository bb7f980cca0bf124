import type { Deps } from '../../app/deps.ts'
import { findKept, forgetExpired, type KeptRequest, keepAnswer } from '../../db/access/idempotency.ts'
import { isKeyTaken } from '../../db/audit/trail.ts'
import { invalidArgument, LendingError } from '../../domain/errors.ts'
import type { Caller } from './caller.ts'

export type { KeptRequest } from '../../db/access/idempotency.ts'

/** The header, as callers write it. */
export const KEY_HEADER = 'Idempotency-Key'

/** The refusal where another instance stored the same Idempotency-Key at the same time. */
export const keyTaken = () =>
  new LendingError('aborted', 'another request with this Idempotency-Key is being answered; try again', [], 1)

/** Waits for a change of the book. @throws LendingError `aborted` where its Idempotency-Key was taken meanwhile */
export async function abortedWhereKeyTaken<T>(change: Promise<T>): Promise<T> {
  try {
    return await change
  } catch (error) {
    throw isKeyTaken(error) ? keyTaken() : error
  }
}

/** A request under a key: what was kept of an earlier one, or the turn to run it. */
export type Begun = { readonly kept: KeptRequest } | { readonly turn: Turn }

/** The right to run a request under its key, in this process. */
export interface Turn {
  /** Keeps the answer of a request that was not refused. */
  keep(answer: { status: number; body: string }): Promise<void>
  /** Whether an answer, or a change, of this very request is kept by now: another instance was faster. */
  isKept(): Promise<boolean>
  /** Lets the next request with this key run or be answered; has to be called, whatever came of it. */
  end(): void
}

/** Requests under Idempotency-Keys (contract 1.11). */
export interface Idempotency {
  /**
   * @throws LendingError `invalid_argument` when the key stood for another request, `aborted` while that is running
   */
  begin(caller: Caller, key: string, requestHash: string): Promise<Begun>
}

/**
 * The key is inserted by the statement that makes the change, so that no crash can part them, and two instances can
 * never both make it. What runs in this process is known without asking the database.
 */
export function createIdempotency({ db, now }: Pick<Deps, 'db' | 'now'>): Idempotency {
  const running = new Set<string>()
  return {
    async begin(caller, key, requestHash) {
      const name = `${caller.organizationId} ${caller.accountId} ${key}`
      if (running.has(name))
        throw new LendingError(
          'aborted',
          `the first request with this ${KEY_HEADER} is still running; try again`,
          [],
          1,
        )
      running.add(name)
      try {
        const kept = await findKept(db, caller, key, now())
        if (kept && kept.requestHash !== requestHash)
          throw invalidArgument('idempotencyKey', 'was used with another request; take a new key for a new request')
        if (kept) {
          running.delete(name)
          return { kept }
        }
        await forgetExpired(db, caller, key, now())
      } catch (error) {
        running.delete(name)
        throw error
      }
      return {
        turn: {
          keep: (answer) => keepAnswer(db, caller, { key, requestHash }, answer, now()),
          isKept: async () => (await findKept(db, caller, key, now()))?.requestHash === requestHash,
          end: () => running.delete(name),
        },
      }
    },
  }
}
