import {
  type CheckedLoan,
  countLoans,
  findLentAfterClosing,
  listChecked,
  readChecked,
  readGrounds,
  readLoanTrails,
  readTotals,
  START,
  type StoredGrounds,
  type StoredTotals,
} from '../../db/book/bookCheck.ts'
import { type LoanPostings, readLoanPostings } from '../../db/book/bookPostings.ts'
import { listNotFound, type NotFound } from '../../db/book/coverage.ts'
import { FAULT_FINDERS, joinWholeTables, type Orphans } from '../../db/book/faultFinders.ts'
import { readDocuments } from '../../db/documents/documents.ts'
import { readEarlierTexts } from '../../db/loans/earlierTerms.ts'
import { agrees, CACHED, cached } from '../../db/loans/loanColumns.ts'
import type { StoredLoan } from '../../db/loans/storedLoan.ts'
import { inSnapshot, OF_A_WHOLE_BOOK_MS, type Snapshot } from '../../db/postgres/transaction.ts'
import { listTestClocks } from '../../db/testClock/testClocks.ts'
import { brokenByAgreement, brokenRules } from '../../domain/bookCheck/invariants.ts'
import { brokenByJournal, type CheckedJournal } from '../../domain/bookCheck/journalRules.ts'
import { brokenByChanges } from '../../domain/bookCheck/journalTrail.ts'
import { brokenByRestructures } from '../../domain/bookCheck/restructureRules.ts'
import { brokenByMarks, brokenByTold, brokenByTrail, type LoanTrail } from '../../domain/bookCheck/trailRules.ts'
import { stateOf } from '../../domain/loan/loan.ts'
import { carriedForward, endFrom, type LoanState } from '../../domain/loan/replay.ts'
import { earlierTermsFromText } from '../../domain/loan/terms/earlierTermsText.ts'
import type { EarlierTerms } from '../../domain/loan/terms/versions.ts'
import type { Deps } from '../deps.ts'
import { codeOf } from '../documents/code.ts'
import type { EventHash, Head } from '../events/chainHeads.ts'
import { type HeadsOfFile, readKeptHeads } from '../events/keptHeads.ts'
import { type Add, type CheckParts, createCheckParts, type Difference } from './checkParts.ts'
import { checkJournals, NO_JOURNAL, readJournals } from './journalCheck.ts'
import { createKeptDaysCheck, type KeptDaysCheck, readKeptDays } from './keptDaysCheck.ts'
import { checkSeals, type SealsChecked } from './sealCheck.ts'
import { checkWords } from './wordsCheck.ts'

/** The number of loans that are read and replayed at once. */
const BATCH = 500
/** The most differences that are listed; all are counted. */
const MOST_LISTED = 1_000

/** The result of a check of the book. */
export interface Checked extends SealsChecked {
  readonly loans: number
  readonly entries: number
  readonly postings: number
  /** Loans that the sweep has yet to update: no fault. They are checked as of the moment before the update was due. */
  readonly waitingForSweep: number
  /** What the check does not find, by its reason. */
  readonly notFound: readonly NotFound[]
  readonly totals: readonly StoredTotals[]
  readonly differences: readonly Difference[]
  /** The number of differences, also where not all are listed. */
  readonly found: number
  /** The heads in the file of heads, with which the chains were compared. */
  readonly keptHeads: number
  /** True where the check was stopped before the end. */
  readonly stopped: boolean
}

export interface CheckOptions {
  readonly organizationId?: number | undefined
  /** Heads and hashes of events that were kept elsewhere, up to which the chain must be what it was. */
  readonly heads?: readonly (Head | EventHash)[]
  readonly stopping?: AbortSignal
  onProgress?(done: number, total: number): void
  /** Called while the seals are checked, with the changes so far. */
  onSealProgress?(done: number, total: number): void
}

