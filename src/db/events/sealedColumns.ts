/** A column that the seal does not cover, and why. */
type LeftOut = Readonly<Record<string, string>>

/** A table whose rows are covered by the seal of the changes that made them. */
export interface SealedTable {
  /** The columns that name a row within its organization. */
  readonly key: readonly string[]
  /** The columns that are covered. */
  readonly columns: readonly string[]
  readonly leftOut: LeftOut
  /** True: a later change may change the row, and the seals of the changes before it say what the row was then. */
  readonly isMutable: boolean
}

const CACHED =
  'a cached figure: book check replays the entries, which are sealed, and compares the result with the column'
const PROGRESS = 'how far the file is: the figures are kept once it is made'
const COUNTED = 'a count of the changes or the entries: book check compares the column with the audit trail'

/** The columns of `loan` that hold cached figures. */
const FIGURES = [
  'status',
  'principal_outstanding',
  'interest_outstanding',
  'fees_outstanding',
  'penalty_outstanding',
  'total_paid',
  'total_overpaid',
  'total_overdue',
  'total_written_off',
  'total_recovered',
  'next_due_on',
  'overdue_since',
  'is_overdue',
  'charged_off_on',
  'closed_on',
  'next_change_at',
  'carried_forward',
]

const WORDS = ['external_id', 'close_reason', 'business_name', 'phone', 'email', 'address', 'type', 'region', 'country']
const IN_WORDS = 'book check decrypts the words of a customer, which are sealed, and compares them with the column'
const LIMITS = ['principal_min', 'principal_max', 'number_of_repayments', 'repay_every', 'repay_unit']

