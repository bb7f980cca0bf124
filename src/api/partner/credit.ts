import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { getScorecard } from '../../services/credit/credit.ts'
import { boostLimit } from '../../services/credit/creditBoosts.ts'
import type { Caches, Core } from '../../services/deps.ts'
import { STATEMENT_LIMITS } from '../../services/walletStatements/limits.ts'
import { acceptUploads, endOf } from '../body/upload.ts'
import type { StyleApp } from '../style.ts'
import { boostCreditLimitRequest, boostSchema, eitherId, scorecardSchema, toBoost, toScorecard } from './credit.wire.ts'

const tags = ['credit']

const NO_CUSTOMER = ['No such customer for this organization.', 'no customer has that externalId or id'] as const

export function creditRoutes(app: StyleApp, deps: Core & Caches): void {
  app.get(
    '/v1/credit-scorecard/:customer',
    {
      config: { explained: { not_found: NO_CUSTOMER } },
      schema: {
        tags,
        operationId: 'getCreditScorecard',
        summary: 'Read a credit scorecard',
        description:
          'As of now: a repayment or a due date that has passed is in it at once. A customer of whom the book says nothing yet has grade `XX`, score 0 and limit 0.',
        params: eitherId,
        response: { 200: scorecardSchema },
      },
    },
    async ({ caller, params }) => toScorecard(await getScorecard(deps, caller, params), deps.config.zone),
  )

  app.register(async (scope) => {
    const uploads = scope.withTypeProvider<ZodTypeProvider>()
    acceptUploads(uploads, { bytes: STATEMENT_LIMITS.bytes })
    uploads.post(
      '/v1/credit-scorecard/:customer/boost',
      {
        config: {
          explained: {
            not_found: NO_CUSTOMER,
            payload_too_large: [
              'The file is over its limit.',
              'the file is larger than 10 MiB, which is the most that is read',
            ],
            unsupported_media_type: [
              'The content type is not accepted here.',
              'the content type must be multipart/form-data',
            ],
          },
        },
        schema: {
          tags,
          operationId: 'boostCreditLimit',
          summary: 'Raise a credit limit by a statement',
          description:
            'Reads a statement of a wallet or a bank account, and raises the limit to what flows through it supports. A limit is never lowered, a statement raises one only once, and the next raise has to wait for `nextBoostOn`. A statement that cannot be read, is not of the name or number given, comes without both, is too old or too short is refused, saying which, and nothing is changed.',
          consumes: ['multipart/form-data'],
          params: eitherId,
          body: boostCreditLimitRequest,
          response: { 200: boostSchema },
        },
      },
      async ({ caller, params, body: { statement, fullName, mobileNumber } }, reply) => {
        const shown = { file: statement.bytes, fullName, mobileNumber }
        return toBoost(await boostLimit(deps, caller, params, { ...shown, signal: endOf(reply) }))
      },
    )
  })
}
