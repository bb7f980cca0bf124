import { readJournalHead } from '../../db/accounting/journalHead.ts'
import { readBookedBy, requestBooking, sumAllowance } from '../../db/accounting/provisions.ts'
import { inSnapshot } from '../../db/postgres/transaction.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { DEFAULT_CHART, missingSlots } from '../../domain/accounting/chart.ts'
import type { Provision, ProvisionBooking, ProvisionDifference } from '../../domain/accounting/provisions.ts'
import { fromStoredChart } from '../../domain/accounting/storedChart.ts'
import { dateIn, type LocalDate } from '../../domain/dates.ts'
import { failedPrecondition, invalidArgument, invariant, LendingError } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'
import type { Deps } from '../deps.ts'
import { journalCaughtUp, whenTaken } from './caughtUp.ts'

type BookDeps = Pick<Deps, 'db' | 'config' | 'now' | 'journalPatience'>

/** Provisions to book. */
export interface BookingRequest extends ProvisionBooking {
  /** The policy by which the provisions were computed: the trail keeps it. */
  readonly policy: object
}

/** What a booking has posted. */
export interface BookedProvisions {
  readonly asOf: LocalDate
  /** By currency and product; none where all was booked before. */
  readonly postings: readonly ProvisionDifference[]
}

/**
 * Books the provisions of a portfolio as of a day: posts what they differ from the allowance that is booked (contract 9.5),
 * and waits for the postings. The same provisions again post nothing.
 * @param request.asOf a day up to today
 * @param request.provisions one for each currency and product
 * @throws LendingError `permission_denied`; `invalid_argument` for the day; `failed_precondition` where the chart has no
 *   account for provisions; `unavailable` while the journal is behind, also where it comes to the booking later
 */
export async function bookProvisions(
  deps: BookDeps,
  caller: Caller,
  request: BookingRequest,
): Promise<BookedProvisions> {
  requirePermission(caller, 'accounting.manage')
  const { db, now, config } = deps
  const { asOf, provisions } = request
  const today = dateIn(config.zone, now(caller.organizationId))
  if (asOf > today) throw invalidArgument('asOf', `must not be after ${today}, today`)
  requireSums(provisions)
  const { organizationId } = caller
  await journalCaughtUp(deps, organizationId)
  const changeId = await requestBooking(db, caller, { ...request, now: now(organizationId) }, (newest) => {
    const missing = missingSlots(newest === undefined ? DEFAULT_CHART : fromStoredChart(newest))
    if (missing.length > 0)
      throw failedPrecondition(
        `the chart of accounts has no account for ${missing.join(' and ')}: set a chart whose slots name one, and book then`,
      )
  })
  await waitForBooking(deps, organizationId, changeId)
  const posted = await inSnapshot(db, (snapshot) => readBookedBy(snapshot, organizationId, changeId))
  return { asOf, postings: posted.map((one) => asDifference(one, provisions)) }
}

/** Requires what the caller of the function promises: sums by currency and product, which the trail can keep. */
function requireSums(provisions: readonly Provision[]): void {
  const keys = provisions.map(({ currency, productId }) => `${currency} ${productId}`)
  invariant(new Set(keys).size === keys.length, 'one provision for each currency and product')
  invariant(
    provisions.every(({ amount }) => amount >= 0n && amount < 10n ** 18n),
    'provisions from 0 on, of at most 18 digits',
  )
}

/** Returns what a posting has changed, with the provision that it books; a posting of no provision takes it to 0. */
function asDifference(
  { productId, currency, amount: difference }: Provision,
  provisions: readonly Provision[],
): ProvisionDifference {
  const asked = provisions.find((one) => one.currency === currency && one.productId === productId)
  const provision = asked?.amount ?? 0n
  return { productId, currency, provision, bookedBefore: provision - difference, difference }
}

/** Waits until the journal has come to a booking. @throws LendingError `unavailable` after the time */
async function waitForBooking(deps: BookDeps, organizationId: number, changeId: bigint): Promise<void> {
  const head = await whenTaken(deps, async () => {
    const found = await readJournalHead(deps.db, organizationId)
    return found.changeId >= changeId ? found : undefined
  })
  if (head === undefined)
    throw new LendingError(
      'unavailable',
      'the provisions are being booked, and the journal has not come to the booking yet; the same request posts nothing twice',
      [],
      5,
    )
}

/**
 * Returns the provisions that are booked as of a day, by value date: by currency and product, without what is 0.
 * @throws LendingError `unavailable` while the journal is behind
 */
export async function readBookedProvisions(
  deps: Pick<Deps, 'db' | 'journalPatience'>,
  organizationId: number,
  asOf: LocalDate,
): Promise<Provision[]> {
  await journalCaughtUp(deps, organizationId)
  return sumAllowance(deps.db, organizationId, asOf)
}
