import {
  approvePendingAction,
  getPendingAction,
  listPendingActions,
  type PendingAction,
  rejectPendingAction,
  rejectPendingActions,
  withdrawPendingAction,
} from '../../../services/approvals/approvals.ts'
import type { Core, Deps } from '../../../services/deps.ts'
import { rangeOf } from '../../lists/query.ts'
import type { StyleApp } from '../../style.ts'
import { toPage } from '../registry.ts'
import {
  actionParams,
  actionQuery,
  pendingActionPage,
  pendingActionSchema,
  rejectedSchema,
  rejectManyRequest,
  rejectRequest,
  toPendingAction,
} from './approvals.wire.ts'
import * as examples from './examples.ts'

const tags = ['approvals']

const DECIDED = [
  'It is decided already, or the loan or the payment refuses it now.',
  'the action is approved already',
] as const

/** Adds the actions that wait for a second ADMIN (contract 14.9). */
export function approvalRoutes(app: StyleApp, deps: Deps): void {
  readRoutes(app, deps)
  approveRoute(app, deps)
  rejectRoute(app, deps)
  rejectManyRoute(app, deps)
  withdrawRoute(app, deps)
}

function readRoutes(app: StyleApp, deps: Core): void {
  const { zone } = deps.config
  app.get(
    '/v1/pending-actions',
    {
      schema: {
        tags,
        operationId: 'listPendingActions',
        summary: 'List pending actions',
        description: 'What waits or has waited for a second ADMIN, oldest first.',
        querystring: actionQuery,
        response: { 200: pendingActionPage },
      },
    },
    async ({ caller, query }) => {
      const { state, loanId, paymentId, askedBy } = query
      const found = await listPendingActions(deps, caller, { state, loanId, paymentId, askedBy }, rangeOf(query))
      return toPage(found, query, (one) => toPendingAction(one, zone))
    },
  )

  app.get(
    '/v1/pending-actions/:id',
    {
      schema: {
        tags,
        operationId: 'getPendingAction',
        summary: 'Read a pending action',
        description: 'Who asked for what, and what became of it.',
        params: actionParams,
        response: { 200: pendingActionSchema },
      },
    },
    async ({ caller, params: { id } }) => toPendingAction(await getPendingAction(deps, caller, id), zone),
  )
}

function approveRoute(app: StyleApp, deps: Deps): void {
  app.post(
    '/v1/pending-actions/:id/approve',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: { failed_precondition: DECIDED },
        examples: { Approved: examples.approved },
      },
      schema: {
        tags,
        operationId: 'approvePendingAction',
        summary: 'Approve a pending action',
        description:
          'Another ADMIN than the one who asked. The action is decided again on the loan or the payment as it is now, and posted with the value date that was asked for. Where it is refused, or the amount is larger than it was, the action stays pending.',
        params: actionParams,
        response: { 200: pendingActionSchema },
      },
    },
    async ({ caller, params: { id } }) => view(deps, await approvePendingAction(deps, caller, id)),
  )
}

function rejectRoute(app: StyleApp, deps: Core): void {
  app.post(
    '/v1/pending-actions/:id/reject',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: { failed_precondition: DECIDED },
        examples: { Rejected: examples.rejected },
      },
      schema: {
        tags,
        operationId: 'rejectPendingAction',
        summary: 'Reject a pending action',
        description: 'Another ADMIN than the one who asked. Nothing is posted.',
        params: actionParams,
        body: rejectRequest,
        response: { 200: pendingActionSchema },
      },
    },
    async ({ caller, params: { id }, body }) => view(deps, await rejectPendingAction(deps, caller, id, body.reason)),
  )
}

function rejectManyRoute(app: StyleApp, deps: Core): void {
  app.post(
    '/v1/pending-actions/reject',
    {
      schema: {
        tags,
        operationId: 'rejectPendingActions',
        summary: 'Reject the pending actions of an account or a loan',
        description:
          'All that an account asked for, or all on a loan, but for what you asked for yourself. Nothing is posted. One of `askedBy` and `loanId` is required.',
        body: rejectManyRequest,
        response: { 200: rejectedSchema },
      },
    },
    async ({ caller, body: { askedBy, loanId, reason } }) => {
      const of = { ...(askedBy !== undefined && { askedBy }), ...(loanId !== undefined && { loanId }) }
      return { rejected: (await rejectPendingActions(deps, caller, { ...of, reason })).map(String) }
    },
  )
}

function withdrawRoute(app: StyleApp, deps: Core): void {
  app.post(
    '/v1/pending-actions/:id/withdraw',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: { failed_precondition: DECIDED },
        examples: { Withdrawn: examples.withdrawn },
      },
      schema: {
        tags,
        operationId: 'withdrawPendingAction',
        summary: 'Withdraw a pending action',
        description: 'By the one who asked for it. Nothing is posted.',
        params: actionParams,
        response: { 200: pendingActionSchema },
      },
    },
    async ({ caller, params: { id } }) => view(deps, await withdrawPendingAction(deps, caller, id)),
  )
}

const view = ({ config }: Core, action: PendingAction) => toPendingAction(action, config.zone)
