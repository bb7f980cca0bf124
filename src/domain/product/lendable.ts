import { addPeriods } from '../dates.ts'
import { invalidArgument } from '../errors.ts'
import { applyRate, divideHalfEven, largestIn, RATE_UNIT } from '../money.ts'
import { exactRatePerPeriod, firstPeriods, periodRates } from '../schedule/periodRates.ts'
import type { Product } from './product.ts'
import type { Fee, ProductTerms } from './terms.ts'

const TOO_DEAR = 'must be so low that the largest principal costs at most 999999999999.99'

/**
 * Requires that the costs of the largest loan fit an amount: interest on the full principal in every period, by the longest
 * days where days count; all fees, deducted ones too; a penalty.
 * @throws LendingError `invalid_argument`
 */
export function requireLendable(product: Product): void {
  const { currency, principalMax, penaltyRate, terms } = product
  const most = largestIn(currency)
  const interest = mostInterest(product)
  if (interest > most) throw invalidArgument('interestRate', TOO_DEAR)
  if (applyRate(principalMax, penaltyRate ?? 0n) > most) throw invalidArgument('penaltyRate', TOO_DEAR)
  const { penalty } = terms ?? { penalty: null }
  if (penalty && penalty.base !== 'fixed' && applyRate(principalMax, penalty.value) > most)
    throw invalidArgument('penalty.rate', TOO_DEAR)
  if (terms && mostFees(product, terms.fees, interest) > most)
    throw invalidArgument(
      'fees',
      'must be so low that the fees of the largest principal come to at most 999999999999.99',
    )
}

function mostInterest(product: Product): bigint {
  const { principalMax, numberOfRepayments, terms } = product
  if (terms !== null && terms.dayCount !== 'periods') return mostByDays(product, terms)
  const [rate, first] = [exactRatePerPeriod(product), firstPeriods(product)]
  const count = BigInt(numberOfRepayments)
  const periods = first.over + (count - 1n) * first.under
  const interest = divideHalfEven(principalMax * rate.over * periods, rate.under * first.under)
  // On the balance, each instalment may be rounded up.
  return terms === null || terms.interestMethod === 'flat' ? interest : interest + count
}

/** Some day after which a year, a quarter and a month are as long as they can be, by every rule. */
const LONG_FROM = '2024-01-01'

/** Returns more than the interest by days can be: a day more in each period than after 1 January of a leap year. */
function mostByDays(product: Product, terms: ProductTerms): bigint {
  const { principalMax, repayEvery, repayUnit, numberOfRepayments } = product
  const first = terms.firstDueAfter ?? { every: repayEvery, unit: repayUnit }
  const oneOf = (every: number, unit: typeof repayUnit) => {
    const end = addPeriods(addPeriods(LONG_FROM, every, unit), 3, 'days')
    const { overs, under } = periodRates(product, [LONG_FROM, end])
    return (principalMax * overs[0]!) / under + 1n
  }
  return oneOf(first.every, first.unit) + BigInt(numberOfRepayments - 1) * oneOf(repayEvery, repayUnit)
}

function mostFees({ principalMax, numberOfRepayments }: Product, fees: readonly Fee[], interest: bigint): bigint {
  const count = BigInt(numberOfRepayments)
  return fees.reduce((total, { base, value, when }) => {
    const times = when === 'each_instalment' ? count : 1n
    if (base === 'fixed') return total + value * times
    const ofAll = base === 'instalment' ? principalMax + interest : principalMax * times
    return total + (ofAll * value) / RATE_UNIT + times
  }, 0n)
}
