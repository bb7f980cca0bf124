import type { OnAccount } from '../../domain/accounting/accountFilter.ts'
import type { Lined, StoredAmounts } from '../../domain/accounting/lines.ts'
import type { PostingKind } from '../../domain/accounting/postingKinds.ts'
import { SLOTS } from '../../domain/accounting/slots.ts'
import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { Queries } from '../queries/statement.ts'
import { type Parameter, statement } from '../queries/statement.ts'

/** A posting as it is stored. */
export interface StoredPosting extends Lined {
  readonly id: bigint
  /** The number of the last event up to the change. */
  readonly sequence: bigint
  /** Null: the posting changes no loan. */
  readonly loanId: bigint | null
  readonly transactionId: bigint | null
  /** Of a payment that was received, returned or reversed. */
  readonly paymentId: bigint | null
  readonly kind: PostingKind
  readonly currency: string
  readonly valueDate: LocalDate
  readonly postedAt: Instant
}

const COLUMNS = `id, sequence, loan_id AS "loanId", transaction_id AS "transactionId", payment_id AS "paymentId", cash_account AS "cashAccount", kind, currency,
  value_date AS "valueDate", booked_on AS "bookedOn", posted_at AS "postedAt", moved_from, moved_to, ${SLOTS.join(', ')}`

type Row = StoredAmounts &
  Omit<StoredPosting, 'amounts' | 'move'> & { moved_from: number | null; moved_to: number | null }

const toPosting = ({ moved_from: from, moved_to: to, ...row }: Row): StoredPosting => {
  const { id, sequence, loanId, transactionId, paymentId, kind, currency, cashAccount, ...rest } = row
  const { valueDate, bookedOn, postedAt, ...amounts } = rest
  const move = from === null || to === null ? null : { from, to }
  const named = { id, sequence, loanId, transactionId, paymentId, kind, currency, cashAccount }
  return { ...named, valueDate, bookedOn, postedAt, move, amounts }
}

/** Booked days, both included, of an organization's postings. */
export interface BookedDays {
  readonly organizationId: number
  readonly from: LocalDate
  readonly to: LocalDate
}

/** The postings that are asked for, by their booked days and more. */
export interface PostingFilter extends BookedDays {
  readonly loanId: bigint | null
  /** Null: postings on any account. */
  readonly account: OnAccount | null
}

/** The ids between which postings are looked for, the first one excluded, and how many are read at most. */
export interface IdSpan {
  readonly after: bigint
  readonly upTo: bigint
  readonly most: number
}

/** The slots that a posting has amounts in, as a `SlotMask`; without money that is on the account of a channel. */
const MASK = SLOTS.map((slot, place) => {
  const isLeftOut = slot === 'cash' ? 'cash IS NULL OR cash_account IS NOT NULL' : `${slot} IS NULL`
  return `CASE WHEN ${isLeftOut} THEN 0 ELSE ${2 ** place} END`
}).join(' + ')

/** The columns of an `OnAccount` as arrays. */
interface AccountValues {
  readonly starts: readonly (LocalDate | null)[]
  readonly ends: readonly (LocalDate | null)[]
  readonly masks: readonly number[]
  readonly versions: readonly number[]
  readonly versionMasks: readonly number[]
  readonly code: string
}

const valuesOf = ({ spans, versions, code }: OnAccount): AccountValues => ({
  starts: spans.map(({ from }) => from),
  ends: spans.map(({ before }) => before),
  masks: spans.map(({ slots }) => slots),
  versions: versions.map(({ version }) => version),
  versionMasks: versions.map(({ slots }) => slots),
  code,
})

const hasLineOn = (p: Parameter<AccountValues>) => `
  CASE WHEN cash_account = ${p('code')} THEN true WHEN moved_from IS NULL THEN EXISTS (
    SELECT FROM unnest(${p('starts')}::date[], ${p('ends')}::date[], ${p('masks')}::int[]) AS s (start, stop, mask)
    WHERE booked_on >= coalesce(start, booked_on) AND (stop IS NULL OR booked_on < stop) AND (${MASK}) & mask <> 0
  ) ELSE EXISTS (
    SELECT FROM unnest(${p('versions')}::int[], ${p('versionMasks')}::int[]) AS v (version, mask)
    WHERE version IN (moved_from, moved_to) AND (${MASK}) & mask <> 0
  ) END`

type Asked = Omit<PostingFilter, 'account'> & IdSpan

