import type { Caches, Core } from '../../../services/deps.ts'
import { portfolioCsv, provisionsCsv, rollsCsv } from '../../../services/portfolio/csv.ts'
import { getPortfolioAtRisk, readRollRates } from '../../../services/portfolio/portfolio.ts'
import { bookPortfolioProvisions, getProvisions } from '../../../services/portfolio/provisions.ts'
import { answerReport, reportAnswer } from '../../body/accepted.ts'
import { lastInstantOf } from '../../lists/query.ts'
import type { StyleApp } from '../../style.ts'
import { PORTFOLIO_CSV, PROVISIONS_CSV, ROLLS_CSV } from './examples.ts'
import {
  bookedSchema,
  bookProvisionsRequest,
  portfolioQuery,
  portfolioSchema,
  provisionsQuery,
  provisionsSchema,
  rollQuery,
  rollSchema,
  toBooked,
  toPortfolio,
  toProvisions,
  toRolls,
} from './portfolio.wire.ts'

const tags = ['portfolio']
/** Adds the portfolio: what is at risk, how loans move between the buckets, and provisions (contract 11). */
export function portfolioRoutes(app: StyleApp, deps: Core & Caches): void {
  readingRoutes(app, deps)
  provisionRoutes(app, deps)
}

function readingRoutes(app: StyleApp, deps: Core & Caches): void {
  app.get(
    '/v1/portfolio/par',
    {
      schema: {
        tags,
        operationId: 'getPortfolioAtRisk',
        summary: 'Read the portfolio at risk',
        description:
          'The open loans by bucket, and the principal at risk, for any day and as it was known at any instant. A past day that nobody has asked for may take a minute on a book of a million loans.',
        querystring: portfolioQuery,
        response: { 200: reportAnswer(portfolioSchema, PORTFOLIO_CSV) },
      },
    },
    async (request, reply) => {
      const { caller, query } = request
      const knownAt = query.knownAt && lastInstantOf(query.knownAt, deps, caller.organizationId)
      return answerReport(request, reply, await getPortfolioAtRisk(deps, caller, { ...query, knownAt }), {
        toView: (found) => toPortfolio(found, deps.config.zone),
        toCsv: portfolioCsv,
        nameOf: ({ asOf }) => `portfolio-at-risk-${asOf}`,
      })
    },
  )

  app.get(
    '/v1/portfolio/roll-rates',
    {
      schema: {
        tags,
        operationId: 'getRollRates',
        summary: 'Read how loans moved between buckets',
        description:
          'A row for each bucket of the first day: where its loans are on the last day. Each row sums to its opening.',
        querystring: rollQuery,
        response: { 200: reportAnswer(rollSchema, ROLLS_CSV) },
      },
    },
    async (request, reply) =>
      answerReport(request, reply, await readRollRates(deps, request.caller, request.query), {
        toView: toRolls,
        toCsv: rollsCsv,
        nameOf: ({ from, to }) => `roll-rates-${from}-${to}`,
      }),
  )
}

function provisionRoutes(app: StyleApp, deps: Core & Caches): void {
  const withoutRates: [string, string] = [
    'No bucket of the policy has a rate.',
    'no bucket of the policy has a provisionRate: set a policy with rates, such as {"preset": "cbk"}, and ask then',
  ]
  app.get(
    '/v1/portfolio/provisions',
    {
      config: { refusals: ['failed_precondition'], explained: { failed_precondition: withoutRates } },
      schema: {
        tags,
        operationId: 'getProvisions',
        summary: 'Read the provisions',
        description:
          'The provisions of the open loans by currency, product and bucket as of a day, and what of them is booked.',
        querystring: provisionsQuery,
        response: { 200: reportAnswer(provisionsSchema, PROVISIONS_CSV) },
      },
    },
    async (request, reply) =>
      answerReport(request, reply, await getProvisions(deps, request.caller, request.query), {
        toView: toProvisions,
        toCsv: provisionsCsv,
        nameOf: ({ asOf }) => `provisions-${asOf}`,
      }),
  )

  app.post(
    '/v1/portfolio/provisions/book',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'The chart of accounts has no account for provisions, or no bucket of the policy has a rate.',
            withoutRates[1],
          ],
        },
      },
      schema: {
        tags,
        operationId: 'bookProvisions',
        summary: 'Book the provisions',
        description:
          'Posts what the provisions as of a day, by the policy in force, differ from the allowance that is booked, and waits for the postings. The same booking again posts nothing.',
        body: bookProvisionsRequest,
        response: { 200: bookedSchema },
      },
    },
    async ({ caller, body }) => toBooked(await bookPortfolioProvisions(deps, caller, body)),
  )
}
