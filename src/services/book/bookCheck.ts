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
import { readLoanTrails } from '../../db/book/bookTrail.ts'
import { agrees, CACHED, cached } from '../../db/loans/loanColumns.ts'
import type { StoredLoan } from '../../db/loans/storedLoan.ts'
import { inSnapshot, type Snapshot } from '../../db/postgres/transaction.ts'
import { brokenByMarks } from '../../domain/bookCheck/entryMarks.ts'
import { brokenRules } from '../../domain/bookCheck/invariants.ts'
import { brokenByAgreement } from '../../domain/bookCheck/loanAgreement.ts'
import { brokenByTrail, type LoanTrail } from '../../domain/bookCheck/trailRules.ts'
import { stateOf } from '../../domain/loan/loan.ts'
import { carriedForward, endFrom, type LoanState } from '../../domain/loan/replay.ts'

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

/** What a walk through the loans has come to. */
interface Walk {
  readonly asOf: number
  readonly grounds: StoredGrounds
  readonly sums: Map<string, Sums>
  readonly tell: (difference: Difference) => void
  loans: number
  entries: number
  waitingForSweep: number
}

/**
 * Replays every loan and holds its cached columns, its entries and its schedule against what must be: against the rules
 * of the domain, its terms against what they follow from, and all that happened to it against the audit trail. Then the
 * sums of all against the database's own, and what refers to nothing. In bounded batches of one snapshot, while the
 * service goes on.
 */
export async function checkBook({ db, config, now }: Deps, options: CheckOptions = {}): Promise<Checked> {
  const { organizationId, stopping, onProgress } = options
  const differences: Difference[] = []
  let found = 0
  const tell = (difference: Difference) => {
    if (found++ < MOST_TOLD) differences.push(difference)
  }
  return inSnapshot(db, async (snapshot) => {
    const total = await countLoans(snapshot, organizationId)
    const grounds = await readGrounds(snapshot)
    const walk: Walk = { asOf: now(), grounds, sums: new Map(), tell, loans: 0, entries: 0, waitingForSweep: 0 }
    const read = async (after: typeof START) => {
      const batch = await readChecked(snapshot, config.zone, after, organizationId, BATCH)
      return { batch, trails: await readLoanTrails(snapshot, batch) }
    }
    let next = read(START)
    for (let { batch, trails } = await next; batch.length > 0 && !stopping?.aborted; { batch, trails } = await next) {
      const last = batch.at(-1)!
      // Read while these are replayed: the database and this process then work at once.
      next = batch.length < BATCH ? Promise.resolve({ batch: [], trails: new Map() }) : read(last)
      // Looked at in the next turn, which this one may not live to see.
      next.catch(() => undefined)
      for (const one of batch) checkLoan(walk, one, trails.get(`${one.organizationId} ${one.id}`) ?? [])
      onProgress?.(walk.loans, total)
    }
    await next
    const stopped = stopping?.aborted ?? false
    const totals = stopped
      ? []
      : await checkWhole(snapshot, walk, organizationId, (more) => {
          found += more
        })
    const { loans, entries, waitingForSweep } = walk
    return { loans, entries, waitingForSweep, totals, differences, found, stopped }
  })
}

function checkLoan(walk: Walk, one: CheckedLoan, trail: readonly LoanTrail[]): void {
  const { organizationId, id } = one
  const { grounds, tell, sums } = walk
  const say = (message: string) => tell({ organizationId, of: `loan ${id}`, message })
  walk.loans++
  try {
    const loan = one.loan()
    const { state, waiting } = stateAsCached(loan, walk.asOf)
    if (waiting) walk.waitingForSweep++
    differencesOf(loan, one, state).forEach(say)
    const product = grounds.products.get(`${organizationId} ${loan.productId}`)
    brokenByAgreement(loan, { product, currency: grounds.currencies.get(organizationId) }).forEach(say)
    brokenByMarks(loan).forEach(say)
    brokenByTrail(loan, trail).forEach(say)
    addTo(sums, loan, state)
    walk.entries += loan.entries.length
  } catch (error) {
    say(`cannot be replayed: ${error instanceof Error ? error.message : error}`)
  }
}

/**
 * What no loan shows by itself.
 * @param more called with how many faults there are beyond those told
 * @returns the sums of the book as the database makes them
 */
async function checkWhole(
  snapshot: Snapshot,
  { sums, tell }: Walk,
  organizationId: number | undefined,
  more: (found: number) => void,
): Promise<readonly StoredTotals[]> {
  const totals = await readTotals(snapshot, organizationId)
  for (const stored of totals)
    differencesOfTotals(stored, sums.get(`${stored.organizationId} ${stored.currency}`)).forEach(tell)
  for (const lent of await findLentAfterClosing(snapshot, organizationId))
    tell({
      organizationId: lent.organizationId,
      of: `customer ${lent.customerId}`,
      message: `is Closed since ${lent.closedOn}, and got ${lent.loans} loans after it`,
    })
  for await (const { found, rows } of findOrphans(snapshot, organizationId)) {
    rows.forEach(tell)
    more(found - rows.length)
  }
  return totals
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
