import { SLOTS } from '../../domain/accounting/slots.ts'
import { SEALED, type SealedName } from '../events/sealedColumns.ts'

/** Whether `book check` finds that a value was changed, or that a row is gone, and by what; why it does not; or in which cases. */
export type Coverage = { readonly found: string } | { readonly notFound: string } | { readonly partly: string }

/** What is said of the rows of a table that no seal covers. */
interface TableCoverage {
  /** A row that is gone. */
  readonly rows: Coverage
  /** The columns, the key included. */
  readonly columns: Readonly<Record<string, Coverage>>
}

const found = (by: string): Coverage => ({ found: by })
const notFound = (why: string): Coverage => ({ notFound: why })
const partly = (which: string): Coverage => ({ partly: which })

/** Returns the same of many columns. */
const each = (columns: readonly string[], coverage: Coverage): Record<string, Coverage> =>
  Object.fromEntries(columns.map((column) => [column, coverage]))

/** Returns the same of the rows of a table and of all its columns. */
const whole = (columns: readonly string[], coverage: Coverage): TableCoverage => ({
  rows: coverage,
  columns: each(columns, coverage),
})

const IN_CHAIN = found('is hashed into the chain')
const IN_TRAIL = found('is compared with the audit trail')
const AGAIN = found('is computed again and compared')

const KEYS = notFound(
  'an Idempotency-Key is kept for 30 days: without its row, a request without a dedupe token can be made twice',
)
const ANSWER = notFound('the answer that is given again to a repeated request')
const PROGRESS = notFound('the progress of an import: ids keep what is there from being imported twice')
const FIGURES = notFound('sums that are computed again within minutes')
const JOB = notFound('how far a job has come: the job does some work twice, or tells some loans later')
const TOLD = notFound('what receivers were told last of a loan, which decides what they are told next')
const SENDING = notFound('the work of sending: an event may be sent again, or not; the feed has each event')
const SIGN_IN = notFound('sign-ins and counters of minutes: nothing in the book follows from them')
const MESSAGES = notFound(
  'messages of providers, which are kept for 90 days: what they told is in the payments, and the statement of the provider says whether one is missing',
)
const STATEMENT_LINES = notFound(
  'lines of a statement that was compared: the same statement, compared again, makes them again',
)
const FILE_LINES = notFound(
  'lines of a file for a bureau: the SHA-256 of the file is sealed, and says that another line is in it',
)
const ROOT_SECRET = notFound('the secret of the service, encrypted: where it is another one, no instance starts')
const PLACES = notFound(
  'where organizations are, of several books: where it is wrong, requests are refused, and what is in the books stays as it is',
)
const CLOCK = notFound('the time of a test organization, in which no money is')

