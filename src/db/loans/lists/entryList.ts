import type { Instant, LocalDate } from '../../../domain/dates.ts'
import type { EntryType } from '../../../domain/loan/entry.ts'
import { type Changes, readChanges, SPAN } from '../../audit/changes.ts'
import type { Db } from '../../postgres/client.ts'
import type { Asked, Found } from '../../queries/cursor.ts'
import { type List, type ListedDb, readList } from '../../queries/lists.ts'
import { moment } from '../../queries/rows.ts'
import { type Conditions, conditionsOf } from '../../queries/statement.ts'
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
const ENTRY_ORDERS = { arrival: 'entries', change: 'changed-entries' } as const

/** Returns the orders of the entries of all loans, or of one: a cursor of one loan is none of another. */
export const entryOrders = (loanId: bigint | undefined) =>
  loanId === undefined
    ? ENTRY_ORDERS
    : { arrival: `entries-of-loan-${loanId}`, change: `changed-entries-of-loan-${loanId}` }

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

const OF_LOAN: Omit<List, 'columns' | 'order'> = {
  from: 'loan_entry a',
  place: 'a.ordinal',
  highest: 'SELECT max(ordinal) FROM loan_entry WHERE organization_id = $1 AND loan_id = $2',
  isInOrder: true,
}

/** An entry is told twice where it was reversed: by its posting, and by its reversal. A row of the trail may tell both. */
const CHANGES: Changes = {
  order: ENTRY_ORDERS.change,
  from: `audit_entry c
    CROSS JOIN LATERAL (VALUES (0, c.change #>> '{reversed,id}'), (1, c.change #>> '{posted,id}')) AS told (part, entry)
    CROSS JOIN LATERAL (
      SELECT * FROM loan_entry e WHERE e.organization_id = c.organization_id AND e.id = told.entry::bigint OFFSET 0
    ) AS a`,
  place: 'c.id * 2 + told.part',
  sorted: 'c.id, told.part',
  within: (floor, end) => `c.id >= ${floor} / 2 AND c.id <= ${end} / 2`,
  span: SPAN * 2n,
  highest: 'SELECT max(id) * 2 + 1 FROM audit_entry WHERE organization_id = $1',
  toPlace: (id) => id * 2n + 1n,
  texts: ['c.organization_id = $1', `c.entity = 'loan'`, '(told.part = 0 OR a.reversed_at IS NULL)'],
}

/** Returns the changes of one loan, which are saved one after the other, and which the trail gives by the loan. */
function changesOfLoan(loanId: bigint): Changes {
  const { span: _, ...rest } = CHANGES
  const told = `entity = 'loan' AND entity_id = '${loanId}'`
  return {
    ...rest,
    order: entryOrders(loanId).change,
    highest: `SELECT max(id) * 2 + 1 FROM audit_entry WHERE organization_id = $1 AND ${told}`,
    isInOrder: true,
    texts: [...CHANGES.texts, `c.entity_id = '${loanId}'`],
  }
}

const CONDITIONS = {
  // The first of them: the highest place of a loan's entries has the same parameter.
  loanId: 'a.loan_id = ?',
  types: 'a.type = ANY (?)',
  isReversed: (is: unknown) => `a.reversed_at IS ${is ? 'NOT NULL' : 'NULL'}`,
  token: 'a.token = ?',
  postedFrom: 'a.posted_at >= ?',
  postedBefore: 'a.posted_at < ?',
  dateFrom: 'a.value_date >= ?',
  dateTo: 'a.value_date <= ?',
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
  const { postedFrom, postedBefore, dateFrom, dateTo } = rest
  const sent = { ...rest, loanId, postedFrom: instantOf(postedFrom), postedBefore: instantOf(postedBefore) }
  const where = (base: Conditions) => conditionsOf(CONDITIONS, sent, base)
  const { arrival: order } = entryOrders(loanId)
  if (since !== undefined) {
    const changes = loanId === undefined ? CHANGES : changesOfLoan(loanId)
    return readChanges(listed, changes, read, { organizationId, position, since, where })
  }
  const all = isStanding(filter) ? STANDING_ARRIVAL : ARRIVAL
  const isWindow = [postedFrom, postedBefore, dateFrom, dateTo].some((bound) => bound !== undefined)
  const list = loanId === undefined ? { ...all, ...read, isWindow } : { ...OF_LOAN, ...read, order }
  return readList(listed, list, where({ texts: ['a.organization_id = $1'], values: [organizationId] }), position)
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
