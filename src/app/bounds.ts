import { LINES_PLACES } from '../api/body/lines.ts'
import { SENDING_PLACES } from '../api/body/upload.ts'
import { DISCARDED_BYTES } from '../api/http/failure.ts'
import {
  BODY_BYTES,
  HEADERS_SHARE,
  KEEP_ALIVE_MS,
  MOST_A_SECOND,
  SHARES,
  SILENT_MS,
  UNTOLD_BYTES,
} from '../api/limits/limits.ts'
import * as turns from '../api/limits/turns.ts'
import { UNREAD_BOUNDS } from '../api/limits/unreadAnswers.ts'
import { MOST_LINES } from '../domain/documents/documents.ts'
import { READER_PLACES } from '../office/routes/metrics.ts'
import { LONGEST_STATEMENT_FILE } from '../office/routes/reconciliations.ts'
import { LONGEST_FORM, PAGE_PLACES } from '../office/server.ts'
import { UNKNOWN_KEY_PLACES } from '../services/access/keyRing.ts'
import { PASSWORD_PLACES } from '../services/access/passwords/passwords.ts'
import { MOST_MESSAGES } from '../services/access/rateLimits.ts'
import { MOST_SIGN_INS, SIGN_IN_PLACES, WINDOW_SECONDS } from '../services/access/signInLimits.ts'
import { FILE_PLACES } from '../services/book/bookExport.ts'
import {
  MOST_LINES_OF_RESULT,
  MOST_LOANS_OF_RESULT,
  MOST_RECORDS_OF_RESULT,
} from '../services/customers/dataResults.ts'
import { PATIENCE_MS, PDF_PLACES } from '../services/documents/pdf/printer.ts'
import { longPollPlaces } from '../services/events/longPolls.ts'
import { HEAVY, HEAVY_PLACES } from '../services/loans/heavyReads.ts'
import { LONGEST_SEARCH, MOST_FOUND } from '../services/office/search.ts'
import { LONGEST_MESSAGE } from '../services/payments/inbound/messageBody.ts'
import { PORTFOLIO_PLACES } from '../services/portfolio/portfolioReads.ts'
import { STATEMENT_LIMITS, STATEMENT_PLACES } from '../services/walletStatements/limits.ts'
import { TEST_PLACES } from '../services/webhooks/endpoints.ts'
import type { GateBounds } from '../toolbox/gate.ts'
import { BODY_LIMIT } from './app.ts'
import { type Config, readConfig } from './config.ts'

// The bounds that operators are told of, each by the constant or the setting that the code goes by. docs/operating/limits.md
// has these rows as its tables, and a test compares the two.

export type Unit = 'count' | 'bytes' | 'ms' | 'part'

/** A bound on one thing. */
export interface Bound {
  /** What is bounded. */
  readonly what: string
  /** The most of it; of a `part`, the divisor of the setting. */
  readonly most: number
  readonly unit: Unit
  /** The setting that changes it; left out: it is fixed. */
  readonly setting?: string
  /** What happens beyond it. */
  readonly beyond: string
}

/** The places for one kind of work: those who work at once, and those who wait. */
export interface Places {
  readonly what: string
  readonly gate: GateBounds
  /** How many work at once, where that depends on the machine. */
  readonly atOnce?: string
}

/** What becomes of a client beyond a bound: it is refused with a status, and both of these have `Retry-After`, or it is cut off. */
const AGAIN = '429'
const BUSY = '503'
const LARGE = '413'
const CLOSED = 'closed'

const DEFAULTS: Config = readConfig({})
const WINDOW = `in ${WINDOW_SECONDS / 60} minutes`
const { failures, all } = MOST_SIGN_INS

