import { setTimeout as pause } from 'node:timers/promises'
import { LendingError } from '../../domain/errors.ts'
import { type Absent, broughtForward } from '../../domain/loan/carriedForward/broughtForward.ts'
import { NotRead } from '../../domain/loan/carriedForward/notRead.ts'
import type { Entry } from '../../domain/loan/entry.ts'
import type { Decision } from '../../domain/loan/loan.ts'
import { type Author, rethrowTakenKey } from '../audit/trail.ts'
import { pauseBefore } from '../postgres/backoffMs.ts'
import type { Db } from '../postgres/client.ts'
import { isUniqueViolation } from '../postgres/errors.ts'
import { reserveIds } from '../queries/idBlocks.ts'
import { type Traffic, trafficOf } from './loanBatches.ts'
import { type LoanKey, type LoanRef, nameOf } from './loans.ts'
import { restateLoan } from './modifyTerms.ts'
import { entryIdTaken, type Step } from './saveLoans.ts'
import { apply, type StoredLoan } from './storedLoan.ts'

/** A change of one loan: who makes it, when, and in which zone its days are counted. */
export interface Change {
  readonly author: Author
  readonly zone: string
  readonly now: () => number
  /** It posts, and by this would be known from before: the history is read only where it is asked for. */
  readonly posts?: { readonly token: string | null } | { readonly id: bigint }
  /** The loan may be agreed anew, which is saved by itself. */
  readonly restates?: true
  /** Told each time that it has to be decided anew. */
  readonly retried?: () => void
}

/** What a decision may be: something to save, or an answer that needs nothing saved. */
export type Decided<T> = { readonly save: Decision } | { readonly answer: T }

/** A change that was saved: the loan before it, the decision, the entry it posted, and when. */
export interface SavedChange {
  readonly loan: StoredLoan
  readonly saved: Decision
  readonly posted: Entry | null
  readonly at: number
}

/** What came of a change: what was saved, or what was answered instead. */
export type Changed<T> = SavedChange | { readonly loan: StoredLoan; readonly answer: T }

/** How often a change is tried again when others were faster each time, or had the loan in hand. */
const MOST_TRIES = 60
/** Changes of one loan that are saved together, and how many may wait for their turn. */
const MOST_IN_A_CHAIN = 128
const MOST_WAITING = 5_000

/** A change that waits for its turn on a loan. */
interface Job {
  readonly change: Change
  readonly decide: (loan: StoredLoan, now: number) => Decided<unknown>
  readonly resolve: (changed: Changed<unknown> | undefined) => void
  readonly reject: (error: unknown) => void
  tries: number
  /** Saved by itself: it may agree the loan anew, or together with others it broke on what is taken. */
  alone: boolean
}

/**
 * The one write path of every operation on a loan: load it, let `decide` say what to do, save that where the loan is
 * still what was read, and start over where someone was faster. Changes of one loan that arrive at once are decided one
 * after the other, each on what the one before left, and saved in one go. `decide` is pure and may be asked again.
 * @returns undefined when there is no such loan
 * @throws LendingError from `decide`; `already_exists` when a client chose the id of another entry; `aborted` when
 *   others were faster every time, or had the loan in hand
 */
export function changeLoan<T>(
  db: Db,
  change: Change,
  ref: LoanRef,
  decide: (loan: StoredLoan, now: number) => Decided<T>,
): Promise<Changed<T> | undefined> {
  return new Promise((resolve, reject) => {
    const job = {
      change,
      decide,
      resolve: resolve as Job['resolve'],
      reject,
      tries: 0,
      alone: change.restates ?? false,
    }
    const lanes = lanesOf(db)
    const key = { organizationId: change.author.organizationId, ref, zone: change.zone }
    const name = nameOf(key)
    const lane = lanes.get(name)
    if (lane && lane.length >= MOST_WAITING) return reject(tooMany())
    if (lane) return void lane.push(job)
    const opened = [job]
    lanes.set(name, opened)
    void run(db, key, opened, () => lanes.delete(name))
  })
}

