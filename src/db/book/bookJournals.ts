import { type BookingTexts, bookingOf } from '../../domain/accounting/provisions.ts'
import { amountsBy, SLOTS, type Slot } from '../../domain/accounting/slots.ts'
import type { ProvisionPosting, TrailedBooking } from '../../domain/bookCheck/journalRules.ts'
import type { CheckedChart, CheckedHead, CheckedMonth } from '../../domain/bookCheck/journalTrail.ts'
import { BOOKING, BOOKING_TEXTS } from '../accounting/provisions.ts'
import type { Snapshot } from '../postgres/transaction.ts'

interface OfOrganization {
  readonly organizationId: number
}

/** What the trail says was set and closed; ids that no keeper reads are left out. */
const SET = `SELECT organization_id, id, at, after, entity_id::int AS version FROM audit_entry
  WHERE entity = 'accounting chart' AND action = 'set' AND entity_id ~ '^[1-9][0-9]{0,8}$'`
const CLOSED = `SELECT organization_id, id, at, entity_id AS month FROM audit_entry
  WHERE entity = 'accounting period' AND action = 'close' AND entity_id ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'`

const HEADS = `
  SELECT j.organization_id AS "organizationId", j.change_id AS "changeId", j.sequence, j.open_from AS "openFrom",
    j.chart_version AS "chartVersion", j.walked_to AS "walkedTo", coalesce(c.change_id, 0) AS "sealedTo",
    coalesce((SELECT e.sequence FROM event e WHERE e.organization_id = j.organization_id AND e.change_id <= j.change_id
      AND e.sequence IS NOT NULL ORDER BY e.change_id DESC, e.part DESC LIMIT 1), 0) AS told,
    (SELECT a.entity FROM audit_entry a WHERE a.organization_id = j.organization_id AND a.id = j.change_id) AS entity,
    coalesce((SELECT max(change_id) FROM posting WHERE organization_id = j.organization_id), 0) AS "postedTo",
    coalesce((SELECT max(version) FROM (${SET}) AS s WHERE s.organization_id = j.organization_id AND s.id <= j.change_id), 1) AS "chartSet"
  FROM journal j LEFT JOIN event_chain c ON c.organization_id = j.organization_id
  WHERE $1::int IS NULL OR j.organization_id = $1`

const MONTHS = `
  SELECT coalesce(a.organization_id, p.organization_id) AS "organizationId", coalesce(a.month, p.month::text) AS month,
    a.id AS "changeId", a.at, p.month IS NOT NULL AS "isThere", p.closed_at AS "closedAt", p.close_sequence AS "closeSequence",
    p.trial_balance_hash AS "trialBalanceHash", coalesce(j.change_id, 0) AS "keptTo",
    (SELECT max(e.sequence) FROM event e WHERE e.organization_id = a.organization_id AND e.change_id = a.id) AS told
  FROM (${CLOSED}) AS a FULL JOIN accounting_period p
    ON p.organization_id = a.organization_id AND p.month = (a.month || '-01')::date
  LEFT JOIN journal j ON j.organization_id = coalesce(a.organization_id, p.organization_id)
  WHERE $1::int IS NULL OR coalesce(a.organization_id, p.organization_id) = $1 ORDER BY 1, 2`

const CHARTS = `
  SELECT a.organization_id AS "organizationId", a.version, a.id AS "changeId", c.taken_up AS "takenUp",
    c.counts_from AS "countsFrom", coalesce(j.change_id, 0) AS "keptTo"
  FROM (${SET}) AS a LEFT JOIN accounting_chart c ON c.organization_id = a.organization_id AND c.version = a.version
  LEFT JOIN journal j ON j.organization_id = a.organization_id
  WHERE $1::int IS NULL OR a.organization_id = $1 ORDER BY 1, 2`

/** The rows of the journals of an organization or of all, each with what the trail says of it. */
export interface TrailedJournals {
  readonly heads: readonly (CheckedHead & OfOrganization)[]
  readonly months: readonly (CheckedMonth & OfOrganization)[]
  readonly charts: readonly (CheckedChart & OfOrganization)[]
}

/** Reads the heads of journals, the months and the charts, each with what the trail says of it. */
export async function readTrailedJournals(
  snapshot: Snapshot,
  organizationId: number | undefined,
): Promise<TrailedJournals> {
  const values = [organizationId ?? null]
  return {
    heads: (await snapshot.query<CheckedHead & OfOrganization>({ text: HEADS, values })).rows,
    months: (await snapshot.query<CheckedMonth & OfOrganization>({ text: MONTHS, values })).rows,
    charts: (await snapshot.query<CheckedChart & OfOrganization>({ text: CHARTS, values })).rows,
  }
}

const BOOKINGS = `
  SELECT a.organization_id AS "organizationId", a.id AS "changeId", a.at, ${BOOKING_TEXTS},
    (SELECT max(e.sequence) FROM event e WHERE e.organization_id = a.organization_id AND e.change_id = a.id) AS told
  FROM audit_entry a JOIN journal j ON j.organization_id = a.organization_id AND a.id <= j.change_id
  WHERE a.entity = '${BOOKING}' AND a.action = 'book' AND ($1::int IS NULL OR a.organization_id = $1)
  ORDER BY a.organization_id, a.id`

const POSTINGS = `
  SELECT organization_id AS "organizationId", id, change_id AS "changeId", sequence, product_id AS "productId", currency,
    transaction_id AS "transactionId", method, contribution, value_date AS "valueDate", booked_on AS "bookedOn",
    posted_at AS "postedAt", ${SLOTS.join(', ')}
  FROM posting WHERE loan_id IS NULL AND moved_from IS NULL AND kind = 'provision'
    AND ($1::int IS NULL OR organization_id = $1) ORDER BY organization_id, id`

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

/** Reads the postings of provisions, of an organization or of all, in their order. */
export async function readProvisionPostings(
  snapshot: Snapshot,
  organizationId: number | undefined,
): Promise<(ProvisionPosting & OfOrganization)[]> {
  type Row = Omit<ProvisionPosting, 'amounts'> & OfOrganization & Record<Slot, bigint | null>
  const { rows } = await snapshot.query<Row>({ text: POSTINGS, values: [organizationId ?? null] })
  return rows.map((row) => ({ ...row, amounts: amountsBy((slot) => row[slot] ?? 0n) }))
}
