import type { LoanRef } from '../../db/loans/loans.ts'
import type { StoredLoan } from '../../db/loans/storedLoan.ts'
import { addPeriods, dateIn, type LocalDate } from '../../domain/dates.ts'
import { invalidArgument } from '../../domain/errors.ts'
import { type Settlement, settlementOn } from '../../domain/loan/rules/earlySettlement.ts'
import type { Caller } from '../access/caller.ts'
import { getLoan, type ReadDeps } from './loans.ts'

/** How far ahead a settlement is quoted. */
const MOST_YEARS_AHEAD = 10

/** A loan, and what pays it off on a day. */
export interface SettlementQuote {
  readonly loan: StoredLoan
  readonly settlement: Settlement
}

/**
 * Returns what pays a loan off on a day; today without a day (contract 10.11).
 * @throws LendingError `not_found`, `invalid_argument` for a day before disbursement or more than ten years ahead
 */
export async function quoteSettlement(
  deps: ReadDeps,
  caller: Caller,
  ref: LoanRef,
  on: LocalDate | undefined,
): Promise<SettlementQuote> {
  const { loan } = await getLoan(deps, caller, ref)
  const { disbursedOn, zone } = loan.terms
  const today = dateIn(zone, deps.now(loan.organizationId))
  const last = addPeriods(today, MOST_YEARS_AHEAD, 'years')
  const day = on ?? today
  if (day < disbursedOn || day > last)
    throw invalidArgument('on', `must be from the day of disbursement, ${disbursedOn}, to ${last}`)
  return { loan, settlement: settlementOn(loan, day) }
}