/** The tables that no seal covers. Each column is in this list; a test compares the list with the tables. */
export const UNSEALED: Readonly<Record<string, TableCoverage>> = {
  audit_entry: whole(
    [
      'organization_id',
      'id',
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
    ],
    IN_CHAIN,
  ),
  event: {
    rows: IN_CHAIN,
    columns: {
      ...each(['organization_id', 'change_id', 'part', 'sequence', 'type', 'digest', 'marks', 'hash'], IN_CHAIN),
      sealed_at: notFound('when a change was sealed'),
    },
  },
  event_chain: {
    rows: IN_CHAIN,
    columns: {
      ...each(['organization_id', 'change_id', 'sequence', 'hash', 'key_id', 'begins_after'], IN_CHAIN),
      opened_at_change: partly('a later change is found where receivers were told of one before it'),
      stamps_after: notFound('up to where stamps were made with another secret: the check says so of each chain'),
    },
  },
  organization_logo: whole(['organization_id', 'type', 'content'], IN_TRAIL),
  test_clock: { rows: CLOCK, columns: { ...each(['organization_id', 'mode'], IN_TRAIL), stands_at: CLOCK } },
  account_number: {
    rows: found('a counter that is gone has drawn less than the largest number'),
    columns: each(
      ['organization_id', 'kind', 'last'],
      partly('a counter that was set back is below the largest number; one that was set forward skips numbers'),
    ),
  },
  loan_earlier_terms: whole(['organization_id', 'loan_id', 'version', 'until', 'terms'], IN_TRAIL),
  idempotency_key: {
    rows: KEYS,
    columns: {
      ...each(['organization_id', 'account_id', 'entity', 'entity_id'], IN_TRAIL),
      transaction_id: partly('a key that names no change of its account is found; one without a transaction is not'),
      ...each(['key', 'request_hash', 'created_at'], KEYS),
      ...each(['status', 'response'], ANSWER),
    },
  },
  book_import: {
    rows: PROGRESS,
    columns: {
      ...each(['lines_done', 'imported', 'present', 'refused'], found('the lines are the sum of what became of them')),
      ...each(
        ['organization_id', 'kind', 'digest', 'report_bytes', 'started_at', 'updated_at', 'finished_at'],
        PROGRESS,
      ),
    },
  },
  book_figures: whole(['organization_id', 'computed_at', 'took_ms', 'figures'], FIGURES),
  journal: whole(
    ['organization_id', 'change_id', 'sequence', 'posting_id', 'open_from', 'chart_version', 'walked_to'],
    AGAIN,
  ),
  posting: whole(
    [
      'organization_id',
      'id',
      'sequence',
      'change_id',
      'loan_id',
      'product_id',
      'currency',
      'transaction_id',
      'kind',
      'value_date',
      'booked_on',
      'posted_at',
      'moved_from',
      'moved_to',
      'cash_account',
      'payment_id',
      ...SLOTS,
      'method',
      'contribution',
    ],
    AGAIN,
  ),
  posting_day: whole(
    ['organization_id', 'booked_on', 'value_date', 'currency', 'product_id', 'slot', 'debit', 'credit'],
    AGAIN,
  ),
  accounting_chart: whole(['organization_id', 'version', 'chart', 'created_at', 'taken_up', 'counts_from'], IN_TRAIL),
  accounting_period: whole(
    ['organization_id', 'month', 'requested_at', 'closed_at', 'close_sequence', 'trial_balance_hash'],
    IN_TRAIL,
  ),
  reconciliation_line: whole(
    [
      'organization_id',
      'reconciliation_id',
      'line',
      'kind',
      'receipt',
      'at',
      'amount',
      'reference',
      'reverses',
      'payment_id',
    ],
    STATEMENT_LINES,
  ),
  export_line: whole(
    ['organization_id', 'export_id', 'loan_id', 'customer_id', 'kind', 'reason', 'content', 'is_sealed', 'hash'],
    FILE_LINES,
  ),
  absent_organization: whole(['organization_id', 'left_at'], PLACES),
  book_slot: whole(['slot', 'book'], PLACES),
  credential_place: whole(['kind', 'name', 'organization_id'], PLACES),
  directory: whole(['id', 'version'], PLACES),
  organization_place: whole(['organization_id', 'book', 'moving_to', 'mover', 'stopped'], PLACES),
  root_secret: whole(['id', 'encrypted', 'rotated_at'], ROOT_SECRET),
  payment_inbox: whole(
    ['organization_id', 'id', 'channel_id', 'received_at', 'message', 'state', 'outcome', 'payment_id', 'decided_at'],
    MESSAGES,
  ),
  portfolio_day: {
    rows: FIGURES,
    columns: {
      ...each(
        ['organization_id', 'policy_version', 'day', 'cells'],
        partly('sums that are in force are computed again'),
      ),
      ...each(['computed_at', 'seen_to', 'stale_at'], FIGURES),
    },
  },
  portfolio_head: whole(['organization_id', 'change_id', 'told_on', 'kept_on'], JOB),
  loan_bucket: whole(['organization_id', 'loan_id', 'bucket', 'policy_version', 'told_on'], TOLD),
  collections_head: whole(['organization_id', 'change_id', 'reminded_on'], JOB),
  loan_reminder: whole(['organization_id', 'loan_id', 'told_on'], TOLD),
  rate_limit: whole(['key', 'points', 'expire'], SIGN_IN),
  access_entry: whole(
    ['organization_id', 'id', 'at', 'account_id', 'outcome', 'route', 'address', 'request_id'],
    SIGN_IN,
  ),
  page_session: whole(
    [
      'organization_id',
      'account_id',
      'hash',
      'form_secret',
      'created_at',
      'seen_at',
      'provider_tokens',
      'checked_at',
      'refreshing_until',
    ],
    SIGN_IN,
  ),
  office_sign_in: {
    rows: IN_TRAIL,
    columns: {
      ...each(
        ['organization_id', 'second_factor_required', 'issuer', 'client_id', 'client_secret', 'role_claim', 'role_map'],
        IN_TRAIL,
      ),
      updated_at: notFound('when the sign-in of an organization was changed'),
    },
  },
  second_factor: whole(
    ['organization_id', 'account_id', 'secret', 'confirmed_at', 'last_step', 'recovery', 'created_at'],
    SIGN_IN,
  ),
  role: {
    rows: IN_TRAIL,
    columns: {
      ...each(['organization_id', 'name', 'permissions', 'description'], IN_TRAIL),
      created_at: notFound('when a role was made'),
      updated_at: notFound('when a role was changed'),
    },
  },
  webhook_endpoint: {
    rows: IN_TRAIL,
    columns: {
      ...each(['organization_id', 'id', 'url', 'types', 'style', 'description', 'secret'], IN_TRAIL),
      previous_secret: partly('another secret is found; one that is gone signs no longer'),
      ...each(
        [
          'previous_until',
          'state',
          'state_reason',
          'position',
          'failures',
          'step',
          'next_attempt_at',
          'version',
          'leased_by',
          'leased_until',
          'last_leased_at',
          'created_at',
          'updated_at',
        ],
        SENDING,
      ),
    },
  },
  webhook_parked: whole(
    ['organization_id', 'endpoint_id', 'sequence', 'subject', 'type', 'attempts', 'next_attempt_at'],
    SENDING,
  ),
  webhook_attempt: whole(
    [
      'organization_id',
      'endpoint_id',
      'id',
      'sequence',
      'type',
      'attempt',
      'at',
      'state',
      'status',
      'ms',
      'error',
      'next_attempt_at',
    ],
    SENDING,
  ),
  document: {
    rows: notFound('a document whose row is gone is unknown when somebody checks its code'),
    columns: {
      ...each(
        [
          'organization_id',
          'code',
          'kind',
          'loan_id',
          'transaction_id',
          'from_date',
          'to_date',
          'language',
          'currency',
          'amount',
          'reversed',
          'lender',
          'borrower',
          'digest',
        ],
        found('the code is a keyed hash over the row'),
      ),
      made_at: notFound('when a document was first made'),
    },
  },
}

