import type { Deps } from '../../app/deps.ts'
import {
  type CheckedLoan,
  countLoans,
  findLentAfterClosing,
  readChecked,
  readGrounds,
  readTotals,
  START,
  type StoredGrounds,
  type StoredTotals,
} from '../../db/book/bookCheck.ts'
import { findOrphans } from '../../db/book/bookOrphans.ts'
import { type LoanPostings, readLoanPostings } from '../../db/book/bookPostings.ts'
import { readLoanTrails } from '../../db/book/bookTrail.ts'
import { agrees, CACHED, cached } from '../../db/loans/loanColumns.ts'
import type { StoredLoan } from '../../db/loans/storedLoan.ts'
import { inSnapshot, type Snapshot } from '../../db/postgres/transaction.ts'
import { brokenByMarks } from '../../domain/bookCheck/entryMarks.ts'
import { brokenRules } from '../../domain/bookCheck/invariants.ts'
import { brokenByJournal, type CheckedJournal } from '../../domain/bookCheck/journalRules.ts'
import { brokenByChanges } from '../../domain/bookCheck/journalTrail.ts'
import { brokenByAgreement } from '../../domain/bookCheck/loanAgreement.ts'
import { brokenByTrail, type LoanTrail } from '../../domain/bookCheck/trailRules.ts'
import { stateOf } from '../../domain/loan/loan.ts'
import { carriedForward, endFrom, type LoanState } from '../../domain/loan/replay.ts'
import type { Head } from '../events/chainHeads.ts'
import { checkJournals, NO_JOURNAL, readJournals } from './journalCheck.ts'
import { checkKeptDays, type KeptDaysCheck } from './keptDaysCheck.ts'
import { checkSeals, type SealsChecked } from './sealCheck.ts'

/** The number of loans that are read and replayed at once. */
const BATCH = 500
/** The most differences that are listed; all are counted. */
const MOST_LISTED = 1_000

/** A difference between what is stored and what must be. */
export interface Difference {
  readonly organizationId: number
  /** `loan 4000000000000001`, `customer …` or `totals TZS`. */
  readonly of: string
  readonly message: string
}

/** The result of a check of the book. */
export interface Checked extends SealsChecked {
  readonly loans: number
  readonly entries: number
  readonly postings: number
  /** Loans that the sweep has yet to update: no fault. They are checked as of the moment before the update was due. */
  readonly waitingForSweep: number
  readonly totals: readonly StoredTotals[]
  readonly differences: readonly Difference[]
  /** The number of differences, also where not all are listed. */
  readonly found: number
  /** True where the check was stopped before the end. */
  readonly stopped: boolean
}

export interface CheckOptions {
  readonly organizationId?: number | undefined
  /** Heads that were kept elsewhere, up to which the chain must be what it was. */
  readonly heads?: readonly Head[]
  readonly stopping?: AbortSignal
  onProgress?(done: number, total: number): void
  /** Called while the seals are checked, with the changes so far. */
  onSealProgress?(done: number, total: number): void
}

type Sums = { -readonly [Name in keyof StoredTotals]: StoredTotals[Name] }

/** The running result of a walk through the loans. */
interface Walk {
  readonly now: Deps['now']
  readonly grounds: StoredGrounds
  readonly journals: ReadonlyMap<number, CheckedJournal>
  readonly keptDays: KeptDaysCheck
  readonly sums: Map<string, Sums>
  readonly add: (difference: Difference) => void
  loans: number
  entries: number
  postings: number
  waitingForSweep: number
}

/**
 * Replays every loan and compares it with what is stored: its cached columns, its terms with their grounds, its entries
 * with the audit trail, and all of it with the rules of the domain. Then compares the sums of all loans with the
 * database's own sums, and finds rows that refer to nothing. At last walks the chain of changes, and compares the rows of
 * the book with it. Reads bounded batches of one snapshot, while the service runs.
 */
