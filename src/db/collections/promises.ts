import type { Promised, PromiseState } from '../../domain/collections/promise.ts'
import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { Author } from '../audit/trail.ts'
import type { LoanRef } from '../loans/loans.ts'
import { type LockedLoan, lockSecuredLoan } from '../loans/security/securedLoan.ts'
import type { Db } from '../postgres/client.ts'
import { inTransaction, type Transaction } from '../postgres/transaction.ts'
import { ownedList, ownedRow } from '../queries/ownedList.ts'
import { moment } from '../queries/rows.ts'
import { type Queries, statement } from '../queries/statement.ts'
import { changeIn, insertionInto, nextId, type Traced } from './traced.ts'

/** The name of a promise in the audit trail. */
export const PROMISE = 'promise'

/** A promise as it is kept. */
export interface StoredPromise extends Promised {
  readonly loanId: bigint
  /** The customer by whose key the words are encrypted. */
  readonly customerId: bigint
  readonly note: string | null
  /** As it was told last. */
  readonly state: PromiseState
  readonly received: bigint
  /** Encrypted; null: it was not cancelled, or nobody said why. */
  readonly cancelReason: string | null
  readonly accountId: number | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

const TRACED: Traced = {
  table: 'promise',
  columns: [
    ...['loan_id', 'customer_id', 'amount', 'made_on', 'by_date', 'note', 'state', 'account_id', 'created_at'],
    'updated_at',
  ],
}

const COLUMNS = `t.id, t.loan_id AS "loanId", t.customer_id AS "customerId", t.amount, t.made_on AS "madeOn", t.by_date AS "by", t.note,
  t.state, t.received, t.cancel_reason AS "cancelReason", t.account_id AS "accountId", t.created_at AS "createdAt",
  t.updated_at AS "updatedAt"`

/** The order of the list of promises: as they were made. */
export const PROMISE_ORDER = 'promises'

/** Finds the promises on a loan. */
export const findPromises = ownedList<StoredPromise>({
  table: 'promise',
  owner: 'loan_id',
  columns: COLUMNS,
  order: PROMISE_ORDER,
})

/** Finds a promise of an organization. */
export const findPromise = ownedRow<StoredPromise>({ table: 'promise', columns: COLUMNS })

const ofLoans = statement<{ organizationId: number; loanIds: readonly bigint[] }>(
  'promises-of-loans',
  (p) => `SELECT ${COLUMNS} FROM promise t WHERE t.organization_id = ${p('organizationId')}
    AND t.loan_id = ANY (${p('loanIds')}::bigint[]) AND t.state <> 'cancelled' ORDER BY t.id`,
)

/** Reads the promises on some loans that were not cancelled. */
export const readPromisesOf = async (
  { pool }: Queries,
  of: { readonly organizationId: number; readonly loanIds: readonly bigint[] },
): Promise<StoredPromise[]> => (await pool.query<StoredPromise>(ofLoans(of))).rows

const ofCustomer = statement<{ organizationId: number; loanIds: readonly bigint[]; most: number }>(
  'all-promises-of-loans',
  (
    p,
  ) => `SELECT ${COLUMNS}, l.currency FROM promise t JOIN loan l ON l.organization_id = t.organization_id AND l.id = t.loan_id
    WHERE t.organization_id = ${p('organizationId')} AND t.loan_id = ANY (${p('loanIds')}::bigint[]) ORDER BY t.id LIMIT ${p('most')}`,
)

/** Reads all promises on some loans, those that were cancelled, too, each with the currency of its loan. */
export const readAllPromisesOf = async (
  { pool }: Queries,
  of: { readonly organizationId: number; readonly loanIds: readonly bigint[]; readonly most: number },
): Promise<(StoredPromise & { readonly currency: string })[]> =>
  (await pool.query<StoredPromise & { readonly currency: string }>(ofCustomer(of))).rows

const insert = insertionInto(TRACED)

/** A promise that is to be recorded. */
export interface PromiseToRecord {
  /**
   * Says what is recorded, its note encrypted, or refuses by throwing.
   * @param open the promises of the loan that are open
   */
  readonly decide: (loan: LockedLoan, open: number) => Pick<StoredPromise, 'amount' | 'madeOn' | 'by' | 'note'>
  readonly now: Instant
}

/** Records a promise on a loan, whose customer is locked meanwhile; undefined when there is no such loan. */
export const insertPromise = (
  db: Db,
  author: Author,
  ref: LoanRef,
  { decide, now }: PromiseToRecord,
): Promise<StoredPromise | undefined> =>
  inTransaction(db, async (transaction) => {
    const { organizationId, accountId } = author
    const loan = await lockSecuredLoan(transaction, organizationId, ref)
    if (!loan) return undefined
    const known = await readPromisesOf({ pool: transaction }, { organizationId, loanIds: [loan.id] })
    const made = decide(loan, known.filter(({ state }) => state === 'open').length)
    const { amount, madeOn, by, note } = made
    const id = await nextId(transaction, TRACED)
    const at = moment(now)
    const after = { loanId: String(loan.id), amount: String(amount), madeOn, by, note }
    await insert(transaction, {
      author,
      now,
      id,
      values: {
        loan_id: loan.id,
        customer_id: loan.customerId,
        amount,
        made_on: madeOn,
        by_date: by,
        note,
        state: 'open',
        account_id: accountId,
        created_at: at,
        updated_at: at,
      },
      trace: { action: 'create', before: null, after },
    })
    const rest = { state: 'open', received: 0n, cancelReason: null, accountId, createdAt: now, updatedAt: now } as const
    return { ...made, ...rest, id, loanId: loan.id, customerId: loan.customerId }
  })

const cancel = changeIn(TRACED, ['state', 'cancel_reason', 'updated_at'])

/** A promise that is to be cancelled. */
export interface PromiseToCancel {
  readonly id: bigint
  /** Returns the reason, encrypted, or null for none; undefined changes nothing. */
  readonly decide: (promise: StoredPromise, loan: LockedLoan) => string | null | undefined
  readonly now: Instant
}

/** Cancels a promise on a loan, whose customer is locked meanwhile; undefined when there is no such loan or promise. */
export const cancelPromiseOf = (
  db: Db,
  author: Author,
  ref: LoanRef,
  { id, decide, now }: PromiseToCancel,
): Promise<StoredPromise | undefined> =>
  inTransaction(db, async (transaction) => {
    const { organizationId } = author
    const loan = await lockSecuredLoan(transaction, organizationId, ref)
    const promise = loan && (await lockPromise(transaction, organizationId, id))
    if (!loan || promise?.loanId !== loan.id) return undefined
    const cancelReason = decide(promise, loan)
    if (cancelReason === undefined) return promise
    const values = { state: 'cancelled', cancel_reason: cancelReason, updated_at: moment(now) }
    const before = { state: promise.state }
    const after = { loanId: String(loan.id), state: 'cancelled', cancelReason }
    await cancel(transaction, { author, now, id, values, trace: { action: 'cancel', before, after } })
    return { ...promise, state: 'cancelled', cancelReason, updatedAt: now }
  })

const lock = statement<{ organizationId: number; id: bigint }>(
  'lock-promise',
  (p) =>
    `SELECT ${COLUMNS} FROM promise t WHERE t.organization_id = ${p('organizationId')} AND t.id = ${p('id')} FOR UPDATE`,
)

async function lockPromise(
  transaction: Transaction,
  organizationId: number,
  id: bigint,
): Promise<StoredPromise | undefined> {
  return (await transaction.query<StoredPromise>(lock({ organizationId, id }))).rows[0]
}

const tell = changeIn(TRACED, ['state', 'received', 'updated_at'])

/** What is told of a promise: its state, what was received, and the loan, as `changeToText` writes it. */
export interface ToldVerdict extends Pick<StoredPromise, 'received'> {
  readonly state: 'kept' | 'broken'
  readonly change: string
}

/** Saves what a replay says of a promise, with the row of the trail from which its event is made. */
export async function saveVerdict(
  transaction: Transaction,
  author: Author,
  { id, loanId, state, received, amount, by }: StoredPromise,
  verdict: ToldVerdict & { readonly now: Instant },
): Promise<void> {
  const { now, change } = verdict
  const values = { state: verdict.state, received: verdict.received, updated_at: moment(now) }
  const told = {
    loanId: String(loanId),
    amount: String(amount),
    by,
    state: verdict.state,
    received: String(verdict.received),
  }
  const trace = {
    action: verdict.state === 'kept' ? 'keep' : 'break',
    before: { state, received: String(received) },
    after: told,
    change,
  }
  await tell(transaction, { author, now, id, values, trace })
}

const due = statement<{ organizationId: number; today: LocalDate; most: number }>(
  'promises-that-are-due',
  (p) => `SELECT DISTINCT loan_id AS id FROM (
    SELECT loan_id FROM promise WHERE organization_id = ${p('organizationId')} AND state = 'open' AND by_date < ${p('today')}::date
    ORDER BY by_date LIMIT ${p('most')}) AS due ORDER BY 1`,
)

/** Finds loans with a promise whose day is over and that was not judged; some, the earliest days first. */
export const findDueLoans = async (
  { pool }: Queries,
  of: { readonly organizationId: number; readonly today: LocalDate; readonly most: number },
): Promise<bigint[]> => (await pool.query<{ id: bigint }>(due(of))).rows.map(({ id }) => id)
