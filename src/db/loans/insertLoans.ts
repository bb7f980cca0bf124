import type { LoanChanged } from '../../domain/loan/change/change.ts'
import { contractOf } from '../../domain/loan/change/contractText.ts'
import { carriedForward, type LoanState } from '../../domain/loan/replay.ts'
import { toStoredRules } from '../../domain/loan/rules/storedRules.ts'
import type { LoanTerms } from '../../domain/loan/terms/terms.ts'
import type { LoanRecord } from '../../domain/recordStyle/loanRecord.ts'
import type { Instalment } from '../../domain/schedule/schedule.ts'
import type { Stamping } from '../audit/stamp.ts'
import { type Author, TRAIL_COLUMNS, trailRow, trailRows } from '../audit/trail.ts'
import type { Whose } from '../customers/personBox.ts'
import { type Seal, sealFor } from '../customers/words.ts'
import { type ColumnTypes, moment, statementOver } from '../queries/rows.ts'
import type { Queries } from '../queries/statement.ts'
import { CACHED_COLUMNS, cached, traceOf } from './loanColumns.ts'

/** A loan about to be made, by whom, and what replay makes of it now. */
export interface NewLoan {
  readonly author: Author
  readonly id: bigint
  readonly customerId: bigint
  readonly productId: number | null
  readonly externalId: string | null
  readonly accountNo: bigint
  readonly terms: LoanTerms
  readonly state: LoanState
  readonly changed: LoanChanged
  readonly record?: LoanRecord
  readonly at: number
}

const LOAN: ColumnTypes = {
  organization_id: 'int',
  id: 'bigint',
  customer_id: 'bigint',
  product_id: 'int',
  external_id: 'text',
  account_no: 'bigint',
  currency: 'text',
  principal: 'bigint',
  number_of_repayments: 'int',
  rate_per_period: 'bigint',
  penalty_amount: 'bigint',
  disbursed_at: 'timestamptz',
  disbursed_on: 'date',
  due_on: 'date',
  due_at: 'timestamptz',
  rules: 'jsonb',
  record: 'jsonb',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  carried_forward: 'text',
  ...CACHED_COLUMNS,
}

export const PERIOD: ColumnTypes = {
  organization_id: 'int',
  loan_id: 'bigint',
  period: 'int',
  from_date: 'date',
  due_date: 'date',
  principal: 'bigint',
  interest: 'bigint',
  fees: 'bigint',
}

/**
 * The customers' rows are share-locked, so that none can be closed while a loan is being made for it. A loan whose id or
 * external id is taken is left out, and breaks none of the others. In the order of the external ids: two instances that
 * insert the same ones then wait for each other in one direction only.
 */
const insertWhere = (name: string, locked: 'FOR SHARE' | 'FOR SHARE SKIP LOCKED') =>
  statementOver(
    name,
    [LOAN, PERIOD, TRAIL_COLUMNS],
    (loans, periods, trail) => `
  WITH asked AS (
    SELECT * FROM ${loans('a')}
  ), borrower AS (
    SELECT c.organization_id, c.id FROM customer c
    WHERE (c.organization_id, c.id) IN (SELECT organization_id, customer_id FROM asked) AND c.status = 'Active'
    ${locked}
  ), made AS (
    INSERT INTO loan (${Object.keys(LOAN).join(', ')}, version, carried_version)
    SELECT asked.*, 1, 1 FROM asked
    JOIN borrower ON borrower.organization_id = asked.organization_id AND borrower.id = asked.customer_id
    ORDER BY asked.organization_id, asked.external_id, asked.id
    ON CONFLICT DO NOTHING
    RETURNING organization_id, id
  ), periods AS (
    INSERT INTO loan_period (${Object.keys(PERIOD).join(', ')})
    SELECT s.* FROM ${periods('s')}
    JOIN made ON made.organization_id = s.organization_id AND made.id = s.loan_id
  ), ${trailRows('made', 'loan', trail)}
  SELECT organization_id, id, true AS is_loan FROM made UNION ALL SELECT organization_id, id, false FROM borrower`,
  )

const insert = insertWhere('insert-loans', 'FOR SHARE SKIP LOCKED')
const insertPatiently = insertWhere('insert-loans-patiently', 'FOR SHARE')

/**
 * Inserts loans with their schedules, in one statement.
 * @param isPatient whether to wait for a customer that another transaction has locked; otherwise its loan is left out
 * @returns the outcome of each, in the order of the loans
 * @throws a unique violation, after which none is made, when the Idempotency-Key of one of them is taken
 */
export async function insertLoans(
  db: Queries,
  loans: readonly NewLoan[],
  { isPatient = true }: { readonly isPatient?: boolean } = {},
): Promise<Inserted[]> {
  const { sent, rivals } = withoutRepeats(loans)
  const seal = await sealFor(db, sent.filter(({ record }) => record?.description).map(ownerOf))
  const stored = sent.map((loan) => withSealed(loan, seal))
  const { rows } = await db.pool.query<InsertedRow>(
    (isPatient ? insertPatiently : insert)(
      stored.map(loanRow),
      stored.flatMap(({ author, id, terms }) => periodRows(author.organizationId, id, terms.schedule)),
      stored.map((loan) => trailOf(db.pool, loan)),
    ),
  )
  const outcomes = await readOutcomes(db, sent, rows)
  return loans.map((loan) => outcomeOf(loan, rivals.get(loan), outcomes))
}

const ownerOf = ({ author: { organizationId }, customerId: id }: NewLoan): Whose => ({ organizationId, id })

