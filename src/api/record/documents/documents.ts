import type { Deps } from '../../../services/deps.ts'
import {
  makeReceipt,
  makeStatement,
  ofRepayment,
  renderReceipt,
  renderStatement,
  verifyDocument,
} from '../../../services/documents/documents.ts'
import { documentAnswer, formatOf, receiptQuery, sendFile, statementQuery, wantedType } from '../../body/accepted.ts'
import type { StyleApp } from '../../style.ts'
import { byId, toItem } from '../registry.ts'
import {
  receiptItem,
  statementItem,
  toReceipt,
  toStatement,
  toVerified,
  verifiedItem,
  verifyDocumentRequest,
} from './documents.wire.ts'

const tags = ['documents']

/** Adds statements, receipts and the check of their codes (contract 14). */
export function documentRoutes(app: StyleApp, deps: Deps): void {
  addStatement(app, deps)
  addReceipt(app, deps)
  addVerification(app, deps)
}

function addStatement(app: StyleApp, deps: Deps): void {
  app.get(
    '/v1/loans/:id/statement',
    {
      config: { refusals: ['resource_exhausted'] },
      schema: {
        tags,
        operationId: 'getStatement',
        summary: 'Make a statement',
        description:
          'What happened on a loan from one day to another, with the balance after each line, and how it stood at the end: as JSON, PDF or CSV, by `Accept`. The same request on the same book gives the same bytes. Two PDFs are made at once; another one is refused with 429.',
        params: byId,
        querystring: statementQuery,
        response: { 200: documentAnswer(statementItem) },
      },
    },
    async (request, reply) => {
      const { caller, params: ref, query } = request
      const format = formatOf(wantedType(request))
      if (format === undefined) return toItem(toStatement(await makeStatement(deps, caller, ref, query)))
      return sendFile(reply, await renderStatement(deps, caller, ref, { ...query, format })) as never
    },
  )
}

function addReceipt(app: StyleApp, deps: Deps): void {
  app.get(
    '/v1/repayments/:id/receipt',
    {
      config: { refusals: ['resource_exhausted'] },
      schema: {
        tags,
        operationId: 'getReceipt',
        summary: 'Make a receipt',
        description:
          'Of a repayment, with what it went to and the balance after it on its day: as JSON, PDF or CSV, by `Accept`. That of a reversed repayment says so.',
        params: byId,
        querystring: receiptQuery,
        response: { 200: documentAnswer(receiptItem) },
      },
    },
    async (request, reply) => {
      const { caller, params, query } = request
      const format = formatOf(wantedType(request))
      const of = await ofRepayment(deps, caller, params.id)
      if (format === undefined) return toItem(toReceipt(await makeReceipt(deps, caller, of, query), deps.config.zone))
      return sendFile(reply, await renderReceipt(deps, caller, of, { ...query, format })) as never
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
        response: { 200: verifiedItem },
      },
    },
    async ({ caller, body }) => toItem(toVerified(await verifyDocument(deps, caller, body.code), deps.config.zone)),
  )
}
