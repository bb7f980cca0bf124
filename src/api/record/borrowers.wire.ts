import { z } from 'zod'
import {
  BORROWER_DETAILS,
  type BorrowerDetail,
  type BorrowerDetails,
  detailsOf,
  displayName,
  LONGEST_DETAIL,
} from '../../domain/customer/customer.ts'
import type { Identity } from '../../domain/customer/identity.ts'
import { toRfc3339 } from '../../domain/dates.ts'
import type { Borrower, NewBorrower } from '../../services/customers/borrowers.ts'
import type { CustomerFilter } from '../../services/customers/customers.ts'
import { wireInteger } from '../body/json.ts'
import { clearable } from '../body/validation.ts'
import { inWords } from '../lists/eventView.ts'
import {
  IDENTITY_ANSWER,
  IDENTITY_MEMBERS,
  toIdentity,
  toIdentityView,
  verificationAnswer,
  verificationRequest,
} from '../lists/identity.ts'
import { changedSince, listQuery, queryPhone, startOfBound } from '../lists/query.ts'
import { count } from '../openapi/answers.ts'
import { emailOrEmpty, instant, text } from '../wire.ts'
import * as examples from './openapi/examples.ts'
import { answerFields, itemOf, listOf, named, recordId, wireId } from './registry.ts'

const ANSWER_FIELDS = answerFields('credit_score', 'created_at', 'updated_at')

/** The names of the members of an identity. */
export const IDENTITY_NAMES = {
  firstName: 'first_name',
  middleName: 'middle_name',
  lastName: 'last_name',
  dateOfBirth: 'date_of_birth',
  gender: 'gender',
  nationality: 'nationality',
  idType: 'id_type',
  idNumber: 'id_number',
  phone: 'phone',
  email: 'email',
  address: 'address',
  verification: 'verification',
} as const satisfies Record<keyof Identity, string>

const verification = named('VerificationRequest', verificationRequest, { example: examples.verification })

export const identityRequest = named(
  'IdentityRequest',
  z.strictObject({
    ...inWords(IDENTITY_MEMBERS, IDENTITY_NAMES),
    verification: verification.optional(),
  }),
  { example: examples.identity },
).describe('Who the borrower is, in place of all that was known. It is kept encrypted.')

const verificationSchema = named('Verification', verificationAnswer, { example: examples.verification })

export const identitySchema = named(
  'Identity',
  z.object({ ...inWords(IDENTITY_ANSWER, IDENTITY_NAMES), verification: verificationSchema.optional() }),
  { example: examples.identity },
)

/** Reads an identity of a body. */
export const identityIn = (body: z.infer<typeof identityRequest>): Identity =>
  toIdentity(
    Object.fromEntries(
      Object.entries(IDENTITY_NAMES).map(([member, name]) => [member, body[name as keyof typeof body]]),
    ),
  )

export const createBorrowerRequest = named(
  'CreateBorrowerRequest',
  z.strictObject({
    id: recordId.describe('Your own id of the borrower; unique.'),
    business_name: text({ max: LONGEST_DETAIL.businessName }).describe('The name of the business or the person.'),
    phone: text({ max: LONGEST_DETAIL.phone }).describe('As you write it; it is not checked.'),
    email: emailOrEmpty({ max: LONGEST_DETAIL.email }).optional(),
    address: text({ max: LONGEST_DETAIL.address, lines: true }).describe('May have several lines.'),
    type: text({ max: LONGEST_DETAIL.type }).describe('What kind of business, in your own words.'),
    region: text({ max: LONGEST_DETAIL.region }),
    country: text({ min: 0, max: LONGEST_DETAIL.country }).optional().describe('Empty where it is unknown.'),
    identity: identityRequest.optional(),
    ...ANSWER_FIELDS,
  }),
  { example: examples.newBorrower },
)

/**
 * The changes of a PUT. All but the name may be empty: an empty text means that nothing is known, as of a borrower that
 * a partner made. `null` clears the fields that a new borrower may leave out.
 */
