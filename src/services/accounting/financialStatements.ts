import { requirePermission } from '../../domain/access/permissions.ts'
import { type BalanceSheet, balanceSheetOf } from '../../domain/accounting/statements/balanceSheet.ts'
import { type IncomeStatement, incomeStatementOf } from '../../domain/accounting/statements/incomeStatement.ts'
import { type Basis, type TrialBalance, trialBalanceOf } from '../../domain/accounting/trialBalance.ts'
import { dateIn, dayBefore, FIRST_DATE, type LocalDate } from '../../domain/dates.ts'
import { invalidArgument } from '../../domain/errors.ts'
import { type Currency, currencyOf } from '../../domain/money.ts'
import type { Caller } from '../access/caller.ts'
import type { Deps } from '../deps.ts'
import { getOrganization } from '../organizations/organizations.ts'
import { readBooks } from './trialBalance.ts'

type ReadDeps = Pick<Deps, 'db' | 'config' | 'now' | 'organizations' | 'journalPatience'>

/** The books of one currency over some days: each part is of the same postings. */
export interface BooksOfCurrency {
  readonly currency: Currency
  /** As of the last day. */
  readonly trialBalance: TrialBalance
  /** Over the days. */
  readonly incomeStatement: IncomeStatement
  /** As of the last day. */
  readonly balanceSheet: BalanceSheet
}

/** The books of a lender over some days. */
export interface BooksOfDays {
  readonly from: LocalDate
  readonly to: LocalDate
  readonly basis: Basis
  /** The last event in the books; of a last day whose books are closed, the last one before the close. */
  readonly sequence: bigint
  /** The currency of the organization, and the others that have postings up to the last day; by code. */
  readonly currencies: readonly BooksOfCurrency[]
}

/** Some days of the books. */
interface DaysRequest {
  /** Both days are included. */
  readonly from: LocalDate
  readonly to: LocalDate
  /** `booked` when left out. */
  readonly basis?: Basis | undefined
}

/**
 * Returns the books of the caller's organization over some days, as of one moment.
 * @throws LendingError `permission_denied`; `invalid_argument` where the last day is before the first one; `unavailable` while
 *   the journal is behind, but as booked up to a day in a closed month
 */
export async function getBooks(
  deps: ReadDeps,
  caller: Caller,
  { from, to, basis = 'booked' }: DaysRequest,
): Promise<BooksOfDays> {
  requirePermission(caller, 'reports.read')
  if (to < from) throw invalidArgument('to', 'must not be before from')
  const own = (await getOrganization(deps, caller)).currency
  const asked = { organizationId: caller.organizationId, basis, asOf: to, productId: null }
  return readBooks(deps, asked, async ({ charts, sequence, upTo }) => {
    const before = from > FIRST_DATE ? await upTo(dayBefore(from)) : undefined
    const turnovers = await upTo(to)
    const currencies = [...new Set([own, ...turnovers.keys()])].toSorted().map((currency): BooksOfCurrency => {
      const trialBalance = trialBalanceOf(charts, turnovers, { currency, asOf: to })
      const opening = before && trialBalanceOf(charts, before, { currency, asOf: to })
      return {
        currency: currencyOf(currency),
        trialBalance,
        incomeStatement: incomeStatementOf(opening, trialBalance),
        balanceSheet: balanceSheetOf(trialBalance),
      }
    })
    return { from, to, basis, sequence, currencies }
  })
}

/**
 * Returns the books of the caller's organization from the beginning up to a day, for its balance sheet.
 * @param request.asOf today in the lender's zone when left out
 * @throws LendingError as `getBooks`
 */
export function getBooksUpTo(
  deps: ReadDeps,
  caller: Caller,
  { asOf, basis }: { readonly asOf?: LocalDate | undefined; readonly basis?: Basis | undefined },
): Promise<BooksOfDays> {
  const to = asOf ?? dateIn(deps.config.zone, deps.now(caller.organizationId))
  return getBooks(deps, caller, { from: FIRST_DATE, to, basis })
}
