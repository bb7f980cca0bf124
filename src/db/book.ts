import { setTimeout as pause } from 'node:timers/promises'
import { LendingError } from '../domain/errors.ts'
import type { Decision } from '../domain/loan.ts'
import { type Db, isUniqueViolation } from './client.ts'
import { findLoan, type LoanRef, type StoredLoan } from './loans.ts'
import { saveLoan } from './saveLoan.ts'
import type { Author } from './trail.ts'

/** A change of one loan: who makes it, when, and in which zone its days are counted. */
export interface Change {
  readonly author: Author
  readonly zone: string
  readonly now: () => number
}

/** What a decision may be: something to save, or an answer that needs nothing saved. */
export type Decided<T> = { readonly save: Decision } | { readonly answer: T }

/** A change that was saved: the loan as it was read, the decision, the id of the entry it posted, and when. */
export interface SavedChange {
  readonly loan: StoredLoan
  readonly saved: Decision
  readonly entryId: bigint | null
  readonly at: number
}

/** What came of a change: what was saved, or what was answered instead. */
export type Changed<T> = SavedChange | { readonly loan: StoredLoan; readonly answer: T }

/** How often a change is tried again when another instance was faster each time. */
const MOST_TRIES = 60
const LONGEST_PAUSE_MS = 25

/**
 * The one write path of every operation on a loan: load it, let `decide` say what to do, save that where the loan is
 * still what was read, and start over where someone was faster. `decide` is pure and may be asked more than once.
 * @returns undefined when there is no such loan
 * @throws LendingError from `decide`; `aborted` when others were faster every time
 */
export async function changeLoan<T>(
  db: Db,
  change: Change,
  ref: LoanRef,
  decide: (loan: StoredLoan, now: number) => Decided<T>,
): Promise<Changed<T> | undefined> {
  const { organizationId } = change.author
  // Changes of one loan queue up inside a process: they would only make each other start over.
  return inTurn(db, keyOf(organizationId, ref), async () => {
    for (let attempt = 1; attempt <= MOST_TRIES; attempt++) {
      const loan = await findLoan(db, change.zone, organizationId, ref)
      if (!loan) return undefined
      const now = change.now()
      const decided = decide(loan, now)
      if ('answer' in decided) return { loan, answer: decided.answer }
      const saved = await saveLoan(db, change.author, loan, decided.save, now).catch((error: unknown) => {
        // The same token came in by another change: the next reading finds it.
        if (isUniqueViolation(error)) return { stale: true } as const
        throw error
      })
      if (!saved.stale) return { loan, saved: decided.save, entryId: saved.entryId, at: now }
      // Another instance keeps winning on the same loan: an uneven pause lets both through.
      await pause(Math.random() * Math.min(LONGEST_PAUSE_MS, attempt))
    }
    throw new LendingError('aborted', 'the loan is being changed by many others at once; try again', [], 1)
  })
}

const keyOf = (organizationId: number, ref: LoanRef): string =>
  'id' in ref ? `${organizationId} #${ref.id}` : `${organizationId} ${ref.externalId}`

const queues = new WeakMap<Db, Map<string, Promise<unknown>>>()

/** Runs tasks of one key one after the other, in the order in which they came. */
async function inTurn<T>(db: Db, key: string, task: () => Promise<T>): Promise<T> {
  const tails = queues.get(db) ?? new Map<string, Promise<unknown>>()
  queues.set(db, tails)
  const before = tails.get(key) ?? Promise.resolve()
  const mine = before.then(task, task)
  const tail = mine.catch(() => undefined)
  tails.set(key, tail)
  try {
    return await mine
  } finally {
    if (tails.get(key) === tail) tails.delete(key)
  }
}
