import type { Decision } from '../domain/loan.ts'
import type { LoanState } from '../domain/replay.ts'
import type { LoanTerms } from '../domain/terms.ts'
import type { Db } from './client.ts'
import type { StoredLoan } from './loans.ts'
import { type Author, moment, rethrowTakenKey, type Trace, trail, trailValues } from './trail.ts'

/** Columns that cache what replay made of the entries, for lists, reports and the sweep. */
export const CACHED = [
  'status',
  'principal_outstanding',
  'interest_outstanding',
  'fees_outstanding',
  'penalty_outstanding',
  'total_paid',
  'total_overpaid',
  'total_overdue',
  'total_written_off',
  'total_recovered',
  'next_due_on',
  'overdue_since',
  'charged_off_on',
  'closed_on',
  'next_change_at',
]

/** Their values. */
export const cached = (state: LoanState): unknown[] => [
  state.status,
  state.outstanding.principal,
  state.outstanding.interest,
  state.outstanding.fees,
  state.outstanding.penalty,
  state.totalPaid,
  state.totalOverpaid,
  state.totalOverdue,
  state.totalWrittenOff,
  state.totalRecovered,
  state.nextDueOn,
  state.overdueSince,
  state.chargedOffOn,
  state.closedOn,
  moment(state.nextChangeAt),
]

const numbered = (names: readonly string[], from: number) => names.map((_, index) => `$${from + index}`)

/** One loan row is changed only by whoever read its latest version; the entry goes in with it, or not at all. */
const SAVE = `
  WITH saved AS (
    UPDATE loan SET version = version + 1, updated_at = $4, entry_count = $5,
      ${CACHED.map((column, index) => `${column} = $${18 + index}`).join(', ')}
    WHERE organization_id = $1 AND id = $2 AND version = $3
    RETURNING id
  ), posted AS (
    INSERT INTO loan_entry (organization_id, loan_id, ordinal, place, type, value_date, posted_at, amount, token, note,
                            account_id, replaces)
    SELECT $1, saved.id, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15 FROM saved WHERE $8::text IS NOT NULL
    RETURNING id
  ), reversed AS (
    UPDATE loan_entry SET reversed_at = $17
    WHERE organization_id = $1 AND id = $16 AND reversed_at IS NULL AND EXISTS (SELECT FROM saved)
  ), ${trail('saved', 'loan', 18 + CACHED.length, 'coalesce((SELECT id FROM posted), $16)')}
  SELECT saved.id AS loan_id, posted.id AS entry_id FROM saved LEFT JOIN posted ON true`

/** What a save came to: `stale` when someone was faster, and nothing was saved. */
export type Saved = { readonly stale: true } | { readonly stale: false; readonly entryId: bigint | null }

/**
 * Saves a decision in one statement: the loan's new version and cached figures, the entry, the mark of a reversal.
 * @throws a unique violation when the dedupe token came in by another change of the same version
 */
export async function saveLoan(
  db: Db,
  author: Author,
  loan: StoredLoan,
  decision: Decision,
  now: number,
): Promise<Saved> {
  const { posted, reversed, state } = decision
  const { rows } = await db.pool
    .query<{ entry_id: bigint | null }>({
      name: 'save-loan',
      text: SAVE,
      values: [
        loan.organizationId,
        loan.id,
        loan.version,
        moment(now),
        loan.entries.length + (posted ? 1 : 0),
        posted?.ordinal ?? null,
        posted?.place ?? null,
        posted?.type ?? null,
        posted?.valueDate ?? null,
        posted ? moment(posted.postedAt) : null,
        posted?.amount ?? null,
        posted?.token ?? null,
        posted?.note ?? null,
        author.accountId,
        posted?.replaces ?? null,
        reversed?.id ?? null,
        reversed ? moment(now) : null,
        ...cached(state),
        ...trailValues(author, now, traceOf(decision)),
      ],
    })
    .catch((error: unknown) => {
      rethrowTakenKey(error)
      throw error
    })
  return rows[0] ? { stale: false, entryId: rows[0].entry_id } : { stale: true }
}

