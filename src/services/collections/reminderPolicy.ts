import { changeOrganization, findOrganization } from '../../db/organizations/organizations.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import {
  ascending,
  REMINDER_LANGUAGES,
  REMINDERS,
  type ReminderLanguage,
  type ReminderPolicy,
  requireText,
} from '../../domain/collections/reminders.ts'
import { invalidArgument, invariant } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'
import type { Base } from '../base.ts'

/** A policy that is set: without a text, the service's own is told. */
export interface ReminderPolicyRequest {
  readonly daysBefore: readonly number[]
  readonly daysAfter: readonly number[]
  readonly language: ReminderLanguage
  readonly dueSoonText?: string | null | undefined
  readonly overdueText?: string | null | undefined
}

/** Borrowers are not reminded. */
export const NO_REMINDERS: ReminderPolicy = {
  daysBefore: [],
  daysAfter: [],
  language: REMINDER_LANGUAGES[0],
  dueSoonText: null,
  overdueText: null,
}

/** Reads a policy from the JSON in which it is stored. */
const policyFrom = (json: string | null): ReminderPolicy =>
  json === null ? NO_REMINDERS : (JSON.parse(json) as ReminderPolicy)

function requireDays(role: 'daysBefore' | 'daysAfter', days: readonly number[], [from, to]: readonly [number, number]) {
  if (days.length > REMINDERS.mostDays || days.some((day) => !Number.isInteger(day) || day < from || day > to))
    throw invalidArgument(role, `must be at most ${REMINDERS.mostDays} whole numbers from ${from} to ${to}`)
}

/**
 * Sets when the borrowers of the caller's organization are reminded. No days: never.
 * @throws LendingError `permission_denied`, `invalid_argument`
 */
export async function setReminderPolicy(
  { db, now }: Pick<Base, 'db' | 'now'>,
  caller: Caller,
  { daysBefore, daysAfter, language, dueSoonText = null, overdueText = null }: ReminderPolicyRequest,
): Promise<ReminderPolicy> {
  requirePermission(caller, 'organization.manage')
  requireDays('daysBefore', daysBefore, [0, REMINDERS.mostBefore])
  requireDays('daysAfter', daysAfter, [1, REMINDERS.mostAfter])
  if (dueSoonText !== null) requireText('dueSoonText', dueSoonText)
  if (overdueText !== null) requireText('overdueText', overdueText)
  const days = { daysBefore: ascending(daysBefore), daysAfter: ascending(daysAfter) }
  const policy: ReminderPolicy = { ...days, language, dueSoonText, overdueText }
  const isNone = days.daysBefore.length + days.daysAfter.length === 0
  const changed = await changeOrganization(
    db,
    caller,
    { reminderPolicy: isNone ? null : JSON.stringify(policy) },
    now(caller.organizationId),
  )
  invariant(changed, 'a caller belongs to an organization')
  return policyFrom(changed.reminderPolicy)
}

/** Returns when the borrowers of an organization are reminded, and the name of the lender. */
export async function readReminderPolicy(
  { db }: Pick<Base, 'db'>,
  { organizationId }: Pick<Caller, 'organizationId'>,
): Promise<{ readonly policy: ReminderPolicy; readonly lender: string }> {
  const organization = await findOrganization(db, organizationId)
  invariant(organization, 'a caller belongs to an organization')
  return { policy: policyFrom(organization.reminderPolicy), lender: organization.legalName ?? organization.name }
}
