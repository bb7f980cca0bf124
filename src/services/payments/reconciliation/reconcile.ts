import { createHash } from 'node:crypto'
import type { Author } from '../../../db/audit/trail.ts'
import type { Channel } from '../../../db/payments/channels.ts'
import { insertPayments, lockPayment, type PaymentSteps, savePayments } from '../../../db/payments/payments.ts'
import {
  findNewest,
  findReconciliations,
  lockAwaiting,
  lockReconciliation,
  NEWEST_RECONCILIATIONS,
  RECONCILIATION_ORDER,
  type Reconciliation,
  readLines,
  readNamed,
  readOfDays,
  readReconciliation,
  type StoredFigures,
  type StoredLine,
  saveLines,
  saveReconciliation,
} from '../../../db/payments/reconciliations.ts'
import { insertReversals } from '../../../db/payments/reversals.ts'
import { inTransaction, type Transaction } from '../../../db/postgres/transaction.ts'
import { cursorAt, encodeCursor } from '../../../db/queries/cursor.ts'
import { reserveIds } from '../../../db/queries/idBlocks.ts'
import { requirePermission } from '../../../domain/access/permissions.ts'
import { dayAfter, type Instant, type LocalDate, startOfDay } from '../../../domain/dates.ts'
import { type FaultRole, invalidArgument, notFound } from '../../../domain/errors.ts'
import { currencyOf, type Decimal, toMinor } from '../../../domain/money.ts'
import { momentAfter } from '../../../domain/payments/payment.ts'
import {
  type ComparedLine,
  type Comparison,
  compareStatement,
  LINE_KINDS,
  type LineKind,
  type Statement,
} from '../../../domain/payments/reconciliation.ts'
import type { StatementLayout } from '../../../domain/payments/statementLayouts.ts'
import type { Caller } from '../../access/caller.ts'
import { abortedWhereKeyTaken } from '../../access/idempotency.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../../paging.ts'
import { channelOf } from '../channelCache.ts'
import { channelNamed } from '../channels.ts'
import type { DecideDeps } from '../decidePayments.ts'
import { newPayment } from '../receivePayments.ts'
import { MOST_STATEMENT_LINES, readStatement } from './readStatement.ts'

export type { Reconciliation, StoredLine } from '../../../db/payments/reconciliations.ts'

/** The most days of a statement. */
const MOST_DAYS = 93

/** The most lines that are told; a file has more. */
export const MOST_TOLD_LINES = 5_000

/** Told how many lines of how many are done. */
export type OnProgress = (done: number, total: number) => void

/** A line of a statement as a caller tells it. */
export interface ToldLine {
  readonly receipt: string
  readonly at: Instant
  /** Below 0 where money went out. */
  readonly amount: Decimal
  readonly reference?: string | undefined
  readonly reverses?: string | undefined
}

/** A statement that is to be compared with the payments of a channel. */
export interface StatementRequest {
  readonly channelId: bigint
  /** The days that it is of, both included. */
  readonly from: LocalDate
  readonly to: LocalDate
  /** Of `statement`; `plain` when left out. */
  readonly layout?: StatementLayout | undefined
  /** The statement as the provider wrote it, or its lines: one of the two. */
  readonly statement?: string | Uint8Array | undefined
  readonly lines?: readonly ToldLine[] | undefined
  /** The balances before and after; those of the statement, or none, when left out. */
  readonly opening?: Decimal | undefined
  readonly closing?: Decimal | undefined
  /** Called as lines are kept. */
  readonly onProgress?: OnProgress | undefined
}

/**
 * Compares a provider's statement with the payments of its channel, and confirms those that it has. The same statement of the same
 * days is the same comparison, as it is now.
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument` naming the line that cannot be read
 */
