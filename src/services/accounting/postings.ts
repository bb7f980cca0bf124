import { readCharts } from '../../db/accounting/charts.ts'
import { readJournalHead } from '../../db/accounting/journalHead.ts'
import {
  findPostings,
  latestOfLoan,
  nextPosting,
  type PostingFilter,
  type StoredPosting,
} from '../../db/accounting/postings.ts'
import { inSnapshot } from '../../db/postgres/transaction.ts'
import type { Queries } from '../../db/queries/statement.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { onAccount } from '../../domain/accounting/accountFilter.ts'
import type { Charts } from '../../domain/accounting/chartsInForce.ts'
import { type Line, linesOf } from '../../domain/accounting/lines.ts'
import type { LocalDate } from '../../domain/dates.ts'
import { invalidArgument } from '../../domain/errors.ts'
import { type Currency, currencyOf } from '../../domain/money.ts'
import type { Caller } from '../access/caller.ts'
import type { Deps } from '../deps.ts'
import { caughtUpTo } from './caughtUp.ts'

/** A request for postings. */
export interface PostingsRequest {
  /** Booked days, both included. */
  readonly from: LocalDate
  readonly to: LocalDate
  readonly loanId?: bigint | undefined
  /** The code of an account on which they have a line. */
  readonly account?: string | undefined
  /** The `next` of an earlier answer. */
  readonly after?: string | undefined
  readonly rows: number
}

/** A posting with its lines. */
export interface Posting extends Omit<StoredPosting, 'amounts' | 'move' | 'cashAccount' | 'currency'> {
  readonly currency: Currency
  readonly lines: readonly Line[]
  /** Whether its value date was before the first open day when it came. */
  readonly late: boolean
}

/** Postings in the order in which they came, and the cursor after all that was looked at; none at the end. */
export interface PostingsFound {
  readonly items: readonly Posting[]
  readonly next?: string
}

/** Postings that one statement looks at, and such statements of one request. */
const SPAN = 20_000n
const MOST_SPANS = 5

/**
 * Returns the postings of the caller's organization that are booked on some days, in the order in which they came.
 * @throws LendingError `permission_denied`, `invalid_argument`; `unavailable` while the journal is behind, but for days that are all in closed months
 */
export async function listPostings(
  deps: Pick<Deps, 'db' | 'journalPatience'>,
  caller: Caller,
  { rows, ...request }: PostingsRequest,
): Promise<PostingsFound> {
  requirePermission(caller, 'reports.read')
  const { from, to, loanId = null, account } = request
  if (from > to) throw invalidArgument('to', 'must not be before from')
  const after = request.after === undefined ? 0n : readCursor(request.after)
  const { organizationId } = caller
  await caughtUpTo(deps, organizationId, to)
  return inSnapshot(deps.db, async (snapshot) => {
    const queries = { pool: snapshot }
    const charts = await readCharts(queries, organizationId)
    const onIt = account === undefined ? null : onAccount(charts, account)
    const filter = { organizationId, from, to, loanId, account: onIt }
    const { found, readTo } = await readAfter(queries, filter, { after, rows })
    const place = readTo ?? found.at(-1)?.id
    const items = found.map((posting) => toPosting(charts, posting))
    return { items, ...(place !== undefined && { next: encodeCursor(place) }) }
  })
}

/**
 * Reads the next postings, and looks at a bounded number of others.
 * @returns also how far was looked, where more postings may follow
 */
async function readAfter(
  queries: Queries,
  filter: PostingFilter,
  { after, rows }: { readonly after: bigint; readonly rows: number },
): Promise<{ found: StoredPosting[]; readTo?: bigint }> {
  const { postingId: last } = await readJournalHead(queries, filter.organizationId)
  if (filter.loanId !== null) return { found: await findPostings(queries, filter, { after, upTo: last, most: rows }) }
  const found: StoredPosting[] = []
  let readTo = after
  for (let span = 0; span < MOST_SPANS; span++) {
    const start = readTo
    readTo = start + SPAN < last ? start + SPAN : last
    found.push(...(await findPostings(queries, filter, { after: start, upTo: readTo, most: rows - found.length })))
    if (found.length === rows || readTo >= last) return { found }
    const next = await nextPosting(queries, filter, readTo)
    if (next === undefined) return { found }
    readTo = next - 1n
  }
  return { found, readTo }
}

/**
 * Returns the latest postings of a loan of the caller's organization, newest first, as far as the journal is: it is not
 * waited for.
 * @throws LendingError `permission_denied`
 */
export async function latestPostings(
  { db }: Pick<Deps, 'db'>,
  caller: Caller,
  { loanId, most }: { readonly loanId: bigint; readonly most: number },
): Promise<Posting[]> {
  requirePermission(caller, 'reports.read')
  const { organizationId } = caller
  return inSnapshot(db, async (snapshot) => {
    const charts = await readCharts({ pool: snapshot }, organizationId)
    const found = await latestOfLoan({ pool: snapshot }, { organizationId, loanId }, most)
    return found.map((posting) => toPosting(charts, posting))
  })
}

/** Returns a posting with its lines on the accounts of the charts in force. */
export function toPosting(charts: Charts, stored: StoredPosting): Posting {
  const { amounts, move, cashAccount, currency, ...posting } = stored
  const { bookedOn, valueDate } = posting
  const lines = linesOf(charts, { bookedOn, amounts, cashAccount, move })
  return { ...posting, currency: currencyOf(currency), lines, late: bookedOn > valueDate }
}

const encodeCursor = (id: bigint): string => Buffer.from(`journal.${id}`).toString('base64url')

function readCursor(text: string): bigint {
  const [, id] = /^journal\.(0|[1-9]\d{0,17})$/.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? []
  if (id === undefined) throw invalidArgument('after', 'must be the next of an answer of the journal')
  return BigInt(id)
}
