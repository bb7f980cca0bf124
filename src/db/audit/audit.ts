import { changeFromText } from '../../domain/loan/change/changeFromText.ts'
import type { StoredChange } from '../../domain/loan/change/changeText.ts'
import { LARGEST_INT64 } from '../../toolbox/integers.ts'
import { openTexts, WORD_MEMBERS } from '../customers/words.ts'
import { shownChange } from '../loans/loanColumns.ts'
import type { Db } from '../postgres/client.ts'
import type { Found, Position } from '../queries/cursor.ts'
import { cursorAt } from '../queries/cursor.ts'
import { jsonbText, moment } from '../queries/rows.ts'
import { type Conditions, type ConditionText, conditionsOf, type Queries } from '../queries/statement.ts'

/** A row of the audit trail: who changed what, when, in which request, and what it was before and after. */
export interface AuditEntry {
  readonly id: bigint
  readonly at: number
  /** Null: the service itself, or an operator at the command line. */
  readonly accountId: number | null
  readonly requestId: string | null
  readonly action: string
  readonly entity: string
  readonly entityId: string
  /** To be written as JSON: a number that JavaScript cannot hold is in it as it was written. */
  readonly before: unknown
  readonly after: unknown
}

/** The rows to read; a property that is left out sets no condition. */
export interface AuditFilter {
  readonly entity?: string | undefined
  readonly entityId?: string | undefined
  readonly accountId?: number | undefined
  readonly action?: string | undefined
  /** The request, or the run of the command line. */
  readonly requestId?: string | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** Only rows whose number is above this. */
  readonly above?: bigint | undefined
}

/** The order of the list of the trail: newest first. */
export const TRAIL_ORDER = 'trail'

/**
 * Finds rows of an organization's audit trail, newest first. A walk goes back from where it began: rows that are added
 * meanwhile are not in it.
 */
export async function findAudit(
  db: Db,
  organizationId: number,
  filter: AuditFilter,
  position: Position,
): Promise<Found<AuditEntry>> {
  const { texts, values } = auditConditions(filter, { texts: ['organization_id = $1'], values: [organizationId] })
  const where = texts.join(' AND ')
  const read = (more: string, sent: readonly unknown[]) =>
    db.pool.query<AuditRow>(`SELECT ${AUDIT_COLUMNS} FROM audit_entry WHERE ${where} ${more}`, [...values, ...sent])
  const foundOf = async ({ rows }: { readonly rows: readonly AuditRow[] }) => ({
    items: await openEntries(
      db,
      rows.map((row) => toAuditEntry(row)),
      () => organizationId,
    ),
    next: cursorAt(TRAIL_ORDER, rows.at(-1)?.id),
  })
  const [first, second] = [1, 2].map((more) => `$${values.length + more}`)
  if (!('page' in position)) {
    const below = position.cursor?.floor ?? LARGEST_INT64
    return foundOf(await read(`AND id < ${first} ORDER BY id DESC LIMIT ${second}`, [below, position.rows]))
  }
  const { page, rows } = position
  const [counted, listed] = await Promise.all([
    db.pool.query<{ total: bigint }>(`SELECT count(*) AS total FROM audit_entry WHERE ${where}`, [...values]),
    read(`ORDER BY id DESC OFFSET ${first} LIMIT ${second}`, [(page - 1) * rows, rows]),
  ])
  return { ...(await foundOf(listed)), total: Number(counted.rows[0]!.total) }
}

const CONDITIONS: Readonly<Record<keyof AuditFilter, ConditionText>> = {
  entity: 'entity = ?',
  entityId: 'entity_id = ?',
  accountId: 'account_id = ?',
  action: 'action = ?',
  requestId: 'request_id = ?',
  since: 'at >= ?',
  until: 'at < ?',
  above: 'id > ?',
}

/** Writes what the filter asks for. */
export const auditConditions = ({ since, until, ...filter }: AuditFilter, base: Conditions): Conditions => {
  const at = (instant: number | undefined) => (instant === undefined ? undefined : moment(instant))
  return conditionsOf(CONDITIONS, { ...filter, since: at(since), until: at(until) }, base)
}