/** Returns a loan with the description that a record system sent encrypted: a person's words. */
function withSealed(loan: NewLoan, seal: Seal): NewLoan {
  const { record } = loan
  if (!record?.description) return loan
  return { ...loan, record: { ...record, description: seal(ownerOf(loan), record.description) } }
}

const loanRow = ({ author, id, customerId, productId, externalId, accountNo, terms, state, ...loan }: NewLoan) => [
  author.organizationId,
  id,
  customerId,
  productId,
  externalId,
  accountNo,
  terms.currency.code,
  terms.principal,
  terms.numberOfRepayments,
  terms.ratePerPeriod,
  terms.penaltyAmount,
  moment(terms.disbursedAt),
  terms.disbursedOn,
  terms.dueOn,
  moment(terms.dueAt),
  terms.rules ? JSON.stringify(toStoredRules(terms.rules)) : null,
  loan.record ? JSON.stringify(loan.record) : null,
  moment(loan.at),
  moment(loan.at),
  carriedForward(terms, state),
  ...cached(state),
]

/** The lines of a loan's schedule, as `PERIOD` has them. */
export const periodRows = (organizationId: number, loanId: bigint, schedule: readonly Instalment[]): unknown[][] =>
  schedule.map(({ period, fromDate, dueDate, principal, interest, fees }) => [
    organizationId,
    loanId,
    period,
    fromDate,
    dueDate,
    principal,
    interest,
    fees,
  ])

const trailOf = (stamping: Stamping, loan: NewLoan): unknown[] => {
  const { author, id, at, changed, customerId, productId } = loan
  const trace = traceOf(changed, { after: { customerId, productId }, made: contractOf(loan) })
  return trailRow(stamping, author, at, { entity: 'loan', id }, { trace, transactionId: null })
}

/**
 * The outcome of one loan of an insert. `idTaken`, `externalIdTaken`: another loan of the organization has it.
 * `leftOut`: its customer is no longer Active; or, where the insert was not patient, it has to be inserted alone.
 */
export type Inserted = 'made' | 'idTaken' | 'externalIdTaken' | 'leftOut'

/** A row that the insert answers: a loan that was made, or else a customer that could be locked and is Active. */
export interface InsertedRow {
  readonly organization_id: number
  readonly id: bigint
  readonly is_loan: boolean
}

const idOf = ({ author, id }: NewLoan) => `${author.organizationId} ${id}`
const externalIdOf = ({ author, externalId }: NewLoan) =>
  externalId === null ? undefined : `${author.organizationId} ${externalId}`

/**
 * The loans to send: of several with one id or one external id, the first.
 * @returns besides, for each loan that is not sent, the one that is sent in its place
 */
export function withoutRepeats(loans: readonly NewLoan[]): { sent: NewLoan[]; rivals: Map<NewLoan, NewLoan> } {
  const byId = new Map<string, NewLoan>()
  const byExternalId = new Map<string, NewLoan>()
  const rivals = new Map<NewLoan, NewLoan>()
  const sent = loans.filter((loan) => {
    const externalId = externalIdOf(loan)
    const rival = (externalId === undefined ? undefined : byExternalId.get(externalId)) ?? byId.get(idOf(loan))
    if (rival) {
      rivals.set(loan, rival)
      return false
    }
    byId.set(idOf(loan), loan)
    if (externalId !== undefined) byExternalId.set(externalId, loan)
    return true
  })
  return { sent, rivals }
}

const findTakenIds = statementOver(
  'find-taken-loan-ids',
  [{ organization_id: 'int', id: 'bigint' }],
  (keys) => `SELECT l.organization_id, l.id FROM ${keys('k')}
    JOIN loan l ON l.organization_id = k.organization_id AND l.id = k.id`,
)

/**
 * The outcomes of the loans that were sent. Which of its ids is taken is read afterwards: the insert itself may not see
 * the other loan, which was committed while it ran.
 */
export async function readOutcomes(
  db: Queries,
  sent: readonly NewLoan[],
  rows: readonly InsertedRow[],
): Promise<Map<NewLoan, Inserted>> {
  const idsOf = (some: readonly InsertedRow[]) => new Set(some.map((row) => `${row.organization_id} ${row.id}`))
  const made = idsOf(rows.filter((row) => row.is_loan))
  const lent = idsOf(rows.filter((row) => !row.is_loan))
  const isLent = ({ author, customerId }: NewLoan) => lent.has(`${author.organizationId} ${customerId}`)
  const refused = sent.filter((loan) => isLent(loan) && !made.has(idOf(loan)))
  const found =
    refused.length === 0
      ? []
      : (await db.pool.query<InsertedRow>(findTakenIds(refused.map(({ author, id }) => [author.organizationId, id]))))
          .rows
  const taken = idsOf(found)
  return new Map(
    sent.map((loan) => {
      if (made.has(idOf(loan))) return [loan, 'made']
      if (!isLent(loan)) return [loan, 'leftOut']
      return [loan, loan.externalId === null || taken.has(idOf(loan)) ? 'idTaken' : 'externalIdTaken']
    }),
  )
}

/** The outcome of a loan: its own, or what follows from that of the `rival` that was sent in its place. */
export function outcomeOf(
  loan: NewLoan,
  rival: NewLoan | undefined,
  outcomes: ReadonlyMap<NewLoan, Inserted>,
): Inserted {
  const outcome = outcomes.get(rival ?? loan) ?? 'leftOut'
  if (!rival) return outcome
  const isTaken = loan.externalId !== null && externalIdOf(loan) === externalIdOf(rival) ? 'externalIdTaken' : 'idTaken'
  // Not made for another reason, the rival has left free what the two share.
  return outcome === 'made' || outcome === isTaken ? isTaken : 'leftOut'
}
