import { nextReviewAt } from '../../domain/loan/change/apply.ts'
import type { LoanChanged } from '../../domain/loan/change/change.ts'
import { type Entry, isCharge } from '../../domain/loan/entry.ts'
import type { Decision } from '../../domain/loan/loan.ts'
import { carriedForward } from '../../domain/loan/replay.ts'
import { roleToText } from '../../domain/loan/restructure/planText.ts'
import type { Stamping } from '../audit/stamp.ts'
import { type Author, TRAIL_COLUMNS, trailRow, trailRows } from '../audit/trail.ts'
import type { Whose } from '../customers/personBox.ts'
import { sealFor } from '../customers/words.ts'
import { type ColumnTypes, moment, statementOver, type Table } from '../queries/rows.ts'
import type { Queries } from '../queries/statement.ts'
import type { TestClock } from '../testClock/testClocks.ts'
import { CACHED, CACHED_COLUMNS, cached, type MoreOfTrail, traceOf } from './loanColumns.ts'
import { entryCountOf, type StoredHead, type StoredLoan } from './storedLoan.ts'

/** A change of a loan: the decision, the entry that it posts with its id, who made it and when; and all that follows. */
export interface LoanChange {
  readonly author: Author
  readonly decision: Decision
  readonly posted: Entry | null
  readonly at: number
  readonly changed: LoanChanged
  /** What the trail keeps besides. */
  readonly more?: MoreOfTrail
}

/** Decisions on one loan, each taken on what the one before left; saved together or not at all. */
export interface ChangeBatch {
  /** The loan as it was read, before the first of them. */
  readonly loan: StoredLoan | StoredHead
  readonly changes: readonly LoanChange[]
  /** The test clock by which the changes were decided; undefined of a live organization. */
  readonly testClock?: TestClock | undefined
}

const LOAN: ColumnTypes = {
  organization_id: 'int',
  id: 'bigint',
  version: 'int',
  changes: 'int',
  entry_count: 'int',
  updated_at: 'timestamptz',
  carried_forward: 'text',
  ...CACHED_COLUMNS,
}

const POSTED: ColumnTypes = {
  organization_id: 'int',
  id: 'bigint',
  loan_id: 'bigint',
  ordinal: 'int',
  place: 'int',
  type: 'text',
  value_date: 'date',
  posted_at: 'timestamptz',
  amount: 'bigint',
  token: 'text',
  note: 'text',
  account_id: 'int',
  replaces: 'bigint',
  record: 'jsonb',
  payment_method: 'text',
  due_on: 'date',
  restructure: 'text',
  payment_id: 'bigint',
}

const REVERSED: ColumnTypes = { organization_id: 'int', id: 'bigint', loan_id: 'bigint', reversed_at: 'timestamptz' }

/** A loan, and the test clock of its organization: whether there is one, and where it stands. */
const LOAN_BY_CLOCK: ColumnTypes = { ...LOAN, is_test: 'boolean', stands_at: 'timestamptz' }

/**
 * The loans whose test clock stands where it stood when their changes were decided, and stands there until these are
 * saved; and those of live organizations. No other loan waits for a clock that is being moved.
 */
const onTime = (loans: Table) => `
  SELECT c.* FROM ${loans('c')} WHERE NOT c.is_test OR EXISTS (
    SELECT FROM test_clock t
    WHERE t.organization_id = c.organization_id AND t.stands_at IS NOT DISTINCT FROM c.stands_at FOR SHARE SKIP LOCKED)`

/**
 * Many loans in one statement and one commit, each only where its version is still what was read; with a loan go its
 * entries, reversals, audit rows and keys, or none of them. A loan that another transaction has
 * locked is left out, like a loan that was changed: a statement that waited for it would make all the others wait, too.
 * @param timely SQL for the loans that are saved, given all of them
 */
