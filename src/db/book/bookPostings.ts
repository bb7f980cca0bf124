import { amountsBy, SLOTS, type Slot, type SlotAmounts } from '../../domain/accounting/slots.ts'
import type { CheckedPosting } from '../../domain/bookCheck/journalRules.ts'
import type { TrailedChange, TrailedPosting } from '../../domain/bookCheck/journalTrail.ts'
import type { LocalDate } from '../../domain/dates.ts'
import { changeFromText } from '../../domain/loan/change/changeFromText.ts'
import type { Snapshot } from '../postgres/transaction.ts'

/** A loan, by its organization and its id. */
interface LoanKey {
  readonly organizationId: number
  readonly id: bigint
}

/** The postings of a loan, and the last row of the trail about it. */
export interface LoanPostings {
  readonly lastChangeId: bigint
  readonly postings: readonly StoredPosting[]
}

type StoredPosting = CheckedPosting & TrailedPosting

const READ = `
  SELECT k.organization_id, k.id AS loan_id, last.id AS "lastChangeId", p.id, p.change_id AS "changeId", p.kind, p.method, p.contribution,
    p.value_date AS "valueDate", p.booked_on AS "bookedOn", p.posted_at AS "postedAt", ${SLOTS.map((slot) => `p.${slot}`).join(', ')}, a.change::text AS change,
    p.sequence, p.transaction_id AS "transactionId", a.at, a.action,
    a.change #>> '{posted,id}' AS "postedId", a.change #>> '{posted,type}' AS "postedType",
    a.change #>> '{reversed,id}' AS "reversedId", a.change #>> '{reversed,type}' AS "reversedType",
    (SELECT min(sequence) FROM event e WHERE e.organization_id = k.organization_id AND e.change_id = p.change_id) AS first
  FROM unnest($1::int[], $2::bigint[]) AS k (organization_id, id)
  LEFT JOIN LATERAL (SELECT id FROM audit_entry e WHERE e.organization_id = k.organization_id AND e.entity = 'loan'
    AND e.entity_id = k.id::text ORDER BY e.id DESC LIMIT 1) AS last ON true
  LEFT JOIN LATERAL (SELECT * FROM posting WHERE organization_id = k.organization_id AND loan_id = k.id ORDER BY id) AS p ON true
  LEFT JOIN audit_entry a ON a.organization_id = k.organization_id AND a.id = p.change_id AND a.entity = 'loan'
    AND a.entity_id = k.id::text`

type PostingRow = Record<Slot, bigint | null> &
  Omit<StoredPosting, 'id' | 'amounts' | 'change' | 'loanChange'> &
  Omit<TrailedChange, 'action'> & {
    /** Null where the trail has no such change of the loan. */
    readonly action: string | null
    readonly change: string | null
    readonly organization_id: number
    readonly loan_id: bigint
    readonly lastChangeId: bigint | null
    readonly id: bigint | null
  }

/** Reads the postings of loans, by `organization id`. */
export async function readLoanPostings(
  snapshot: Snapshot,
  loans: readonly LoanKey[],
): Promise<Map<string, LoanPostings>> {
  const { rows } = await snapshot.query<PostingRow>({
    name: 'read-loan-postings',
    text: READ,
    values: [loans.map(({ organizationId }) => organizationId), loans.map(({ id }) => id)],
  })
  const groups = Map.groupBy(rows, ({ organization_id, loan_id }) => `${organization_id} ${loan_id}`)
  return new Map(
    [...groups].map(([key, group]) => {
      const postings = group.flatMap(({ id, ...row }) => (id === null ? [] : [toPosting({ id, ...row })]))
      return [key, { lastChangeId: group[0]!.lastChangeId ?? 0n, postings: postings.toSorted(byId) }]
    }),
  )
}

const byId = (a: StoredPosting, b: StoredPosting): number => (a.id < b.id ? -1 : 1)

const toPosting = ({ action, change, ...row }: PostingRow & { readonly id: bigint }): StoredPosting => ({
  ...row,
  loanChange: change === null ? undefined : changeFromText(change),
  amounts: amountsBy((slot) => row[slot] ?? 0n),
  change: action === null ? null : { ...row, action },
})

/** A close of a month, as the trail has it. */
export interface TrailedClose {
  readonly organizationId: number
  readonly changeId: bigint
  /** `2026-01` */
  readonly month: string
}

