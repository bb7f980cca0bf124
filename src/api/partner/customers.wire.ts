import { z } from 'zod'
import { CUSTOMER_STATUSES, displayName, LONGEST_DETAIL } from '../../domain/customer/customer.ts'
import { toRfc3339 } from '../../domain/dates.ts'
import type { Customer, CustomerQuery } from '../../services/customers/customers.ts'
import type { Organization } from '../../services/organizations/organizations.ts'
import { IDENTITY_ANSWER, IDENTITY_MEMBERS, verificationAnswer, verificationRequest } from '../lists/identity.ts'
import { changedSince, listQuery, queryPhone, startOfBound } from '../lists/query.ts'
import { externalId, instant, localDate, newExternalId, note, text } from '../wire.ts'
import * as examples from './openapi/examples.ts'
import { named, pageOf } from './registry.ts'

const verification = named('VerificationRequest', verificationRequest, { example: examples.identity.verification })

export const identityRequest = named(
  'IdentityRequest',
  z.strictObject({ ...IDENTITY_MEMBERS, verification: verification.optional() }),
  { example: examples.identity },
)

const verificationSchema = named('Verification', verificationAnswer, { example: examples.identity.verification })

export const identitySchema = named(
  'Identity',
  z.object({ ...IDENTITY_ANSWER, verification: verificationSchema.optional() }),
  { example: examples.identity },
)

export const createCustomerRequest = named(
  'CreateCustomerRequest',
  z.strictObject({
    externalId: newExternalId.describe("The partner's own id of the customer; unique."),
    identity: identityRequest.optional().describe('Who the customer is. It is kept encrypted.'),
  }),
  { example: { externalId: examples.customer.externalId } },
)

/** Both bodies may be left out: every field has a default. */
export const activateCustomerRequest = named(
  'ActivateCustomerRequest',
  z.strictObject({ activationDate: localDate.optional().describe('Default: today. Not in the future.') }),
  { example: { activationDate: examples.customer.activationDate } },
).optional()

export const closeCustomerRequest = named(
  'CloseCustomerRequest',
  z.strictObject({
    closureDate: localDate.optional().describe('Default: today. Not in the future.'),
    reason: note.optional().describe('Why; for people, and kept in the audit trail.'),
  }),
  { example: { reason: 'Moved abroad' } },
).optional()

export const customerQuery = listQuery.extend({
  externalId: externalId.optional().describe('Only the customer with this externalId.'),
  status: z.enum(CUSTOMER_STATUSES).optional().describe('Only customers with this status.'),
  phone: queryPhone.optional().describe('Only customers with this phone number, as a record system sent it.'),
  name: text({ max: LONGEST_DETAIL.businessName })
    .optional()
    .describe(
      'Only customers whose display name or business name begins with this text; upper and lower case are the same.',
    ),
  updatedSince: changedSince('customers'),
  person: text({ max: LONGEST_DETAIL.businessName })
    .optional()
    .describe(
      'Only customers whose identity has all these words in its names, or this phone number, e-mail or number of a document, whole. ADMIN only.',
    ),
})

/** Reads the query of a list of customers as a filter. */
export const toCustomerFilter = (query: z.infer<typeof customerQuery>, zone: string): CustomerQuery => ({
  person: query.person,
  externalId: query.externalId,
  status: query.status,
  phone: query.phone,
  name: query.name,
  updatedSince: startOfBound(query.updatedSince, zone),
})

export const externalIdRequest = named(
  'ExternalIdRequest',
  z.strictObject({ externalId: newExternalId.describe("The partner's own id of the customer; unique, and for good.") }),
  { example: { externalId: examples.customer.externalId } },
)

export const customerSchema = named(
  'Customer',
  z.object({
    id: z.string().describe("The service's number."),
    accountNo: z.string().describe('A running number of your organization, padded with zeros to 9 digits.'),
    externalId: z.string().nullable().describe('Null for a customer made by a record system, until it is given one.'),
    status: z.enum(CUSTOMER_STATUSES).describe('Only an Active customer can take a loan.'),
    active: z.boolean().describe('Whether the status is Active.'),
    officeId: z.string().describe('The office of your organization.'),
    officeName: z.string(),
    firstname: z
      .string()
      .describe(
        'The externalId; of a customer made by a record system, its business name until it is given an externalId.',
      ),
    lastname: z
      .string()
      .describe('`Customer`; empty for a customer made by a record system, until it is given an externalId.'),
    displayName: z.string().describe('First name and last name together.'),
    activationDate: z.iso.date().nullable().describe('The day from which the customer was Active; null while Pending.'),
    createdAt: instant,
    updatedAt: instant.describe('When the customer itself was changed last; a loan does not change it.'),
  }),
  { example: examples.customer },
)

export const customerPage = pageOf('CustomerPage', customerSchema)

export type CustomerView = z.infer<typeof customerSchema>

/** Builds the partner style's view of a customer, with the lender's office. */
export function toCustomer(customer: Customer, { officeId, officeName }: Organization, zone: string): CustomerView {
  const id = String(customer.id)
  return {
    id,
    accountNo: toAccountNo(customer.accountNo),
    externalId: customer.externalId,
    status: customer.status,
    active: customer.status === 'Active',
    officeId,
    officeName,
    firstname: customer.externalId ?? customer.businessName ?? id,
    lastname: customer.externalId === null ? '' : 'Customer',
    displayName: displayName(customer),
    activationDate: customer.activationDate,
    createdAt: toRfc3339(customer.createdAt, zone),
    updatedAt: toRfc3339(customer.updatedAt, zone),
  }
}

/**
 * Writes the account number of a customer or a loan, padded with zeros to 9 digits; longer ones are not cut (contract
 * 4.1).
 */
export const toAccountNo = (accountNo: bigint): string => String(accountNo).padStart(9, '0')
