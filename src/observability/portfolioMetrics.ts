import { Gauge, type Registry } from 'prom-client'
import { currencyOf, minorToNumber } from '../domain/money.ts'
import { AT_RISK_DAYS } from '../domain/portfolio/cells.ts'
import type { BookTotals } from '../services/book/totals.ts'

const units = (minor: bigint, currency: string) => minorToNumber(minor, currencyOf(currency))

/** The days overdue above which principal counts as at risk here; the API and the office pages have the other figures. */
const DAYS_AT_RISK = 30
const PLACE_OF_RISK = AT_RISK_DAYS.indexOf(DAYS_AT_RISK)
/** Buckets that are shown, of all organizations together: those with the most principal. */
const MOST_BUCKETS = 20
/** The sum of the buckets that are not shown on their own. */
const OTHER_BUCKETS = '(others)'

interface BucketSums {
  readonly currency: string
  readonly bucket: string
  readonly loans: number
  readonly principal: bigint
}

/** Shows the portfolios by bucket, all organizations together, and what is at risk of each, as they were last computed. */
export function showPortfolios(registers: Registry[], totals: () => readonly BookTotals[]): void {
  const show = (name: string, help: string, read: (sums: BucketSums) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['currency', 'bucket'] as const,
      registers,
      collect() {
        this.reset()
        for (const sums of bucketsOf(totals())) this.set({ currency: sums.currency, bucket: sums.bucket }, read(sums))
      },
    })
  show('mkopo_portfolio_loans', 'Active loans, by bucket of the delinquency policy in force.', ({ loans }) => loans)
  show(
    'mkopo_portfolio_principal',
    'The principal outstanding of active loans in units of the currency, by bucket.',
    ({ principal, currency }) => units(principal, currency),
  )
  new Gauge({
    name: 'mkopo_portfolio_at_risk',
    help: 'The principal of the loans overdue for more than 30 days (PAR 30), in units of the currency.',
    labelNames: ['organization', 'currency', 'days'] as const,
    registers,
    collect() {
      this.reset()
      for (const { organizationId: organization, products } of totals())
        for (const [currency, of] of Map.groupBy(products, (product) => product.currency)) {
          const amount = of.reduce((sum, { atRisk }) => sum + atRisk[PLACE_OF_RISK]!, 0n)
          this.set({ organization, currency, days: DAYS_AT_RISK }, units(amount, currency))
        }
    },
  })
}

/** Returns the sums of the buckets by currency and name: of the largest each, and of the others together by currency. */
function bucketsOf(totals: readonly BookTotals[]): BucketSums[] {
  const all = sumBy(totals.flatMap(({ buckets }) => buckets))
  const largest = all.sort((one, other) => Number(other.principal - one.principal) || other.loans - one.loans)
  const others = largest.slice(MOST_BUCKETS).map((sums) => ({ ...sums, bucket: OTHER_BUCKETS }))
  return sumBy([...largest.slice(0, MOST_BUCKETS), ...others])
}

const sumBy = (buckets: readonly BucketSums[]): BucketSums[] =>
  [...Map.groupBy(buckets, ({ currency, bucket }) => `${currency} ${bucket}`).values()].map((same) => ({
    currency: same[0]!.currency,
    bucket: same[0]!.bucket,
    loans: same.reduce((sum, { loans }) => sum + loans, 0),
    principal: same.reduce((sum, { principal }) => sum + principal, 0n),
  }))
