import type { Deps } from '../../../services/deps.ts'
import {
  getSchedule,
  getSchedules,
  previewRestructure,
  restructure,
  reverseRestructureOf,
} from '../../../services/loans/restructures.ts'
import type { StyleApp } from '../../style.ts'
import { answerOrWait, WAITS, waitingAnswer } from '../approvals/approvals.wire.ts'
import { prefilledFor } from '../openapi/story.ts'
import { refusalOf, WRONG_STATE } from '../postings.ts'
import { LOAN_ADDRESSES } from '../registry.ts'
import { reverseTransactionRequest } from '../transactions.wire.ts'
import * as examples from './examples.ts'
import {
  restructuredLoanSchema,
  restructureLoanRequest,
  toRestructure,
  toRestructuredLoan,
  toVersion,
  toVersionSummary,
  versionSchema,
  versionsSchema,
} from './restructures.wire.ts'

const tags = ['restructures']

type Address = (typeof LOAN_ADDRESSES)[number]

/** Adds the restructures of a loan, and the versions of its schedule. */
export function restructureRoutes(app: StyleApp, deps: Deps): void {
  for (const address of LOAN_ADDRESSES) {
    addRestructure(app, deps, address)
    addReversal(app, deps, address)
    addVersions(app, deps, address)
  }
}

function addRestructure(app: StyleApp, deps: Deps, { path, params, named }: Address): void {
  app.post(
    `/v1/loans${path}/restructures`,
    {
      config: {
        canWait: true,
        refusals: ['failed_precondition'],
        explained: { failed_precondition: [WRONG_STATE, refusalOf('Restructure')] },
        examples: { Restructured: examples.restructuredLoan },
      },
      schema: {
        tags,
        operationId: named('restructureLoan'),
        summary: 'Restructure a loan',
        description: `Schedules what an Active loan owes again: a holiday, an extension, a roll-over, another amount or another first due date. The principal that is owed stays the same. It has no \`idempotencyKey\`: send the header \`Idempotency-Key\`. ${WAITS} What is outstanding counts.`,
        params,
        body: restructureLoanRequest,
        response: { 200: restructuredLoanSchema, ...waitingAnswer },
      },
    },
    async ({ caller, params: ref, body }, reply) => {
      const request = toRestructure(body)
      if (body.preview) return toRestructuredLoan(await previewRestructure(deps, caller, ref, request))
      return answerOrWait(reply, await restructure(deps, caller, ref, request), toRestructuredLoan, deps.config.zone)
    },
  )
}

function addReversal(app: StyleApp, deps: Deps, { path, withTransaction, named }: Address): void {
  const operationId = named('reverseRestructure', 'Loan')
  app.post(
    `/v1/loans${path}/restructures/:transactionId/reverse`,
    {
      config: {
        canWait: true,
        refusals: ['failed_precondition'],
        explained: { failed_precondition: [WRONG_STATE, 'the restructure is reversed already'] },
        examples: { Reversed: examples.reversedLoan },
        prefilled: prefilledFor(operationId),
      },
      schema: {
        tags,
        operationId,
        summary: 'Reverse a restructure',
        description: `With the waivers and the fee that were posted with it: the loan becomes what it would be without them. ${WAITS} What is outstanding counts.`,
        params: withTransaction,
        body: reverseTransactionRequest,
        response: { 200: restructuredLoanSchema, ...waitingAnswer },
      },
    },
    async ({ caller, params, body }, reply) => {
      const reversed = await reverseRestructureOf(deps, caller, params, body?.note ?? null)
      return answerOrWait(reply, reversed, toRestructuredLoan, deps.config.zone)
    },
  )
}

function addVersions(app: StyleApp, deps: Deps, { path, params, withVersion, named }: Address): void {
  app.get(
    `/v1/loans${path}/schedules`,
    {
      schema: {
        tags,
        operationId: named('listSchedules', 'Loan'),
        summary: 'List the versions of the schedule',
        description: 'The schedule as it was lent, and what each restructure has made of it.',
        params,
        response: { 200: versionsSchema },
      },
    },
    async ({ caller, params: ref }) => {
      const { loan, versions } = await getSchedules(deps, caller, ref)
      return { items: versions.map((version) => toVersionSummary(version, loan.terms.currency)) }
    },
  )
  app.get(
    `/v1/loans${path}/schedules/:version`,
    {
      config: { examples: { 'As it was lent': examples.lentVersion } },
      schema: {
        tags,
        operationId: named('getSchedule', 'Loan'),
        summary: 'Read a version of the schedule',
        description: 'Its instalments as they were made: without penalties, and without what was paid.',
        params: withVersion,
        response: { 200: versionSchema },
      },
    },
    async ({ caller, params: { ref, version } }) => {
      const { loan, found } = await getSchedule(deps, caller, ref, version)
      return toVersion(found, loan.terms.currency)
    },
  )
}
