import { z } from 'zod'
import { CUSTOMER_STATUSES, displayName } from '../../domain/customer/customer.ts'
import { invariant } from '../../domain/errors.ts'
import type { Customer } from '../../services/customers/customers.ts'
import type { Organization } from '../../services/lenders/organizations.ts'
import { externalId, localDate, newExternalId, note, pageQuery } from '../wire.ts'
import * as examples from './document/examples.ts'
import { named, pageOf } from './registry.ts'

export const newCustomer = named(
  'NewCustomer',
  z.strictObject({ externalId: newExternalId.describe("The partner's own id of the customer; unique.") }),
  { example: { externalId: examples.customer.externalId } },
)

/** Both bodies may be left out: every field has a default. */
export const activation = named(
  'Activation',
  z.strictObject({ activationDate: localDate.optional().describe('Default: today. Not in the future.') }),
  { example: { activationDate: examples.customer.activationDate } },
).optional()

export const closure = named(
  'Closure',
  z.strictObject({
    closureDate: localDate.optional().describe('Default: today. Not in the future.'),
    reason: note.optional(),
  }),
  { example: { reason: 'Moved abroad' } },
).optional()

export const customerQuery = pageQuery.extend({
  externalId: externalId.optional().describe('Only the customer with this externalId.'),
})

export const customerSchema = named(
  'Customer',
  z.object({
    id: z.string().describe("The service's number."),
    accountNo: z.string().describe('A running number of your organization, padded with zeros to 9 digits.'),
    externalId: z.string().nullable().describe('Null for a customer made by a record system.'),
    status: z.enum(CUSTOMER_STATUSES),
    active: z.boolean(),
    officeId: z.string(),
    officeName: z.string(),
    firstname: z.string(),
    lastname: z.string(),
    displayName: z.string(),
    activationDate: z.iso.date().nullable(),
  }),
  { example: examples.customer },
)

export const customerPage = pageOf('CustomerPage', customerSchema)

export type CustomerView = z.infer<typeof customerSchema>

/** Builds the partner style's view of a customer, with the lender's office. */
export function toCustomer(customer: Customer, { officeId, officeName }: Organization): CustomerView {
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
  }
}

/**
 * Writes the account number of a customer or a loan, padded with zeros to 9 digits; longer ones are not cut (contract
 * 4.1).
 */
export function toAccountNo(accountNo: bigint | null): string {
  invariant(accountNo !== null, 'an account number')
  return String(accountNo).padStart(9, '0')
}