export async function checkBook({ db, config, now, chainSecret }: Deps, options: CheckOptions = {}): Promise<Checked> {
  const { organizationId, stopping, onProgress, onSealProgress, heads = [] } = options
  const differences: Difference[] = []
  let found = 0
  const add = (difference: Difference) => {
    if (found++ < MOST_LISTED) differences.push(difference)
  }
  return inSnapshot(db, async (snapshot) => {
    const total = await countLoans(snapshot, organizationId)
    const grounds = await readGrounds(snapshot)
    const journals = await readJournals(snapshot, config.zone)
    const none = { loans: 0, entries: 0, postings: 0, waitingForSweep: 0 }
    const keptDays = await checkKeptDays({ db, config, now }, snapshot, organizationId)
    const walk: Walk = { now, grounds, journals, keptDays, sums: new Map(), add, ...none }
    const read = async (after: typeof START) => {
      const batch = await readChecked(snapshot, config.zone, after, organizationId, BATCH)
      const trails = await readLoanTrails(snapshot, batch)
      return { batch, trails, posted: await readLoanPostings(snapshot, batch) }
    }
    let next = read(START)
    for (let part = await next; part.batch.length > 0 && !stopping?.aborted; part = await next) {
      const { batch, trails, posted } = part
      const last = batch.at(-1)!
      // The next batch is read while this one is replayed.
      next = batch.length < BATCH ? Promise.resolve({ batch: [], trails: new Map(), posted: new Map() }) : read(last)
      // A failure is thrown where `next` is awaited; where this round fails first, it is never awaited.
      next.catch(() => undefined)
      for (const one of batch) {
        const key = `${one.organizationId} ${one.id}`
        checkLoan(walk, one, { trail: trails.get(key) ?? [], posted: posted.get(key) })
      }
      onProgress?.(walk.loans, total)
    }
    await next
    const stopped = stopping?.aborted ?? false
    const totals = stopped
      ? []
      : await checkWhole(snapshot, walk, organizationId, (more) => {
          found += more
        })
    const sealing = { secret: chainSecret, organizationId, heads, stopping, add, onProgress: onSealProgress }
    const seals = stopped ? { sealed: 0, unsealed: 0 } : await checkSeals(snapshot, sealing)
    const { loans, entries, postings, waitingForSweep } = walk
    const isStopped = stopping?.aborted ?? false
    return { loans, entries, postings, waitingForSweep, totals, differences, found, stopped: isStopped, ...seals }
  })
}

interface Told {
  readonly trail: readonly LoanTrail[]
  readonly posted: LoanPostings | undefined
}

function checkLoan(walk: Walk, one: CheckedLoan, { trail, posted }: Told): void {
  const { organizationId, id } = one
  const { grounds, journals, add, sums } = walk
  const fault = (message: string) => add({ organizationId, of: `loan ${id}`, message })
  walk.loans++
  try {
    const loan = one.loan()
    const { state, waiting } = stateAsCached(loan, walk.now(loan.organizationId))
    if (waiting) walk.waitingForSweep++
    differencesOf(loan, one, state).forEach(fault)
    const product = grounds.products.get(`${organizationId} ${loan.productId}`)
    brokenByAgreement(loan, { product, currency: grounds.currencies.get(organizationId) }).forEach(fault)
    brokenByMarks(loan).forEach(fault)
    brokenByTrail(loan, trail).forEach(fault)
    const { postings, lastChangeId } = posted ?? { postings: [], lastChangeId: 0n }
    const facts = { productId: loan.productId, lastChangeId, state }
    brokenByJournal(facts, postings, journals.get(organizationId) ?? NO_JOURNAL).forEach(fault)
    brokenByChanges(postings).forEach(fault)
    addTo(sums, loan, state)
    walk.keptDays.add(loan)
    walk.postings += postings.length
    walk.entries += loan.entries.length
  } catch (error) {
    fault(`cannot be replayed: ${error instanceof Error ? error.message : error}`)
  }
}

/**
 * Checks what no loan shows alone: sums, loans of closed customers, rows that refer to nothing.
 * @param more called with the number of faults that are not listed
 * @returns the sums of the book as the database computes them
 */
