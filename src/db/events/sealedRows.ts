import type { StoredChange } from '../../domain/loan/change/changeText.ts'
import {
  type ContractLine,
  contractFromText,
  hasContract,
  linesFromText,
  type ReadContract,
} from '../../domain/loan/change/contractText.ts'
import { roleToText } from '../../domain/loan/restructure/planText.ts'
import { CHANGES_OF_CUSTOMER } from '../audit/changes.ts'
import { instantText } from '../audit/stamp.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { jsonbText } from '../queries/rows.ts'
import { statement } from '../queries/statement.ts'
import { absent, isBigint, isInt, SEALED, type Texts, textsOf } from './sealedColumns.ts'
import { readCreditRows } from './sealedCredit.ts'
import { type SealedRow, type TrailedChange, type TrailedRow, trailText } from './trailedChange.ts'

/** The lines of schedules that are read at once, besides those of one loan. */
const MOST_LINES = 10_000

/** Tables whose row a change names by the id of its entity, or of the entry that it posted. */
type ByKey = keyof typeof KEY_TYPES

const KEY_TYPES = {
  organization: 'int',
  account: 'int',
  api_key: 'int',
  signing_key: 'text',
  loan_product: 'int',
  customer: 'bigint',
  loan: 'bigint',
  loan_entry: 'bigint',
  delinquency_policy: 'int',
  pending_action: 'bigint',
  data_request: 'bigint',
  payment_channel: 'int',
  payment: 'bigint',
  payment_reversal: 'bigint',
  reconciliation: 'bigint',
  listing_notice: 'bigint',
  dispute: 'bigint',
  export_format: 'bigint',
  export_file: 'bigint',
  consent: 'bigint',
  guarantor: 'bigint',
  collateral: 'bigint',
  contact: 'bigint',
  promise: 'bigint',
  loan_hold: 'bigint',
  loan_assignment: 'bigint',
} as const

/** The row of the lender itself has no other organization, and signing keys belong to none. */
const ownerOf = (table: ByKey, p: string): string => {
  if (table === 'organization') return `t.id = ${p}::int`
  return table === 'signing_key' ? `${p}::int = 0` : `t.organization_id = ${p}`
}

/** What a statement reads: the organization, and keys of rows. */
interface KeyValues {
  readonly organizationId: number
  readonly keys: readonly string[]
}

const reading = (table: ByKey) =>
  statement<KeyValues>(
    `read-sealed-${table}`,
    (p) => `
  SELECT t.${SEALED[table].key[0]}::text AS key, ${textsOf(SEALED[table].columns, 't')} AS values
  FROM ${table} t WHERE ${ownerOf(table, p('organizationId'))}
    AND t.${SEALED[table].key[0]} = ANY (${p('keys')}::${KEY_TYPES[table]}[])`,
  )

const READ = Object.fromEntries(Object.keys(KEY_TYPES).map((table) => [table, reading(table as ByKey)])) as Readonly<
  Record<ByKey, ReturnType<typeof reading>>
>

const readLines = statement<KeyValues>(
  'read-sealed-loan_period',
  (p) => `
  SELECT t.loan_id::text AS loan, t.period::text AS period, ${textsOf(SEALED.loan_period.columns, 't')} AS values
  FROM loan_period t WHERE t.organization_id = ${p('organizationId')} AND t.loan_id = ANY (${p('keys')}::bigint[])
  ORDER BY t.loan_id, t.period`,
)

/** Tell whether a text can be a key of the table: a damaged row of the trail may have any text. */
const CAN_BE = { int: isInt, bigint: isBigint, text: () => true }

/** A row that a change names: its table and its key. */
interface Named {
  readonly table: ByKey
  readonly key: string
}

const ROW_OF: ReadonlyMap<string, readonly [table: ByKey, actions?: readonly string[]]> = new Map(
  Object.entries({
    loan: ['loan', ['create', 'update', 'hold']],
    customer: ['customer', CHANGES_OF_CUSTOMER],
    organization: ['organization', ['create', 'update']],
    'loan product': ['loan_product'],
    account: ['account'],
    'api key': ['api_key'],
    'signing key': ['signing_key'],
    'delinquency policy': ['delinquency_policy'],
    'pending action': ['pending_action'],
    'data request': ['data_request'],
    'payment channel': ['payment_channel'],
    payment: ['payment'],
    'payment reversal': ['payment_reversal'],
    reconciliation: ['reconciliation'],
    'listing notice': ['listing_notice'],
    dispute: ['dispute'],
    'export format': ['export_format'],
    'export file': ['export_file'],
    consent: ['consent'],
    guarantor: ['guarantor'],
    collateral: ['collateral'],
    contact: ['contact'],
    promise: ['promise'],
    'loan hold': ['loan_hold'],
    'loan assignment': ['loan_assignment'],
  } satisfies Record<string, readonly [table: ByKey, actions?: readonly string[]]>),
)

