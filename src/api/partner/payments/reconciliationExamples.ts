import { channel, payment } from './examples.ts'

// The statement of the wallet of the story: the payment, and one of which no message came.

export const newReconciliation = {
  channelId: channel.id,
  from: '2026-02-10',
  to: '2026-02-10',
  lines: [
    { receipt: payment.receipt, at: '2026-02-10T09:29:40+03:00', amount: 10_000, reference: payment.reference },
    { receipt: 'SKL7XA9K3R', at: '2026-02-10T11:02:07+03:00', amount: 2_500, reference: 'order-2026-0001' },
  ],
}

const none = { lines: 0, amount: 0 }

export const reconciliation = {
  id: '4000000000000003',
  channelId: channel.id,
  from: newReconciliation.from,
  to: newReconciliation.to,
  layout: 'lines',
  matched: { lines: 1, amount: 10_000 },
  missingHere: { lines: 1, amount: 2_500 },
  missingThere: none,
  amountDiffers: none,
  reversals: none,
  reversalsMissing: none,
  other: none,
  difference: 2_500,
  balanced: false,
  createdAt: '2026-02-11T08:00:00.000+03:00',
  updatedAt: '2026-02-11T08:00:00.000+03:00',
}

export const applied = {
  ...reconciliation,
  matched: { lines: 2, amount: 12_500 },
  missingHere: none,
  difference: 0,
  balanced: true,
}

export const line = {
  line: 2,
  kind: 'missing_here',
  receipt: 'SKL7XA9K3R',
  at: '2026-02-10T11:02:07.000+03:00',
  amount: 2_500,
  reference: 'order-2026-0001',
  reverses: null,
  paymentId: null,
}