/** Reads all closes from the trail, oldest first. */
export async function readCloses(snapshot: Snapshot): Promise<TrailedClose[]> {
  const { rows } = await snapshot.query<TrailedClose>(
    `SELECT organization_id AS "organizationId", id AS "changeId", entity_id AS month FROM audit_entry
     WHERE entity = 'accounting period' AND action = 'close' ORDER BY id`,
  )
  return rows
}

/** A row of the journal that does not follow from the others. */
export interface JournalFault {
  readonly organizationId: number
  readonly of: string
  readonly message: string
}

/** Slots whose sums have another name where the posting says so, in SQL. */
const SUMMED: Readonly<Partial<Record<Slot, string>>> = { cash: `'cash' || coalesce(':' || cash_account, '')` }

/** The sums of the days, made again from the postings; those that differ. */
const DAYS = `
  SELECT organization_id AS "organizationId", 'the sum of ' || slot || ' booked on ' || booked_on AS of,
    'is ' || coalesce(d.debit::text, 'not there') || ' in debits and ' || coalesce(d.credit::text, 'not there')
    || ' in credits, and the postings sum to ' || coalesce(p.debit::text, 'nothing') || ' and ' || coalesce(p.credit::text, 'nothing') AS message
  FROM (
    SELECT organization_id, booked_on, value_date, currency, product_id, s.slot, sum(greatest(s.amount, 0)) AS debit, sum(greatest(-s.amount, 0)) AS credit
    FROM posting CROSS JOIN LATERAL (VALUES ${SLOTS.map((slot) => `(${SUMMED[slot] ?? `'${slot}'`}, ${slot})`).join(', ')}) AS s (slot, amount)
    WHERE s.amount IS NOT NULL AND moved_from IS NULL AND ($1::int IS NULL OR organization_id = $1)
    GROUP BY 1, 2, 3, 4, 5, 6
  ) AS p FULL JOIN (SELECT * FROM posting_day WHERE $1::int IS NULL OR organization_id = $1) AS d
    USING (organization_id, booked_on, value_date, currency, product_id, slot)
  WHERE p.debit IS DISTINCT FROM d.debit OR p.credit IS DISTINCT FROM d.credit`

/** Numbers of postings that are missing, and postings of loans that are not there or have another product or currency. */
const NUMBERS = `
  SELECT j.organization_id AS "organizationId", 'the journal' AS of,
    'has ' || p.count || ' postings, from ' || p.first || ' to ' || p.last || ', and its head says ' || j.posting_id AS message
  FROM journal j CROSS JOIN LATERAL (SELECT count(*) AS count, coalesce(min(id), 1) AS first,
    coalesce(max(id), 0) AS last FROM posting
    WHERE organization_id = j.organization_id) AS p
  WHERE (p.count <> j.posting_id OR p.last <> j.posting_id OR p.first <> 1) AND ($1::int IS NULL OR j.organization_id = $1)`

const LOANS = `
  SELECT p.organization_id AS "organizationId", 'posting ' || p.id AS of,
    'is of loan ' || p.loan_id || ' in ' || p.currency || ', which is not there or is another' AS message
  FROM posting p LEFT JOIN loan l ON l.organization_id = p.organization_id AND l.id = p.loan_id
  WHERE p.loan_id IS NOT NULL AND (l.id IS NULL OR l.currency <> p.currency OR coalesce(l.product_id, 0) <> p.product_id)
    AND ($1::int IS NULL OR p.organization_id = $1)`

/** Charts that are not what the trail says was set. */
const CHARTS = `
  SELECT c.organization_id AS "organizationId", 'version ' || c.version || ' of the chart' AS of,
    'is not what the trail says was set' AS message
  FROM accounting_chart c LEFT JOIN audit_entry a ON a.organization_id = c.organization_id
    AND a.entity = 'accounting chart' AND a.entity_id = c.version::text AND a.action = 'set'
  WHERE a.after IS DISTINCT FROM c.chart AND ($1::int IS NULL OR c.organization_id = $1)`

/** Postings that are numbered before one that came earlier, or in a journal that has no head. */
const ORDER = `
  SELECT organization_id AS "organizationId", 'posting ' || id AS of,
    'is numbered ' || sequence || ', and the one before it ' || earlier AS message
  FROM (SELECT organization_id, id, sequence, lag(sequence) OVER (PARTITION BY organization_id ORDER BY id) AS earlier
    FROM posting WHERE $1::int IS NULL OR organization_id = $1) AS p
  WHERE earlier > sequence`