const find = (ofLoan: boolean, onAccount: boolean) =>
  statement<Asked & AccountValues>(
    `find-postings${ofLoan ? '-of-loan' : ''}${onAccount ? '-on-account' : ''}`,
    (p) => `
    SELECT ${COLUMNS} FROM posting
    WHERE organization_id = ${p('organizationId')} AND id > ${p('after')} AND id <= ${p('upTo')}
      AND booked_on BETWEEN ${p('from')}::date AND ${p('to')}::date AND (${MASK}) <> 0
      ${ofLoan ? `AND loan_id = ${p('loanId')}` : ''} ${onAccount ? `AND ${hasLineOn(p as Parameter<AccountValues>)}` : ''}
    ORDER BY id LIMIT ${p('most')}`,
  )

const FIND = { all: [find(false, false), find(false, true)], ofLoan: [find(true, false), find(true, true)] } as const
const NO_ACCOUNT: OnAccount = { spans: [], versions: [], code: '' }

/** Finds postings in the order of their ids, without those that have no amount. */
export async function findPostings(
  { pool }: Queries,
  { account, ...filter }: PostingFilter,
  span: IdSpan,
): Promise<StoredPosting[]> {
  const write = FIND[filter.loanId === null ? 'all' : 'ofLoan'][account ? 1 : 0]!
  const { rows } = await pool.query<Row>(write({ ...filter, ...span, ...valuesOf(account ?? NO_ACCOUNT) }))
  return rows.map(toPosting)
}

const LATEST = `SELECT ${COLUMNS} FROM posting
  WHERE organization_id = $1 AND loan_id = $2 AND (${MASK}) <> 0 ORDER BY id DESC LIMIT `

/** Finds the latest postings of a loan, newest first, without those that have no amount. @param most a bound of the program */
export async function latestOfLoan(
  { pool }: Queries,
  { organizationId, loanId }: { readonly organizationId: number; readonly loanId: bigint },
  most: number,
): Promise<StoredPosting[]> {
  const { rows } = await pool.query<Row>(`${LATEST}${Math.trunc(most)}`, [organizationId, loanId])
  return rows.map(toPosting)
}

/** Goes from one booked day that has a posting to the next, and looks in each for the first id above one. */
const next = statement<BookedDays & { after: bigint }>('next-posting', (p) => {
  const firstDay = (condition: string) => `(
    SELECT booked_on FROM posting
    WHERE organization_id = ${p('organizationId')} AND booked_on ${condition} AND booked_on <= ${p('to')}::date
    ORDER BY booked_on LIMIT 1)`
  return `
  WITH RECURSIVE day (booked_on) AS (
    SELECT ${firstDay(`>= ${p('from')}::date`)}
    UNION ALL SELECT ${firstDay('> day.booked_on')} FROM day WHERE day.booked_on IS NOT NULL
  )
  SELECT min(first.id) AS id FROM day CROSS JOIN LATERAL (
    SELECT id FROM posting
    WHERE organization_id = ${p('organizationId')} AND booked_on = day.booked_on AND id > ${p('after')}
    ORDER BY id LIMIT 1
  ) AS first`
})

/** Finds the id of the next posting that is booked on one of the days; undefined after the last. */
export async function nextPosting({ pool }: Queries, days: BookedDays, after: bigint): Promise<bigint | undefined> {
  const { rows } = await pool.query<{ id: bigint | null }>(next({ ...days, after }))
  return rows[0]?.id ?? undefined
}

const readBooked = statement<BookedDays & { day: LocalDate; after: bigint; upTo: bigint; most: number }>(
  'read-booked',
  (p) => `
  SELECT ${COLUMNS} FROM posting
  WHERE organization_id = ${p('organizationId')} AND (booked_on, id) > (${p('day')}::date, ${p('after')}::bigint)
    AND booked_on BETWEEN ${p('from')}::date AND ${p('to')}::date AND id <= ${p('upTo')}
  ORDER BY booked_on, id LIMIT ${p('most')}`,
)

/** Postings that are read at once: to write them as CSV takes some 8 ms of the process. */
const BATCH = 250

/**
 * Reads postings in the order of their booked days, and of one day by id, a bounded number at a time: each batch by a
 * statement of its own, so that a slow reader holds no transaction open. Postings never change.
 * @param upTo the last posting; later ones are left out
 */
export async function* readByDay(
  { pool }: Queries,
  days: BookedDays,
  upTo: bigint,
): AsyncGenerator<readonly StoredPosting[]> {
  let [day, after] = [days.from, 0n]
  for (;;) {
    const { rows } = await pool.query<Row>(readBooked({ ...days, day, after, upTo, most: BATCH }))
    const postings = rows.map(toPosting)
    if (postings.length > 0) yield postings
    const last = postings.at(-1)
    if (!last || postings.length < BATCH) return
    ;[day, after] = [last.bookedOn, last.id]
  }
}