/** The tables that the seal covers. */
export const SEALED = {
  organization: {
    key: ['id'],
    columns: [
      'name',
      'currency',
      'office_id',
      'office_name',
      'payment_method',
      'created_at',
      'legal_name',
      'licence_number',
      'approval_above',
      'keep_borrowers_years',
      'keep_others_years',
      'reminder_policy',
    ],
    leftOut: { mode: 'fixed when the organization is made: the database refuses another one' },
    isMutable: true,
  },
  account: {
    key: ['id'],
    columns: ['email', 'password_hash', 'roles', 'disabled_at', 'tokens_from', 'created_at', 'issuer', 'subject'],
    leftOut: {},
    isMutable: true,
  },
  api_key: {
    key: ['id'],
    columns: ['name', 'hash', 'prefix', 'roles', 'created_at', 'revoked_at'],
    leftOut: {},
    isMutable: true,
  },
  signing_key: {
    key: ['kid'],
    columns: ['public_pem', 'private_encrypted', 'created_at', 'activated_at', 'retired_at', 'revoked_at'],
    leftOut: {},
    isMutable: true,
  },
  loan_product: {
    key: ['id'],
    columns: [
      'name',
      'currency',
      ...LIMITS,
      'rate_per_period',
      'total_multiple_of',
      'penalty_rate',
      'enforce_credit_limit',
      'retired_at',
      'created_at',
      'terms',
      'restructuring',
    ],
    leftOut: {},
    isMutable: true,
  },
  customer: {
    key: ['id'],
    columns: [
      'arrival',
      'status',
      'activation_date',
      'closed_on',
      'words',
      'identity',
      'erased_at',
      'created_at',
      'updated_at',
      'account_no',
    ],
    leftOut: {
      ...Object.fromEntries(WORDS.map((column) => [column, IN_WORDS])),
      person_key: 'destroyed with the person, and encrypted again when KEY_ENCRYPTION_SECRET changes',
      identity_hashes: 'follows from the identity',
    },
    isMutable: true,
  },
  loan: {
    key: ['id'],
    columns: [
      ...['arrival', 'customer_id', 'product_id', 'external_id', 'currency', 'principal', 'number_of_repayments'],
      ...['rate_per_period', 'penalty_amount', 'disbursed_at', 'disbursed_on', 'due_on', 'due_at', 'record'],
      ...['created_at', 'account_no', 'rules', 'penalty_holds'],
    ],
    leftOut: {
      ...Object.fromEntries(FIGURES.map((column) => [column, CACHED])),
      version: COUNTED,
      entry_count: COUNTED,
      carried_version: 'where the column is not the version of the loan, carried_forward is not used',
      updated_at: 'the time of the last change: book check compares the column with the audit trail',
    },
    isMutable: true,
  },
  loan_period: {
    key: ['loan_id', 'period'],
    columns: ['from_date', 'due_date', 'principal', 'interest', 'fees'],
    leftOut: {},
    isMutable: true,
  },
  loan_entry: {
    key: ['id'],
    columns: [
      ...['loan_id', 'ordinal', 'place', 'type', 'value_date', 'posted_at', 'amount', 'token', 'note', 'account_id'],
      ...['replaces', 'record', 'payment_method', 'due_on', 'restructure', 'payment_id'],
    ],
    leftOut: {
      arrival:
        'the order of arrival of all entries, which the database gives: lists walk by it, and no figure follows from it',
      reversed_at: 'book check compares the column with the row of the trail about the reversal, which is sealed',
    },
    isMutable: false,
  },
  pending_action: {
    key: ['id'],
    columns: [
      ...['state', 'kind', 'subject', 'request', 'loan_id', 'payment_id', 'transaction_id', 'amount'],
      ...['currency', 'asked_at', 'asked_by', 'asked_request_id', 'decided_at', 'decided_by'],
      ...['decided_request_id', 'reason', 'posted_id'],
    ],
    leftOut: {},
    isMutable: true,
  },
  data_request: {
    key: ['id'],
    columns: [
      ...['customer_id', 'kind', 'state', 'reason', 'asked_at', 'asked_by', 'proposed', 'due_on'],
      ...['decided_at', 'decided_by', 'note', 'obstacles'],
    ],
    leftOut: {},
    isMutable: true,
  },
  payment_channel: {
    key: ['id'],
    columns: [
      ...['name', 'adapter', 'short_code', 'currency', 'zone', 'account', 'allow_from', 'auto_allocate'],
      ...['match_phone', 'confirm_above', 'secret_hash', 'previous_secret_hash', 'previous_until'],
      ...['signing_key', 'disabled_at', 'silent_since', 'created_at'],
    ],
    leftOut: {},
    isMutable: true,
  },
  payment: {
    key: ['id'],
    columns: [
      ...['channel_id', 'receipt', 'amount', 'currency', 'paid_at', 'value_date', 'reference', 'payer'],
      ...['status', 'allocated', 'returned', 'reversed', 'parts', 'unconfirmed', 'cause', 'received_at'],
      ...['updated_at'],
    ],
    leftOut: {
      version: COUNTED,
      person_key: 'destroyed with the person, and encrypted again when KEY_ENCRYPTION_SECRET changes',
    },
    isMutable: true,
  },
  payment_reversal: {
    key: ['id'],
    columns: ['channel_id', 'receipt', 'reverses', 'amount', 'reversed_at', 'received_at'],
    leftOut: { payment_id: 'set once the reversal is applied: book check compares the column with the audit trail' },
    isMutable: false,
  },
  reconciliation: {
    key: ['id'],
    columns: [
      ...['channel_id', 'from_date', 'to_date', 'layout', 'digest', 'opening', 'closing', 'figures'],
      ...['balanced', 'difference', 'created_at', 'updated_at'],
    ],
    leftOut: { version: COUNTED },
    isMutable: true,
  },
  listing_notice: {
    key: ['id'],
    columns: ['loan_id', 'sent_on', 'channel', 'reference', 'created_at'],
    leftOut: {},
    isMutable: false,
  },
  dispute: {
    key: ['id'],
    columns: [
      ...['loan_id', 'customer_id', 'opened_on', 'reason', 'outcome', 'resolution', 'resolved_on'],
      ...['created_at', 'resolved_at'],
    ],
    leftOut: {},
    isMutable: true,
  },
  export_format: {
    key: ['id'],
    columns: ['name', 'version', 'document', 'created_at'],
    leftOut: {},
    isMutable: false,
  },
  export_file: {
    key: ['id'],
    columns: [
      ...['format', 'format_version', 'document', 'settings', 'as_of', 'mode', 'corrects', 'known_at', 'state'],
      ...['figures', 'sha256', 'bytes', 'created_at', 'finished_at', 'accepted_at'],
    ],
    leftOut: Object.fromEntries(['position', 'done', 'total', 'sums'].map((column) => [column, PROGRESS])),
    isMutable: true,
  },
  consent: {
    key: ['id'],
    columns: [
      ...['customer_id', 'purpose', 'channel', 'given_at', 'withdrawn_at', 'withdrawn_by', 'created_at'],
      ...['updated_at'],
    ],
    leftOut: {},
    isMutable: true,
  },
  guarantor: {
    key: ['id'],
    columns: [
      ...['loan_id', 'customer_id', 'identity', 'relationship', 'amount', 'from_date', 'until_date'],
      ...['released_on', 'release_reason', 'created_at', 'updated_at'],
    ],
    leftOut: { person_key: 'destroyed with the person, and encrypted again when KEY_ENCRYPTION_SECRET changes' },
    isMutable: true,
  },
  collateral: {
    key: ['id'],
    columns: [
      ...['loan_id', 'customer_id', 'kind', 'details', 'value', 'valued_on', 'released_on'],
      ...['release_reason', 'created_at', 'updated_at'],
    ],
    leftOut: {},
    isMutable: true,
  },
  contact: {
    key: ['id'],
    columns: [
      ...['customer_id', 'loan_id', 'channel', 'outcome', 'note', 'contacted_at', 'next_on', 'account_id'],
      'created_at',
    ],
    leftOut: {},
    isMutable: false,
  },
  promise: {
    key: ['id'],
    columns: [
      ...['loan_id', 'customer_id', 'amount', 'made_on', 'by_date', 'note', 'state', 'received', 'cancel_reason'],
      ...['account_id', 'created_at', 'updated_at'],
    ],
    leftOut: {},
    isMutable: true,
  },
  loan_hold: {
    key: ['id'],
    columns: [
      ...['loan_id', 'customer_id', 'what', 'from_date', 'until_date', 'reason', 'released_on', 'release_reason'],
      ...['account_id', 'created_at', 'updated_at'],
    ],
    leftOut: {},
    isMutable: true,
  },
  loan_assignment: {
    key: ['id'],
    columns: ['loan_id', 'account_id', 'assigned_at', 'ended_at'],
    leftOut: {},
    isMutable: true,
  },
  credit_policy: {
    key: ['version'],
    columns: ['arrival', 'policy', 'created_at'],
    leftOut: {},
    isMutable: false,
  },
  delinquency_policy: {
    key: ['version'],
    columns: ['name', 'rules', 'created_at'],
    leftOut: {},
    isMutable: false,
  },
  credit_decision: {
    key: ['id'],
    columns: ['customer_id', 'at', 'kind', 'policy_version', 'inputs', 'result'],
    leftOut: {},
    isMutable: false,
  },
  credit_standing: {
    key: ['customer_id'],
    columns: ['boosted_limit', 'boosted_on', 'boosts'],
    leftOut: { score_digest: 'only says whether the next score is a new decision' },
    isMutable: true,
  },
  credit_statement: {
    key: ['hash'],
    columns: ['fingerprint', 'customer_id', 'decision_id', 'at'],
    leftOut: {},
    isMutable: false,
  },
} as const satisfies Readonly<Record<string, SealedTable>>

