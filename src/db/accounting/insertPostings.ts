import type { PostingKind } from '../../domain/accounting/postingKinds.ts'
import { SLOTS, type SlotAmounts, summedSlot } from '../../domain/accounting/slots.ts'
import type { LocalDate } from '../../domain/dates.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { type ColumnTypes, columnValues, tableOf } from '../queries/rows.ts'
import { statement } from '../queries/statement.ts'

/** A posting about to be made. */
export interface NewPosting {
  readonly id: bigint
  readonly sequence: bigint
  readonly changeId: bigint | null
  readonly loanId: bigint | null
  readonly productId: number
  readonly currency: string
  readonly transactionId: bigint | null
  readonly kind: PostingKind
  readonly valueDate: LocalDate
  readonly bookedOn: LocalDate
  readonly postedAt: string | null
  readonly amounts: SlotAmounts
  readonly method: string | null
  readonly contribution: string | null
  /** The versions of the chart between which amounts move; null where none do. */
  readonly moved: { readonly from: number; readonly to: number } | null
  /** Of a payment: its id, and the account of its channel, null where that is the one of `cash`. */
  readonly payment?: { readonly id: bigint; readonly account: string | null }
}

const POSTING: ColumnTypes = {
  id: 'bigint',
  sequence: 'bigint',
  change_id: 'bigint',
  loan_id: 'bigint',
  product_id: 'int',
  currency: 'text',
  transaction_id: 'bigint',
  kind: 'text',
  value_date: 'date',
  booked_on: 'date',
  posted_at: 'timestamptz',
  method: 'text',
  contribution: 'text',
  moved_from: 'int',
  moved_to: 'int',
  cash_account: 'text',
  payment_id: 'bigint',
  ...Object.fromEntries(SLOTS.map((slot) => [slot, 'bigint'])),
}

const DAY: ColumnTypes = {
  booked_on: 'date',
  value_date: 'date',
  currency: 'text',
  product_id: 'int',
  slot: 'text',
  debit: 'bigint',
  credit: 'bigint',
}

const DAYS = 'day.'

const insert = statement<Record<string, unknown> & { organizationId: number }>(
  'insert-postings',
  (p) => `
  WITH added AS (
    INSERT INTO posting (organization_id, ${Object.keys(POSTING).join(', ')})
    SELECT ${p('organizationId')}::int, n.* FROM ${tableOf('n', POSTING, (column) => p(column))}
  )
  INSERT INTO posting_day AS d (organization_id, ${Object.keys(DAY).join(', ')})
  SELECT ${p('organizationId')}::int, n.* FROM ${tableOf('n', DAY, (column) => p(DAYS + column))}
  ON CONFLICT (organization_id, booked_on, value_date, currency, product_id, slot)
  DO UPDATE SET debit = d.debit + excluded.debit, credit = d.credit + excluded.credit`,
)

/** Inserts postings, and adds them to the sums of their days; what moves between accounts is in no sum. */
export async function insertPostings(
  transaction: Transaction,
  organizationId: number,
  postings: readonly NewPosting[],
): Promise<void> {
  if (postings.length === 0) return
  const rows = postings.map(({ moved, amounts, payment, ...one }) => [
    one.id,
    one.sequence,
    one.changeId,
    one.loanId,
    one.productId,
    one.currency,
    one.transactionId,
    one.kind,
    one.valueDate,
    one.bookedOn,
    one.postedAt,
    one.method,
    one.contribution,
    moved?.from ?? null,
    moved?.to ?? null,
    payment?.account ?? null,
    payment?.id ?? null,
    ...SLOTS.map((slot) => (amounts[slot] === 0n ? null : amounts[slot])),
  ])
  const days = daysOf(postings.filter(({ moved }) => moved === null))
  await transaction.query(insert({ organizationId, ...columnValues(POSTING, rows), ...columnValues(DAY, days, DAYS) }))
}

/** Sums postings by day, currency, product and slot. Sorted: two that add to the same rows never wait in a circle. */
function daysOf(postings: readonly NewPosting[]): unknown[][] {
  const sums = new Map<string, { readonly key: unknown[]; debit: bigint; credit: bigint }>()
  for (const { bookedOn, valueDate, currency, productId, amounts, payment } of postings)
    for (const slot of SLOTS) {
      const amount = amounts[slot]
      if (amount === 0n) continue
      const key = [bookedOn, valueDate, currency, productId, summedSlot(slot, payment?.account ?? null)]
      const name = key.join(' ')
      const sum = sums.get(name) ?? { key, debit: 0n, credit: 0n }
      if (amount > 0n) sum.debit += amount
      else sum.credit -= amount
      sums.set(name, sum)
    }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, { key, debit, credit }]) => [...key, debit, credit])
}
