import { setTimeout as pause } from 'node:timers/promises'
import type { Deps } from '../../../app/deps.ts'
import type { Approval } from '../../../db/approvals/pendingActions.ts'
import type { Author } from '../../../db/audit/trail.ts'
import { type LoanKey, type LoanRef, nameOf } from '../../../db/loans/loans.ts'
import type { LoanChange } from '../../../db/loans/saveLoans.ts'
import { apply, type StoredHead, type StoredLoan, type StoredRow } from '../../../db/loans/storedLoan.ts'
import { backoffMs } from '../../../db/postgres/backoffMs.ts'
import { reserveIds } from '../../../db/queries/idBlocks.ts'
import { invariant, LendingError } from '../../../domain/errors.ts'
import { isHead } from '../../../domain/loan/carriedForward/loanHead.ts'
import type { Entry } from '../../../domain/loan/entry.ts'
import { type Decision, needsHistoryFor, type Posting } from '../../../domain/loan/loan.ts'
import { forgivingRules } from '../../../domain/loan/rules/settlement.ts'
import { entryIdTaken, saveChanges } from './saveChanges.ts'
import { withWaiver } from './settleEarly.ts'
import { timePassed } from './timePassed.ts'

/** The objects that a change of a loan works with. */
export type ChangeDeps = Pick<
  Deps,
  'db' | 'idBlocks' | 'loanBatches' | 'loanQueues' | 'config' | 'now' | 'testClocks' | 'listener'
>

/** A change of one loan: who makes it, and of which loan. */
export interface Change {
  readonly author: Author
  readonly ref: LoanRef
  /** True where the change may modify the terms of the loan: it is then saved alone. */
  readonly modifiesTerms?: boolean
  /** The approval that is saved with the change, which is then saved alone. */
  readonly approval?: Approval
}

/** The result of deciding: a decision to save, or an answer that needs nothing saved. */
export type Decided<T> = { readonly save: Decision } | { readonly answer: T }

/** A change that was saved, with the loan before it. */
export interface SavedChange {
  readonly loan: StoredRow
  readonly saved: Decision
  readonly posted: Entry | null
  readonly at: number
}

/** The result of a change: what was saved, or the answer that needed nothing saved. */
export type Changed<T> = SavedChange | { readonly loan: StoredRow; readonly answer: T }

/** Decides on a loan. The function is pure, because it may be called again. */
type Decide<Loan, T> = (loan: Loan, now: number) => Decided<T>

/** Tries of a change when other changes of the loan were saved first each time, or had locked it. */
const MOST_TRIES = 60
/** Changes of one loan that are saved together, and changes that may wait for one loan. */
const MOST_IN_A_BATCH = 128
const MOST_WAITING = 5_000

/** A change that waits in the queue of its loan. */
interface Job extends Change {
  /** The posting that the change is, where it is one: it may then be decided on the head of the loan. */
  readonly posting: Posting | undefined
  readonly decide: Decide<StoredLoan | StoredHead, unknown>
  readonly resolve: (changed: Changed<unknown> | undefined) => void
  readonly reject: (error: unknown) => void
  tries: number
  /** True where the change has to be saved alone: it may modify the terms, or it met a key that is taken. */
  alone: boolean
}

/** The loans that this process is changing, by name, each with the changes that wait for their turn. */
export type LoanQueues = Map<string, Job[]>

/** Creates the queues; there is one set of them in a process. */
export const createLoanQueues = (): LoanQueues => new Map()

/**
 * Changes a loan: reads it, lets `decide` say what to do, saves that where the stored version is still the one that was
 * read, and starts over where another change was saved first. Every operation on a loan is saved here or in
 * `postToLoan`. Changes of one loan that arrive together are decided one after the other, each on the loan that the one
 * before left, and saved together.
 * @returns undefined when there is no such loan
 * @throws LendingError from `decide`; `already_exists` when a client chose the id of another entry; `aborted` when
 *   other changes were saved first every time, or had locked the loan
 */
export function changeLoan<T>(
  deps: ChangeDeps,
  change: Change,
  decide: Decide<StoredLoan, T>,
): Promise<Changed<T> | undefined> {
  return enqueue(deps, { ...change, posting: undefined }, (loan, now) => {
    invariant(!isHead(loan), 'a change without a posting is decided on the whole loan')
    return decide(loan, now)
  })
}