/** The check opens the words of customers alone. */
const PERSON_KEY = notFound('the encrypted key of the words of a person, which are not read')

/** Columns of sealed tables that the seal leaves out, and that no other check covers. */
const LEFT_OUT: Readonly<Record<string, Coverage>> = {
  'loan.arrival': partly(
    'is sealed where the seal has a digest of the loan: lists walk by it, and no figure follows from it',
  ),
  'loan.carried_version': notFound('only says whether a stored computation may be used again'),
  'loan.next_change_at': AGAIN,
  ...Object.fromEntries(['position', 'done', 'total', 'sums'].map((column) => [`export_file.${column}`, JOB])),
  'loan.carried_forward': partly('a text that is used is compared; without one, the loan is replayed'),
  'credit_standing.score_digest': notFound('only says whether the next score is a new decision'),
  'guarantor.person_key': PERSON_KEY,
  'payment.person_key': PERSON_KEY,
}

/** Returns what is said of a column of a table; undefined of one that is in no list. */
export function coverageOf(table: string, column: string): Coverage | undefined {
  const sealed = table in SEALED ? SEALED[table as SealedName] : undefined
  if (!sealed) return UNSEALED[table]?.columns[column]
  const named = LEFT_OUT[`${table}.${column}`]
  if (named) return named
  if (column in sealed.leftOut) return AGAIN
  const isCovered = [...sealed.key, ...sealed.columns].some((name) => name === column)
  return isCovered || column === 'organization_id' ? found('is sealed') : undefined
}

/** Returns what is said of the rows of a table that are gone; undefined of a table that is in no list. */
export const coverageOfRows = (table: string): Coverage | undefined =>
  table in SEALED ? found('is sealed') : UNSEALED[table]?.rows

/** What `book check` does not find: a reason, with the tables and columns of which it is said. */
export interface NotFound {
  readonly why: string
  /** `event.sealed_at`, or `rate_limit` for all of a table. */
  readonly of: readonly string[]
}

/** Lists what `book check` does not find, or in some cases only, by the reason. */
export function listNotFound(): NotFound[] {
  const byReason = new Map<string, string[]>()
  const add = (of: string, coverage: Coverage) => {
    if ('found' in coverage) return
    const why = 'notFound' in coverage ? coverage.notFound : coverage.partly
    byReason.set(why, [...(byReason.get(why) ?? []), of])
  }
  for (const [table, { rows, columns }] of Object.entries(UNSEALED)) {
    const all = Object.values(columns)
    if (all.every((one) => one === rows)) add(table, rows)
    else {
      add(`rows of ${table}`, rows)
      for (const [column, coverage] of Object.entries(columns)) add(`${table}.${column}`, coverage)
    }
  }
  for (const [name, coverage] of Object.entries(LEFT_OUT)) add(name, coverage)
  return [...byReason].map(([why, of]) => ({ why, of }))
}
