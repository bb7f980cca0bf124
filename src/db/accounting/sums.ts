import type { StoredAmounts } from '../../domain/accounting/lines.ts'
import { SLOTS, type SummedSlot } from '../../domain/accounting/slots.ts'
import type { Basis, Posted, SlotSum, Transfer } from '../../domain/accounting/trialBalance.ts'
import type { LocalDate } from '../../domain/dates.ts'
import type { Queries } from '../queries/statement.ts'
import { statement } from '../queries/statement.ts'

/** The postings that are summed up: those of an organization up to a day, of one product or of all. */
export interface PostedUpTo {
  readonly organizationId: number
  readonly basis: Basis
  /** The last booked day, or the last value date. */
  readonly asOf: LocalDate
  readonly productId: number | null
}

type Asked = Omit<PostedUpTo, 'basis'>

/** The column of the day from which a posting counts. */
const DAY: Readonly<Record<Basis, string>> = { booked: 'booked_on', economic: 'value_date' }

const sumSlots = (basis: Basis) =>
  statement<Asked & { turns: readonly LocalDate[] }>(
    `sum-slots-${basis}`,
    (p) => `
    SELECT currency, slot, width_bucket(booked_on, ${p('turns')}::date[]) AS turn,
      sum(debit)::text AS debit, sum(credit)::text AS credit
    FROM posting_day
    WHERE organization_id = ${p('organizationId')} AND ${DAY[basis]} <= ${p('asOf')}::date
      AND (${p('productId')}::int IS NULL OR product_id = ${p('productId')})
    GROUP BY currency, slot, turn`,
  )

const findTransfers = (basis: Basis) =>
  statement<Asked>(
    `find-transfers-${basis}`,
    (p) => `
    SELECT currency, booked_on AS "bookedOn", moved_from, moved_to, ${SLOTS.join(', ')}
    FROM posting
    WHERE organization_id = ${p('organizationId')} AND loan_id IS NULL AND moved_from IS NOT NULL AND ${DAY[basis]} <= ${p('asOf')}::date
      AND (${p('productId')}::int IS NULL OR product_id = ${p('productId')})
    ORDER BY id`,
  )

const SUM_SLOTS = { booked: sumSlots('booked'), economic: sumSlots('economic') }
const FIND_TRANSFERS = { booked: findTransfers('booked'), economic: findTransfers('economic') }

interface SumRow {
  readonly currency: string
  readonly slot: SummedSlot
  readonly turn: number
  readonly debit: string
  readonly credit: string
}

type TransferRow = StoredAmounts & Pick<Transfer, 'currency' | 'bookedOn'> & { moved_from: number; moved_to: number }

/**
 * Reads what was posted up to a day: the sums by slot, and the transfers. No other posting is read.
 * @param turns the days on which another chart begins to count, in their order; a sum is of the days between two of them
 */
export async function readPosted(
  { pool }: Queries,
  { basis, ...asked }: PostedUpTo,
  turns: readonly LocalDate[],
): Promise<Posted> {
  const { rows: sums } = await pool.query<SumRow>(SUM_SLOTS[basis]({ ...asked, turns }))
  const { rows: transfers } = await pool.query<TransferRow>(FIND_TRANSFERS[basis](asked))
  return {
    sums: sums.map(({ turn, debit, credit, ...sum }): SlotSum => {
      return { ...sum, bookedFrom: turns[turn - 1] ?? null, debit: BigInt(debit), credit: BigInt(credit) }
    }),
    transfers: transfers.map(({ currency, bookedOn, moved_from: from, moved_to: to, ...amounts }): Transfer => {
      return { currency, bookedOn, move: { from, to }, amounts, cashAccount: null }
    }),
  }
}
