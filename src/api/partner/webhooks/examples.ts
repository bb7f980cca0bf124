import { EVERY_TYPE } from '../../../domain/webhooks/webhooks.ts'

// The endpoint of a partner that wants the events of loans and repayments, as the document shows it.

export const newEndpoint = {
  url: 'https://hooks.wallet.example/mkopo',
  types: ['loan.*', 'repayment.*'],
  style: 'partner' as const,
  description: 'Wallet, production',
  from: 'now',
}

export const endpoint = {
  id: '1',
  url: newEndpoint.url,
  types: newEndpoint.types,
  style: newEndpoint.style,
  description: newEndpoint.description,
  state: 'active',
  stateReason: null,
  behind: 0,
  oldestUndeliveredAt: null,
  nextAttemptAt: null,
  createdAt: '2026-02-10T09:30:00.000+03:00',
}

export const changeOfEndpoint = { types: [EVERY_TYPE], state: 'active' as const }

export const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw1Q2W3E4R5T6='

export const created = { ...endpoint, secret, previousSecretUntil: null }

export const rotated = { ...created, previousSecretUntil: '2026-02-11T09:30:00.000+03:00' }

export const delivery = {
  id: '7',
  eventId: 'evt_1_3',
  type: 'repayment.posted',
  state: 'delivered',
  attempt: 1,
  at: '2026-02-10T09:30:01.000+03:00',
  status: 204,
  ms: 84,
  error: null,
  nextAttemptAt: null,
}

export const tested = {
  eventId: 'evt_1_test_0d9a4f0e-6c1e-4d5f-9a9b-0f3c2b1a7e55',
  status: 204,
  ms: 84,
  error: null,
  answer: '',
}
