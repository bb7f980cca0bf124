import type { HoldDays, HoldKind } from '../../domain/collections/hold.ts'
import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { HeldDays } from '../../domain/loan/rules/heldDaysText.ts'
import { heldToText } from '../../domain/loan/rules/heldDaysText.ts'
import type { Author } from '../audit/trail.ts'
import type { LoanRef } from '../loans/loans.ts'
import { type LockedLoan, lockSecuredLoan } from '../loans/security/securedLoan.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { ownedList, ownedRow } from '../queries/ownedList.ts'
import { moment } from '../queries/rows.ts'
import { type Queries, statement } from '../queries/statement.ts'
import { changeIn, insertionInto, nextId, type Traced } from './traced.ts'

/** A hold as it is kept; its reasons are encrypted by the key of the customer. */
export interface StoredHold extends HoldDays {
  readonly id: bigint
  readonly loanId: bigint
  readonly customerId: bigint
  readonly what: HoldKind
  readonly reason: string
  readonly releaseReason: string | null
  readonly accountId: number | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

const TRACED: Traced = {
  table: 'loan_hold',
  columns: [
    ...['loan_id', 'customer_id', 'what', 'from_date', 'until_date', 'reason', 'account_id', 'created_at'],
    'updated_at',
  ],
}

const COLUMNS = `t.id, t.loan_id AS "loanId", t.customer_id AS "customerId", t.what, t.from_date AS "from", t.until_date AS "until", t.reason,
  t.released_on AS "releasedOn", t.release_reason AS "releaseReason", t.account_id AS "accountId", t.created_at AS "createdAt",
  t.updated_at AS "updatedAt"`

/** The order of the list of holds: as they were made. */
export const HOLD_ORDER = 'holds'

/** Finds the holds of a loan. */
export const findHolds = ownedList<StoredHold>({
  table: 'loan_hold',
  owner: 'loan_id',
  columns: COLUMNS,
  order: HOLD_ORDER,
})

/** Finds a hold of an organization. */
export const findHold = ownedRow<StoredHold>({ table: 'loan_hold', columns: COLUMNS })

const standing = statement<{ organizationId: number; loanIds: readonly bigint[]; day: LocalDate }>(
  'holds-that-stand',
  (p) => `SELECT ${COLUMNS} FROM loan_hold t WHERE t.organization_id = ${p('organizationId')}
    AND t.loan_id = ANY (${p('loanIds')}::bigint[]) AND t.until_date >= ${p('day')}::date
    AND (t.released_on IS NULL OR t.released_on > ${p('day')}::date) ORDER BY t.id`,
)

/** Reads the holds of some loans that count on a day or later. */
const readStandingHolds = async (
  { pool }: Queries,
  of: { readonly organizationId: number; readonly loanIds: readonly bigint[]; readonly day: LocalDate },
): Promise<StoredHold[]> => (await pool.query<StoredHold>(standing(of))).rows

const all = statement<{ organizationId: number; loanIds: readonly bigint[]; most: number }>(
  'all-holds-of-loans',
  (p) => `SELECT ${COLUMNS} FROM loan_hold t WHERE t.organization_id = ${p('organizationId')}
    AND t.loan_id = ANY (${p('loanIds')}::bigint[]) ORDER BY t.id LIMIT ${p('most')}`,
)

/** Reads all holds of some loans. */
export const readAllHoldsOf = async (
  { pool }: Queries,
  of: { readonly organizationId: number; readonly loanIds: readonly bigint[]; readonly most: number },
): Promise<StoredHold[]> => (await pool.query<StoredHold>(all(of))).rows

const insert = insertionInto(TRACED)

/** A hold that is to be made. */
export interface HoldToMake {
  /**
   * Says what is made, its reason encrypted, or refuses by throwing.
   * @param standing the holds of the loan that count today or later
   */
  readonly decide: (
    loan: LockedLoan,
    standing: readonly StoredHold[],
  ) => Pick<StoredHold, 'what' | 'from' | 'until' | 'reason'>
  readonly today: LocalDate
  readonly now: Instant
}

/** Makes a hold of a loan, whose customer is locked meanwhile; undefined when there is no such loan. */
export async function insertHold(
  transaction: Transaction,
  author: Author,
  ref: LoanRef,
  { decide, today, now }: HoldToMake,
): Promise<StoredHold | undefined> {
  const { organizationId, accountId } = author
  const loan = await lockSecuredLoan(transaction, organizationId, ref)
  if (!loan) return undefined
  const of = { organizationId, loanIds: [loan.id], day: today }
  const made = decide(loan, await readStandingHolds({ pool: transaction }, of))
  const { what, from, until, reason } = made
  const id = await nextId(transaction, TRACED)
  const at = moment(now)
  await insert(transaction, {
    author,
    now,
    id,
    values: {
      loan_id: loan.id,
      customer_id: loan.customerId,
      what,
      from_date: from,
      until_date: until,
      reason,
      account_id: accountId,
      created_at: at,
      updated_at: at,
    },
    trace: { action: 'create', before: null, after: { loanId: String(loan.id), what, from, until, reason } },
  })
  const rest = { releasedOn: null, releaseReason: null, accountId, createdAt: now, updatedAt: now }
  return { ...made, ...rest, id, loanId: loan.id, customerId: loan.customerId }
}

const release = changeIn(TRACED, ['released_on', 'release_reason', 'updated_at'])

/** The end of a hold: its first day without it, and the reason, encrypted. */
export interface HoldEnd {
  readonly releasedOn: LocalDate
  readonly releaseReason: string
}

/** A hold that is to be released. */
export interface HoldToRelease {
  readonly id: bigint
  /** Says how the hold ends; undefined changes nothing. */
  readonly decide: (hold: StoredHold, loan: LockedLoan) => HoldEnd | undefined
  readonly now: Instant
}

/** Releases a hold of a loan, whose customer is locked meanwhile; undefined when there is no such loan or hold. */
export async function releaseHoldOf(
  transaction: Transaction,
  author: Author,
  ref: LoanRef,
  { id, decide, now }: HoldToRelease,
): Promise<StoredHold | undefined> {
  const { organizationId } = author
  const loan = await lockSecuredLoan(transaction, organizationId, ref)
  const hold = loan && (await findHold({ pool: transaction }, organizationId, id))
  if (!loan || hold?.loanId !== loan.id) return undefined
  const end = decide(hold, loan)
  if (!end) return hold
  const values = { released_on: end.releasedOn, release_reason: end.releaseReason, updated_at: moment(now) }
  const before = { releasedOn: hold.releasedOn, releaseReason: hold.releaseReason }
  const after = { loanId: String(loan.id), what: hold.what, ...end }
  await release(transaction, { author, now, id, values, trace: { action: 'release', before, after } })
  return { ...hold, ...end, updatedAt: now }
}

const holdPenalties = statement<{ organizationId: number; id: bigint; version: number; held: string | null }>(
  'hold-penalties-of-loan',
  (p) => `UPDATE loan SET penalty_holds = ${p('held')}
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} AND version = ${p('version')}`,
)

/** Saves the days on which no penalty of a loan is raised; false where the loan has another version than the one that was read. */
export async function savePenaltyHolds(
  transaction: Transaction,
  { organizationId, id, version }: { readonly organizationId: number; readonly id: bigint; readonly version: number },
  held: readonly HeldDays[],
): Promise<boolean> {
  const { rowCount } = await transaction.query(holdPenalties({ organizationId, id, version, held: heldToText(held) }))
  return rowCount === 1
}
