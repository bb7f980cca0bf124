import type { Chapter, StoryVariables } from '../../style.ts'

/** The groups of operations of the partner style, in the order of the work. */
export const TAGS = [
  { name: 'customers', description: 'Make and find customers. A customer is Active at once.' },
  { name: 'consents', description: 'Record what customers agree to, and what they withdraw.' },
  {
    name: 'loan products',
    description:
      'What can be lent, and what it would cost. Every term of a loan but its principal comes from a product. Creating and retiring one needs the role ADMIN.',
  },
  { name: 'loans', description: 'Lend, and read what a loan has become.' },
  { name: 'guarantors and collateral', description: 'Record who answers for a loan, and what it is secured by.' },
  {
    name: 'collections',
    description:
      'Whom to call, what was said and promised, and what is held meanwhile. Promises are judged by the repayments, whenever these are told.',
  },
  {
    name: 'repayments',
    description:
      'Post the money that customers pay, and read the transactions of a loan. Every operation takes a loan by its number or by your externalId.',
  },
  {
    name: 'documents',
    description: 'Give a customer a statement or a receipt, as PDF, CSV or JSON, and check one by its code.',
  },
  {
    name: 'corrections',
    description: 'Pay money back, waive interest, and adjust what was posted in error.',
  },
  {
    name: 'charges',
    description: 'Charge a loan with a single fee or penalty. Charging and reversing need the role ADMIN.',
  },
  {
    name: 'restructures',
    description:
      'Schedule what a loan owes again: a holiday, an extension, a roll-over. Restructuring and reversing need the role ADMIN.',
  },
  {
    name: 'losses and reversals',
    description: 'Charge off and write off a loan, post what is recovered of it, and reverse what was posted in error.',
  },
  {
    name: 'transactions',
    description: 'List what was posted on all loans or on one, to reconcile a day or to follow the book.',
  },
  {
    name: 'payment channels',
    description: 'Where payments come in. Reading needs the role ADMIN or AUDITOR, and every other operation ADMIN.',
  },
  {
    name: 'payments',
    description:
      'Payments that come in on your wallets and bank accounts: each is kept, goes to the loan that it fits, or waits in suspense for somebody.',
  },
  {
    name: 'reconciliation',
    description:
      'Compare the statement of a provider with the payments of its channel. Reading needs the role ADMIN or AUDITOR, and every other operation ADMIN.',
  },
  {
    name: 'exports',
    description:
      'Files for credit bureaux and supervisors, and what borrowers are told and say of their listing. Every operation needs the role ADMIN.',
  },
  {
    name: 'arrears',
    description: 'The policy by which you say how late your loans are. Setting one needs the role ADMIN.',
  },
  { name: 'credit', description: 'Read the score and the limit of a customer, and raise the limit by a statement.' },
  { name: 'customer status', description: 'Activate a customer that is Pending, and close one that has no open loan.' },
  { name: 'events', description: 'Follow what becomes of the book, in order and without a gap.' },
  {
    name: 'webhooks',
    description:
      'Have the events sent to you as they happen, signed. Reading needs the role ADMIN or AUDITOR, and every other operation ADMIN.',
  },
  {
    name: 'portfolio',
    description:
      'How late the whole book is: portfolio at risk, and the moves between buckets. Reading needs the role ADMIN or AUDITOR, and booking ADMIN.',
  },
  {
    name: 'accounting',
    description:
      'The journal of the loans on your chart of accounts, its balances, and the close of months. Reading needs the role ADMIN or AUDITOR, and every other operation ADMIN.',
  },
  {
    name: 'test clock',
    description:
      'Move the time of a test organization, to see what becomes of a loan. A live organization has no such clock.',
  },
  {
    name: 'organization',
    description: 'The settings of the lender. Changing them needs the role ADMIN.',
  },
  {
    name: 'people',
    description:
      'What people may ask of a lender by the law of data protection: to see, to correct and to erase what it knows.',
  },
  {
    name: 'approvals',
    description:
      'Reversals, adjustments, write-offs and waivers above `approvalAbove` of your organization wait here for a second ADMIN.',
  },
  { name: 'audit trail', description: 'Read who changed what, and when.' },
] as const

