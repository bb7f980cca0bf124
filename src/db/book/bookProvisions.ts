import type { ProvisionPosting, TrailedBooking } from '../../domain/bookCheck/provisionRules.ts'
import { type BookingTexts, bookingOf } from '../../domain/journal/provisions.ts'
import { amountsBy, SLOTS, type Slot } from '../../domain/journal/slots.ts'
import { BOOKING, BOOKING_TEXTS } from '../journal/provisions.ts'
import type { Snapshot } from '../postgres/transaction.ts'

interface OfOrganization {
  readonly organizationId: number
}

const BOOKINGS = `
  SELECT a.organization_id AS "organizationId", a.id AS "changeId", a.at, ${BOOKING_TEXTS},
    (SELECT max(e.sequence) FROM event e WHERE e.organization_id = a.organization_id AND e.change_id = a.id) AS told
  FROM audit_entry a JOIN journal j ON j.organization_id = a.organization_id AND a.id <= j.change_id
  WHERE a.entity = '${BOOKING}' AND a.action = 'book' AND ($1::int IS NULL OR a.organization_id = $1)
  ORDER BY a.organization_id, a.id`

/** Reads the bookings of provisions that the journals have come to, of an organization or of all, in their order. */
export async function readBookings(
  snapshot: Snapshot,
  organizationId: number | undefined,
): Promise<(TrailedBooking & OfOrganization)[]> {
  const values = [organizationId ?? null]
  const { rows } = await snapshot.query<Omit<TrailedBooking, 'booking'> & OfOrganization & BookingTexts>({
    text: BOOKINGS,
    values,
  })
  return rows.map(({ asOf, provisions, ...row }) => ({ ...row, booking: bookingOf({ asOf, provisions }) }))
}

const POSTINGS = `
  SELECT organization_id AS "organizationId", id, change_id AS "changeId", sequence, product_id AS "productId", currency,
    transaction_id AS "transactionId", method, contribution, value_date AS "valueDate", booked_on AS "bookedOn",
    posted_at AS "postedAt", ${SLOTS.join(', ')}
  FROM posting WHERE loan_id IS NULL AND moved_from IS NULL AND kind = 'provision'
    AND ($1::int IS NULL OR organization_id = $1) ORDER BY organization_id, id`

/** Reads the postings of provisions, of an organization or of all, in their order. */
export async function readProvisionPostings(
  snapshot: Snapshot,
  organizationId: number | undefined,
): Promise<(ProvisionPosting & OfOrganization)[]> {
  type Row = Omit<ProvisionPosting, 'amounts'> & OfOrganization & Record<Slot, bigint | null>
  const { rows } = await snapshot.query<Row>({ text: POSTINGS, values: [organizationId ?? null] })
  return rows.map((row) => ({ ...row, amounts: amountsBy((slot) => row[slot] ?? 0n) }))
}
