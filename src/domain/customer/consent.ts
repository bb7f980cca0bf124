import type { Instant } from '../dates.ts'
import { failedPrecondition, invalidArgument } from '../errors.ts'

/** What a customer agrees to: that a credit bureau is told of the loans, that the customer is scored, that offers are sent. */
export const CONSENT_PURPOSES = ['bureau', 'scoring', 'marketing'] as const
export type ConsentPurpose = (typeof CONSENT_PURPOSES)[number]

/** How a customer said so. */
export const CONSENT_CHANNELS = ['app', 'ussd', 'sms', 'call', 'paper', 'web', 'agent', 'other'] as const
export type ConsentChannel = (typeof CONSENT_CHANNELS)[number]

/** A consent as the customer gave it. */
export interface GivenConsent {
  readonly purpose: ConsentPurpose
  readonly channel: ConsentChannel
  readonly givenAt: Instant
}

/** When a consent was given and withdrawn. */
interface ConsentTimes {
  readonly givenAt: Instant
  /** Null while it stands. */
  readonly withdrawnAt: Instant | null
}

/** Requires that a consent is not given in the future. @throws LendingError `invalid_argument` */
export function requireGiven({ givenAt }: GivenConsent, now: Instant): void {
  if (givenAt > now) throw invalidArgument('givenAt', 'must not be in the future')
}

/**
 * Requires that a consent follows the one before it of the same purpose: the times of two never overlap.
 * @param latest the newest of that purpose; undefined where there is none
 * @throws LendingError `failed_precondition` while that one stands, `invalid_argument` for a time before its withdrawal
 */
export function requireFollows({ purpose, givenAt }: GivenConsent, latest: ConsentTimes | undefined): void {
  if (latest === undefined) return
  if (latest.withdrawnAt === null)
    throw failedPrecondition(`another consent for ${purpose} stands; withdraw it before another is given`)
  if (givenAt < latest.withdrawnAt)
    throw invalidArgument('givenAt', `must not be before the last consent for ${purpose} was withdrawn`)
}

/**
 * Requires that a consent can be withdrawn at an instant.
 * @throws LendingError `invalid_argument` for an instant in the future, or before the consent was given
 */
export function requireWithdrawable({ givenAt }: ConsentTimes, at: Instant, now: Instant): void {
  if (at > now) throw invalidArgument('withdrawnAt', 'must not be in the future')
  if (at < givenAt) throw invalidArgument('withdrawnAt', 'must not be before the consent was given')
}
