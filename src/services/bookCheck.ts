import {
  type CheckedLoan,
  countLoans,
  findLentAfterClosing,
  readChecked,
  readTotals,
  START,
  type StoredTotals,
} from '../db/bookCheck.ts'
import { agrees, CACHED, cached } from '../db/loanColumns.ts'
import type { StoredLoan } from '../db/storedLoan.ts'
import { inSnapshot } from '../db/transaction.ts'
import type { Deps } from '../deps.ts'
import { stateOf } from '../domain/loan.ts'
import { brokenRules } from '../domain/loanRules.ts'
import { carriedForward, endFrom, type LoanState } from '../domain/replay.ts'

/** Loans read and replayed at once. */
const BATCH = 500
/** Differences kept in words; all are counted. */
const MOST_TOLD = 1_000

/** Something that is not as it must be. */
export interface Difference {
  readonly organizationId: number
  /** `loan 4000000000000001`, `customer …` or `totals TZS`. */
  readonly of: string
  readonly message: string
}

/** What a check of the book came to. */
export interface Checked {
  readonly loans: number
  readonly entries: number
  /** Loans whose time has come and that the sweep has not looked at yet: no fault, and checked as of the moment before. */
  readonly waitingForSweep: number
  readonly totals: readonly StoredTotals[]
  readonly differences: readonly Difference[]
  /** How many there are, also where not all are told. */
  readonly found: number
  /** It was stopped before the end. */
  readonly stopped: boolean
}

export interface CheckOptions {
  readonly organizationId?: number | undefined
  readonly stopping?: AbortSignal
  onProgress?(done: number, total: number): void
}

type Sums = { -readonly [Name in keyof StoredTotals]: StoredTotals[Name] }

/**
 * Replays every loan and holds its cached columns, its entries and its schedule against what must be, and the sums of
 * all against the database's own; in bounded batches of one snapshot, while the service goes on.
 */
export async function checkBook({ db, config, now }: Deps, options: CheckOptions = {}): Promise<Checked> {
  const { organizationId, stopping, onProgress } = options
  const asOf = now()
  const differences: Difference[] = []
  const sums = new Map<string, Sums>()
  let [loans, entries, waitingForSweep, found] = [0, 0, 0, 0]
  const tell = (difference: Difference) => {
    if (found++ < MOST_TOLD) differences.push(difference)
  }

  return inSnapshot(db, async (snapshot) => {
    const total = await countLoans(snapshot, organizationId)
    const read = (after: typeof START) => readChecked(snapshot, config.zone, after, organizationId, BATCH)
    let next = read(START)
    for (let batch = await next; batch.length > 0 && !stopping?.aborted; batch = await next) {
      const last = batch.at(-1)!
      // Read while these are replayed: the database and this process then work at once.
      next = batch.length < BATCH ? Promise.resolve([]) : read(last)
      // Looked at in the next turn, which this one may not live to see.
      next.catch(() => undefined)
      for (const one of batch) {
        const say = (message: string) => tell({ organizationId: one.organizationId, of: `loan ${one.id}`, message })
        try {
          const loan = one.loan()
          const { state, waiting } = stateAsCached(loan, asOf)
          if (waiting) waitingForSweep++
          differencesOf(loan, one, state).forEach(say)
          addTo(sums, loan, state)
          entries += loan.entries.length
        } catch (error) {
          say(`cannot be replayed: ${error instanceof Error ? error.message : error}`)
        }
      }
      loans += batch.length
      onProgress?.(loans, total)
    }
    await next
    const stopped = stopping?.aborted ?? false
    const totals = stopped ? [] : await readTotals(snapshot, organizationId)
    for (const stored of totals)
      for (const difference of differencesOfTotals(stored, sums.get(`${stored.organizationId} ${stored.currency}`)))
        tell(difference)
    if (!stopped)
      for (const lent of await findLentAfterClosing(snapshot, organizationId))
        tell({
          organizationId: lent.organizationId,
          of: `customer ${lent.customerId}`,
          message: `is Closed since ${lent.closedOn}, and got ${lent.loans} loans after it`,
        })
    return { loans, entries, waitingForSweep, totals, differences, found, stopped }
  })
}

/** The columns hold until time changes them next: then they wait for the sweep, and are what they were before. */
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
  const shouldCarry = carriedForward(state)
  // What is of other rules, or damaged, is not gone on from.
  const isGoneOnFrom = carried !== null && endFrom(carried, entryCount, loan.updatedAt) !== undefined
  const forward =
    !isGoneOnFrom || carried === shouldCarry
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