export async function reconcile(deps: DecideDeps, caller: Caller, request: StatementRequest): Promise<Reconciliation> {
  requirePermission(caller, 'payments.manage')
  const { from, to, onProgress } = request
  const channel = await channelNamed(deps, caller, request.channelId)
  if (from > to) throw invalidArgument('to', (nameOf) => `must not be before ${nameOf('from')}`)
  if (startOfDay(to, 'UTC') - startOfDay(from, 'UTC') >= MOST_DAYS * 86_400_000)
    throw invalidArgument('to', (nameOf) => `must be less than ${MOST_DAYS} days after ${nameOf('from')}`)
  const { layout, read } = statementOf(request, channel)
  const balance = (role: 'opening' | 'closing') => {
    const told = request[role]
    return told === undefined ? read[role] : signedMinor(told, channel, role)
  }
  const statement = { ...read, opening: balance('opening'), closing: balance('closing') }
  const digest = digestOf(statement, { from, to })
  const run = await abortedWhereKeyTaken(
    inTransaction(deps.db, (transaction) =>
      compare(deps, transaction, authorOf(caller), { channel, from, to, layout, statement, digest, onProgress }),
    ),
  )
  return run
}

/** Returns an amount with its sign in minor units. @throws LendingError `invalid_argument` */
function signedMinor({ units, scale }: Decimal, { currency }: Pick<Channel, 'currency'>, role: FaultRole): bigint {
  const isOut = units < 0n
  const minor = toMinor({ units: isOut ? -units : units, scale }, currencyOf(currency), role, { zeroAllowed: true })
  return isOut ? -minor : minor
}

/** Reads the statement of a request, or takes its lines. @throws LendingError `invalid_argument` for both, and for neither */
function statementOf({ layout = 'plain', statement, lines }: StatementRequest, channel: Channel) {
  if ((statement === undefined) === (lines === undefined))
    throw invalidArgument('statement', 'or lines is required: the statement as a text, or its lines, and not both')
  if (statement !== undefined) {
    const bytes = typeof statement === 'string' ? Buffer.from(statement) : statement
    return { layout, read: readStatement(bytes, layout, channel) }
  }
  const told = (lines ?? []).map(({ receipt, at, amount, reference = null, reverses = null }) => {
    const minor = signedMinor(amount, channel, 'paymentAmount')
    // A payment that came in names no other.
    return { receipt, at, amount: minor, reference, reverses: minor < 0n ? reverses : null }
  })
  return { layout: 'lines', read: { lines: told, opening: null, closing: null } }
}

const authorOf = ({ organizationId, accountId, requestId, claim }: Caller): Author => ({
  organizationId,
  accountId,
  requestId,
  ...(claim && { claim }),
})

/** Returns what says that two statements are the same: their lines and balances, not how the file is written. */
function digestOf({ lines, opening, closing }: Statement, days: { readonly from: LocalDate; readonly to: LocalDate }) {
  const hash = createHash('sha256')
  hash.update(JSON.stringify([days.from, days.to, opening?.toString() ?? null, closing?.toString() ?? null]))
  for (const { receipt, at, amount, reference, reverses } of lines)
    hash.update(JSON.stringify([receipt, at, String(amount), reference, reverses]))
  return hash.digest()
}

interface ToCompare {
  readonly channel: Channel
  readonly from: LocalDate
  readonly to: LocalDate
  readonly layout: string
  readonly statement: Statement
  readonly digest: Uint8Array
  readonly onProgress?: OnProgress | undefined
}