const tooMany = () => new LendingError('aborted', 'the loan is being changed by many others at once; try again', [], 1)

/** The loans that are being changed by this process, each with the changes that wait for their turn. */
const allLanes = new WeakMap<Db, Map<string, Job[]>>()

function lanesOf(db: Db): Map<string, Job[]> {
  const lanes = allLanes.get(db) ?? new Map<string, Job[]>()
  allLanes.set(db, lanes)
  return lanes
}

/** Works off the changes that wait for a loan, also those that come while it does. */
async function run(db: Db, key: LoanKey, lane: Job[], close: () => void): Promise<void> {
  const traffic = trafficOf(db)
  // What the last save left is where the next begins; another instance's change shows when that is saved.
  let known: StoredLoan | undefined
  while (lane.length > 0) {
    const jobs = lane.splice(0, db.together ? chainLength(lane) : 1)
    try {
      known = await runChain(db, traffic, key, jobs, known, lane)
    } catch (error) {
      for (const job of jobs) job.reject(error)
      known = undefined
    }
  }
  // In the same breath as the last look: whoever comes later opens a lane of his own.
  close()
}

/** How many of those that wait can be saved together. */
function chainLength(lane: readonly Job[]): number {
  const alone = lane.findIndex((job) => job.alone)
  return alone === -1 ? MOST_IN_A_CHAIN : Math.min(MOST_IN_A_CHAIN, Math.max(1, alone))
}

/** What was decided on each job, to be told when it has been saved. */
type Told = { job: Job; changed: Changed<unknown> } | { job: Job; refused: unknown }

/** @returns the loan as it is after what was saved; undefined where that is not known */
async function runChain(
  db: Db,
  traffic: Traffic,
  key: LoanKey,
  jobs: readonly Job[],
  known: StoredLoan | undefined,
  lane: Job[],
): Promise<StoredLoan | undefined> {
  const decided = await decideOn(db, traffic, key, jobs, known)
  if (!decided) {
    for (const job of jobs) job.resolve(undefined)
    return undefined
  }
  const { loan, steps, told, after } = decided
  // A refusal or an answer that nothing was saved with has to be of the loan as it is stored now.
  if (steps.length === 0 && known) return runChain(db, traffic, key, jobs, undefined, lane)
  const saved = steps.length === 0 ? 'saved' : await saveChain(db, traffic, loan, steps, jobs)
  if (saved !== 'saved') {
    await again(jobs, lane, saved === 'taken')
    return undefined
  }
  for (const one of told) {
    if ('refused' in one) one.job.reject(one.refused)
    else one.job.resolve(one.changed)
  }
  // Agreed anew, with another borrower perhaps, it has to be read.
  return steps.some(({ decision }) => decision.restated) || broughtForward(after) ? undefined : after
}

/**
 * Decides on a loan, on what is carried forward of it where all of the changes post and none of them asks for more.
 * @returns undefined when there is no such loan
 */
async function decideOn(db: Db, traffic: Traffic, key: LoanKey, jobs: readonly Job[], known: StoredLoan | undefined) {
  const nextId = await reserveIds(db, 'entry', jobs.length)
  const ids = jobs.map(() => nextId())
  const decide = (loan: StoredLoan | undefined, elsewhere?: ReadonlySet<bigint>) =>
    loan && { loan, ...decideAll(loan, jobs, ids, elsewhere) }
  const wanted = db.together && !known ? wantedBy(jobs) : undefined
  const carried = wanted && (await traffic.readCarried({ ...key, wanted }))
  try {
    if (carried) return decide(carried)
  } catch (error) {
    if (!(error instanceof NotRead)) throw error
  }
  const [loan, elsewhere] = await Promise.all([known ?? traffic.readLoan(key), idsElsewhere(traffic, key, jobs)])
  return decide(loan, elsewhere)
}

