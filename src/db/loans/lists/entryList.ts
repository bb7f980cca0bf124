import type { Instant, LocalDate } from '../../../domain/dates.ts'
import type { EntryType } from '../../../domain/loan/entry.ts'
import { changedSince, stepSince } from '../../audit/changes.ts'
import type { Db } from '../../postgres/client.ts'
import { type Conditions, conditionsOf } from '../../queries/conditions.ts'
import { type List, type ListedDb, readList } from '../../queries/lists.ts'
import type { Asked, Found } from '../../queries/paging.ts'
import { moment } from '../../queries/rows.ts'
import type { LoanRef } from '../loans.ts'

/** The entries to list; a property that is left out sets no condition. */
export interface EntryFilter {
  /** Lists the entries of one loan, in the order of their posting. */
  readonly loanId?: bigint | undefined
  readonly types?: readonly EntryType[] | undefined
  readonly isReversed?: boolean | undefined
  readonly token?: string | undefined
  /** Bounds of the posting: from the first instant on, and before the second. */
  readonly postedFrom?: Instant | undefined
  readonly postedBefore?: Instant | undefined
  /** Bounds of the value date, both inclusive. */
  readonly dateFrom?: LocalDate | undefined
  readonly dateTo?: LocalDate | undefined
  /** Lists the entries that were posted or reversed since then, in the order of these. */
  readonly updatedSince?: Instant | undefined
}

/** The orders of lists of entries: as they were posted on all loans or on one, and as they were changed last. */
export const ENTRY_ORDERS = { arrival: 'entries', ofLoan: 'entries-of-loan', change: 'changed-entries' } as const

/** The repayments of customers that stand; the index of arrivals has the same condition, and another index the rest. */
const STANDING = `(a.type IN ('Repayment', 'Recovery Repayment') AND a.reversed_at IS NULL)`
const REST = `NOT ${STANDING}`

const highestOf = (part: string) => `(SELECT max(a.arrival) FROM loan_entry a WHERE a.organization_id = $1 AND ${part})`

const ARRIVAL: Omit<List, 'columns'> = {
  order: ENTRY_ORDERS.arrival,
  from: 'loan_entry a',
  parts: [STANDING, REST],
  place: 'a.arrival',
  highest: `SELECT greatest(${highestOf(STANDING)}, ${highestOf(REST)})`,
}

/** The same where only repayments that stand are asked for. */
const STANDING_ARRIVAL: Omit<List, 'columns'> = { ...ARRIVAL, parts: [STANDING] }

const OF_LOAN: Omit<List, 'columns'> = {
  order: ENTRY_ORDERS.ofLoan,
  from: 'loan_entry a',
  place: 'a.ordinal',
  highest: 'SELECT max(ordinal) FROM loan_entry WHERE organization_id = $1 AND loan_id = $2',
  isInOrder: true,
}

/** An entry is told twice where it was reversed: by its posting, and by its reversal. A row of the trail may tell both. */
const CHANGE: Omit<List, 'columns'> = {
  order: ENTRY_ORDERS.change,
  from: `audit_entry c
    CROSS JOIN LATERAL (VALUES (0, c.after #>> '{reversed,id}'), (1, c.after #>> '{posted,id}')) AS told (part, entry)
    CROSS JOIN LATERAL (
      SELECT * FROM loan_entry e WHERE e.organization_id = c.organization_id AND e.id = told.entry::bigint OFFSET 0
    ) AS a`,
  place: 'c.id * 2 + told.part',
  sorted: 'c.id, told.part',
  above: (place) => `c.id >= ${place} / 2`,
  highest: 'SELECT max(id) * 2 + 1 FROM audit_entry WHERE organization_id = $1',
}

const LAST_CHANGES = ['c.organization_id = $1', `c.entity = 'loan'`, '(told.part = 0 OR a.reversed_at IS NULL)']

const CONDITIONS = {
  types: 'a.type = ANY (?)',
  isReversed: (is: unknown) => `a.reversed_at IS ${is ? 'NOT NULL' : 'NULL'}`,
  token: 'a.token = ?',
  postedFrom: 'a.posted_at >= ?',
  postedBefore: 'a.posted_at < ?',
  dateFrom: 'a.value_date >= ?',
  dateTo: 'a.value_date <= ?',
  updatedSince: changedSince,
}

const isStanding = ({ types, isReversed }: EntryFilter) =>
  isReversed === false && types?.every((type) => type === 'Repayment' || type === 'Recovery Repayment') === true

/** Reads entries with the columns that a caller asks for, of `loan_entry a` and of what is joined to it. */
export async function readEntryList<Row extends object>(
  listed: ListedDb,
  read: Pick<List, 'columns' | 'joined'>,
  { organizationId, filter, position }: Asked<EntryFilter>,
): Promise<Found<Row> | undefined> {
  const { loanId, updatedSince: since, ...rest } = filter
  const sent = {
    ...rest,
    postedFrom: instantOf(rest.postedFrom),
    postedBefore: instantOf(rest.postedBefore),
    updatedSince: instantOf(since),
  }
  const where = (base: Conditions) => conditionsOf(CONDITIONS, sent, base)
  const ofLoan = loanId === undefined ? [] : ['a.loan_id = $2']
  const toldOfLoan = loanId === undefined ? [] : [...ofLoan, 'c.entity_id = $2::text']
  const values = loanId === undefined ? [organizationId] : [organizationId, loanId]
  if (since !== undefined) {
    const walk = { order: CHANGE.order, since, toPlace: (id: bigint) => id * 2n + 1n }
    const step = await stepSince(listed.db, { organizationId, position }, walk)
    return readList(listed, { ...CHANGE, ...read }, where({ texts: [...LAST_CHANGES, ...toldOfLoan], values }), step)
  }
  const arrival = isStanding(filter) ? STANDING_ARRIVAL : ARRIVAL
  const { postedFrom, postedBefore, dateFrom, dateTo } = filter
  const isWindow = [postedFrom, postedBefore, dateFrom, dateTo].some((bound) => bound !== undefined)
  const list = { ...(loanId === undefined ? arrival : OF_LOAN), ...read, isWindow }
  return readList(listed, list, where({ texts: ['a.organization_id = $1', ...ofLoan], values }), position)
}

const instantOf = (instant: Instant | undefined) => (instant === undefined ? undefined : moment(instant))

/** An entry of a list, before its loan is read. */
export interface FoundEntry {
  readonly id: bigint
  readonly loanId: bigint
  /** Instalments and entries of its loan. */
  readonly weight: number
}

const FOUND = {
  columns: `a.id, a.loan_id AS "loanId", l.number_of_repayments + l.entry_count AS weight`,
  joined: 'JOIN loan l ON l.organization_id = a.organization_id AND l.id = a.loan_id',
}

/** Finds entries in the order in which they were posted, or in that of their last change. */
export const findEntries = (listed: ListedDb, asked: Asked<EntryFilter>): Promise<Found<FoundEntry> | undefined> =>
  readEntryList<FoundEntry>(listed, FOUND, asked)

/** Finds the id of a loan; undefined where there is no such loan. */
export async function findLoanId(db: Db, organizationId: number, ref: LoanRef): Promise<bigint | undefined> {
  const where =
    'id' in ref
      ? { organizationId_id: { organizationId, id: ref.id } }
      : { organizationId_externalId: { organizationId, externalId: ref.externalId } }
  const loan = await db.prisma.loan.findUnique({ where, select: { id: true } })
  return loan?.id
}
