import { Counter, Gauge, type Registry } from 'prom-client'
import { currencyOf, minorToNumber } from '../domain/money.ts'
import { AT_RISK_DAYS } from '../domain/portfolio/cells.ts'
import type { BookTotals } from '../services/book/totals.ts'
import type { Listener } from '../services/listener.ts'

/** Tells of the job that keeps the portfolios. @param now milliseconds since 1970 */
export function countPortfolios(registers: Registry[], now: () => number) {
  const last = new Gauge({
    name: 'mkopo_portfolio_last_success_timestamp_seconds',
    help: 'When the portfolios were last found kept, or were kept on.',
    registers,
  })
  const failed = new Counter({
    name: 'mkopo_portfolio_failures_total',
    help: 'Rounds in which the portfolio of an organization, or all, could not be kept.',
    registers,
  })
  return {
    portfolioKept: () => last.set(now() / 1000),
    portfolioKeepFailed: () => failed.inc(),
  } satisfies Partial<Listener>
}

/** A sample of a gauge: its labels and its value. */
type Sample<Label extends string> = readonly [labels: Record<Label, string | number>, value: number]

const units = (minor: bigint, currency: string) => minorToNumber(minor, currencyOf(currency))

/** Shows the portfolios by bucket, and what is at risk, as they were last computed: at most 20 buckets of an organization. */
export function showPortfolios(registers: Registry[], totals: () => readonly BookTotals[]): void {
  function show<Label extends string>(
    { name, help }: { readonly name: string; readonly help: string },
    labelNames: readonly Label[],
    samples: (totals: BookTotals) => readonly Sample<Label>[],
  ): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset()
        for (const [labels, value] of totals().flatMap(samples)) this.set(labels, value)
      },
    })
  }
  const byBucket = ['organization', 'currency', 'bucket'] as const
  show(
    { name: 'mkopo_portfolio_loans', help: 'Active loans, by bucket of the delinquency policy in force.' },
    byBucket,
    ({ organizationId: organization, buckets }) =>
      buckets.map(({ currency, bucket, loans }) => [{ organization, currency, bucket }, loans]),
  )
  show(
    {
      name: 'mkopo_portfolio_principal',
      help: 'The principal outstanding of active loans in units of the currency, by bucket.',
    },
    byBucket,
    ({ organizationId: organization, buckets }) =>
      buckets.map(({ currency, bucket, principal }) => [
        { organization, currency, bucket },
        units(principal, currency),
      ]),
  )
  show(
    {
      name: 'mkopo_portfolio_at_risk',
      help: 'The principal of the loans in each figure of portfolio at risk (PAR 1, 30, 60, 90), in units of the currency.',
    },
    ['organization', 'currency', 'days'],
    atRiskOf,
  )
}

function atRiskOf({
  organizationId: organization,
  products,
}: BookTotals): Sample<'organization' | 'currency' | 'days'>[] {
  const byCurrency = Map.groupBy(products, ({ currency }) => currency)
  return [...byCurrency].flatMap(([currency, of]) =>
    AT_RISK_DAYS.map((days, place): Sample<'organization' | 'currency' | 'days'> => {
      const amount = of.reduce((sum, { atRisk }) => sum + atRisk[place]!, 0n)
      return [{ organization, currency, days }, units(amount, currency)]
    }),
  )
}