/** Returns whether the text of a change has the row of the loan that it made. */
export const hasLoanInText = (change: TrailedRow): boolean =>
  change.entity === 'loan' && change.action === 'create' && hasContract(trailText(change, 'change'))

/** Returns the rows that a change names by its key and does not have in its text; those of credit are found by `readCreditRows`. */
function namedBy(change: TrailedRow): Named[] {
  const { entity, entityId, action } = change
  if (hasLoanInText(change)) return []
  const [table, actions] = ROW_OF.get(entity) ?? []
  return table && (actions === undefined || actions.includes(action)) ? [{ table, key: entityId }] : []
}

/** Returns the entry that a change posted, as its key. */
function postedBy({ entity, loanChange }: TrailedChange): Named[] {
  const posted = entity === 'loan' ? loanChange?.posted : undefined
  return posted ? [{ table: 'loan_entry', key: String(posted.id) }] : []
}

/** A row as the text of a change has it. */
export interface RowInText extends Omit<SealedRow, 'values'> {
  /** By the columns of `SEALED`; undefined: the text does not have it. */
  readonly values: readonly (string | null | undefined)[]
}

/**
 * Returns the rows that the text of a change has: the loan that it made, with its schedule, and the entry that it posted. The seal covers
 * the text, and has no digest of these rows.
 */
export const rowsInText = (change: TrailedChange): RowInText[] => [...madeRows(change), ...postedRows(change)]

function madeRows(change: TrailedChange): RowInText[] {
  const made = hasLoanInText(change) ? contractFromText(trailText(change, 'change')) : undefined
  const { entityId: key, loanChange } = change
  if (made === undefined || loanChange === undefined) return []
  const loan = { table: 'loan', key, values: loanTexts(change, loanChange, made) } as const
  const lines = linesFromText(made.schedule, made.disbursedOn)
  return [loan, ...lines.map((line, index) => lineRow(key, index + 1, line))]
}

function loanTexts(change: TrailedChange, { productId, currency }: StoredChange, made: ReadContract) {
  const texts: Record<(typeof SEALED.loan.columns)[number], string | null | undefined> = {
    // The database draws the number when it inserts the row: no text of a change can have it.
    arrival: undefined,
    customer_id: made.customer,
    product_id: productId === null ? null : String(productId),
    external_id: made.externalId ?? null,
    currency,
    principal: made.principal,
    number_of_repayments: String(made.repayments),
    rate_per_period: made.rate,
    penalty_amount: made.penalty ?? null,
    disbursed_at: instantOf(made.disbursedAt),
    disbursed_on: made.disbursedOn,
    due_on: made.dueOn,
    due_at: instantOf(made.dueAt),
    record: made.record ? jsonbText(made.record) : null,
    created_at: trailText(change, 'at'),
    account_no: made.accountNo,
    rules: made.rules ? jsonbText(made.rules) : null,
    penalty_holds: null,
  }
  return SEALED.loan.columns.map((column) => texts[column])
}

function lineRow(loan: string, period: number, line: ContractLine): RowInText {
  const { fromDate, dueDate, principal, interest, fees } = line
  return { table: 'loan_period', key: `${loan}/${period}`, values: [fromDate, dueDate, principal, interest, fees] }
}

/** The farthest instant from 1970 that a date can have, in milliseconds. */
const FARTHEST = 8.64e15

/** Returns an instant as Postgres writes it; a text that no column has for one that a damaged text may have. */
const instantOf = (instant: number | undefined): string =>
  typeof instant === 'number' && Math.abs(instant) <= FARTHEST ? instantText(instant) : 'no time'

function postedRows(change: TrailedChange): RowInText[] {
  const { entity, entityId, loanChange } = change
  const posted = entity === 'loan' ? loanChange?.posted : undefined
  if (!posted) return []
  const texts: Record<(typeof SEALED.loan_entry.columns)[number], string | null> = {
    loan_id: entityId,
    ordinal: String(posted.ordinal),
    place: String(posted.place),
    type: posted.type,
    value_date: posted.valueDate,
    posted_at: instantOf(posted.postedAt),
    amount: String(posted.amount),
    token: posted.token,
    note: posted.note,
    account_id: trailText(change, 'account_id'),
    replaces: posted.replaces === null ? null : String(posted.replaces),
    record: posted.record && jsonbText(posted.record),
    payment_method: posted.paymentMethod,
    due_on: posted.dueOn,
    restructure: posted.restructure && roleToText(posted.restructure),
    payment_id: posted.paymentId === null ? null : String(posted.paymentId),
  }
  const values = SEALED.loan_entry.columns.map((column) => texts[column])
  return [{ table: 'loan_entry', key: String(posted.id), values }]
}

/**
 * Reads the rows that changes of one organization made true, as they are now, without those that their texts have: the
 * rows of which the seal has a digest. A row that is not there is given with nulls.
 * @param changes 1,000 at most
 * @returns the rows of each change, by its id; without the last of the changes, where they make more than some 100,000
 *   rows: those are to be asked for again
 */