export const BOUNDS: readonly Bound[] = [
  {
    what: 'requests of an account a minute, over all instances',
    most: DEFAULTS.rateLimits.account,
    unit: 'count',
    setting: 'RATE_LIMIT_ACCOUNT',
    beyond: AGAIN,
  },
  {
    what: 'requests of an address a minute, over all instances',
    most: DEFAULTS.rateLimits.address,
    unit: 'count',
    setting: 'RATE_LIMIT_ADDRESS',
    beyond: AGAIN,
  },
  {
    what: 'messages of a payment channel a minute, over all instances',
    most: MOST_MESSAGES.channel,
    unit: 'count',
    beyond: AGAIN,
  },
  {
    what: 'messages of an address a minute whose secret is not known, over all instances',
    most: MOST_MESSAGES.secret,
    unit: 'count',
    beyond: AGAIN,
  },
  { what: `sign-ins of an e-mail that failed, ${WINDOW}`, most: failures.email, unit: 'count', beyond: AGAIN },
  { what: `sign-ins of an address that failed, ${WINDOW}`, most: failures.address, unit: 'count', beyond: AGAIN },
  { what: `all sign-ins of an e-mail, ${WINDOW}`, most: all.email, unit: 'count', beyond: AGAIN },
  { what: `all sign-ins of an address, ${WINDOW}`, most: all.address, unit: 'count', beyond: AGAIN },
  {
    what: 'requests in work of a process',
    most: DEFAULTS.maxInFlight,
    unit: 'count',
    setting: 'MAX_IN_FLIGHT',
    beyond: BUSY,
  },
  {
    what: 'of them, of one organization',
    most: SHARES.organization,
    unit: 'part',
    setting: 'MAX_IN_FLIGHT',
    beyond: AGAIN,
  },
  { what: 'of them, of one account', most: SHARES.account, unit: 'part', setting: 'MAX_IN_FLIGHT', beyond: AGAIN },
  {
    what: 'of them, of one address whose caller is not known yet',
    most: SHARES.address,
    unit: 'part',
    setting: 'MAX_IN_FLIGHT',
    beyond: AGAIN,
  },
  {
    what: 'requests computed at once while several organizations call',
    most: turns.TOGETHER,
    unit: 'count',
    beyond: 'waits',
  },
  { what: 'of them, of one organization at least', most: turns.LEAST, unit: 'count', beyond: 'waits' },
  { what: 'waiting to be computed', most: turns.WAIT_MS, unit: 'ms', beyond: BUSY },
  { what: 'how late timers are', most: DEFAULTS.maxLagMs, unit: 'ms', setting: 'MAX_LAG_MS', beyond: BUSY },
  {
    what: 'connections to a process',
    most: DEFAULTS.maxConnections,
    unit: 'count',
    setting: 'MAX_CONNECTIONS',
    beyond: CLOSED,
  },
  { what: 'a JSON body', most: BODY_LIMIT, unit: 'bytes', beyond: LARGE },
  { what: 'a message of a payment provider', most: LONGEST_MESSAGE, unit: 'bytes', beyond: LARGE },
  { what: 'a statement PDF', most: STATEMENT_LIMITS.bytes, unit: 'bytes', beyond: LARGE },
  { what: 'a form of the office pages', most: LONGEST_FORM, unit: 'bytes', beyond: LARGE },
  { what: 'a statement file there', most: LONGEST_STATEMENT_FILE, unit: 'bytes', beyond: LARGE },
  { what: 'the rest of a refused body, which is thrown away', most: DISCARDED_BYTES, unit: 'bytes', beyond: CLOSED },
  { what: 'bodies on their way, of an account', most: BODY_BYTES.caller, unit: 'bytes', beyond: AGAIN },
  { what: 'bodies on their way, of all', most: BODY_BYTES.all, unit: 'bytes', beyond: BUSY },
  {
    what: 'a body of unknown length on its way',
    most: UNTOLD_BYTES,
    unit: 'bytes',
    beyond: 'it counts as so many',
  },
  {
    what: 'answers of an organization that are not read',
    most: UNREAD_BOUNDS.organization,
    unit: 'bytes',
    beyond: AGAIN,
  },
  {
    what: 'answers of all that are not read',
    most: UNREAD_BOUNDS.all,
    unit: 'bytes',
    beyond: 'the slowest are closed',
  },
  {
    what: `reading the next ${UNREAD_BOUNDS.leastMoved / 1_024} KiB of an answer`,
    most: UNREAD_BOUNDS.withinMs,
    unit: 'ms',
    beyond: CLOSED,
  },
  {
    what: 'refusals of an address in a second, for want of credentials or room',
    most: MOST_A_SECOND,
    unit: 'count',
    beyond: 'its next requests are read a second later',
  },
  {
    what: 'a request on its way',
    most: DEFAULTS.requestTimeoutMs,
    unit: 'ms',
    setting: 'REQUEST_TIMEOUT_MS',
    beyond: CLOSED,
  },
  {
    what: 'the headers of a request on their way',
    most: HEADERS_SHARE,
    unit: 'part',
    setting: 'REQUEST_TIMEOUT_MS',
    beyond: CLOSED,
  },
  { what: 'a connection on which nothing moves', most: SILENT_MS, unit: 'ms', beyond: CLOSED },
  { what: 'a connection that is kept for the next request', most: KEEP_ALIVE_MS, unit: 'ms', beyond: CLOSED },
  { what: 'lines of a PDF', most: MOST_LINES, unit: 'count', beyond: '400, of the result of a data request 409' },
  { what: 'loans of the result of a data request', most: MOST_LOANS_OF_RESULT, unit: 'count', beyond: '409' },
  {
    what: 'instalments and transactions of it together',
    most: MOST_LINES_OF_RESULT,
    unit: 'count',
    beyond: '409',
  },
  {
    what: 'payments of it, and records of each other kind',
    most: MOST_RECORDS_OF_RESULT,
    unit: 'count',
    beyond: '409',
  },
  { what: 'making a PDF', most: PATIENCE_MS, unit: 'ms', beyond: BUSY },
  { what: 'characters of a search of the office', most: LONGEST_SEARCH, unit: 'count', beyond: '400' },
  { what: 'finds of each kind of a search', most: MOST_FOUND, unit: 'count', beyond: 'left out' },
]

export const PLACES: readonly Places[] = [
  { what: `reads of ${HEAVY.toLocaleString('en')} instalments and entries or more`, gate: HEAVY_PLACES },
  { what: 'questions about the portfolio', gate: PORTFOLIO_PLACES },
  { what: 'PDFs', gate: PDF_PLACES },
  { what: 'CSV and journal files of the office pages, and results of data requests as JSON', gate: FILE_PLACES },
  { what: 'tests of webhooks', gate: TEST_PLACES },
  { what: 'statement PDFs on their way', gate: SENDING_PLACES },
  { what: 'bodies of lines', gate: LINES_PLACES },
  { what: 'statement PDFs that are read', gate: STATEMENT_PLACES, atOnce: 'half the cores, 2 at most' },
  { what: 'requests that wait for an event', gate: longPollPlaces(DEFAULTS) },
  { what: 'sign-ins of an address', gate: SIGN_IN_PLACES },
  { what: 'passwords that are checked', gate: PASSWORD_PLACES, atOnce: 'half the cores' },
  { what: 'tokens of unknown keys', gate: UNKNOWN_KEY_PLACES },
  { what: 'office pages', gate: PAGE_PLACES },
  { what: 'readers of the metrics, by address', gate: READER_PLACES },
]
