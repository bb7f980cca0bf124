import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Deps } from '../../services/deps.ts'
import {
  getRecordRepayment,
  listRecordRepayments,
  postRecordRepayment,
  type RecordRepayment,
} from '../../services/loans/recordRepayments.ts'
import { acceptLines, answerLines, LINES_REFUSED, LINES_TYPE, linesAnswer, MOST_LINES } from '../body/lines.ts'
import { rangeOf } from '../lists/query.ts'
import type { StyleApp } from '../style.ts'
import { byId, made, toItem, toList } from './registry.ts'
import {
  postRepaymentRequest,
  type RepaymentView,
  repaymentItem,
  repaymentLineAnswer,
  repaymentList,
  repaymentQuery,
  toRepayment,
  toRepaymentFilter,
  toTold,
} from './repayments.wire.ts'

const tags = ['repayments']

export function repaymentRoutes(app: StyleApp, deps: Deps): void {
  const view = (repayment: RecordRepayment) => toRepayment(repayment, deps.config.zone)

  app.post(
    '/v1/repayments',
    {
      config: {
        refusals: ['not_found', 'already_exists', 'failed_precondition'],
        explained: { not_found: ['No such loan.', 'no loan has that id, given as loan_id'] },
      },
      schema: {
        tags,
        operationId: 'postRepayment',
        summary: 'Post a repayment',
        description:
          'Applied to the oldest instalment first, interest before principal; what exceeds the loan is overpayment. The same id with the same content answers the repayment again, and nothing is posted twice; with other content it is refused.',
        body: postRepaymentRequest,
        response: { 200: repaymentItem },
      },
    },
    async ({ caller, body }, reply) =>
      toItem(view(made(reply, await postRecordRepayment(deps, caller, body.loan_id, toTold(body))))),
  )

  batchRoute(app, deps, view)

  app.get(
    '/v1/repayments',
    {
      schema: {
        tags,
        operationId: 'listRepayments',
        summary: 'List repayments',
        description:
          'Those that stand, in the order in which they came, whichever style posted them. One that was reversed is listed only with `include_reversed`; one that was adjusted is listed as the one that replaced it.',
        querystring: repaymentQuery,
        response: { 200: repaymentList },
      },
    },
    async ({ caller, query }) => {
      const filter = toRepaymentFilter(query, deps.config.zone)
      return toList(await listRecordRepayments(deps, caller, filter, rangeOf(query)), query, view)
    },
  )

  app.get(
    '/v1/repayments/:id',
    {
      schema: {
        tags,
        operationId: 'getRepayment',
        summary: 'Read a repayment',
        description: 'A reversed one too: it then has `status: reversed`.',
        params: byId,
        response: { 200: repaymentItem },
      },
    },
    async ({ caller, params: { id } }) => toItem(view(await getRecordRepayment(deps, caller, id))),
  )
}

/** Adds the batch of repayments, each line of which is a repayment as `POST /v1/repayments` takes it. */
function batchRoute(app: StyleApp, deps: Deps, view: (repayment: RecordRepayment) => RepaymentView): void {
  app.register(async (scope) => {
    const lines = scope.withTypeProvider<ZodTypeProvider>()
    acceptLines(lines)
    lines.post(
      '/v1/repayments/batch',
      {
        config: { takesLines: true, explained: LINES_REFUSED },
        schema: {
          tags,
          operationId: 'postRepayments',
          summary: 'Post many repayments',
          description: `A body of lines, each the JSON of one repayment; at most ${MOST_LINES}. The answer has a line for each, in their order: \`line\`, the \`status\` that the repayment alone would have had, and \`item\` or the members of a refusal. A line that is refused stops no other. When the connection breaks, send the file again: what was posted is answered again.`,
          consumes: [LINES_TYPE],
          body: postRepaymentRequest,
          response: { 200: linesAnswer(repaymentLineAnswer) },
        },
      },
      async (request, reply) =>
        answerLines(request, reply, postRepaymentRequest, async (body) => {
          const { item, replayed } = await postRecordRepayment(deps, request.caller, body.loan_id, toTold(body))
          return { ...toItem(view(item)), ...(replayed && { replayed: true }) }
        }) as never,
    )
  })
}
