import type { Chapter, StoryVariables } from '../../style.ts'

/** The groups of operations of the record style, in the order of the work. */
export const TAGS = [
  { name: 'borrowers', description: 'Keep the borrowers under ids of your own.' },
  { name: 'consents', description: 'Record what borrowers agree to, and what they withdraw.' },
  { name: 'loans', description: 'Book loans and change their terms.' },
  { name: 'guarantors and collateral', description: 'Record who answers for a loan, and what it is secured by.' },
  { name: 'repayments', description: 'Post and read repayments.' },
  { name: 'documents', description: 'Give a borrower a statement or a receipt, and check one by its code.' },
  { name: 'events', description: 'Follow what becomes of the book, in order and without a gap.' },
] as const

const KEYS = `\
This style also takes an API key (\`mk_…\`) as the Bearer value; the operator of the service makes it. The header \`x-user-id\`
may carry the id of your organization, and no other.`

const MONEY = `\
An amount is a JSON number in the currency of the loan. It is exact: the service stores whole minor units. An amount with more
decimals than the currency has (TZS, KES, ETB: 2; UGX, RWF, BIF: 0) is refused, never rounded. The largest amount is
999,999,999,999.99. Keep amounts as double or decimal, never as float32, which has only 7 digits.`

const IDS = `\
Ids are your own: integers from 1 to 9223372036854775807 (int64), unique in your organization for borrowers, for loans and for
repayments. They come back exact to the last digit. JavaScript cannot write a number beyond 2^53 exactly: there, send the id as
a string of digits.`

const DATES = `\
A date is \`YYYY-MM-DD\`, a day of the lender's time zone. An instant is RFC 3339 with the offset of that zone. A repayment
counts from its \`collection_date\`, also when it is posted later.`

const PAGING = `\
A list answers \`items\` and the \`total\` of all pages. \`page\` counts from 1, and \`rows\` is 1 to 100 (100 by default). A page
beyond the last one has no items. A value out of range is refused. Pages are for people: new items move the items
after them to other pages.

To read a whole list, follow the cursor: send the \`next\` of an answer as \`after\`, with the other parameters as before, until
an answer has no \`next\`. Nothing is missed and nothing comes twice. Keep the last \`next\`, and send it again later: it gives what
has come since.

To mirror the book, begin with \`updated_since\`, on \`/v1/repayments\` together with \`include_reversed=true\`, and follow the cursor
for ever: what changes comes again, in its new state.`

const RETRIES = `\
Send the same request again when no answer comes. Your id is what keeps it from being done twice: the same id with the same
content answers the stored record again, and the same id with other content is refused with \`already_exists\`. The header
\`Idempotency-Key\`, on any POST, does the same for 30 days and gives the stored answer, byte for byte; a client that sends its
own ids does not need it. An answer that repeats an earlier one carries \`Idempotency-Replayed: true\`.`

const STATES = `\
A loan is booked as it was released. Every loan is on the same book as the loans of the partner style, where its balances and
its status are read: Active, Overpaid, Closed (obligations met) or Closed (written off). A loan that is written off or charged
off keeps its terms.`

const SENT_BACK = `\
An item can be read, changed and sent back with PUT: the fields that only answers have are ignored. \`null\` for an optional
field is the same as leaving it out; in a PUT it clears the field.`

export const CHAPTERS: readonly Chapter[] = [
  ['API keys', KEYS],
  ['Money', MONEY],
  ['Ids', IDS],
  ['Dates and times', DATES],
  ['Paging and sync', PAGING],
  ['Safe retries', RETRIES],
  ['Sending items back', SENT_BACK],
  ['The states of a loan', STATES],
]

/** The ids of the story of the examples that the collection of requests has as variables. */
export const VARIABLES: StoryVariables = {
  chosen: {
    borrowerId: { value: 1, members: ['id', 'borrower_id'] },
    loanId: { value: 1, members: ['loan_id'] },
    repaymentId: { value: 1, members: ['repayment_id'] },
  },
  answered: {
    eventId: { operationId: 'listEvents', at: ['items', 0, 'id'] },
    consentId: { operationId: 'createConsent', at: ['item', 'id'] },
    guarantorId: { operationId: 'createGuarantor', at: ['item', 'id'] },
    collateralId: { operationId: 'createCollateral', at: ['item', 'id'] },
  },
  inPaths: {
    '/v1/borrowers/{id}': 'borrowerId',
    '/v1/borrowers/{id}/consents/{consentId}': 'consentId',
    '/v1/loans/{id}/guarantors/{guarantorId}': 'guarantorId',
    '/v1/loans/{id}/collateral/{collateralId}': 'collateralId',
    '/v1/loans/{id}': 'loanId',
    '/v1/repayments/{id}': 'repaymentId',
    '/v1/events/{id}': 'eventId',
  },
}