async function checkWhole(
  snapshot: Snapshot,
  { sums, journals, keptDays, add }: Walk,
  organizationId: number | undefined,
  more: (found: number) => void,
): Promise<readonly StoredTotals[]> {
  const totals = await readTotals(snapshot, organizationId)
  for (const stored of totals)
    differencesOfTotals(stored, sums.get(`${stored.organizationId} ${stored.currency}`)).forEach(add)
  for (const lent of await findLentAfterClosing(snapshot, organizationId))
    add({
      organizationId: lent.organizationId,
      of: `customer ${lent.customerId}`,
      message: `is Closed since ${lent.closedOn}, and got ${lent.loans} loans after it`,
    })
  for await (const { found, rows } of findOrphans(snapshot, organizationId)) {
    rows.forEach(add)
    more(found - rows.length)
  }
  for (const difference of await keptDays.differences()) add(difference)
  await checkJournals(snapshot, journals, organizationId, add)
  return totals
}

/**
 * Returns the state that the cached columns should have: of now, or, where the sweep is due, of the moment before it
 * was due.
 */
function stateAsCached(loan: StoredLoan, asOf: number): { state: LoanState; waiting: boolean } {
  const waiting = loan.nextChangeAt !== null && loan.nextChangeAt <= asOf
  const moment = waiting ? Math.max(loan.terms.disbursedAt, (loan.nextChangeAt ?? asOf) - 1) : asOf
  return { state: stateOf(loan, moment), waiting }
}

function differencesOf(
  loan: StoredLoan,
  { entryCount, carriedForward: carried, cached: stored }: CheckedLoan,
  state: LoanState,
): string[] {
  const computed = cached(state)
  const columns = CACHED.flatMap((column, index) => {
    const [is, shouldBe] = [stored[column], computed[index]]
    return agrees(column, is, shouldBe)
      ? []
      : [`${column} is ${show(column, is)}, and replay says ${show(column, shouldBe)}`]
  })
  const { length } = loan.entries
  const count = entryCount === length ? [] : [`entry_count is ${entryCount}, and there are ${length} entries`]
  const shouldCarry = carriedForward(loan.terms, state)
  // A text of another format version, or a damaged one, is not used.
  const isUsed = carried !== null && endFrom(loan.terms, carried, entryCount, loan.updatedAt) !== undefined
  const forward =
    !isUsed || carried === shouldCarry
      ? []
      : [`carried_forward is ${carried}, and replay says ${shouldCarry ?? 'empty'}`]
  return [...columns, ...count, ...forward, ...brokenRules(loan, state)]
}

function show(column: string, value: unknown): string {
  if (column.endsWith('_at') && typeof value === 'number') return new Date(value).toISOString()
  return value === null ? 'empty' : String(value)
}

function addTo(sums: Map<string, Sums>, loan: StoredLoan, state: LoanState): void {
  const { organizationId, terms } = loan
  const currency = terms.currency.code
  const key = `${organizationId} ${currency}`
  const none = { loans: 0n, entries: 0n, principal: 0n, outstanding: 0n, paid: 0n, overpaid: 0n }
  const sum = sums.get(key) ?? { organizationId, currency, ...none }
  sum.loans += 1n
  sum.entries += BigInt(loan.entries.length)
  sum.principal += terms.principal
  sum.outstanding += state.totalOutstanding
  sum.paid += state.totalPaid
  sum.overpaid += state.totalOverpaid
  sums.set(key, sum)
}

function differencesOfTotals(stored: StoredTotals, computed: Sums | undefined): Difference[] {
  const { organizationId, currency } = stored
  return (['loans', 'entries', 'principal', 'outstanding', 'paid', 'overpaid'] as const).flatMap((name) =>
    computed?.[name] === stored[name]
      ? []
      : [
          {
            organizationId,
            of: `totals ${currency}`,
            message: `${name} sum to ${stored[name]}, and replay says ${computed?.[name] ?? 'nothing'}`,
          },
        ],
  )
}
