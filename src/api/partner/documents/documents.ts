import type { Deps } from '../../../services/deps.ts'
import {
  makeReceipt,
  makeStatement,
  renderReceipt,
  renderStatement,
  verifyDocument,
} from '../../../services/documents/documents.ts'
import { documentAnswer, formatOf, receiptQuery, sendFile, statementQuery, wantedType } from '../../body/accepted.ts'
import type { StyleApp } from '../../style.ts'
import { LOAN_ADDRESSES } from '../registry.ts'
import {
  receiptSchema,
  statementSchema,
  toReceipt,
  toStatement,
  toVerified,
  verifiedSchema,
  verifyDocumentRequest,
} from './documents.wire.ts'

const tags = ['documents']

/** Adds statements, receipts and the check of their codes (contract 14). */
export function documentRoutes(app: StyleApp, deps: Deps): void {
  for (const address of LOAN_ADDRESSES) addStatement(app, deps, address)
  for (const address of LOAN_ADDRESSES) addReceipt(app, deps, address)
  addVerification(app, deps)
}

type Address = (typeof LOAN_ADDRESSES)[number]

function addStatement(app: StyleApp, deps: Deps, { path, params, named }: Address): void {
  app.get(
    `/v1/loans${path}/statement`,
    {
      config: { refusals: ['resource_exhausted'] },
      schema: {
        tags,
        operationId: named('getStatement', 'Loan'),
        summary: 'Make a statement',
        description:
          'What happened on a loan from one day to another, with the balance after each line, and how it stood at the end: as JSON, PDF or CSV, by `Accept`. The same request on the same book gives the same bytes. Two PDFs are made at once; another one is refused with 429.',
        params,
        querystring: statementQuery,
        response: { 200: documentAnswer(statementSchema) },
      },
    },
    async (request, reply) => {
      const { caller, params: ref, query } = request
      const format = formatOf(wantedType(request))
      if (format === undefined) return toStatement(await makeStatement(deps, caller, ref, query))
      return sendFile(reply, await renderStatement(deps, caller, ref, { ...query, format })) as never
    },
  )
}

function addReceipt(app: StyleApp, deps: Deps, { path, withTransaction, named }: Address): void {
  app.get(
    `/v1/loans${path}/repayments/:transactionId/receipt`,
    {
      config: {
        refusals: ['resource_exhausted', 'failed_precondition'],
        explained: {
          failed_precondition: [
            'No money moves in a transaction of its type.',
            'the transaction is a Waive Interest, in which no money moves',
          ],
        },
      },
      schema: {
        tags,
        operationId: named('getReceipt', 'Loan'),
        summary: 'Make a receipt',
        description:
          'Of a repayment, a recovery or a payout, with what it went to and the balance after it on its day: as JSON, PDF or CSV, by `Accept`. That of a reversed transaction says so.',
        params: withTransaction,
        querystring: receiptQuery,
        response: { 200: documentAnswer(receiptSchema) },
      },
    },
    async (request, reply) => {
      const { caller, params, query } = request
      const format = formatOf(wantedType(request))
      if (format === undefined) return toReceipt(await makeReceipt(deps, caller, params, query), deps.config.zone)
      return sendFile(reply, await renderReceipt(deps, caller, params, { ...query, format })) as never
    },
  )
}

function addVerification(app: StyleApp, deps: Deps): void {
  app.post(
    '/v1/documents/verify',
    {
      config: {
        changesNothing: true,
        refusals: ['not_found'],
        explained: { not_found: ['No such document.', 'no document of your organization has that code'] },
      },
      schema: {
        tags,
        operationId: 'verifyDocument',
        summary: 'Check a document',
        description: 'What the statement or the receipt with a code says, and whether it would say the same now.',
        body: verifyDocumentRequest,
        response: { 200: verifiedSchema },
      },
    },
    async ({ caller, body }) => toVerified(await verifyDocument(deps, caller, body.code), deps.config.zone),
  )
}
