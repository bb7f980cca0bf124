import { daysBetween, type LocalDate } from '../dates.ts'

/** The days of a year by which cash flows are dated. */
const DAYS_OF_YEAR = 365
/** The highest rate that is answered, in percent; the limit keeps the solver within what a double can hold. */
const HIGHEST = 1_000_000
/** Halvings of the interval of a logarithm below 10: the last is narrower than a double can tell. */
const HALVINGS = 60

/** Money that is due on a day. */
export interface CashFlow {
  readonly on: LocalDate
  /** Minor units. */
  readonly amount: bigint
}

/**
 * Returns the annual percentage rate of a loan, with two decimals: the i for which Σ amount / (1 + i)^(days / 365) is
 * what was paid out, in percent. What is due never sums to less than that, so there is one i, of at least 0. The solver
 * halves the interval of ln(1 + i) a fixed number of times.
 * @param netDisbursed minor units, above 0
 * @returns null where i is above a million percent
 */
export function aprOf(netDisbursed: bigint, disbursedOn: LocalDate, due: readonly CashFlow[]): number | null {
  const flows = due.map(({ on, amount }) => [Number(amount), daysBetween(disbursedOn, on) / DAYS_OF_YEAR] as const)
  const lent = Number(netDisbursed)
  const excess = (force: number) =>
    flows.reduce((total, [amount, years]) => total + amount * Math.exp(-force * years), -lent)
  let [low, high] = [0, Math.log1p(HIGHEST / 100)]
  if (excess(high) > 0) return null
  if (excess(low) <= 0) return 0
  for (let step = 0; step < HALVINGS; step++) {
    const middle = (low + high) / 2
    if (excess(middle) > 0) low = middle
    else high = middle
  }
  return Math.round(Math.expm1((low + high) / 2) * 10_000) / 100
}