/**
 * Posts an entry to a loan as `changeLoan` does; but reads the head of the loan alone where the posting does not need
 * the history. `decide` is then given the head.
 */
export const postToLoan = <T>(
  deps: ChangeDeps,
  change: Change & { readonly posting: Posting },
  decide: Decide<StoredLoan | StoredHead, T>,
): Promise<Changed<T> | undefined> => enqueue(deps, change, decide)

function enqueue<T>(
  deps: ChangeDeps,
  change: Change & { readonly posting: Posting | undefined },
  decide: Decide<StoredLoan | StoredHead, T>,
): Promise<Changed<T> | undefined> {
  const { loanQueues, config } = deps
  return new Promise((resolve, reject) => {
    const alone = change.modifiesTerms || change.approval !== undefined
    const waiting = { resolve: resolve as Job['resolve'], reject, tries: 0, alone }
    const job: Job = { ...change, decide, ...waiting }
    const key = { organizationId: change.author.organizationId, ref: change.ref, zone: config.zone }
    const name = nameOf(key)
    const queue = loanQueues.get(name)
    if (queue && queue.length >= MOST_WAITING) return reject(tooManyChanges())
    if (queue) return void queue.push(job)
    const opened = [job]
    loanQueues.set(name, opened)
    void drain(deps, key, opened, () => loanQueues.delete(name))
  })
}

const tooManyChanges = () =>
  new LendingError('aborted', 'the loan is being changed by many others at once; try again', [], 1)

/** Works through the queue of a loan, including the changes that join it meanwhile. */
async function drain(deps: ChangeDeps, key: LoanKey, queue: Job[], close: () => void): Promise<void> {
  // The loan that the last save left; a change that another instance saved shows when the next one is saved.
  let known: StoredLoan | undefined
  while (queue.length > 0) {
    const jobs = queue.splice(0, deps.loanBatches.together ? batchLength(queue) : 1)
    try {
      known = await runBatch(deps, { key, jobs, queue }, known)
    } catch (error) {
      for (const job of jobs) job.reject(error)
      known = undefined
    }
  }
  // No promise is awaited between the last look at the queue and here: a later change opens a queue of its own.
  close()
}

/** The number of waiting changes that can be saved together. */
function batchLength(queue: readonly Job[]): number {
  const before = queue.findIndex((job) => job.alone)
  return before === -1 ? MOST_IN_A_BATCH : Math.min(MOST_IN_A_BATCH, Math.max(1, before))
}

/** The result for one caller, given when the batch has been saved. */
type Result = { job: Job; changed: Changed<unknown> } | { job: Job; refused: unknown }

/** The changes of one loan that are saved together, and the queue that they were taken from. */
interface Batch {
  readonly key: LoanKey
  readonly jobs: readonly Job[]
  readonly queue: Job[]
}

/** @returns the loan after what was saved; undefined where the next batch has to read it */
async function runBatch(
  deps: ChangeDeps,
  batch: Batch,
  known: StoredLoan | undefined,
): Promise<StoredLoan | undefined> {
  const { key, jobs } = batch
  const decided = await decideOn(deps, key, jobs, known)
  if (!decided) {
    for (const job of jobs) job.resolve(undefined)
    return undefined
  }
  const { loan, changes, results, after, testClock } = decided
  // A refusal, or an answer with nothing saved, must be of the loan as it is stored now.
  if (changes.length === 0 && known) return runBatch(deps, batch, undefined)
  const saved = changes.length === 0 ? 'saved' : await saveChanges(deps, { loan, changes, testClock }, jobs)
  if (saved !== 'saved') {
    if (testClock) await deps.testClocks.refresh(testClock.organizationId)
    await retry(deps, batch, saved === 'taken')
    return undefined
  }
  for (const one of results) {
    if ('refused' in one) one.job.reject(one.refused)
    else one.job.resolve(one.changed)
  }
  // After modified terms, perhaps with another borrower, the loan has to be read.
  return changes.some(({ decision }) => decision.modifiedTerms) || isHead(after) ? undefined : after
}

/**
 * Decides on a loan: on its head where all of the changes are postings and none of them needs the history.
 * @returns undefined when there is no such loan
 */
