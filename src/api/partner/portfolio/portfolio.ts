import type { Deps } from '../../../app/deps.ts'
import { requireAdmin } from '../../../services/access/caller.ts'
import { readRollRates } from '../../../services/portfolio/portfolio.ts'
import { getPortfolioAtRisk } from '../../../services/portfolio/portfolioAtRisk.ts'
import { lastInstantOf } from '../../lists/lastInstant.ts'
import type { StyleApp } from '../../style.ts'
import { portfolioQuery, portfolioSchema, toPortfolio } from './portfolio.wire.ts'
import { rollQuery, rollSchema, toRolls } from './rolls.wire.ts'

const tags = ['portfolio']
const role = 'ADMIN' as const

/** Adds the portfolio: what is at risk, and how loans move between the buckets (contract 11). */
export function portfolioRoutes(app: StyleApp, deps: Deps): void {
  app.get(
    '/v1/portfolio/par',
    {
      config: { role },
      schema: {
        tags,
        operationId: 'getPortfolioAtRisk',
        summary: 'Read the portfolio at risk',
        description:
          'The open loans by bucket, and the principal at risk, for any day and as it was known at any instant. A past day that nobody has asked for may take a minute on a book of a million loans.',
        querystring: portfolioQuery,
        response: { 200: portfolioSchema },
      },
    },
    async ({ caller, query: { knownAt, ...query } }) => {
      const known = knownAt && lastInstantOf(knownAt, deps)
      return toPortfolio(await getPortfolioAtRisk(deps, caller, { ...query, knownAt: known }), deps.config.zone)
    },
  )

  app.get(
    '/v1/portfolio/roll-rates',
    {
      config: { role },
      schema: {
        tags,
        operationId: 'getRollRates',
        summary: 'Read how loans moved between buckets',
        description:
          'A row for each bucket of the first day: where its loans are on the last day. Each row sums to its opening.',
        querystring: rollQuery,
        response: { 200: rollSchema },
      },
    },
    async ({ caller, query }) => {
      requireAdmin(caller)
      return toRolls(await readRollRates(deps, caller, query))
    },
  )
}