/** What the audit trail says of a change: the figures before and after it, and what was posted or reversed. */
const traceOf = ({ before, reason, posted, reversed, state }: Decision): Trace => ({
  action: reversed ? (posted ? 'adjust' : 'reverse') : (posted?.type ?? 'time'),
  before: figures(before),
  after: {
    ...figures(state),
    ...(posted && {
      posted: { type: posted.type, amount: posted.amount, valueDate: posted.valueDate, note: posted.note },
    }),
    ...(reversed && { reversed: { id: reversed.id, type: reversed.type, amount: reversed.amount, reason } }),
  },
})

/** A loan in the few figures that the audit trail keeps of it. */
export const figures = ({
  status,
  totalOutstanding,
  totalPaid,
  totalOverpaid,
  totalWrittenOff,
  chargedOffOn,
}: LoanState) => ({
  status,
  totalOutstanding,
  totalPaid,
  totalOverpaid,
  totalWrittenOff,
  chargedOffOn,
})

const TERMS = [
  'external_id',
  'product_id',
  'currency',
  'principal',
  'number_of_repayments',
  'rate_per_period',
  'penalty_amount',
  'disbursed_at',
  'disbursed_on',
  'due_on',
  'due_at',
]

const PERIODS_FROM = 4 + TERMS.length + CACHED.length

/** The customer's row is share-locked, so that it cannot be closed while a loan is being made for it. */
const INSERT = `
  WITH borrower AS (
    SELECT id FROM customer WHERE organization_id = $1 AND id = $2 AND status = 'Active' FOR SHARE
  ), made AS (
    INSERT INTO loan (organization_id, customer_id, created_at, updated_at, ${[...TERMS, ...CACHED].join(', ')})
    SELECT $1, borrower.id, $3::timestamptz, $3::timestamptz, ${numbered([...TERMS, ...CACHED], 4).join(', ')} FROM borrower
    RETURNING id
  ), periods AS (
    INSERT INTO loan_period (organization_id, loan_id, period, from_date, due_date, principal, interest, fees)
    SELECT $1, made.id, s.* FROM made, unnest(
      ${['int', 'date', 'date', 'bigint', 'bigint', 'bigint'].map((type, index) => `$${PERIODS_FROM + index}::${type}[]`).join(', ')}
    ) AS s
  ), ${trail('made', 'loan', PERIODS_FROM + 6)}
  SELECT id FROM made`

/** A loan about to be made. */
export interface NewLoan {
  readonly customerId: bigint
  readonly productId: number
  readonly externalId: string | null
  readonly terms: LoanTerms
}

/**
 * Inserts a loan with its schedule, in one statement.
 * @returns its id; undefined when the customer is no longer Active
 * @throws a unique violation (`loan_external_id`) when the external id is taken
 */
export async function insertLoan(
  db: Db,
  author: Author,
  { customerId, productId, externalId, terms }: NewLoan,
  state: LoanState,
  now: number,
): Promise<bigint | undefined> {
  const { schedule } = terms
  const { rows } = await db.pool
    .query<{ id: bigint }>({
      name: 'insert-loan',
      text: INSERT,
      values: [
        author.organizationId,
        customerId,
        moment(now),
        externalId,
        productId,
        terms.currency.code,
        terms.principal,
        terms.numberOfRepayments,
        terms.ratePerPeriod,
        terms.penaltyAmount,
        moment(terms.disbursedAt),
        terms.disbursedOn,
        terms.dueOn,
        moment(terms.dueAt),
        ...cached(state),
        schedule.map((line) => line.period),
        schedule.map((line) => line.fromDate),
        schedule.map((line) => line.dueDate),
        schedule.map((line) => line.principal),
        schedule.map((line) => line.interest),
        schedule.map((line) => line.fees),
        ...trailValues(author, now, {
          action: 'create',
          before: null,
          after: { ...figures(state), customerId, productId },
        }),
      ],
    })
    .catch((error: unknown) => {
      rethrowTakenKey(error)
      throw error
    })
  return rows[0]?.id
}
