import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { notFound } from '../../../domain/errors.ts'
import { getChart, setChart } from '../../../services/accounting/charts.ts'
import { closePeriod } from '../../../services/accounting/closePeriod.ts'
import { trialBalanceCsv } from '../../../services/accounting/csv.ts'
import { exportJournal } from '../../../services/accounting/exportJournal.ts'
import { listPeriods } from '../../../services/accounting/periods.ts'
import { listPostings } from '../../../services/accounting/postings.ts'
import { getTrialBalance } from '../../../services/accounting/trialBalance.ts'
import type { Caches, Core, Deps } from '../../../services/deps.ts'
import { answerReport, CSV_TYPE, reportAnswer } from '../../body/accepted.ts'
import type { StyleApp } from '../../style.ts'
import {
  chartSchema,
  exportQuery,
  journalQuery,
  periodList,
  periodParams,
  periodSchema,
  postingPage,
  toChart,
  toPeriod,
  toPosting,
  toTrialBalance,
  trialBalanceQuery,
  trialBalanceSchema,
  updateChartRequest,
} from './accounting.wire.ts'
import * as examples from './examples.ts'
import { financialStatementRoutes } from './financialStatements.ts'

const tags = ['accounting']
/** Adds the journal: the chart of accounts, postings, balances and the close of months. */
export function accountingRoutes(app: StyleApp, deps: Deps): void {
  chartRoutes(app, deps)
  readingRoutes(app, deps)
  financialStatementRoutes(app, deps)
  exportRoutes(app, deps)
  periodRoutes(app, deps)
}

function chartRoutes(app: StyleApp, deps: Core): void {
  app.get(
    '/v1/accounting/chart',
    {
      schema: {
        tags,
        operationId: 'getChart',
        summary: 'Read the chart of accounts',
        description: 'The newest one, and from which booked day it counts.',
        response: { 200: chartSchema },
      },
    },
    async ({ caller }) => toChart(await getChart(deps, caller)),
  )

  app.put(
    '/v1/accounting/chart',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'An account with postings is missing, or has another type.',
            'account 1100 has postings and cannot be removed: keep it among the accounts',
          ],
        },
      },
      schema: {
        tags,
        operationId: 'updateChart',
        summary: 'Set the chart of accounts',
        description:
          'Counts from the first open month; balances move to the new accounts by a posting. The same chart again changes nothing.',
        body: updateChartRequest,
        response: { 200: chartSchema },
      },
    },
    async ({ caller, body }) => toChart(await setChart(deps, caller, body)),
  )
}

function readingRoutes(app: StyleApp, deps: Core & Caches): void {
  const { zone } = deps.config
  app.get(
    '/v1/accounting/trial-balance',
    {
      schema: {
        tags,
        operationId: 'getTrialBalance',
        summary: 'Read the trial balance',
        description:
          'Debits, credits and balance of each account up to a day. Of a day in a closed month, the booked one is the same to the byte for ever.',
        querystring: trialBalanceQuery,
        response: { 200: reportAnswer(trialBalanceSchema, examples.TRIAL_BALANCE_CSV) },
      },
    },
    async (request, reply) => {
      const balance = await getTrialBalance(deps, request.caller, request.query)
      return answerReport(request, reply, balance, {
        toView: toTrialBalance,
        toCsv: trialBalanceCsv,
        nameOf: ({ asOf }) => `trial-balance-${asOf}`,
      })
    },
  )

  app.get(
    '/v1/accounting/journal',
    {
      schema: {
        tags,
        operationId: 'listPostings',
        summary: 'Read the journal',
        description:
          'The postings of some booked days, in the order in which they came: a walk by cursor misses and repeats nothing. With `account`, an answer may have no items and a `next`: go on.',
        querystring: journalQuery,
        response: { 200: postingPage },
      },
    },
    async ({ caller, query }) => {
      const { items, next } = await listPostings(deps, caller, query)
      return { items: items.map((one) => toPosting(one, zone)), ...(next !== undefined && { next }) }
    },
  )
}

/** The description and the schema of a file in an answer. */
const file = (type: string, description: string, example: string) => ({
  description,
  content: { [type]: { schema: z.string().meta({ examples: [example] }) } },
})

const PLAIN = 'text/plain'

function exportRoutes(app: StyleApp, deps: Core & Caches): void {
  /** Sends a file part by part: the next part is read when the client has taken one. */
  const send = (reply: FastifyReply, type: string, parts: AsyncIterable<string>) =>
    reply.type(`${type}; charset=utf-8`).send(Readable.from(parts, { objectMode: false, highWaterMark: 1 }))

  app.get(
    '/v1/accounting/journal.csv',
    {
      schema: {
        tags,
        operationId: 'getJournalCsv',
        summary: 'Export a month of the journal as CSV',
        description:
          'A row for each line of a posting, by booked day, and at the end the control totals of each currency, from the sums of the days: without them the file is not complete.',
        querystring: exportQuery,
        response: { 200: file(CSV_TYPE, 'The file.', examples.CSV) },
      },
    },
    async ({ caller, query }, reply) =>
      send(reply, CSV_TYPE, await exportJournal(deps, caller, { ...query, format: 'csv' })) as never,
  )

  app.get(
    '/v1/accounting/journal.hledger',
    {
      schema: {
        tags,
        operationId: 'getJournalHledger',
        summary: 'Export a month of the journal for hledger',
        description:
          'A transaction for each posting. The file opens with the balances before the month, and ends with those at its end, which `hledger check` compares. Files of several months can be read one after the other.',
        querystring: exportQuery,
        response: { 200: file(PLAIN, 'The file.', examples.HLEDGER) },
      },
    },
    async ({ caller, query }, reply) =>
      send(reply, PLAIN, await exportJournal(deps, caller, { ...query, format: 'hledger' })) as never,
  )
}

function periodRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  app.get(
    '/v1/accounting/periods',
    {
      schema: {
        tags,
        operationId: 'listPeriods',
        summary: 'List the months of the books',
        description:
          'From the current month back to that of the first posting, without months that were over before the journal began.',
        response: { 200: periodList },
      },
    },
    async ({ caller }) => ({ items: (await listPeriods(deps, caller)).map((one) => toPeriod(one, zone)) }),
  )

  app.post(
    '/v1/accounting/periods/:period/close',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'The month is not over, or an earlier one is open.',
            '2026-02 cannot be closed before 2026-01, the oldest open month',
          ],
          not_found: ['The path names no month.', 'a month is written as in 2026-01'],
        },
      },
      schema: {
        tags,
        operationId: 'closePeriod',
        summary: 'Close a month of the books',
        description:
          'The oldest open month, once its last day is over. Its booked balances never change again; what belongs to it and comes later is booked on the first open day. Closed again, it answers the same.',
        params: periodParams,
        response: { 200: periodSchema },
      },
    },
    async ({ caller, params: { period } }) => {
      if (period === null) throw notFound('a month is written as in 2026-01')
      return toPeriod({ ...(await closePeriod(deps, caller, period)), state: 'closed' }, zone)
    },
  )
}