const MONEY = `\
An amount is a JSON number in the currency of the loan, \`currencyCode\`. It is exact: the service stores whole minor units. An
amount with more decimals than the currency has (TZS, KES, ETB: 2; UGX, RWF, BIF: 0) is refused, never rounded. The largest
amount is 999,999,999,999.99. Keep amounts as double or decimal, never as float32, which has only 7 digits.`

const IDS = `\
Ids of the service are strings that hold a number. Send them back as you received them. Products alone have an integer.
Customers and loans also have your own \`externalId\`, and \`/external/{externalId}\` addresses them by it. Prefer it: you know
it before the first answer comes.`

const DATES = `\
A date is \`YYYY-MM-DD\`, a day of the lender's time zone. An instant is RFC 3339 with the offset of that zone. A transaction
counts from its value date, \`transactionDate\`, also when it is posted later.`

const PAGING = `\
A list answers \`items\` and the \`total\` of all pages. \`page\` counts from 1, and \`rows\` is 1 to 100 (100 by default). A page
beyond the last one has no items. A value out of range is refused. Pages are for people: new items move the items
after them to other pages.

To read a whole list, follow the cursor: send the \`next\` of an answer as \`after\`, with the other parameters as before, until
an answer has no \`next\`. Nothing is missed and nothing comes twice. Keep the last \`next\`, and send it again later: it gives what
has come since.

To keep a copy of the book, begin with \`updatedSince\` on \`/v1/customers\`, \`/v1/loans\` and \`/v1/transactions\`, and follow the
cursor for ever: what changes comes again, in its new state. To reconcile a day, list \`/v1/transactions\` with
\`postedFrom\` and \`postedTo\` set to that day.`

const id = (operationId: string) => ({ operationId, at: ['id'] })