/** Those of the entry ids that clients chose which entries of other loans have, or of this one. */
async function idsElsewhere(traffic: Traffic, { organizationId }: LoanKey, jobs: readonly Job[]): Promise<Set<bigint>> {
  const ids = jobs.flatMap(({ change: { posts } }) => (posts && 'id' in posts ? [posts.id] : []))
  const taken = await Promise.all([...new Set(ids)].map((id) => traffic.readEntryId({ organizationId, id })))
  return new Set(taken.filter((id) => id !== undefined))
}

/** The keys to look for, where all of the changes post; undefined where one of them needs the history. */
function wantedBy(jobs: readonly Job[]): Absent | undefined {
  const posts = jobs.map(({ change }) => change.posts)
  if (posts.includes(undefined)) return undefined
  return {
    token: posts.flatMap((one) => (one && 'token' in one && one.token !== null ? [one.token] : [])),
    id: posts.flatMap((one) => (one && 'id' in one ? [one.id] : [])),
  }
}

/**
 * Decides job by job, each on what the one before left.
 * @param elsewhere ids that a client may choose no more for a new entry, where it is known
 * @throws NotRead where one of them asks for what was not read of the loan
 */
function decideAll(
  loan: StoredLoan,
  jobs: readonly Job[],
  ids: readonly bigint[],
  elsewhere: ReadonlySet<bigint> = new Set(),
) {
  const steps: Step[] = []
  const told: Told[] = []
  let after = loan
  for (const [index, job] of jobs.entries()) {
    const now = job.change.now()
    try {
      const decided = job.decide(after, now)
      if ('answer' in decided) {
        told.push({ job, changed: { loan: after, answer: decided.answer } })
        continue
      }
      const decision = decided.save
      // This loan has no such entry, or it would have been the answer: it is another loan's.
      if (decision.posted?.id !== undefined && elsewhere.has(decision.posted.id)) throw entryIdTaken()
      const posted = decision.posted && { ...decision.posted, id: decision.posted.id ?? ids[index]! }
      told.push({ job, changed: { loan: after, saved: decision, posted, at: now } })
      steps.push({ author: job.change.author, decision, posted, at: now })
      after = apply(after, decision, posted, now)
    } catch (refused) {
      if (refused instanceof NotRead) throw refused
      told.push({ job, refused })
    }
  }
  return { steps, told, after }
}

/** `stale` where someone was faster, `taken` where a token, id or key of the chain came in by another change. */
async function saveChain(
  db: Db,
  traffic: Traffic,
  loan: StoredLoan,
  steps: readonly Step[],
  jobs: readonly Job[],
): Promise<'saved' | 'stale' | 'taken'> {
  const [first] = steps
  try {
    const saved = await (first?.decision.restated ? restateLoan(db, loan, first) : traffic.saveLoan({ loan, steps }))
    return saved ? 'saved' : 'stale'
  } catch (error) {
    // Of one change by itself it is known whose key it was; of several, each is tried again by itself.
    if (jobs.length === 1) {
      rethrowTakenKey(error)
      // Had this loan an entry with the id that a client chose, it would have been found: it is another loan's.
      if (first?.decision.posted?.id !== undefined && isUniqueViolation(error, 'loan_entry_pkey')) throw entryIdTaken()
    }
    if (isUniqueViolation(error)) return 'taken'
    throw error
  }
}

/** Puts changes back to be decided anew, up to a number of times. */
async function again(jobs: readonly Job[], lane: Job[], alone: boolean): Promise<void> {
  const left = jobs.filter((job) => {
    job.tries++
    job.alone ||= alone
    job.change.retried?.()
    if (job.tries < MOST_TRIES) return true
    job.reject(tooMany())
    return false
  })
  lane.unshift(...left)
  await pause(pauseBefore(left[0]?.tries ?? 0))
}