async function decideOn(deps: ChangeDeps, key: LoanKey, jobs: readonly Job[], known: StoredLoan | undefined) {
  const { loanBatches } = deps
  const nextId = await reserveIds(deps, 'entry', jobs.length)
  const numbered = jobs.map((job) => ({ job, id: nextId() }))
  const wanted = loanBatches.together && !known ? dedupeKeysOf(jobs) : undefined
  const head = wanted && (await loanBatches.readHead({ ...key, wanted }))
  const onHead = head && decideAll(deps, head, numbered, NOTHING_ELSEWHERE)
  if (onHead) return onHead
  const [loan, elsewhere] = await Promise.all([known ?? loanBatches.readLoan(key), idsElsewhere(deps, key, jobs)])
  if (!loan) return undefined
  // A change may settle the loan early, which posts a waiver, too.
  const waivers = forgivingRules(loan.terms) === null ? 0 : jobs.length
  return decideAll(deps, loan, numbered, { elsewhere, nextId: await reserveIds(deps, 'entry', waivers) })
}

/** What decisions need besides the loan. */
interface Ground {
  /** Ids that entries have already, where that was read. */
  readonly elsewhere: ReadonlySet<bigint>
  /** Returns the id of a waiver that follows from a change. */
  readonly nextId: () => bigint
}

const NOTHING_ELSEWHERE: Ground = {
  elsewhere: new Set(),
  nextId: () => {
    throw new Error('no waiver follows from a change of a head')
  },
}

/** The entry ids, of those that clients chose, that an entry of any loan has. */
async function idsElsewhere({ loanBatches }: ChangeDeps, { organizationId }: LoanKey, jobs: readonly Job[]) {
  const ids = jobs.flatMap(({ posting }) => posting?.id ?? [])
  const taken = await Promise.all([...new Set(ids)].map((id) => loanBatches.readEntryId({ organizationId, id })))
  return new Set(taken.filter((id) => id !== undefined))
}

/** The dedupe keys of changes that are all postings; undefined where one of the changes is none. */
function dedupeKeysOf(jobs: readonly Job[]) {
  const postings = jobs.flatMap(({ posting }) => posting ?? [])
  if (postings.length < jobs.length) return undefined
  return { token: postings.flatMap(({ token }) => token ?? []), id: postings.flatMap(({ id }) => id ?? []) }
}

/**
 * Decides job by job, each on the loan that the one before left. Each comes with the id of the entry it may post.
 * @returns undefined where the loan is a head and one of the jobs needs the history
 */
function decideAll(
  deps: ChangeDeps,
  loan: StoredLoan | StoredHead,
  jobs: readonly { readonly job: Job; readonly id: bigint }[],
  { elsewhere, nextId }: Ground,
) {
  const changes: LoanChange[] = []
  const results: Result[] = []
  let after = loan
  // Read first: where the clock is moved after that, the changes are not saved, and are decided again.
  const testClock = deps.testClocks.find(loan.organizationId)
  for (const { job, id } of jobs) {
    const now = deps.now(loan.organizationId)
    if (isHead(after) && job.posting && needsHistoryFor(after, job.posting, now)) return undefined
    try {
      const decided = job.decide(after, now)
      if ('answer' in decided) {
        results.push({ job, changed: { loan: after, answer: decided.answer } })
        continue
      }
      const decision = decided.save
      // An entry of this loan with the id would have been the answer: the entry is on another loan.
      if (decision.posted?.id !== undefined && elsewhere.has(decision.posted.id)) throw entryIdTaken()
      const posted = decision.posted && { ...decision.posted, id: decision.posted.id ?? id }
      const before = after
      for (const passed of changes.length > 0 || decision.modifiedTerms ? [] : timePassed(after, now)) {
        changes.push(passed)
        after = apply(after, passed.decision, null, now)
      }
      const settled = withWaiver(after, { author: job.author, decision, posted, at: now }, nextId)
      changes.push(...(settled.waiver ? [settled.waiver] : []), settled.change)
      results.push({ job, changed: { loan: before, saved: settled.change.decision, posted, at: now } })
      after = settled.after
    } catch (refused) {
      results.push({ job, refused })
    }
  }
  return { loan, changes, results, after, testClock }
}

/** Puts changes back into the queue, up to a number of tries each. */
async function retry(deps: ChangeDeps, { jobs, queue }: Batch, alone: boolean): Promise<void> {
  const left = jobs.filter((job) => {
    job.alone ||= alone
    deps.listener.retried()
    if (++job.tries < MOST_TRIES) return true
    job.reject(tooManyChanges())
    return false
  })
  queue.unshift(...left)
  await pause(backoffMs(left[0]?.tries ?? 0))
}