/** The ids of the story of the examples that the collection of requests has as variables. */
export const VARIABLES: StoryVariables = {
  chosen: {
    customerExternalId: { value: 'wallet-255700000001', members: ['externalId', 'customerId'] },
    loanExternalId: { value: 'order-2026-0001', members: ['externalId'] },
    receipt: { value: 'SKL7XA9K2P', members: ['receipt'] },
  },
  answered: {
    customerId: id('createCustomer'),
    newProductId: id('createLoanProduct'),
    consentId: id('createConsent'),
    secondConsentId: id('createConsentByExternalId'),
    loanId: id('createLoan'),
    guarantorId: id('createGuarantor'),
    secondGuarantorId: id('createGuarantorByLoanExternalId'),
    collateralId: id('createCollateral'),
    secondCollateralId: id('createCollateralByLoanExternalId'),
    promiseId: id('createPromise'),
    secondPromiseId: id('createPromiseByLoanExternalId'),
    holdId: id('createHold'),
    secondHoldId: id('createHoldByLoanExternalId'),
    repaymentId: id('postRepayment'),
    adjustedId: id('adjustTransaction'),
    chargeId: id('chargeLoan'),
    secondChargeId: id('chargeLoanByExternalId'),
    restructureId: { operationId: 'restructureLoan', at: ['restructures', 0, 'id'] },
    secondRestructureId: { operationId: 'restructureLoanByExternalId', at: ['restructures', 0, 'id'] },
    chargeOffId: id('chargeOffLoan'),
    writeOffId: id('writeOffLoan'),
    eventId: { operationId: 'listEvents', at: ['items', 0, 'id'] },
    endpointId: id('createWebhookEndpoint'),
    channelId: id('createPaymentChannel'),
    paymentId: id('postPayment'),
    reconciliationId: id('createReconciliation'),
    exportId: id('createExport'),
    disputeId: id('createDispute'),
    dataRequestId: id('createDataRequest'),
  },
  inPaths: {
    '/v1/customers/{id}': 'customerId',
    '/v1/customers/external/{externalId}': 'customerExternalId',
    '/v1/data-requests/{id}': 'dataRequestId',
    '/v1/customers/{id}/consents/{consentId}': 'consentId',
    '/v1/customers/external/{externalId}/consents/{consentId}': 'secondConsentId',
    '/v1/loans/{id}/guarantors/{guarantorId}': 'guarantorId',
    '/v1/loans/external/{externalId}/guarantors/{guarantorId}': 'secondGuarantorId',
    '/v1/loans/{id}/collateral/{collateralId}': 'collateralId',
    '/v1/loans/external/{externalId}/collateral/{collateralId}': 'secondCollateralId',
    '/v1/loans/{id}/promises/{promiseId}': 'promiseId',
    '/v1/loans/external/{externalId}/promises/{promiseId}': 'secondPromiseId',
    '/v1/loans/{id}/holds/{holdId}': 'holdId',
    '/v1/loans/external/{externalId}/holds/{holdId}': 'secondHoldId',
    '/v1/credit-scorecard/{customer}': 'customerExternalId',
    '/v1/loan-products/{id}/retire': 'newProductId',
    '/v1/loans/{id}': 'loanId',
    '/v1/loans/{id}/repayments/{transactionId}': 'repaymentId',
    '/v1/loans/{id}/repayments/{transactionId}/reverse': 'chargeOffId',
    '/v1/loans/{id}/charges/{transactionId}': 'chargeId',
    '/v1/loans/{id}/restructures/{transactionId}': 'restructureId',
    '/v1/loans/external/{externalId}/restructures/{transactionId}': 'secondRestructureId',
    '/v1/loans/external/{externalId}': 'loanExternalId',
    '/v1/loans/external/{externalId}/repayments/{transactionId}': 'repaymentId',
    '/v1/loans/external/{externalId}/repayments/{transactionId}/adjust': 'adjustedId',
    '/v1/loans/external/{externalId}/repayments/{transactionId}/reverse': 'writeOffId',
    '/v1/loans/external/{externalId}/charges/{transactionId}': 'secondChargeId',
    '/v1/events/{id}': 'eventId',
    '/v1/webhook-endpoints/{id}': 'endpointId',
    '/v1/payment-channels/{id}': 'channelId',
    '/v1/payments/{id}': 'paymentId',
    '/v1/reconciliations/{id}': 'reconciliationId',
    '/v1/exports/{id}': 'exportId',
    '/v1/loans/{id}/disputes/{disputeId}': 'disputeId',
  },
}

const RETRIES = `\
Send the same request again when no answer comes. Two things keep it from being done twice:

- \`idempotencyKey\` in the body of a repayment or a recovery: your own id of the payment, unique on its loan, kept for ever. Use
  it for all money that customers pay. The same key again gets the original transaction, whatever else the body says.
- The header \`Idempotency-Key\`, on any POST, kept for 30 days: the same request gets the stored answer, and another request
  with the same key is refused. Use it for what has no id of yours.

An answer that repeats an earlier one carries \`Idempotency-Replayed: true\`. A refused request uses up no key.`

const STATES = `\
- \`Active\`: something is owed.
- \`Overpaid\`: more was paid than was owed. The lender pays it out.
- \`Closed (obligations met)\`: nothing is owed on either side.
- \`Closed (written off)\`: the lender has given up the debt. Recoveries can still come.

The status follows from the transactions. A later or a back-dated transaction, or a reversal, may change it in any direction.
\`chargedOff\` is a mark on an Active loan, not a status.`

export const CHAPTERS: readonly Chapter[] = [
  ['Money', MONEY],
  ['Ids', IDS],
  ['Dates and times', DATES],
  ['Paging and sync', PAGING],
  ['Safe retries', RETRIES],
  ['The states of a loan', STATES],
]