const saveWhere = (name: string, columns: ColumnTypes, timely: (loans: Table) => string) =>
  statementOver(
    name,
    [columns, POSTED, REVERSED, TRAIL_COLUMNS],
    (loans, posted, reversed, trail) => `
  WITH held AS (
    SELECT c.* FROM ${timely(loans)}
    JOIN loan l ON l.organization_id = c.organization_id AND l.id = c.id AND l.version = c.version
    FOR NO KEY UPDATE OF l SKIP LOCKED
  ), saved AS (
    UPDATE loan SET version = loan.version + c.changes, entry_count = c.entry_count, updated_at = c.updated_at,
      carried_forward = c.carried_forward, carried_version = loan.version + c.changes,
      ${CACHED.map((column) => `${column} = c.${column}`).join(', ')}
    FROM held c WHERE loan.organization_id = c.organization_id AND loan.id = c.id
    RETURNING loan.organization_id, loan.id
  ), posted AS (
    INSERT INTO loan_entry (${Object.keys(POSTED).join(', ')})
    SELECT p.* FROM ${posted('p')}
    JOIN saved ON saved.organization_id = p.organization_id AND saved.id = p.loan_id
  ), reversed AS (
    UPDATE loan_entry SET reversed_at = r.reversed_at FROM ${reversed('r')}
    JOIN saved ON saved.organization_id = r.organization_id AND saved.id = r.loan_id
    WHERE loan_entry.organization_id = r.organization_id AND loan_entry.id = r.id
  ), ${trailRows('saved', 'loan', trail)}
  SELECT organization_id, id FROM saved`,
  )

const save = saveWhere('save-loans', LOAN, (loans) => loans('c'))
const saveByClocks = saveWhere('save-loans-by-clocks', LOAN_BY_CLOCK, (loans) => `(${onTime(loans)}) AS c`)

/**
 * Saves batches of decisions, in one statement. Of two on one loan, which was asked for by its number and by its external
 * id at once, it takes the first: the other was not decided on what that leaves. Of two with an entry of one id, which
 * clients chose for different loans, it takes the first, too.
 * @returns of each batch whether it was saved; if not, another change of its loan was saved first, or its test clock was
 * moved
 * @throws a unique violation, after which nothing of any batch is saved, when a token, an id or an Idempotency-Key of
 * one of them is taken
 */
export async function saveLoans(db: Queries, batches: readonly ChangeBatch[]): Promise<boolean[]> {
  const first = new Map(batches.toReversed().map((batch) => [keyOf(batch), batch]))
  const distinct = batches.filter((batch) => first.get(keyOf(batch)) === batch)
  const chosen = new Map(distinct.toReversed().flatMap((batch) => chosenIds(batch).map((id) => [id, batch])))
  const sent = distinct.filter((batch) => chosenIds(batch).every((id) => chosen.get(id) === batch))
  const isAnyTest = sent.some(({ testClock }) => testClock !== undefined)
  const written = await withSealedNotes(db, sent)
  const { rows } = await db.pool.query<{ organization_id: number; id: bigint }>(
    (isAnyTest ? saveByClocks : save)(
      sent.map(isAnyTest ? rowByClock : loanRow),
      written.flatMap(postedRows),
      sent.flatMap(reversedRows),
      written.flatMap((batch) => trailOf(db.pool, batch)),
    ),
  )
  const saved = new Set(rows.map(({ organization_id, id }) => first.get(`${organization_id} ${id}`)))
  return batches.map((batch) => saved.has(batch))
}

/** Returns the note of the entry that a change posted, where it is a person's words: the note of a charge is its name. */
const noteOf = ({ posted }: LoanChange): string | null => (posted && !isCharge(posted.type) ? posted.note : null)

const hasWords = (change: LoanChange): boolean => noteOf(change) !== null || change.changed.reason !== null

const ownerOf = ({ loan: { organizationId, customerId } }: ChangeBatch): Whose => ({ organizationId, id: customerId })

