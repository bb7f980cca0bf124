import { type Adapter, json, type StatusTable } from './adapter.ts'

const OK = json({ status: 'received' })

const refusal = (reason: string) => json({ accepted: false, reason })

/** The messages of a lender's own system, or of any provider for which somebody translates: the words of this service. */
export const canonical: Adapter = {
  format: 'json',
  headers: [],
  times: ['RFC 3339', 'yyyyMMddHHmmss', 'yyyy-MM-dd HH:mm:ss'],
  shapes: [
    {
      tells: 'reversal',
      has: ['receipt', 'reverses'],
      fields: {
        receipt: ['receipt'],
        reverses: ['reverses'],
        amount: ['amount'],
        currency: ['currencyCode'],
        paidAt: ['paidAt'],
      },
      status: { at: ['status'], words: { completed: 'done', failed: 'failed', pending: 'pending' }, absent: 'done' },
    },
    {
      tells: 'payment',
      has: ['receipt'],
      fields: {
        receipt: ['receipt'],
        amount: ['amount'],
        currency: ['currencyCode'],
        paidAt: ['paidAt'],
        reference: ['reference'],
        phone: ['payerPhone'],
        name: ['payerName'],
      },
      status: { at: ['status'], words: { completed: 'done', failed: 'failed', pending: 'pending' }, absent: 'done' },
    },
  ],
  received: OK,
  validation: {
    accepted: json({ accepted: true }),
    refused: {
      account: refusal('account'),
      amount: refusal('amount'),
      other: refusal('other'),
    },
  },
  sample: {},
}

const rejected = (code: string) => json({ ResultCode: code, ResultDesc: 'Rejected' })
const parameter = (key: string) => `Result.ResultParameters.ResultParameter[Key=${key}].Value`

/** M-Pesa in Kenya: C2B of Daraja, both versions, and the result of a reversal. */
export const daraja: Adapter = {
  format: 'json',
  headers: [],
  times: ['yyyyMMddHHmmss', 'dd.MM.yyyy HH:mm:ss'],
  shapes: [
    {
      tells: 'payment',
      has: ['TransID'],
      fields: {
        receipt: ['TransID'],
        amount: ['TransAmount'],
        paidAt: ['TransTime'],
        reference: ['BillRefNumber'],
        phone: ['MSISDN'],
        name: ['FirstName', 'MiddleName', 'LastName'],
      },
    },
    {
      tells: 'reversal',
      has: ['Result.TransactionID', parameter('OriginalTransactionID')],
      fields: {
        receipt: ['Result.TransactionID'],
        reverses: [parameter('OriginalTransactionID')],
        amount: [parameter('Amount')],
        paidAt: [parameter('TransCompletedTime')],
      },
      status: { at: ['Result.ResultCode'], words: { '0': 'done' }, absent: 'unknown' },
    },
    {
      tells: 'nothing',
      has: ['Body.stkCallback'],
      why: 'the result of a prompt to pay: the confirmation tells of the payment, with its reference',
    },
    { tells: 'nothing', has: ['Result'], why: 'a result that tells of no payment and takes none back' },
  ],
  received: json({ ResultCode: 0, ResultDesc: 'Accepted' }),
  validation: {
    accepted: json({ ResultCode: '0', ResultDesc: 'Accepted' }),
    refused: { account: rejected('C2B00012'), amount: rejected('C2B00013'), other: rejected('C2B00016') },
  },
  sample: {
    TransactionType: 'Pay Bill',
    BusinessShortCode: '600638',
    InvoiceNumber: '',
    OrgAccountBalance: '',
    ThirdPartyTransID: '',
  },
}

/** TA is ambiguous: only an enquiry at the provider decides it. */
const AIRTEL_WORDS: StatusTable['words'] = {
  TS: 'done',
  TF: 'failed',
  TIP: 'pending',
  TA: 'unknown',
  TR: 'reversed',
}

/** Airtel Money: what payers send to a pay-bill number, and the results of requests to pay. */
export const airtel: Adapter = {
  format: 'json',
  headers: [],
  times: [],
  shapes: [
    {
      tells: 'payment',
      has: ['transactionId'],
      fields: {
        receipt: ['transactionId'],
        amount: ['amount'],
        currency: ['currency'],
        reference: ['accountNumber'],
        phone: ['msisdn'],
      },
      status: { at: ['status_code', 'status'], words: AIRTEL_WORDS, absent: 'done' },
    },
    {
      tells: 'payment',
      has: ['transaction'],
      fields: {
        receipt: ['transaction.airtel_money_id'],
        amount: ['transaction.amount'],
        currency: ['transaction.currency'],
        reference: ['transaction.id'],
        phone: ['transaction.msisdn'],
      },
      status: { at: ['transaction.status_code'], words: AIRTEL_WORDS, absent: 'unknown' },
    },
  ],
  received: OK,
  sample: { businessShortCode: '600638' },
}

/** MTN Mobile Money: the results of requests to pay, by POST or PUT. */
export const mtnCollection: Adapter = {
  format: 'json',
  headers: ['x-reference-id'],
  times: [],
  shapes: [
    {
      tells: 'payment',
      has: ['status', 'amount'],
      fields: {
        receipt: ['financialTransactionId'],
        amount: ['amount'],
        currency: ['currency'],
        reference: ['externalId'],
        phone: ['payer.partyId'],
      },
      status: {
        at: ['status'],
        words: { SUCCESSFUL: 'done', FAILED: 'failed', PENDING: 'pending' },
        absent: 'unknown',
      },
    },
    { tells: 'nothing', has: ['status'], why: 'a result without an amount' },
  ],
  received: OK,
  sample: { status: 'SUCCESSFUL', 'payer.partyIdType': 'MSISDN', payerMessage: '', payeeNote: '' },
}

const PAWAPAY_STATUS: StatusTable = {
  at: ['status'],
  words: {
    COMPLETED: 'done',
    FAILED: 'failed',
    REJECTED: 'failed',
    ACCEPTED: 'pending',
    SUBMITTED: 'pending',
    ENQUEUED: 'pending',
    PROCESSING: 'pending',
  },
  absent: 'unknown',
}

/** pawaPay: deposits, and refunds of them. */
export const pawapay: Adapter = {
  format: 'json',
  headers: ['content-digest', 'signature', 'signature-date', 'signature-input'],
  signature: 'request',
  times: ['RFC 3339'],
  shapes: [
    { tells: 'nothing', has: ['payoutId'], why: 'a payout: money that went out' },
    {
      tells: 'reversal',
      has: ['refundId', 'depositId'],
      fields: {
        receipt: ['refundId'],
        reverses: ['depositId'],
        amount: ['refundedAmount', 'amount'],
        currency: ['currency'],
        paidAt: ['created'],
      },
      status: PAWAPAY_STATUS,
    },
    { tells: 'nothing', has: ['refundId'], why: 'a refund that does not name its deposit' },
    {
      tells: 'payment',
      has: ['depositId'],
      fields: {
        receipt: ['depositId'],
        amount: ['depositedAmount', 'amount'],
        currency: ['currency'],
        paidAt: ['created', 'customerTimestamp'],
        reference: ['clientReferenceId', 'metadata.reference'],
        phone: ['payer.accountDetails.phoneNumber', 'payer.address.value'],
      },
      status: PAWAPAY_STATUS,
    },
  ],
  received: OK,
  sample: { status: 'COMPLETED', 'payer.type': 'MMO' },
}