export const updateBorrowerRequest = named(
  'UpdateBorrowerRequest',
  z.strictObject({
    id: clearable(recordId.describe('If given, that of the path.')),
    business_name: text({ max: LONGEST_DETAIL.businessName }).optional(),
    phone: text({ min: 0, max: LONGEST_DETAIL.phone }).optional(),
    email: clearable(emailOrEmpty({ max: LONGEST_DETAIL.email }), ''),
    address: text({ min: 0, max: LONGEST_DETAIL.address, lines: true }).optional(),
    type: text({ min: 0, max: LONGEST_DETAIL.type }).optional(),
    region: text({ min: 0, max: LONGEST_DETAIL.region }).optional(),
    country: clearable(text({ min: 0, max: LONGEST_DETAIL.country }), ''),
    identity: identityRequest.optional(),
    ...ANSWER_FIELDS,
  }),
  { example: examples.borrowerChanges },
)

export const borrowerQuery = listQuery.extend({
  phone: queryPhone.optional().describe('Only borrowers with this phone number, as it was sent.'),
  business_name: text({ max: LONGEST_DETAIL.businessName })
    .optional()
    .describe('Only borrowers whose name begins with this text; upper and lower case are the same.'),
  updated_since: changedSince('borrowers'),
})

/** Reads the query of a list of borrowers as a filter. */
export const toBorrowerFilter = (query: z.infer<typeof borrowerQuery>, zone: string): CustomerFilter => ({
  phone: query.phone,
  name: query.business_name,
  updatedSince: startOfBound(query.updated_since, zone),
})

const borrowerSchema = named(
  'Borrower',
  z.object({
    id: wireId.describe('Your own id; of a borrower that a partner made, the number of the service.'),
    business_name: z.string().describe('Of a borrower that a partner made: the name of the customer.'),
    phone: z.string().describe('An empty text where nothing is known; so are `address`, `type` and `region`.'),
    email: z.string().optional().describe('An e-mail address. Absent while unknown.'),
    address: z.string(),
    type: z.string(),
    region: z.string(),
    country: z.string().optional().describe('Absent while unknown.'),
    identity: identitySchema.optional().describe('Who the borrower is; of one borrower, for an ADMIN alone.'),
    credit_score: count.describe('0 to 1000; 0 while unscored.'),
    created_at: instant,
    updated_at: instant,
  }),
  { example: examples.borrower },
)

export const borrowerItem = itemOf('BorrowerItem', borrowerSchema)
export const borrowerList = listOf('BorrowerList', borrowerSchema)

export type BorrowerView = z.infer<typeof borrowerSchema>

type WireName<Detail extends BorrowerDetail> = Detail extends 'businessName' ? 'business_name' : Detail

/** The name of a detail in a body. */
const nameOf = <Detail extends BorrowerDetail>(detail: Detail) =>
  (detail === 'businessName' ? 'business_name' : detail) as WireName<Detail>

type DetailsBody = { readonly [Detail in BorrowerDetail as WireName<Detail>]?: string | undefined }

/** The details that a body gives; an empty text says that nothing is known. */
export function toChanges(body: DetailsBody): Partial<BorrowerDetails> {
  const given = BORROWER_DETAILS.filter((detail) => body[nameOf(detail)] !== undefined)
  return Object.fromEntries(given.map((detail) => [detail, body[nameOf(detail)] || null]))
}

function toDetails(body: DetailsBody): BorrowerDetails {
  const given = toChanges(body)
  return detailsOf((detail) => given[detail])
}

/** Reads a borrower to be made. */
export const toNewBorrower = ({ id, identity, ...body }: z.infer<typeof createBorrowerRequest>): NewBorrower => ({
  id,
  details: toDetails(body),
  identity: identity && identityIn(identity),
})

/**
 * Builds the record style's view of a borrower; one without a score has the score 0.
 * @param identity left out: the caller may not read it
 */
export const toBorrower = (borrower: Borrower, zone: string, score = 0, identity?: Identity): BorrowerView => ({
  id: wireInteger(borrower.id),
  business_name: borrower.businessName ?? displayName(borrower),
  phone: borrower.phone ?? '',
  ...(borrower.email !== null && { email: borrower.email }),
  address: borrower.address ?? '',
  type: borrower.type ?? '',
  region: borrower.region ?? '',
  ...(borrower.country !== null && { country: borrower.country }),
  ...(identity && { identity: inWords(toIdentityView(identity), IDENTITY_NAMES) }),
  credit_score: score,
  created_at: toRfc3339(borrower.createdAt, zone),
  updated_at: toRfc3339(borrower.updatedAt, zone),
})