async function compare(
  deps: DecideDeps,
  transaction: Transaction,
  author: Author,
  { channel, from, to, layout, statement, digest, onProgress }: ToCompare,
): Promise<Reconciliation> {
  const { organizationId, id: channelId, zone } = channel
  const before = await lockReconciliation(transaction, { organizationId, channelId, digest })
  const queries = { pool: transaction }
  const receipts = [...new Set(statement.lines.map(({ receipt }) => receipt))]
  const of = { organizationId, channelId }
  const days = { from: startOfDay(from, zone), before: startOfDay(dayAfter(to), zone) }
  const comparison = compareStatement(statement, {
    named: await readNamed(queries, { ...of, receipts }),
    ofDays: await readOfDays(queries, { ...of, ...days }),
  })
  const at = deps.now(organizationId)
  const run: Reconciliation = {
    organizationId,
    id: before?.id ?? (await reserveIds(deps, 'payment', 1))(),
    channelId,
    fromDate: from,
    toDate: to,
    layout: before?.layout ?? layout,
    digest,
    opening: statement.opening,
    closing: statement.closing,
    figures: storedFigures(comparison),
    balanced: comparison.balanced,
    difference: comparison.difference,
    createdAt: before?.createdAt ?? at,
    updatedAt: at,
    version: (before?.version ?? 0) + 1,
  }
  await saveReconciliation(transaction, author, { run, currency: channel.currency })
  await saveLines(transaction, run, { lines: comparison.lines, onProgress })
  await confirm(deps, transaction, run, comparison.lines)
  return run
}

const storedFigures = ({ figures }: Comparison): StoredFigures =>
  Object.fromEntries(
    LINE_KINDS.map((kind) => [kind, { lines: figures[kind].lines, amount: String(figures[kind].amount) }]),
  ) as unknown as StoredFigures

/** Confirms the payments that waited for the statement and are in it: they can be allocated now. */
async function confirm(
  { now }: Pick<DecideDeps, 'now'>,
  transaction: Transaction,
  { organizationId }: Reconciliation,
  lines: readonly ComparedLine[],
): Promise<void> {
  const matched = lines.flatMap(({ kind, paymentId }) => (kind === 'matched' && paymentId !== null ? [paymentId] : []))
  const ids = await lockAwaiting(transaction, organizationId, matched)
  const at = now(organizationId)
  const author = { organizationId, accountId: null, requestId: null }
  const steps: PaymentSteps[] = []
  for (const id of ids) {
    const before = (await lockPayment(transaction, organizationId, id))!
    const after = { ...before, unconfirmed: false, updatedAt: momentAfter([before], at), version: before.version + 1 }
    steps.push({ author, before, steps: [{ action: 'confirm', after, allocations: [], moved: null, note: null }] })
  }
  await savePayments(transaction, steps)
}

const noSuchRun = () => notFound('no reconciliation has that id')

/** Returns a comparison. @throws LendingError `permission_denied`, `not_found` */
export async function getReconciliation(
  deps: Pick<DecideDeps, 'db'>,
  caller: Caller,
  id: bigint,
): Promise<Reconciliation> {
  requirePermission(caller, 'reports.read')
  return runNamed(deps, caller, id)
}

async function runNamed({ db }: Pick<DecideDeps, 'db'>, caller: Caller, id: bigint): Promise<Reconciliation> {
  const run = await readReconciliation(db, caller.organizationId, id)
  if (!run) throw noSuchRun()
  return run
}

/** Returns a part of the comparisons of the organization. @throws LendingError `permission_denied`, `invalid_argument` */
export async function listReconciliations(
  { db }: Pick<DecideDeps, 'db'>,
  caller: Caller,
  channelId: number | null,
  range: Range,
): Promise<Ranged<Reconciliation>> {
  requirePermission(caller, 'reports.read')
  const of = { organizationId: caller.organizationId, channelId }
  return rangedOf(await findReconciliations(db, of, positionOf(range, { arrival: RECONCILIATION_ORDER })))
}

/**
 * Returns the newest comparisons of the organization, or those before a cursor.
 * @throws LendingError `permission_denied`, `invalid_argument`
 */
export async function listNewestReconciliations(
  { db }: Pick<DecideDeps, 'db'>,
  caller: Caller,
  channelId: number | null,
  range: Omit<Range, 'page'>,
): Promise<Ranged<Reconciliation>> {
  requirePermission(caller, 'reports.read')
  const of = { organizationId: caller.organizationId, channelId }
  return rangedOf(await findNewest(db, of, positionOf(range, { arrival: NEWEST_RECONCILIATIONS })))
}

