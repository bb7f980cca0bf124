import type { Author } from '../../../db/audit/trail.ts'
import type { LoanKey, LoanRef } from '../../../db/loans/loans.ts'
import type { StoredHead, StoredLoan } from '../../../db/loans/storedLoan.ts'
import { reserveIds } from '../../../db/queries/idBlocks.ts'
import { invariant } from '../../../domain/errors.ts'
import { isHead } from '../../../domain/loan/carriedForward/loanHead.ts'
import type { Posting } from '../../../domain/loan/loan.ts'
import { forgivingRules } from '../../../domain/loan/rules/settlement.ts'
import type { Core, Writing } from '../../deps.ts'
import { type Changed, type Decide, type DecidedBatch, decideAll, type ToDecide } from './decide.ts'
import { enqueue, type Queued, type QueueResult } from './queue.ts'
import { type Alongside, saveChanges } from './save.ts'

export type { Changed, Decided, SavedChange } from './decide.ts'
export { countPosted } from './decide.ts'

/** The objects that a change of a loan works with. */
export type ChangeDeps = Core & Pick<Writing, 'idBlocks' | 'loanBatches' | 'loanQueues'>

/** A change of one loan: who makes it, of which loan, and what is saved together with it. */
export interface Change {
  readonly author: Author
  readonly ref: LoanRef
  /** The most entries that are posted before the last one, where the change posts several; left out: 0. */
  readonly moreEntries?: number
  /** Saved in one transaction with the change, which is then saved alone; left out: nothing. */
  readonly alongside?: readonly Alongside[]
}

/** A change that waits for its turn. */
interface Job extends Queued, Omit<ToDecide, 'entryId'> {
  readonly moreEntries: number
  readonly alongside: readonly Alongside[]
  readonly resolve: (changed: Changed<unknown> | undefined) => void
}

/**
 * Changes a loan: reads it, lets `decide` say what to do, saves that where the stored version is still the one that was
 * read, and starts over where another change was saved first. Every operation on a loan is saved here or in
 * `postToLoan`. Changes of one loan that arrive together are decided one after the other, each on the loan that the one
 * before left, and saved together.
 * @returns undefined when there is no such loan
 * @throws LendingError from `decide` and from what is saved alongside; `already_exists` when a client chose the id of another
 *   entry; `aborted` when other changes were saved first every time, or had locked the loan
 */
export function changeLoan<T>(
  deps: ChangeDeps,
  change: Change,
  decide: Decide<StoredLoan, T>,
): Promise<Changed<T> | undefined> {
  return takeTurn(deps, { ...change, posting: undefined }, (loan, now) => {
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
): Promise<Changed<T> | undefined> => takeTurn(deps, change, decide)

function takeTurn<T>(
  deps: ChangeDeps,
  { author, ref, posting, moreEntries = 0, alongside = [] }: Change & { readonly posting: Posting | undefined },
  decide: Decide<StoredLoan | StoredHead, T>,
): Promise<Changed<T> | undefined> {
  const { loanQueues, loanBatches, config, listener } = deps
  const key = { organizationId: author.organizationId, ref, zone: config.zone }
  return new Promise((resolve, reject) => {
    const isAlone = alongside.length > 0
    const job: Job = {
      author,
      posting,
      decide,
      moreEntries,
      alongside,
      resolve: resolve as Job['resolve'],
      reject,
      tries: 0,
      isAlone,
    }
    enqueue(loanQueues, key, job, {
      together: loanBatches.together,
      run: (jobs, known) => runBatch(deps, key, jobs, known),
      retried: () => listener.retried(),
    })
  })
}

/** Decides the changes of a batch and saves them. @param known the loan that the last batch left */
async function runBatch(
  deps: ChangeDeps,
  key: LoanKey,
  jobs: readonly Job[],
  known: StoredLoan | undefined,
): Promise<QueueResult<Job>> {
  const decided = await decideOn(deps, key, jobs, known)
  if (!decided) {
    for (const job of jobs) job.resolve(undefined)
    return { again: [], known: undefined }
  }
  const { loan, changes, results, after, testClock } = decided
  // A refusal, or an answer with nothing saved, must be of the loan as it is stored now.
  if (changes.length === 0 && known) return runBatch(deps, key, jobs, undefined)
  const saving = { isSingle: jobs.length === 1, alongside: jobs[0]?.alongside ?? [] }
  const saved = changes.length === 0 ? 'saved' : await saveChanges(deps, { loan, changes, testClock }, saving)
  if (saved !== 'saved') {
    if (testClock) await deps.testClocks.refresh(testClock.organizationId)
    if (saved === 'taken') for (const job of jobs) job.isAlone = true
    return { again: jobs, known: undefined }
  }
  for (const [index, result] of results.entries()) {
    if ('refused' in result) jobs[index]!.reject(result.refused)
    else jobs[index]!.resolve(result.changed)
  }
  // After modified terms, perhaps with another borrower, the loan has to be read.
  const isKnown = !isHead(after) && !changes.some(({ decision }) => decision.modifiedTerms)
  return { again: [], known: isKnown ? after : undefined }
}

/** What was decided, and on which loan by which test clock. */
interface DecidedOn extends DecidedBatch {
  readonly loan: StoredLoan | StoredHead
  readonly testClock: ReturnType<ChangeDeps['testClocks']['find']>
}

/**
 * Decides on a loan: on its head where all of the changes are postings and none of them needs the history.
 * @returns undefined when there is no such loan
 */
async function decideOn(
  deps: ChangeDeps,
  key: LoanKey,
  jobs: readonly Job[],
  known: StoredLoan | undefined,
): Promise<DecidedOn | undefined> {
  const { loanBatches, testClocks } = deps
  const { organizationId } = key
  const nextId = await reserveIds(deps, 'entry', jobs.length)
  const asked = jobs.map((job) => ({ ...job, entryId: nextId() }))
  const now = () => deps.now(organizationId)
  const wanted = loanBatches.together && !known ? dedupeKeysOf(jobs) : undefined
  const head = wanted && (await loanBatches.readHead({ ...key, wanted }))
  if (head) {
    // The clock is read first: where it is moved after that, the changes are not saved, and are decided again.
    const testClock = testClocks.find(organizationId)
    const onHead = decideAll(head, asked, { now, elsewhere: NOWHERE, nextId: noWaiver })
    if (onHead) return { ...onHead, loan: head, testClock }
  }
  const [loan, elsewhere] = await Promise.all([known ?? loanBatches.readLoan(key), idsElsewhere(deps, key, jobs)])
  if (!loan) return undefined
  // A change may settle the loan early, which posts a waiver, too.
  const waivers = forgivingRules(loan.terms) === null ? 0 : jobs.length
  const more = jobs.reduce((sum, { moreEntries }) => sum + moreEntries, waivers)
  const nextWaiverId = await reserveIds(deps, 'entry', more)
  const testClock = testClocks.find(organizationId)
  const decided = decideAll(loan, asked, { now, elsewhere, nextId: nextWaiverId })
  return decided && { ...decided, loan, testClock }
}

const NOWHERE: ReadonlySet<bigint> = new Set()

const noWaiver = () => {
  throw new Error('no waiver follows from a change of a head')
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