/** Returns the heads of a file, of an organization or of all. */
const headsOf = ({ heads }: HeadsOfFile, organizationId: number | undefined): Head[] =>
  [...heads.values()].flat().filter((head) => organizationId === undefined || head.organizationId === organizationId)

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
export async function checkBook(deps: Deps, options: CheckOptions = {}): Promise<Checked> {
  const { db, config, testClocks, chainSecret } = deps
  const { organizationId, stopping, onSealProgress, heads = [] } = options
  const differences: Difference[] = []
  let found = 0
  const add = (difference: Difference) => {
    if (found++ < MOST_LISTED) differences.push(difference)
  }
  const check = async (snapshot: Snapshot): Promise<Checked> => {
    const organizationIds = await listChecked(snapshot, organizationId)
    // The clocks of the same moment as the book: another process may have moved one since this process read it.
    const clocks = new Map((await listTestClocks({ pool: snapshot })).map((clock) => [clock.organizationId, clock]))
    const now = (of: number) => clocks.get(of)?.standsAt ?? testClocks.liveNow()
    const parts = createCheckParts(snapshot, { organizationIds, organizationId, add })
    const file = await parts.run({ organizationId: 0, of: 'HEADS_FILE' }, () => readKeptHeads(config.headsFile))
    const kept = file ? headsOf(file, organizationId) : []
    const journals = new Map<number, CheckedJournal>()
    const keptDays = createKeptDaysCheck()
    const of = { organizationId: organizationId ?? 0, of: 'the journals' }
    for (const [id, journal] of (await parts.run(of, () => readJournals(snapshot, config.zone))) ?? [])
      journals.set(id, journal)
    await readKeptDays({ db, config, now }, { snapshot, parts }, keptDays)
    const none = { loans: 0, entries: 0, postings: 0, waitingForSweep: 0 }
    const walk: Walk = { now, grounds: await readGrounds(snapshot), journals, keptDays, sums: new Map(), add, ...none }
    await checkLoans(snapshot, walk, { parts, zone: config.zone, options })
    const stopped = stopping?.aborted ?? false
    const more = (faults: number) => {
      found += faults
    }
    const totals = stopped ? [] : await checkWhole(deps, walk, { snapshot, parts, organizationId, more })
    const sealing = {
      secret: chainSecret,
      organizationId,
      heads: [...heads, ...kept],
      stopping,
      add,
      parts,
      onProgress: onSealProgress,
    }
    const seals = stopped ? { sealed: 0, unsealed: 0, begunAgain: [] } : await checkSeals(snapshot, sealing)
    const { loans, entries, postings, waitingForSweep } = walk
    const isStopped = stopping?.aborted ?? false
    const counts = { loans, entries, postings, waitingForSweep, keptHeads: kept.length, notFound: listNotFound() }
    return { ...counts, totals, differences, found, stopped: isStopped, ...seals }
  }
  return inSnapshot(db, check, { mostMs: OF_A_WHOLE_BOOK_MS })
}

/** Walks through the loans, in batches; the next batch is read while one is replayed. */
async function checkLoans(
  snapshot: Snapshot,
  walk: Walk,
  { parts, zone, options }: { readonly parts: CheckParts; readonly zone: string; readonly options: CheckOptions },
): Promise<void> {
  const { organizationId, stopping, onProgress } = options
  const total = await countLoans(snapshot, organizationId)
  const read = async (after: typeof START) => {
    const batch = await readChecked(snapshot, zone, after, organizationId, BATCH)
    const told = await readTold(snapshot, parts, batch)
    return { batch, told }
  }
  let next = read(START)
  for (let part = await next; part.batch.length > 0 && !stopping?.aborted; part = await next) {
    const { batch, told } = part
    const last = batch.at(-1)!
    next = batch.length < BATCH ? Promise.resolve({ batch: [], told: new Map() }) : read(last)
    // A failure is thrown where `next` is awaited; where this round fails first, it is never awaited.
    next.catch(() => undefined)
    for (const one of batch) {
      const ownTold = told.get(`${one.organizationId} ${one.id}`)
      if (ownTold) checkLoan(walk, one, ownTold)
    }
    onProgress?.(walk.loans, total)
  }
  await next
}

/** Reads what the trail and the journal say of loans: of all at once or, where that fails, of each that can be read. */
async function readTold(
  snapshot: Snapshot,
  parts: CheckParts,
  batch: readonly CheckedLoan[],
): Promise<ReadonlyMap<string, Told>> {
  const readAll = async (loans: readonly CheckedLoan[]) => {
    const trails = await readLoanTrails(snapshot, loans)
    const posted = await readLoanPostings(snapshot, loans)
    const texts = await readEarlierTexts(snapshot, loans)
    return loans.map((one): [string, Told] => {
      const key = `${one.organizationId} ${one.id}`
      const earlier = () =>
        (texts.get(key) ?? []).map(({ terms, ...one }) => ({ ...one, terms: earlierTermsFromText(terms) }))
      return [key, { trail: trails.get(key) ?? [], posted: posted.get(key), earlier }]
    })
  }
  const ofAll = await parts.attempt(() => readAll(batch))
  if (ofAll) return new Map(ofAll)
  const told = new Map<string, Told>()
  for (const one of batch) {
    const own = await parts.run({ organizationId: one.organizationId, of: `loan ${one.id}` }, () => readAll([one]))
    for (const [key, of] of own ?? []) told.set(key, of)
  }
  return told
}

interface Told {
  readonly trail: readonly LoanTrail[]
  readonly posted: LoanPostings | undefined
  /** Returns the terms that the loan had before. @throws SyntaxError for a damaged text */
  readonly earlier: () => readonly EarlierTerms[]
}

