import { z } from 'zod'
import { CONSENT_CHANNELS, CONSENT_PURPOSES } from '../../domain/customer/consent.ts'
import { toRfc3339 } from '../../domain/dates.ts'
import type { Consent } from '../../services/customers/consents.ts'
import { word } from '../openapi/answers.ts'
import { instant, moment } from '../wire.ts'

// What customers agree to, in both styles: a style gives the names of the members and writes the ids.

/** The members of a consent in a body. */
export const CONSENT_MEMBERS = {
  purpose: z
    .enum(CONSENT_PURPOSES)
    .describe('What is agreed to: that a credit bureau is told, that a score is made, that offers are sent.'),
  channel: z.enum(CONSENT_CHANNELS).describe('How it was said.'),
  givenAt: moment.describe('When it was said; not in the future.'),
}

/** The members of a withdrawal in a body. */
export const WITHDRAWAL_MEMBERS = {
  withdrawnAt: moment.optional().describe('When it was said; not before the consent, and now when left out.'),
  channel: z.enum(CONSENT_CHANNELS).optional().describe('How it was said.'),
}

/** The members of a consent in an answer, besides its ids. */
export const CONSENT_ANSWER = {
  purpose: word('What is agreed to', CONSENT_PURPOSES),
  channel: word('How it was said', CONSENT_CHANNELS),
  givenAt: instant,
  withdrawnAt: instant.optional().describe('Absent while the consent stands.'),
  withdrawnBy: word('How it was withdrawn', CONSENT_CHANNELS).optional(),
  createdAt: instant.describe('When it was recorded.'),
  updatedAt: instant,
}

/** Builds the view of a consent, by the names of the domain and without ids. */
export const toConsentView = (consent: Consent, zone: string) => ({
  purpose: consent.purpose,
  channel: consent.channel,
  givenAt: toRfc3339(consent.givenAt, zone),
  ...(consent.withdrawnAt !== null && { withdrawnAt: toRfc3339(consent.withdrawnAt, zone) }),
  ...(consent.withdrawnBy !== null && { withdrawnBy: consent.withdrawnBy }),
  createdAt: toRfc3339(consent.createdAt, zone),
  updatedAt: toRfc3339(consent.updatedAt, zone),
})
