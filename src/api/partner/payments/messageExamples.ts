import { channel, newPayment } from './examples.ts'

// A message of the channel of the story, of which no payment came.

export const message = {
  id: '1',
  channelId: channel.id,
  state: 'unreadable' as const,
  outcome: 'amount: is missing',
  paymentId: null,
  receivedAt: '2026-02-10T09:30:00.000+03:00',
  decidedAt: '2026-02-10T09:30:00.250+03:00',
}

export const openedMessage = {
  ...message,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"receipt":"SKL7XA9K2P"}',
  encoding: 'utf8' as const,
}

export const reopenedMessage = { ...message, state: 'pending' as const, outcome: null, decidedAt: null }

export const simulation = {
  channelId: channel.id,
  payments: [{ reference: newPayment.reference, amount: 10_000, payerPhone: newPayment.payerPhone }],
  faults: { repeat: 1 },
}

const sent = {
  receipt: 'SIMMLGGMPC0000',
  reverses: null,
  message:
    '{"receipt":"SIMMLGGMPC0000","amount":"10000.00","currencyCode":"TZS","paidAt":"2026-02-10T09:30:00.000+03:00","reference":"loan-1001","payerPhone":"255700000001"}',
  answer: '{"status":"received"}',
}

export const simulated = { sent: [sent, sent] }
