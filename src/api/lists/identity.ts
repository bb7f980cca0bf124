import { z } from 'zod'
import {
  GENDERS,
  ID_TYPES,
  type Identity,
  identityOf,
  LONGEST_IDENTITY,
  LONGEST_REFERENCE,
  VERIFICATION_RESULTS,
} from '../../domain/customer/identity.ts'
import { emailOrEmpty, localDate, text } from '../wire.ts'

// Who a person is, in both styles: a style gives the names of the members.

const textOf = (member: keyof typeof LONGEST_IDENTITY) => text({ max: LONGEST_IDENTITY[member] })

/** The check of an identity in a body. */
export const verificationRequest = z
  .strictObject({
    by: text({ max: LONGEST_REFERENCE }).describe('Who checked: a person, or a register.'),
    on: localDate.describe('The day of the check; not in the future.'),
    result: z.enum(VERIFICATION_RESULTS),
    reference: text({ max: LONGEST_REFERENCE }).nullable().optional().describe('The number of the check there.'),
  })
  .describe('The check of the identity, as you made it.')

/** The members of an identity in a body, besides its check; what is left out, or null, is unknown. */
export const IDENTITY_MEMBERS = {
  firstName: textOf('firstName').nullable().optional(),
  middleName: textOf('middleName').nullable().optional(),
  lastName: textOf('lastName').nullable().optional(),
  dateOfBirth: localDate.nullable().optional().describe('In the past.'),
  gender: z.enum(GENDERS).nullable().optional(),
  nationality: z
    .string()
    .regex(/^[A-Z]{2}$/, 'must be the two letters of a country (ISO 3166-1), such as TZ')
    .nullable()
    .optional()
    .describe('The two letters of a country (ISO 3166-1).')
    .meta({ examples: ['TZ'] }),
  idType: z.enum(ID_TYPES).nullable().optional().describe('The kind of document.'),
  idNumber: textOf('idNumber').nullable().optional().describe('The number of the document.'),
  phone: textOf('phone').nullable().optional().describe('As you write it. Its last nine digits are compared.'),
  email: emailOrEmpty({ max: LONGEST_IDENTITY.email }).nullable().optional(),
  address: text({ max: LONGEST_IDENTITY.address, lines: true })
    .nullable()
    .optional()
    .describe('May have several lines.'),
}

/** The check of an identity in an answer. */
export const verificationAnswer = z.object({
  by: z.string(),
  on: z.iso.date(),
  result: z.enum(VERIFICATION_RESULTS),
  reference: z.string().optional(),
})

/** The members of an identity in an answer, besides its check: those that are known. */
export const IDENTITY_ANSWER = {
  firstName: z.string().optional(),
  middleName: z.string().optional(),
  lastName: z.string().optional(),
  dateOfBirth: z.iso.date().optional(),
  gender: z.enum(GENDERS).optional(),
  nationality: z.string().optional().describe('The two letters of a country.'),
  idType: z.enum(ID_TYPES).optional(),
  idNumber: z.string().optional(),
  phone: z.string().optional(),
  email: z.string().optional(),
  address: z.string().optional(),
}

/** An identity as a body gives it, by the names of the domain. */
type GivenIdentity = {
  readonly [Member in keyof typeof IDENTITY_MEMBERS]?: z.infer<(typeof IDENTITY_MEMBERS)[Member]>
} & { readonly verification?: z.infer<typeof verificationRequest> | null | undefined }

/** Reads an identity: an empty text says that nothing is known. */
export const toIdentity = ({ verification: checked, email, ...given }: GivenIdentity): Identity =>
  identityOf({
    ...given,
    email: email || null,
    verification: checked ? { ...checked, reference: checked.reference ?? null } : null,
  })

/** An identity as an answer has it, by the names of the domain. */
type IdentityView = {
  readonly [Member in keyof typeof IDENTITY_ANSWER]?: z.infer<(typeof IDENTITY_ANSWER)[Member]>
} & { readonly verification?: z.infer<typeof verificationAnswer> }

/** Builds the view of an identity: what is known of it. */
export function toIdentityView({ verification: checked, ...identity }: Identity): IdentityView {
  const known = Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== null))
  if (!checked) return known as IdentityView
  const { reference, ...check } = checked
  return { ...(known as IdentityView), verification: { ...check, ...(reference !== null && { reference }) } }
}