const HEADLESS = `
  SELECT p.organization_id AS "organizationId", 'the journal' AS of, 'has postings, and no head' AS message
  FROM posting p WHERE p.id = 1 AND ($1::int IS NULL OR p.organization_id = $1)
    AND NOT EXISTS (SELECT FROM journal j WHERE j.organization_id = p.organization_id)`

/** Postings of no loan, besides provisions, that are not of the chart which the trail says was set. */
const MOVES = `
  SELECT p.organization_id AS "organizationId", 'posting ' || p.id AS of,
    'moves amounts to version ' || coalesce(p.moved_to::text, 'none') || ' of the chart otherwise than the trail says' AS message
  FROM posting p LEFT JOIN audit_entry a ON a.organization_id = p.organization_id AND a.id = p.change_id
    AND a.entity = 'accounting chart' AND a.action = 'set' AND a.entity_id = p.moved_to::text
  WHERE p.loan_id IS NULL AND (p.kind <> 'provision' AND p.payment_id IS NULL OR p.moved_from IS NOT NULL)
    AND ($1::int IS NULL OR p.organization_id = $1)
    AND (a.id IS NULL OR p.kind <> 'chart_changed' OR p.transaction_id IS NOT NULL
      OR p.posted_at <> date_trunc('milliseconds', a.at)
      OR p.sequence <> (SELECT max(sequence) FROM event e WHERE e.organization_id = a.organization_id AND e.change_id = a.id))`

/** Faults of a kind that are described. */
const MOST = 100

/** Statements that find rows of the journal which do not follow from the others. */
export const JOURNAL_FAULTS: readonly string[] = [DAYS, NUMBERS, LOANS, CHARTS, ORDER, HEADLESS, MOVES]

/** Finds rows of the journal by one of `JOURNAL_FAULTS`, of an organization or of all. */
export async function findJournalFaults(
  snapshot: Snapshot,
  fault: string,
  organizationId: number | undefined,
): Promise<JournalFault[]> {
  return (await snapshot.query<JournalFault>(`${fault} LIMIT ${MOST}`, [organizationId ?? null])).rows
}

/** A posting that moves amounts to the accounts of another chart. */
export interface CheckedTransfer {
  readonly id: bigint
  readonly organizationId: number
  readonly movedFrom: number
  readonly movedTo: number
  readonly currency: string
  readonly productId: number
  readonly bookedOn: LocalDate
  readonly valueDate: LocalDate
  readonly amounts: SlotAmounts
}

/** Reads the postings that move amounts between accounts, of an organization or of all. */
export async function readTransfers(
  snapshot: Snapshot,
  organizationId: number | undefined,
): Promise<CheckedTransfer[]> {
  const { rows } = await snapshot.query<Omit<CheckedTransfer, 'amounts'> & Record<Slot, bigint | null>>({
    text: `SELECT id, organization_id AS "organizationId", moved_from AS "movedFrom", moved_to AS "movedTo", currency, product_id AS "productId",
      booked_on AS "bookedOn", value_date AS "valueDate", ${SLOTS.join(', ')} FROM posting
      WHERE loan_id IS NULL AND moved_from IS NOT NULL AND ($1::int IS NULL OR organization_id = $1) ORDER BY organization_id, id`,
    values: [organizationId ?? null],
  })
  return rows.map((row) => ({ ...row, amounts: amountsBy((slot) => row[slot] ?? 0n) }))
}

/** A month that is closed, with the hash that was given for it. */
export interface ClosedMonth {
  readonly organizationId: number
  /** The first day. */
  readonly month: LocalDate
  readonly trialBalanceHash: string
}

/** Reads the months that are closed, of an organization or of all. */
export async function readClosedMonths(snapshot: Snapshot, organizationId: number | undefined): Promise<ClosedMonth[]> {
  const { rows } = await snapshot.query<ClosedMonth>({
    text: `SELECT organization_id AS "organizationId", month, trial_balance_hash AS "trialBalanceHash" FROM accounting_period
      WHERE trial_balance_hash IS NOT NULL AND ($1::int IS NULL OR organization_id = $1) ORDER BY organization_id, month`,
    values: [organizationId ?? null],
  })
  return rows
}