/** The columns that `toAuditEntry` reads; the JSON as text, because the driver would round its ids. */
export const AUDIT_COLUMNS =
  'id, at, account_id, request_id, action, entity, entity_id, before::text AS before, after::text AS after, change::text AS change'

export interface AuditRow {
  readonly id: bigint
  readonly at: number
  readonly account_id: number | null
  readonly request_id: string | null
  readonly action: string
  readonly entity: string
  readonly entity_id: string
  readonly before: string | null
  readonly after: string | null
  /** Of a change of a loan: the change. */
  readonly change: string | null
}

/** Returns the change of a loan that a row has; undefined for a row of something else, and for a damaged one. */
export const loanChangeOf = ({ change }: Pick<AuditRow, 'change'>): StoredChange | undefined =>
  change === null ? undefined : changeFromText(change)

/** @param loanChange the change that the row has, where it was read already */
export function toAuditEntry(row: AuditRow, loanChange = loanChangeOf(row)): AuditEntry {
  const { before, after } = shownTexts(row, loanChange)
  return {
    id: row.id,
    at: row.at,
    accountId: row.account_id,
    requestId: row.request_id,
    action: row.action,
    entity: row.entity,
    entityId: row.entity_id,
    before: exactly(before),
    after: exactly(after),
  }
}

/** Returns rows with the words of people in them decrypted; what is known of a customer is among its other members. */
export async function openEntries<Row extends AuditEntry>(
  db: Queries,
  rows: readonly Row[],
  organizationOf: (row: Row) => number,
): Promise<readonly Row[]> {
  const opened = await openTexts(db, rows, organizationOf)
  return opened.map(withCustomersWords)
}

/** Returns a row whose texts are decrypted with what is known of a customer among its other members. */
export const withCustomersWords = <Row extends Pick<AuditEntry, 'entity' | 'before' | 'after'>>(row: Row): Row =>
  row.entity === 'customer' ? { ...row, ...alike(withWords(row.before), withWords(row.after)) } : row

/** Returns what was before and after, each with null for the words that only the other has. */
function alike(before: unknown, after: unknown) {
  const missing = (from: unknown, to: unknown) =>
    isObject(from) && isObject(to)
      ? Object.fromEntries(WORD_MEMBERS.filter((name) => name in to && !(name in from)).map((name) => [name, null]))
      : undefined
  const filled = (from: unknown, to: unknown) => {
    const nulls = missing(from, to)
    return nulls ? { ...nulls, ...(from as object) } : from
  }
  return { before: filled(before, after), after: filled(after, before) }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Returns the members of a row of the trail with the words of a customer in place of their text; without them after an erasure. */
function withWords(members: unknown): unknown {
  if (!isObject(members) || !('words' in members)) return members
  const { words, ...rest } = members
  return { ...(typeof words === 'string' && (exactly(words) as object)), ...rest }
}

/** Returns the texts of what was before and after: those of the row, or what its change says. */
function shownTexts({ before, after }: AuditRow, loanChange: StoredChange | undefined) {
  if (before !== null || after !== null || !loanChange) return { before, after }
  const shown = shownChange(loanChange)
  return { before: shown.before && jsonbText(shown.before), after: jsonbText(shown.after) }
}

/** JSON as values, where a number is kept as its text if a double would write it otherwise. */
const exactly = (text: string | null): unknown =>
  text === null
    ? null
    : JSON.parse(text, (_, value: unknown, { source }) =>
        typeof value === 'number' && source !== undefined && String(value) !== source ? JSON.rawJSON(source) : value,
      )

/** Reads the currencies of some loans of an organization, by the ids of the loans as the trail writes them. */
export async function readLoanCurrencies(
  db: Db,
  organizationId: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const numbers = ids.filter((id) => /^\d{1,19}$/.test(id) && BigInt(id) <= LARGEST_INT64)
  if (numbers.length === 0) return new Map()
  const { rows } = await db.pool.query<{ id: bigint; currency: string }>(
    'SELECT id, currency FROM loan WHERE organization_id = $1 AND id = ANY ($2::bigint[])',
    [organizationId, numbers],
  )
  return new Map(rows.map(({ id, currency }) => [String(id), currency]))
}