/** Lines of a comparison that are asked for: those after a cursor. */
export interface LinesRequest {
  readonly kinds?: readonly LineKind[] | undefined
  readonly range: Omit<Range, 'page'>
}

/** Returns lines of a comparison in their order. @throws LendingError `permission_denied`, `not_found`, `invalid_argument` */
export async function listLines(
  deps: Pick<DecideDeps, 'db'>,
  caller: Caller,
  id: bigint,
  { kinds, range }: LinesRequest,
): Promise<Ranged<StoredLine>> {
  const run = await getReconciliation(deps, caller, id)
  const order = `reconciliation-lines-${id}`
  const position = positionOf(range, { arrival: order })
  const above = 'page' in position ? 0n : (position.cursor?.floor ?? 0n)
  const items = await readLines(deps.db, run, { kinds: kinds ?? null, above, rows: range.rows })
  const next = cursorAt(order, items.at(-1)?.line)
  return { items, ...(next && { next: encodeCursor(next) }) }
}

/**
 * Takes in what a statement has and the payments have not: payments that are missing are received as if told, and what was taken
 * back is reversed. Then the statement is compared again.
 * @throws LendingError `permission_denied`, `not_found`
 */
export async function applyReconciliation(deps: DecideDeps, caller: Caller, id: bigint): Promise<Reconciliation> {
  requirePermission(caller, 'payments.manage')
  const run = await runNamed(deps, caller, id)
  const channel = await channelOf(deps, run)
  const author = authorOf(caller)
  return abortedWhereKeyTaken(
    inTransaction(deps.db, async (transaction) => {
      await lockReconciliation(transaction, run)
      const all = await readLines({ pool: transaction }, run, {
        kinds: null,
        above: 0n,
        rows: 2 * MOST_STATEMENT_LINES,
      })
      await takeIn(deps, transaction, { author: { ...author, claim: undefined }, channel, lines: all })
      // What was added after the lines of the statement is looked for again.
      const lines = all.filter(({ kind }) => kind !== 'missing_there')
      const statement = { lines, opening: run.opening, closing: run.closing }
      const { fromDate: from, toDate: to, layout, digest } = run
      return compare(deps, transaction, author, { channel, from, to, layout, statement, digest })
    }),
  )
}

/** Payments that are stored in one statement. */
const PAYMENTS_AT_ONCE = 1_000

async function takeIn(
  deps: DecideDeps,
  transaction: Transaction,
  {
    author,
    channel,
    lines,
  }: { readonly author: Author; readonly channel: Channel; readonly lines: readonly StoredLine[] },
): Promise<void> {
  const { organizationId, id: channelId } = channel
  const receivedAt = deps.now(organizationId)
  const { decimals } = currencyOf(channel.currency)
  const missing = lines.filter(({ kind }) => kind === 'missing_here')
  for (let from = 0; from < missing.length; from += PAYMENTS_AT_ONCE) {
    const part = missing.slice(from, from + PAYMENTS_AT_ONCE)
    const nextId = await reserveIds(deps, 'payment', part.length)
    await insertPayments(
      { pool: transaction },
      part.map(({ receipt, amount, at, reference }) => {
        const told = {
          receipt,
          amount: { units: amount, scale: decimals },
          paidAt: at,
          reference: reference ?? undefined,
        }
        const payment = newPayment(deps, channel, told, { id: nextId(), at: receivedAt, isNotified: false })
        return { author, payment, account: channel.account }
      }),
    )
  }
  const back = lines.filter(({ kind }) => kind === 'reversal_missing')
  const nextId = await reserveIds(deps, 'payment', back.length)
  await insertReversals(
    { pool: transaction },
    back.map(({ receipt, reverses, amount, at }) => {
      const reversal = { organizationId, id: nextId(), channelId, receipt, reverses: reverses!, amount: -amount }
      return { author, reversal: { ...reversal, reversedAt: at, receivedAt } }
    }),
  )
}