function checkLoan(walk: Walk, one: CheckedLoan, { trail, posted, earlier }: Told): void {
  const { organizationId, id } = one
  const { grounds, journals, add, sums } = walk
  const fault = (message: string) => add({ organizationId, of: `loan ${id}`, message })
  walk.loans++
  let loan: StoredLoan | undefined
  try {
    loan = one.loan()
    const { state, waiting } = stateAsCached(loan, walk.now(loan.organizationId))
    if (waiting) walk.waitingForSweep++
    differencesOf(loan, one, state).forEach(fault)
    const product = grounds.products.get(`${organizationId} ${loan.productId}`)
    brokenByAgreement(loan, { product, currency: grounds.currencies.get(organizationId) }).forEach(fault)
    brokenByMarks(loan, trail, earlier).forEach(fault)
    brokenByTrail(loan, trail).forEach(fault)
    brokenByTold(state, trail).forEach(fault)
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
    if (loan) brokenByRestructures(loan).forEach(fault)
  }
}

/** What the check of the whole book reads from and adds to. */
interface WholeCheck {
  readonly snapshot: Snapshot
  readonly parts: CheckParts
  readonly organizationId: number | undefined
  /** Called with the number of faults that are not listed. */
  readonly more: (found: number) => void
}

/**
 * Checks what no loan shows alone: sums, loans of closed customers, rows that refer to nothing, documents, the journal.
 * @returns the sums of the book as the database computes them
 */
async function checkWhole(deps: Deps, walk: Walk, { snapshot, parts, organizationId, more }: WholeCheck) {
  const { sums, journals, keptDays } = walk
  let totals: readonly StoredTotals[] = []
  await parts.runForAll('totals', async (of, add) => {
    const read = await readTotals(snapshot, of)
    totals = of === organizationId ? read : [...totals, ...read]
    for (const stored of read)
      differencesOfTotals(stored, sums.get(`${stored.organizationId} ${stored.currency}`)).forEach(add)
  })
  await parts.runForAll('customers', async (of, add) => {
    for (const lent of await findLentAfterClosing(snapshot, of))
      add({
        organizationId: lent.organizationId,
        of: `customer ${lent.customerId}`,
        message: `is Closed since ${lent.closedOn}, and got ${lent.loans} loans after it`,
      })
  })
  await parts.attempt(() => joinWholeTables(snapshot, true))
  for (const one of FAULT_FINDERS) await findFaults(one, { snapshot, parts, organizationId, more }, walk.add)
  await parts.attempt(() => joinWholeTables(snapshot, false))
  await parts.runForAll('words of customers', (of, add) => checkWords(deps, snapshot, of, add))
  await parts.runForAll('documents', (of, add) => checkDocuments(deps, snapshot, of, add))
  await keptDays.differences(snapshot, parts)
  await checkJournals(snapshot, journals, { organizationId, parts })
  return totals
}

/** Finds the rows of some kinds of faults: of each kind alone where the statement for all of them fails. */
async function findFaults(
  { together, alone }: (typeof FAULT_FINDERS)[number],
  { snapshot, parts, organizationId, more }: WholeCheck,
  add: Add,
): Promise<void> {
  const take = ({ found, rows }: Orphans, add: Add) => {
    rows.forEach(add)
    more(found - rows.length)
  }
  const ofAll = await parts.attempt(() => together(snapshot, organizationId))
  if (ofAll) return take(ofAll, add)
  for (const find of alone)
    await parts.runForAll('rows of the book', async (of, add) => take(await find(snapshot, of), add))
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

/** The documents that are read at once. */
const DOCUMENTS_AT_ONCE = 1_000

/**
 * Makes the code of each document again: a keyed hash over its row. Documents of an organization whose chain began again with
 * another secret are left out, because their codes were made with the secret of before.
 */
async function checkDocuments(
  { documentKey, chainSecret }: Pick<Deps, 'documentKey' | 'chainSecret'>,
  snapshot: Snapshot,
  organizationId: number | undefined,
  add: Add,
): Promise<void> {
  let after = { organizationId: -(2 ** 31), code: '' }
  for (;;) {
    const documents = await readDocuments(snapshot, {
      after,
      organizationId,
      keyId: chainSecret.keyId,
      most: DOCUMENTS_AT_ONCE,
    })
    for (const { code, madeAt: _, ...facts } of documents)
      if (codeOf(documentKey, facts) !== code)
        add({
          organizationId: facts.organizationId,
          of: `document ${code}`,
          message: 'is not what the code was made of',
        })
    const last = documents.at(-1)
    if (!last || documents.length < DOCUMENTS_AT_ONCE) return
    after = last
  }
}
