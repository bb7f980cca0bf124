import { customer } from '../openapi/examples.ts'

export const newDataRequest = { kind: 'access' as const, reason: 'Asked at the counter in Mwanza' }

export const dataRequest = {
  id: '1',
  customerId: customer.id,
  kind: newDataRequest.kind,
  state: 'open' as const,
  reason: newDataRequest.reason,
  proposed: false,
  askedAt: '2026-06-01T09:00:00.000+03:00',
  askedBy: 1,
  dueOn: '2026-06-08',
  obstacles: [],
}

const decided = { decidedAt: '2026-06-02T09:00:00.000+03:00', decidedBy: 1 }

export const answer = { note: 'Sent by e-mail' }

export const completed = { ...dataRequest, ...decided, ...answer, state: 'done' as const }

export const refusal = { note: 'The person could not be identified' }

export const refused = { ...completed, ...refusal, state: 'refused' as const }

export const withdrawn = { ...dataRequest, ...decided, state: 'withdrawn' as const }

const { reason: _, ...withoutReason } = dataRequest

export const confirmed = {
  ...withoutReason,
  ...decided,
  decidedBy: 2,
  kind: 'erasure' as const,
  state: 'done' as const,
}
