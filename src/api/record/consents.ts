import { z } from 'zod'
import { getBorrower } from '../../services/customers/borrowers.ts'
import { type Consent, giveConsent, listConsents, withdrawConsent } from '../../services/customers/consents.ts'
import type { Deps } from '../../services/deps.ts'
import { wireInteger } from '../body/json.ts'
import { CONSENT_ANSWER, CONSENT_MEMBERS, toConsentView, WITHDRAWAL_MEMBERS } from '../lists/consents.ts'
import { inWords } from '../lists/eventView.ts'
import { listQuery, rangeOf } from '../lists/query.ts'
import type { StyleApp } from '../style.ts'
import * as examples from './openapi/examples.ts'
import { byId, byIdWith, itemOf, listOf, named, toItem, toList, wireId } from './registry.ts'

const tags = ['consents']

/** The names of the members of a consent. */
const NAMES = {
  purpose: 'purpose',
  channel: 'channel',
  givenAt: 'given_at',
  withdrawnAt: 'withdrawn_at',
  withdrawnBy: 'withdrawn_by',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const satisfies Record<keyof typeof CONSENT_ANSWER, string>

const createConsentRequest = named('CreateConsentRequest', z.strictObject(inWords(CONSENT_MEMBERS, NAMES)), {
  example: examples.newConsent,
})

const withdrawConsentRequest = named('WithdrawConsentRequest', z.strictObject(inWords(WITHDRAWAL_MEMBERS, NAMES)), {
  example: examples.withdrawal,
})

const consentSchema = named(
  'Consent',
  z.object({
    id: wireId.describe("The service's number."),
    borrower_id: wireId,
    ...inWords(CONSENT_ANSWER, NAMES),
  }),
  { example: examples.consent },
)

const consentItem = itemOf('ConsentItem', consentSchema)
const consentList = listOf('ConsentList', consentSchema)

/** Builds the record style's view of a consent. */
export const toConsent = (consent: Consent, zone: string): z.infer<typeof consentSchema> => ({
  id: wireInteger(consent.id),
  borrower_id: wireInteger(consent.customerId),
  ...inWords(toConsentView(consent, zone), NAMES),
})

/** Adds what borrowers agree to. */
export function consentRoutes(app: StyleApp, deps: Deps): void {
  const item = (consent: Consent) => toItem(toConsent(consent, deps.config.zone))
  app.post(
    '/v1/borrowers/:id/consents',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'Another consent for the purpose stands.',
            'another consent for bureau stands; withdraw it before another is given',
          ],
        },
      },
      schema: {
        tags,
        operationId: 'createConsent',
        summary: 'Record what a borrower agrees to',
        description:
          'One consent of a purpose stands at a time. The same purpose, channel and time again answers the consent that is there.',
        params: byId,
        body: createConsentRequest,
        response: { 200: consentItem },
      },
    },
    async ({ caller, params: ref, body: { purpose, channel, given_at: givenAt } }) => {
      await getBorrower(deps, caller, ref.id)
      return item(await giveConsent(deps, caller, ref, { purpose, channel, givenAt }))
    },
  )
  addReading(app, deps)
  app.post(
    '/v1/borrowers/:id/consents/:consentId/withdraw',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'It was withdrawn at another time.',
            'the consent was withdrawn before, at another time',
          ],
        },
        examples: { Withdrawn: toItem(examples.withdrawnConsent) },
      },
      schema: {
        tags,
        operationId: 'withdrawConsent',
        summary: 'Withdraw a consent',
        description: 'From that time on it does not stand. Another may be given for the purpose then.',
        params: byIdWith('consentId'),
        body: withdrawConsentRequest.optional(),
        response: { 200: consentItem },
      },
    },
    async ({ caller, params, body }) => {
      await getBorrower(deps, caller, params.ref.id)
      const { withdrawn_at: withdrawnAt, channel } = body ?? {}
      return item(await withdrawConsent(deps, caller, params, { withdrawnAt, channel }))
    },
  )
}

function addReading(app: StyleApp, deps: Deps): void {
  app.get(
    '/v1/borrowers/:id/consents',
    {
      schema: {
        tags,
        operationId: 'listConsents',
        summary: 'List the consents of a borrower',
        description: 'In the order in which they were recorded, with those that were withdrawn.',
        params: byId,
        querystring: listQuery,
        response: { 200: consentList },
      },
    },
    async ({ caller, params: ref, query }) => {
      await getBorrower(deps, caller, ref.id)
      const part = await listConsents(deps, caller, ref, rangeOf(query))
      return toList(part, query, (one) => toConsent(one, deps.config.zone))
    },
  )
}
