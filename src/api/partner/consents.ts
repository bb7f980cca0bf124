import { z } from 'zod'
import { type Consent, giveConsent, listConsents, withdrawConsent } from '../../services/customers/consents.ts'
import type { Deps } from '../../services/deps.ts'
import { CONSENT_ANSWER, CONSENT_MEMBERS, toConsentView, WITHDRAWAL_MEMBERS } from '../lists/consents.ts'
import { listQuery, rangeOf } from '../lists/query.ts'
import type { StyleApp } from '../style.ts'
import * as examples from './openapi/examples.ts'
import { CUSTOMER_ADDRESSES, named, pageOf, toPage } from './registry.ts'

const tags = ['consents']

const createConsentRequest = named('CreateConsentRequest', z.strictObject(CONSENT_MEMBERS), {
  example: examples.newConsent,
})

const withdrawConsentRequest = named('WithdrawConsentRequest', z.strictObject(WITHDRAWAL_MEMBERS), {
  example: examples.withdrawal,
})

export const consentSchema = named(
  'Consent',
  z.object({ id: z.string().describe("The service's number."), customerId: z.string(), ...CONSENT_ANSWER }),
  { example: examples.consent },
)

const consentPage = pageOf('ConsentPage', consentSchema)

/** Builds the partner style's view of a consent. */
export const toConsent = (consent: Consent, zone: string): z.infer<typeof consentSchema> => ({
  id: String(consent.id),
  customerId: String(consent.customerId),
  ...toConsentView(consent, zone),
})

/** What the reference fills in by an externalId: the consent by the number was withdrawn. */
const SECOND = {
  createConsent: { body: { ...examples.newConsent, purpose: 'scoring' } },
  withdrawConsent: { params: { consentId: '2' } },
}

type Address = (typeof CUSTOMER_ADDRESSES)[number]

/** Adds what customers agree to. */
export function consentRoutes(app: StyleApp, deps: Deps): void {
  for (const address of CUSTOMER_ADDRESSES) {
    addGiving(app, deps, address)
    addList(app, deps, address)
    addWithdrawal(app, deps, address)
  }
}

function addGiving(app: StyleApp, deps: Deps, { path, params, named }: Address): void {
  const operationId = named('createConsent')
  app.post(
    `/v1/customers${path}/consents`,
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'Another consent for the purpose stands.',
            'another consent for bureau stands; withdraw it before another is given',
          ],
        },
        prefilled: operationId === 'createConsent' ? {} : SECOND.createConsent,
      },
      schema: {
        tags,
        operationId,
        summary: 'Record what a customer agrees to',
        description:
          'One consent of a purpose stands at a time. The same purpose, channel and time again answers the consent that is there.',
        params,
        body: createConsentRequest,
        response: { 200: consentSchema },
      },
    },
    async ({ caller, params: ref, body }) => toConsent(await giveConsent(deps, caller, ref, body), deps.config.zone),
  )
}

function addList(app: StyleApp, deps: Deps, { path, params, named }: Address): void {
  const { zone } = deps.config
  app.get(
    `/v1/customers${path}/consents`,
    {
      schema: {
        tags,
        operationId: named('listConsents'),
        summary: 'List the consents of a customer',
        description: 'In the order in which they were recorded, with those that were withdrawn.',
        params,
        querystring: listQuery,
        response: { 200: consentPage },
      },
    },
    async ({ caller, params: ref, query }) =>
      toPage(await listConsents(deps, caller, ref, rangeOf(query)), query, (one) => toConsent(one, zone)),
  )
}

function addWithdrawal(app: StyleApp, deps: Deps, { path, withPart, named }: Address): void {
  const operationId = named('withdrawConsent')
  app.post(
    `/v1/customers${path}/consents/:consentId/withdraw`,
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'It was withdrawn at another time.',
            'the consent was withdrawn before, at another time',
          ],
        },
        examples: { Withdrawn: examples.withdrawnConsent },
        prefilled: operationId === 'withdrawConsent' ? {} : SECOND.withdrawConsent,
      },
      schema: {
        tags,
        operationId,
        summary: 'Withdraw a consent',
        description: 'From that time on it does not stand. Another may be given for the purpose then.',
        params: withPart('consentId'),
        body: withdrawConsentRequest.optional(),
        response: { 200: consentSchema },
      },
    },
    async ({ caller, params, body }) =>
      toConsent(await withdrawConsent(deps, caller, params, body ?? {}), deps.config.zone),
  )
}
