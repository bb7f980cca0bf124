import { consent, customer, identity, newLoan, scorecard } from '../openapi/examples.ts'

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

export const knownCustomer = {
  id: customer.id,
  accountNo: customer.accountNo,
  externalId: customer.externalId,
  status: customer.status,
  activationDate: customer.activationDate,
  createdAt: customer.createdAt,
  updatedAt: customer.updatedAt,
}

export const decision = {
  id: '1',
  kind: 'score' as const,
  decidedAt: '2026-06-01T09:00:00.000+03:00',
  policyVersion: 'default-1',
  grade: scorecard.grade,
  creditScore: scorecard.creditScore,
  creditLimit: scorecard.creditLimit,
  currencyCode: scorecard.currencyCode,
  reasons: scorecard.reasons,
  facts: { boosted: null },
}

export const issued = {
  kind: 'statement' as const,
  loanId: newLoan.id,
  from: '2026-01-31',
  to: '2026-06-01',
  language: 'en',
  madeAt: '2026-06-01T09:00:00.000+03:00',
}

export const told = {
  exportId: '4000000000000001',
  format: 'ke_dst_4_1_mobile',
  asOf: '2026-05-31',
  mode: 'full',
  accepted: true,
  loanId: newLoan.id,
}

export const result = {
  madeAt: dataRequest.askedAt,
  lenderName: 'Demo Lender',
  request: dataRequest,
  customer: knownCustomer,
  identity,
  consents: [consent],
  loans: [],
  transactions: [],
  guarantors: [],
  guarantees: [],
  collateral: [],
  payments: [],
  creditDecisions: [decision],
  documents: [],
  dataRequests: [dataRequest],
  listingNotices: [],
  contacts: [],
  promises: [],
  holds: [],
  disputes: [],
  files: [told],
}