export type SealedName = keyof typeof SEALED

/** The columns of the audit trail that a seal covers, besides the key. */
export const SEALED_TRAIL = [
  'at',
  'account_id',
  'request_id',
  'action',
  'entity',
  'entity_id',
  'before',
  'after',
  'change',
  'unannounced',
  'stamp',
] as const

/** The values of columns as texts of Postgres, in the order of their list. */
export type Texts = readonly (string | null)[]

/** The values of a row that is not there. */
export const absent = (table: SealedName): Texts => SEALED[table].columns.map(() => null)

const INTEGER = /^-?\d{1,19}$/

/** Whether a text is an integer below a bound and at least its negative: a damaged row of the trail may have any text as an id. */
const isWithin = (text: string, bound: bigint): boolean =>
  INTEGER.test(text) && BigInt(text) < bound && BigInt(text) >= -bound

export const isBigint = (text: string): boolean => isWithin(text, 2n ** 63n)
export const isInt = (text: string): boolean => isWithin(text, 2n ** 31n)

/** SQL for columns of a row as a JSON array of texts, nulls included. The session has the time zone UTC. */
export const textsOf = (columns: readonly string[], alias: string): string =>
  `json_build_array(${textsEach(columns, alias)})`

/** The same, each text in a column of the answer. */
export const textsEach = (columns: readonly string[], alias: string): string =>
  columns.map((column) => `${alias}.${column}::text`).join(', ')
