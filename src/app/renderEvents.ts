import { toEvent as toPartnerEvent } from '../api/partner/events/events.wire.ts'
import { toEvent as toRecordEvent } from '../api/record/events/events.wire.ts'
import type { Render } from '../services/webhooks/delivery.ts'

/** Returns what writes an event in the words of each style. */
export const renderEvents = (zone: string): Render => ({
  partner: (event, organization) => toPartnerEvent(event, organization, zone),
  record: (event, organization) => toRecordEvent(event, organization, zone),
})
