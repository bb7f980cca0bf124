import { customer, newLoan, repayment } from '../openapi/examples.ts'

// A channel of a mobile wallet, and a payment that fits the loan of the story by its reference.

export const newChannel = {
  name: 'Wallet 400200',
  adapter: 'canonical' as const,
  shortCode: '400200',
  allowFrom: ['196.201.214.0/24'],
}

export const channel = {
  id: '1',
  name: newChannel.name,
  adapter: newChannel.adapter,
  shortCode: newChannel.shortCode,
  currencyCode: 'TZS',
  zone: 'Africa/Dar_es_Salaam',
  account: null,
  allowFrom: newChannel.allowFrom,
  autoAllocate: true,
  matchPhone: false,
  confirmAbove: null,
  signed: false,
  state: 'active' as const,
  createdAt: '2026-02-10T09:30:00.000+03:00',
}

export const shownChannel = {
  ...channel,
  inboundUrl: 'https://loans.example/in/6m0Yl2VZ4yR1u8bqTzKpXwJcN3eHfGdA',
  previousSecretUntil: null,
}

export const rotatedChannel = { ...shownChannel, previousSecretUntil: '2026-02-11T09:30:00.000+03:00' }

export const newPayment = {
  channelId: channel.id,
  receipt: 'SKL7XA9K2P',
  amount: 10_000,
  currencyCode: 'TZS',
  reference: customer.externalId,
  payerPhone: '255700000001',
}

export const payment = {
  id: '4000000000000001',
  channelId: channel.id,
  receipt: newPayment.receipt,
  status: 'unmatched',
  amount: 10_000,
  currencyCode: 'TZS',
  allocated: 0,
  returned: 0,
  reversed: 0,
  suspense: 10_000,
  paidAt: '2026-02-10T09:30:00.000+03:00',
  valueDate: '2026-02-10',
  reference: newPayment.reference,
  payerPhone: newPayment.payerPhone,
  payerName: null,
  awaitsStatement: false,
  cause: 'the customer of the reference fits 2 loans',
  allocations: [],
  candidates: [{ loanId: newLoan.id, why: 'customer_reference', open: true, currencyCode: 'TZS' }],
  receivedAt: '2026-02-10T09:30:00.000+03:00',
  updatedAt: '2026-02-10T09:30:00.000+03:00',
}

export const allocation = {
  loanId: newLoan.id,
  loanExternalId: newLoan.externalId,
  transactionId: repayment.id,
  amount: 10_000,
  date: payment.valueDate,
  status: 'posted' as const,
}

export const allocated = {
  ...payment,
  status: 'allocated',
  allocated: 10_000,
  suspense: 0,
  cause: null,
  allocations: [allocation],
  candidates: undefined,
}

export const takenBack = {
  ...payment,
  cause: 'It was for another loan',
  allocations: [{ ...allocation, status: 'reversed' as const }],
}

export const returned = { ...takenBack, status: 'returned', returned: 10_000, suspense: 0, candidates: undefined }

export const position = {
  channelId: channel.id,
  asOf: '2026-02-10',
  currencyCode: 'TZS',
  payments: 1,
  received: 10_000,
  allocated: 0,
  suspense: 10_000,
  returned: 0,
  reversed: 0,
}
