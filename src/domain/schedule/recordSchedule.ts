import type { LocalDate } from '../dates.ts'
import { type FaultRole, invalidArgument, invariant, type LendingError } from '../errors.ts'
import { divideHalfEven, largestIn, min, RATE_UNIT, type Rate, sum, toMinor } from '../money.ts'
import { dividedBy, type Fraction, fraction, times } from './fraction.ts'
import type { Cells } from './onBalance.ts'
import type { RecordTerms } from './recordTerms.ts'
import type { Instalment } from './schedule.ts'
import { cellsOf } from './scheduleMethods.ts'
import { cellRounding } from './scheduleRounding.ts'
import { dueDates, periodsInCycle, periodsInLoan, schemeOf } from './scheduleUnits.ts'

/** The largest `loan_duration`, in any unit. */
export const longestDuration = 730
/** The largest `loan_num_of_repayments`. */
export const mostRepayments = 2000
/** The most decimals of `loan_interest` as a percentage. */
const interestDecimals = 4

/**
 * Computes the schedule of the record style's extended loan body (contract 5.3), amounts in minor units.
 *
 * - There are `numberOfRepayments` instalments, whatever the duration would hold. The total of flat interest comes from
 *   the duration; every other method charges for each cycle there is, at the rate of one cycle.
 * - Interest for the whole loan (`Loan`) counts the loan as one interest period, spread evenly over the instalments.
 * - Cells are rounded as `loan_decimal_places` says. The last instalment takes what is left of the principal and, for
 *   flat and compound interest and interest for the whole loan, of the total, which is itself rounded that way. In the
 *   other methods the interest of each cycle is a sum of its own, and the last is rounded like the rest.
 *
 * @throws LendingError `invalid_argument` with its role: `numberOfRepayments` and `termDuration` outside their bounds or
 *   their calendar; `interest` when it is negative, has too many decimals, or comes to more than can be held;
 *   `interestType` for a fixed amount with a method that needs a rate; `paymentScheme` for a lump sum with a reducing
 *   method
 */
export function recordSchedule(terms: RecordTerms): Instalment[] {
  invariant(terms.principal > 0n, 'a loan has a principal')
  checkTerms(terms)
  const due = dueDates(terms)
  return cellsFor(terms).map((cells, index) => ({
    period: index + 1,
    fromDate: index === 0 ? terms.releasedOn : due[index - 1]!,
    dueDate: due[index]!,
    ...cells,
    fees: 0n,
  }))
}

/** The largest rate that the database can store (int64). */
const LARGEST_RATE = 9_223_372_036_854_775_807n

/**
 * Returns the rate per period of a loan: the interest of one instalment as a share of the principal, rounded. Of flat
 * interest, an equal part of the whole; of any other, the interest of one cycle on the full principal.
 */
export function ratePerCycle(terms: RecordTerms): Rate {
  const periods =
    terms.method === 'flat_rate' ? dividedBy(periodsInLoan(terms), terms.numberOfRepayments) : periodsInCycle(terms)
  const { over, under } = times(rateOf(terms), periods)
  return min(divideHalfEven(over * RATE_UNIT, under), LARGEST_RATE)
}

/** The terms from which a loan of the basic body is computed; the principal in minor units. */
export interface BasicTerms {
  readonly principal: bigint
  readonly releasedOn: LocalDate
  readonly dueOn: LocalDate
}

/**
 * The schedule of the basic loan body: one instalment without interest (contract 5.2). It may be due on the day of
 * the release.
 * @throws LendingError `invalid_argument` on `dueOn` before the release
 */
export function basicSchedule({ principal, releasedOn, dueOn }: BasicTerms): Instalment[] {
  invariant(principal > 0n, 'a loan has a principal')
  if (dueOn < releasedOn) throw invalidArgument('dueOn', (nameOf) => `must not be before ${nameOf('releasedOn')}`)
  return [{ period: 1, fromDate: releasedOn, dueDate: dueOn, principal, interest: 0n, fees: 0n }]
}

/** Checks the terms in the order of the body's fields. @throws LendingError `invalid_argument` */
function checkTerms({ method, interestType, duration, schemeId, numberOfRepayments }: RecordTerms): void {
  if (interestType === 'fixed' && method !== 'flat_rate' && method !== 'interest_only')
    throw invalidArgument(
      'interestType',
      (nameOf) => `must be percentage unless ${nameOf('interestMethod')} is flat_rate or interest_only`,
    )
  checkWhole('termDuration', duration, longestDuration)
  const lumpSum = schemeOf(schemeId).spacing === 'lump_sum'
  if (lumpSum && (method === 'reducing_rate_equal_installments' || method === 'reducing_rate_equal_principal'))
    throw invalidArgument('paymentScheme', `must not be a lump sum with ${method}: nothing reduces the balance`)
  checkWhole('numberOfRepayments', numberOfRepayments, mostRepayments)
  if (lumpSum && numberOfRepayments !== 1) throw invalidArgument('numberOfRepayments', 'must be 1 for a lump sum')
}

function checkWhole(role: FaultRole, count: number, most: number): void {
  if (!Number.isInteger(count) || count < 1 || count > most)
    throw invalidArgument(role, `must be a whole number from 1 to ${most}`)
}

function cellsFor(terms: RecordTerms): Cells[] {
  const { principal, currency } = terms
  // Interest has the maximum of an amount (contract 1.6).
  const mostInterest = largestIn(currency)
  const cells = cellsOf(terms.method, {
    principal,
    count: terms.numberOfRepayments,
    rate: rateOf(terms),
    periodsInLoan: periodsInLoan(terms),
    periodsInCycle: periodsInCycle(terms),
    forWholeLoan: terms.interestPeriod === 'Loan',
    lumpSum: schemeOf(terms.schemeId).spacing === 'lump_sum',
    mostInterest,
    round: cellRounding(terms.rounding, currency),
  })
  if (!cells || sum(cells.map(({ interest }) => interest)) > mostInterest) throw tooMuchInterest()
  return cells
}

const tooMuchInterest = (): LendingError =>
  invalidArgument('interest', 'must not come to more than 999999999999.99 over the loan')

/**
 * Returns the interest per interest period as a share of the principal. A fixed amount is divided by the principal:
 * multiplied by the principal again, it is exactly the same amount.
 */
function rateOf({ interest, interestType, principal, currency }: RecordTerms): Fraction {
  if (interestType === 'fixed')
    return fraction(toMinor(interest, currency, 'interest', { zeroAllowed: true }), principal)
  if (interest.units < 0n) throw invalidArgument('interest', 'must not be negative')
  if (interest.scale > interestDecimals)
    throw invalidArgument('interest', `must have at most ${interestDecimals} decimals`)
  return fraction(interest.units, 100n * 10n ** BigInt(interest.scale))
}