export async function readSealed(
  transaction: Transaction,
  organizationId: number,
  changes: readonly TrailedRow[],
): Promise<Map<bigint, SealedRow[]>> {
  const named = new Map(changes.map((change) => [change, namedBy(change)]))
  const found = new Map<ByKey, Map<string, Texts>>()
  for (const [table, rows] of Map.groupBy([...named.values()].flat(), ({ table }) => table))
    found.set(table, await readRows(transaction, organizationId, table, rows))
  const loans = found.get('loan') ?? new Map<string, Texts>()
  const taken = withinBounds(changes, (change) => linesOf(named.get(change)!, loans))
  const lines = await readSchedules(
    transaction,
    organizationId,
    taken.flatMap((change) => loanOf(named.get(change)!)),
  )
  const credit = await readCreditRows(transaction, organizationId, taken)
  return new Map(
    taken.map((change) => [
      change.id,
      [
        ...named
          .get(change)!
          .flatMap(({ table, key }): SealedRow[] => [
            { table, key, values: found.get(table)?.get(key) ?? absent(table) },
            ...(table === 'loan' ? (lines.get(key) ?? []) : []),
          ]),
        ...(credit.get(change.id) ?? []),
      ],
    ]),
  )
}

/**
 * Reads the rows that the texts of changes have, as they are now, by change: a loan, all lines of its schedule, and the entry. A row
 * that is not there is given with nulls, and a line that is not there is left out.
 * @param changedLater changes whose loans are left out: later changes have changed them
 */
export async function readRowsInText(
  transaction: Transaction,
  organizationId: number,
  changes: readonly TrailedChange[],
  changedLater: ReadonlySet<bigint>,
): Promise<Map<bigint, SealedRow[]>> {
  const isRead = (change: TrailedChange) => hasLoanInText(change) && !changedLater.has(change.id)
  const made = changes.filter(isRead).map(({ entityId: key }): Named => ({ table: 'loan', key }))
  const loans = await readRows(transaction, organizationId, 'loan', made)
  const lines = await readSchedules(transaction, organizationId, loanOf(made))
  const entries = await readRows(transaction, organizationId, 'loan_entry', changes.flatMap(postedBy))
  const rowOf = ({ table, key }: Named, found: ReadonlyMap<string, Texts>): SealedRow => ({
    table,
    key,
    values: found.get(key) ?? absent(table),
  })
  return new Map(
    changes.map((change) => [
      change.id,
      [
        ...(isRead(change)
          ? [rowOf({ table: 'loan', key: change.entityId }, loans), ...(lines.get(change.entityId) ?? [])]
          : []),
        ...postedBy(change).map((named) => rowOf(named, entries)),
      ],
    ]),
  )
}

async function readRows(
  transaction: Transaction,
  organizationId: number,
  table: ByKey,
  rows: readonly Named[],
): Promise<Map<string, Texts>> {
  if (rows.length === 0) return new Map()
  const keys = [...new Set(rows.map(({ key }) => key))].filter(CAN_BE[KEY_TYPES[table]])
  const read = await transaction.query<{ key: string; values: Texts }>(READ[table]({ organizationId, keys }))
  return new Map(read.rows.map(({ key, values }) => [key, values]))
}

const NUMBER_OF_REPAYMENTS = SEALED.loan.columns.indexOf('number_of_repayments')

const loanOf = (named: readonly Named[]): string[] =>
  named.filter(({ table, key }) => table === 'loan' && isBigint(key)).map(({ key }) => key)

const linesOf = (named: readonly Named[], loans: ReadonlyMap<string, Texts>): number =>
  loanOf(named).reduce((sum, key) => sum + Number(loans.get(key)?.[NUMBER_OF_REPAYMENTS] ?? 0), 0)

/** Returns the first of the changes, whose schedules have no more than `MOST_LINES` lines; at least one change. */
function withinBounds(changes: readonly TrailedRow[], countLines: (change: TrailedRow) => number) {
  let lines = 0
  const end = changes.findIndex((change, index) => {
    lines += countLines(change)
    return index > 0 && lines > MOST_LINES
  })
  return end === -1 ? changes : changes.slice(0, end)
}

async function readSchedules(
  transaction: Transaction,
  organizationId: number,
  loans: readonly string[],
): Promise<Map<string, SealedRow[]>> {
  if (loans.length === 0) return new Map()
  const { rows } = await transaction.query<{ loan: string; period: string; values: Texts }>(
    readLines({ organizationId, keys: [...new Set(loans)] }),
  )
  const lines = new Map<string, SealedRow[]>()
  for (const { loan, period, values } of rows) {
    const line: SealedRow = { table: 'loan_period', key: `${loan}/${period}`, values }
    const known = lines.get(loan)
    if (known) known.push(line)
    else lines.set(loan, [line])
  }
  return lines
}
