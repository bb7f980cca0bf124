import type { Deps } from '../../../services/deps.ts'
import { channelNamed } from '../../../services/payments/channels.ts'
import {
  applyReconciliation,
  getReconciliation,
  listLines,
  listReconciliations,
  type Reconciliation,
  reconcile,
} from '../../../services/payments/reconciliation/reconcile.ts'
import { LARGEST_INT32 } from '../../../toolbox/integers.ts'
import { rangeOf } from '../../lists/query.ts'
import type { StyleApp } from '../../style.ts'
import { toPage } from '../registry.ts'
import * as examples from './reconciliationExamples.ts'
import {
  linePage,
  linesQuery,
  reconcileRequest,
  reconciliationPage,
  reconciliationParams,
  reconciliationQuery,
  reconciliationSchema,
  toLine,
  toReconciliation,
} from './reconciliations.wire.ts'

const tags = ['reconciliation']

type Caller = Parameters<typeof channelNamed>[1]

/** Adds the comparison of providers' statements with the payments of their channels, for operators. */
export function reconciliationRoutes(app: StyleApp, deps: Deps): void {
  makingRoutes(app, deps)
  readingRoutes(app, deps)
}

async function viewOf(deps: Deps, caller: Caller, run: Reconciliation) {
  const { currency } = await channelNamed(deps, caller, BigInt(run.channelId))
  return toReconciliation(run, currency, deps.config.zone)
}

function makingRoutes(app: StyleApp, deps: Deps): void {
  app.post(
    '/v1/reconciliations',
    {
      schema: {
        tags,
        operationId: 'createReconciliation',
        summary: 'Compare a statement with the payments',
        description:
          'Says which payments of a channel are in both, and which are in one of the two only. A payment that awaited the statement and is in it is confirmed. The same statement of the same days is the same reconciliation, as it is now.',
        body: reconcileRequest,
        response: { 200: reconciliationSchema },
      },
    },
    async ({ caller, body }) => viewOf(deps, caller, await reconcile(deps, caller, body)),
  )
  app.post(
    '/v1/reconciliations/:id/apply',
    {
      config: { examples: { Applied: examples.applied } },
      schema: {
        tags,
        operationId: 'applyReconciliation',
        summary: 'Take in what a statement has and the payments have not',
        description:
          'Payments that are missing here are received as if told, and reversals taken back; then the statement is compared again.',
        params: reconciliationParams,
        response: { 200: reconciliationSchema },
      },
    },
    async ({ caller, params: { id } }) => viewOf(deps, caller, await applyReconciliation(deps, caller, id)),
  )
}

function readingRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  app.get(
    '/v1/reconciliations',
    {
      schema: {
        tags,
        operationId: 'listReconciliations',
        summary: 'List reconciliations',
        description: 'In the order in which the statements were first compared.',
        querystring: reconciliationQuery,
        response: { 200: reconciliationPage },
      },
    },
    async ({ caller, query }) => {
      const { channelId: given } = query
      const channelId = given === undefined ? null : Number(given !== null && given <= LARGEST_INT32 ? given : 0n)
      const part = await listReconciliations(deps, caller, channelId, rangeOf(query))
      const items = await Promise.all(part.items.map((run) => viewOf(deps, caller, run)))
      return toPage({ ...part, items }, query, (one) => one)
    },
  )
  app.get(
    '/v1/reconciliations/:id',
    {
      schema: {
        tags,
        operationId: 'getReconciliation',
        summary: 'Read a reconciliation',
        description: 'How many lines of each kind there are, and what they sum to.',
        params: reconciliationParams,
        response: { 200: reconciliationSchema },
      },
    },
    async ({ caller, params: { id } }) => viewOf(deps, caller, await getReconciliation(deps, caller, id)),
  )
  app.get(
    '/v1/reconciliations/:id/lines',
    {
      schema: {
        tags,
        operationId: 'listReconciliationLines',
        summary: 'List the lines of a reconciliation',
        description: 'In the order of the statement; payments that it does not have come last. Follow the cursor.',
        params: reconciliationParams,
        querystring: linesQuery,
        response: { 200: linePage },
      },
    },
    async ({ caller, params: { id }, query }) => {
      const run = await getReconciliation(deps, caller, id)
      const { currency } = await channelNamed(deps, caller, BigInt(run.channelId))
      const { rows, after, kind: kinds } = query
      const part = await listLines(deps, caller, id, { kinds, range: { rows, after } })
      return toPage(part, { rows }, (line) => toLine(line, currency, zone))
    },
  )
}
