import { type Adapter, type Fields, json, type StatusTable, xml } from './adapter.ts'

/** The elements that stand around the transaction of a message, by the version of the broker. */
const AROUND = ['mpesaBroker.request.transaction', 'mpesaBroker.transaction']
const inBroker = (name: string) => AROUND.map((around) => `${around}.${name}`)

const [CONVERSATION, ORIGINATOR, TRANSACTION] = ['conversationID', 'originatorConversationID', 'transactionID'].map(
  (name) => `<${name}>{{${inBroker(name).join('|')}}}</${name}>`,
)

/** M-Pesa in Tanzania: the push of the XML broker. */
export const mpesaBroker: Adapter = {
  format: 'xml',
  headers: [],
  times: ['yyyy-MM-dd HH:mm:ss', 'yyyyMMddHHmmss', 'RFC 3339'],
  shapes: [
    ...AROUND.map((around) => ({
      tells: 'payment' as const,
      has: [`${around}.mpesaReceipt`],
      fields: {
        receipt: [`${around}.mpesaReceipt`],
        amount: [`${around}.amount`],
        paidAt: [`${around}.transactionDate`],
        reference: [`${around}.accountReference`],
        phone: [`${around}.initiator`],
      },
    })),
    { tells: 'nothing', has: ['mpesaBroker.result'], why: 'a result that tells of no payment' },
  ],
  received: xml(
    `<mpesaBroker version="2.0"><response>${CONVERSATION}${ORIGINATOR}<responseCode>0</responseCode><responseDesc>Received</responseDesc><serviceStatus>Confirming</serviceStatus>${TRANSACTION}</response></mpesaBroker>`,
  ),
  sample: {
    'mpesaBroker.request.transaction.commandID': 'Pay Bill',
    'mpesaBroker.request.transaction.recipient': '400200',
    'mpesaBroker.request.transaction.originatorConversationID': 'sim-1',
    'mpesaBroker.request.transaction.conversationID': 'sim-2',
    'mpesaBroker.request.transaction.transactionID': 'sim-3',
  },
}

const billPay = (result: 'TS' | 'TF', code: string, content: string) =>
  xml(
    `<COMMAND><TYPE>SYNC_BILLPAY_RESPONSE</TYPE><TXNID>{{COMMAND.TXNID}}</TXNID><REFID>{{COMMAND.TXNID}}</REFID><RESULT>${result}</RESULT><ERRORCODE>${code}</ERRORCODE><MSISDN>{{COMMAND.MSISDN}}</MSISDN><FLAG>${result === 'TS' ? 'Y' : 'N'}</FLAG><CONTENT>${content}</CONTENT></COMMAND>`,
  )

/** Mixx by Yas, formerly Tigo Pesa: the bill pay request in XML. */
export const mixxBillPay: Adapter = {
  format: 'xml',
  headers: [],
  times: [],
  shapes: [
    {
      tells: 'payment',
      has: ['COMMAND.TXNID'],
      fields: {
        receipt: ['COMMAND.TXNID'],
        amount: ['COMMAND.AMOUNT'],
        reference: ['COMMAND.CUSTOMERREFERENCEID'],
        phone: ['COMMAND.MSISDN'],
        name: ['COMMAND.SENDERNAME'],
      },
      status: { at: ['COMMAND.TYPE'], words: { SYNC_BILLPAY_REQUEST: 'done' }, absent: 'unknown' },
    },
  ],
  received: billPay('TS', 'error000', 'Received'),
  validation: {
    accepted: billPay('TS', 'error000', 'Accepted'),
    refused: {
      account: billPay('TF', 'error010', 'Wrong reference'),
      amount: billPay('TF', 'error012', 'Wrong amount'),
      other: billPay('TF', 'error100', 'Not readable'),
    },
  },
  sample: { 'COMMAND.TYPE': 'SYNC_BILLPAY_REQUEST', 'COMMAND.COMPANYNAME': '400200' },
}

/** AzamPay: payments of all networks of Tanzania. */
export const azampay: Adapter = {
  format: 'json',
  headers: [],
  times: [],
  shapes: [
    {
      tells: 'payment',
      has: ['transactionstatus'],
      fields: {
        receipt: ['reference'],
        amount: ['amount'],
        reference: ['utilityref'],
        phone: ['msisdn'],
      },
      status: {
        at: ['transactionstatus'],
        words: { success: 'done', failure: 'failed', failed: 'failed', pending: 'pending' },
        absent: 'unknown',
      },
    },
  ],
  received: json({ status: 'received' }),
  sample: { transactionstatus: 'success', message: 'Paid', operator: 'Mpesa', submerchantAcc: '' },
}

const selcomAnswer = (resultcode: string, result: 'SUCCESS' | 'FAIL', message: string) =>
  json({ reference: '{{reference}}', transid: '{{transid}}', resultcode, result, message })

const SELCOM_STATUS: StatusTable = {
  at: ['payment_status', 'resultcode'],
  words: {
    COMPLETED: 'done',
    '000': 'done',
    PENDING: 'pending',
    INPROGRESS: 'pending',
    '111': 'pending',
    CANCELLED: 'failed',
    USERCANCELED: 'failed',
    REJECTED: 'failed',
    '999': 'unknown',
  },
  absent: 'unknown',
}

const SELCOM_FIELDS: Fields = {
  receipt: ['transid'],
  amount: ['amount'],
  currency: ['currency'],
  phone: ['msisdn', 'phone'],
  name: ['name'],
}

/** Selcom: payments to a utility code, and the results of orders. */
export const selcom: Adapter = {
  format: 'json',
  headers: ['authorization', 'digest', 'digest-method', 'signed-fields', 'timestamp'],
  signature: 'fields',
  times: [],
  shapes: [
    {
      tells: 'payment',
      has: ['transid', 'utilityref'],
      fields: { ...SELCOM_FIELDS, reference: ['utilityref'] },
      status: { ...SELCOM_STATUS, absent: 'done' },
    },
    {
      tells: 'payment',
      has: ['transid', 'order_id'],
      fields: { ...SELCOM_FIELDS, reference: ['order_id'] },
      status: SELCOM_STATUS,
    },
  ],
  received: selcomAnswer('000', 'SUCCESS', 'Received'),
  validation: {
    accepted: selcomAnswer('000', 'SUCCESS', 'Accepted'),
    refused: {
      account: selcomAnswer('010', 'FAIL', 'Wrong reference'),
      amount: selcomAnswer('012', 'FAIL', 'Wrong amount'),
      other: selcomAnswer('999', 'FAIL', 'Not readable'),
    },
  },
  sample: { operator: 'AIRTELMONEY', reference: '0271082231' },
}
