import { invariant } from '../../../domain/errors.ts'
import { isWaiting } from '../../../services/approvals/waiting.ts'
import type { Deps } from '../../../services/deps.ts'
import { listCharges, postTransaction, reverseCharge } from '../../../services/loans/transactions.ts'
import { listQuery, rangeOf } from '../../lists/query.ts'
import type { StyleApp } from '../../style.ts'
import { answerOrWait, WAITS, waitingAnswer } from '../approvals/approvals.wire.ts'
import { prefilledFor } from '../openapi/story.ts'
import { refusalOf, WRONG_STATE } from '../postings.ts'
import { LOAN_ADDRESSES, toPage } from '../registry.ts'
import { reverseTransactionRequest } from '../transactions.wire.ts'
import { chargeLoanRequest, chargePage, chargeSchema, toCharge, toChargePosting } from './charges.wire.ts'
import * as examples from './examples.ts'

const tags = ['charges']

/** Adds the single charges of a loan (contract 10.12). */
export function chargeRoutes(app: StyleApp, deps: Deps): void {
  for (const address of LOAN_ADDRESSES) addCharge(app, deps, address)
  for (const address of LOAN_ADDRESSES) addList(app, deps, address)
  for (const address of LOAN_ADDRESSES) addReversal(app, deps, address)
}

type Address = (typeof LOAN_ADDRESSES)[number]

function addCharge(app: StyleApp, deps: Deps, { path, params, named }: Address): void {
  app.post(
    `/v1/loans${path}/charges`,
    {
      config: {
        refusals: ['failed_precondition'],
        explained: { failed_precondition: [WRONG_STATE, refusalOf('Fee')] },
        examples: { Charged: examples.charge },
      },
      schema: {
        tags,
        operationId: named('chargeLoan'),
        summary: 'Charge a loan',
        description:
          'Adds a single fee or penalty to an Active loan. Its value date is today. It has no `idempotencyKey`: send the header `Idempotency-Key`, so that a request that is sent again charges nothing twice. It is refused where it exceeds what `totalChargeCap` of the product leaves or, of a penalty, `capPercentOfPrincipal`. Its amount cannot be adjusted: reverse it and charge again.',
        params,
        body: chargeLoanRequest,
        response: { 200: chargeSchema },
      },
    },
    async ({ caller, params: ref, body }) => {
      const charged = await postTransaction(deps, caller, ref, toChargePosting(body))
      invariant(!isWaiting(charged), 'a charge waits for nobody')
      return toCharge(charged)
    },
  )
}

function addList(app: StyleApp, deps: Deps, { path, params, named }: Address): void {
  app.get(
    `/v1/loans${path}/charges`,
    {
      schema: {
        tags,
        operationId: named('listCharges', 'Loan'),
        summary: 'List charges',
        description: 'The single charges of a loan, newest first, reversed ones included.',
        params,
        querystring: listQuery,
        response: { 200: chargePage },
      },
    },
    async ({ caller, params: ref, query }) =>
      toPage(await listCharges(deps, caller, ref, rangeOf(query)), query, toCharge),
  )
}

function addReversal(app: StyleApp, deps: Deps, { path, withTransaction, named }: Address): void {
  const operationId = named('reverseCharge', 'Loan')
  app.post(
    `/v1/loans${path}/charges/:transactionId/reverse`,
    {
      config: {
        canWait: true,
        refusals: ['failed_precondition'],
        explained: { failed_precondition: [WRONG_STATE, 'the transaction is reversed already'] },
        examples: { Reversed: examples.reversedCharge },
        prefilled: prefilledFor(operationId),
      },
      schema: {
        tags,
        operationId,
        summary: 'Reverse a charge',
        description: `It stays visible with \`status: reversed\`; the loan becomes what it would be without it. ${WAITS}`,
        params: withTransaction,
        body: reverseTransactionRequest,
        response: { 200: chargeSchema, ...waitingAnswer },
      },
    },
    async ({ caller, params: { ref, transactionId }, body }, reply) => {
      const reversed = await reverseCharge(deps, caller, { ref, transactionId }, body?.note ?? null)
      return answerOrWait(reply, reversed, toCharge, deps.config.zone)
    },
  )
}