/** Returns batches with their notes and reasons encrypted under the keys of the customers; the same, where none has any. */
async function withSealedNotes(db: Queries, batches: readonly ChangeBatch[]): Promise<readonly ChangeBatch[]> {
  const noted = batches.filter(({ changes }) => changes.some(hasWords))
  if (noted.length === 0) return batches
  const seal = await sealFor(db, noted.map(ownerOf))
  return batches.map((batch) => {
    const whose = ownerOf(batch)
    // The service goes on where a provider takes money back of a person who was erased, and says nothing of it.
    const sealed = (text: string, { accountId }: Author) =>
      accountId === null && seal.isErased(whose) ? null : seal(whose, text)
    return { ...batch, changes: batch.changes.map((change) => withSealed(change, sealed)) }
  })
}

function withSealed(change: LoanChange, seal: (text: string, author: Author) => string | null): LoanChange {
  const { posted, changed, author } = change
  const note = noteOf(change)
  const noted = note === null ? {} : { note: seal(note, author) }
  const reason = changed.reason === null ? null : seal(changed.reason, author)
  return {
    ...change,
    posted: posted && { ...posted, ...noted },
    changed: { ...changed, reason, posted: changed.posted && { ...changed.posted, ...noted } },
  }
}

/** The ids that clients chose for entries of a batch. */
const chosenIds = ({ loan, changes }: ChangeBatch): string[] =>
  changes.flatMap(({ decision: { posted } }) =>
    posted?.id === undefined ? [] : [`${loan.organizationId} ${posted.id}`],
  )

const keyOf = ({ loan }: ChangeBatch) => `${loan.organizationId} ${loan.id}`

function loanRow({ loan, changes }: ChangeBatch): unknown[] {
  const { decision, at } = changes.at(-1)!
  const entries = entryCountOf(loan) + changes.filter(({ posted }) => posted !== null).length
  const { state, modifiedTerms, penaltyHolds } = decision
  // After modified terms the loan is read once more, perhaps with another borrower; after a hold, it is replayed once more.
  const forward = modifiedTerms || penaltyHolds ? null : carriedForward(loan.terms, state)
  const nextReview = modifiedTerms ? state.nextChangeAt : nextReviewAt(loan.nextChangeAt, state.nextChangeAt, at)
  return [
    loan.organizationId,
    loan.id,
    loan.version,
    changes.length,
    entries,
    moment(at),
    forward,
    ...cached(state, nextReview),
  ]
}

const rowByClock = (batch: ChangeBatch): unknown[] => [
  ...loanRow(batch),
  String(batch.testClock !== undefined),
  moment(batch.testClock?.standsAt ?? null),
]

const jsonOf = (record: object | null | undefined) => record && JSON.stringify(record)

const postedRows = ({ loan, changes }: ChangeBatch): unknown[][] =>
  changes.flatMap(({ posted, author }) =>
    posted === null
      ? []
      : [
          [
            loan.organizationId,
            posted.id,
            loan.id,
            posted.ordinal,
            posted.place,
            posted.type,
            posted.valueDate,
            moment(posted.postedAt),
            posted.amount,
            posted.token,
            posted.note,
            author.accountId,
            posted.replaces,
            jsonOf(posted.record),
            posted.paymentMethod ?? null,
            posted.dueOn ?? null,
            posted.restructure ? roleToText(posted.restructure) : null,
            posted.paymentId ?? null,
          ],
        ],
  )

const reversedRows = ({ loan, changes }: ChangeBatch): unknown[][] =>
  changes.flatMap(({ decision: { reversed }, at }) =>
    reversed === null ? [] : [[loan.organizationId, reversed.id, loan.id, moment(at)]],
  )

const trailOf = (stamping: Stamping, { loan, changes }: ChangeBatch): unknown[][] =>
  changes.map(({ author, at, changed, more }) =>
    trailRow(
      stamping,
      author,
      at,
      { entity: 'loan', id: loan.id },
      { trace: traceOf(changed, more), transactionId: changed.posted?.id ?? changed.reversed?.id ?? null },
    ),
  )
