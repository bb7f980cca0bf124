import { createHash } from 'node:crypto'
import { readCharts } from '../../db/accounting/charts.ts'
import { readJournalHead } from '../../db/accounting/journalHead.ts'
import { findPeriods } from '../../db/accounting/periods.ts'
import { type PostedUpTo, readPosted } from '../../db/accounting/sums.ts'
import { inSnapshot } from '../../db/postgres/transaction.ts'
import type { Queries } from '../../db/queries/statement.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { type Charts, turnsOf } from '../../domain/accounting/chartsInForce.ts'
import {
  type Basis,
  type TrialBalance,
  type Turnovers,
  trialBalanceOf,
  turnoversOf,
  turnoversText,
} from '../../domain/accounting/trialBalance.ts'
import { dateIn, type LocalDate } from '../../domain/dates.ts'
import { type Currency, currencyOf } from '../../domain/money.ts'
import type { Caller } from '../access/caller.ts'
import type { Deps } from '../deps.ts'
import { getOrganization } from '../organizations/organizations.ts'
import { caughtUpTo, journalCaughtUp } from './caughtUp.ts'
import { closedAsOf } from './periods.ts'

/** The trial balance that is asked for. */
export interface TrialBalanceRequest {
  /** The last day; today in the lender's zone when left out. */
  readonly asOf?: LocalDate | undefined
  /** `booked` when left out. */
  readonly basis?: Basis | undefined
  /** The code of a currency; that of the organization when left out. */
  readonly currency?: string | undefined
  /** Only what loans of this product contribute. */
  readonly productId?: number | undefined
}

/** A trial balance, and what it is of. */
export interface TrialBalanceView extends TrialBalance {
  readonly asOf: LocalDate
  readonly basis: Basis
  readonly currency: Currency
  /** The last event in it; of a day whose books are closed, the last one before the close. */
  readonly sequence: bigint
}

type ReadDeps = Pick<Deps, 'db' | 'config' | 'now' | 'organizations' | 'journalPatience'>

/**
 * Returns the trial balance of the caller's organization.
 * @throws LendingError `permission_denied`; `unavailable` while the journal is behind, but for a closed month as booked
 */
export async function getTrialBalance(
  deps: ReadDeps,
  caller: Caller,
  request: TrialBalanceRequest,
): Promise<TrialBalanceView> {
  requirePermission(caller, 'reports.read')
  const { organizationId } = caller
  const { asOf = dateIn(deps.config.zone, deps.now(organizationId)), basis = 'booked', productId = null } = request
  const currency = request.currency ?? (await getOrganization(deps, caller)).currency
  return readBooks(deps, { organizationId, basis, asOf, productId }, async ({ charts, upTo, sequence }) => {
    const balance = trialBalanceOf(charts, await upTo(asOf), { currency, asOf })
    return { asOf, basis, currency: currencyOf(currency), ...balance, sequence }
  })
}

/** The books of an organization as of one moment. */
export interface ReadBooks {
  readonly charts: Charts
  /** The last event in the books; where the books of the last day are closed, the last one before the close. */
  readonly sequence: bigint
  /** Reads what was posted on each account up to a day. */
  upTo(asOf: LocalDate): Promise<Turnovers>
}

/**
 * Reads the books of an organization up to a day in one snapshot, once the journal is there.
 * @throws LendingError `unavailable` while the journal is behind, but for a closed month as booked
 */
export async function readBooks<Answer>(
  deps: Pick<Deps, 'db' | 'journalPatience'>,
  { organizationId, basis, asOf: lastDay, productId }: PostedUpTo,
  read: (books: ReadBooks) => Promise<Answer>,
): Promise<Answer> {
  await (basis === 'booked' ? caughtUpTo(deps, organizationId, lastDay) : journalCaughtUp(deps, organizationId))
  return inSnapshot(deps.db, async (snapshot) => {
    const queries = { pool: snapshot }
    const { sequence } = await readJournalHead(queries, organizationId)
    const closed = basis === 'booked' ? closedAsOf(await findPeriods(queries, organizationId), lastDay) : undefined
    const charts = await readCharts(queries, organizationId)
    return read({
      charts,
      sequence: closed ?? sequence,
      upTo: (asOf) => readTurnovers(queries, { organizationId, basis, asOf, productId }, charts),
    })
  })
}

/**
 * Returns the hash of a trial balance in all currencies as the books were kept up to a day (contract 9.3): SHA-256 of its
 * text, as hex digits.
 * @param queries a transaction (`{ pool: transaction }`) where the postings are in it
 */
export async function closingHash(queries: Queries, organizationId: number, lastDay: LocalDate): Promise<string> {
  const text = await closingText(queries, organizationId, lastDay)
  return createHash('sha256').update(text).digest('hex')
}

/** Returns the text of which `closingHash` is made. */
export async function closingText(queries: Queries, organizationId: number, lastDay: LocalDate): Promise<string> {
  const charts = await readCharts(queries, organizationId)
  const asked = { organizationId, basis: 'booked', asOf: lastDay, productId: null } as const
  return turnoversText(await readTurnovers(queries, asked, charts))
}

/**
 * Returns the text of which the hash of a close is made, of the caller's organization.
 * @throws LendingError `permission_denied`; `unavailable` while the journal is behind
 */
export async function getClosingText(
  deps: Pick<Deps, 'db' | 'journalPatience'>,
  caller: Caller,
  lastDay: LocalDate,
): Promise<string> {
  requirePermission(caller, 'reports.read')
  await caughtUpTo(deps, caller.organizationId, lastDay)
  return inSnapshot(deps.db, (snapshot) => closingText({ pool: snapshot }, caller.organizationId, lastDay))
}

/** Reads what was posted on each account up to a day. */
export const readTurnovers = async (queries: Queries, asked: PostedUpTo, charts: Charts): Promise<Turnovers> =>
  turnoversOf(charts, await readPosted(queries, asked, turnsOf(charts)))
