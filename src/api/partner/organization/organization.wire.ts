import { z } from 'zod'
import { currencyOf, minorToNumber } from '../../../domain/money.ts'
import { MOST_LOGO_BYTES, MOST_LOGO_PIXELS } from '../../../domain/organization/logo.ts'
import {
  LONGEST_LICENCE,
  LONGEST_NAME,
  MODES,
  type OrganizationSettings,
} from '../../../services/organizations/organizations.ts'
import { count, word } from '../../openapi/answers.ts'
import { amountOrZero, codec, Refused, smallInt, text } from '../../wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'

const BASE64 = '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'
const IS_BASE64 = new RegExp(BASE64)
const MOST_CHARACTERS = Math.ceil(MOST_LOGO_BYTES / 3) * 4

/** Bytes as base64 (RFC 4648, section 4), with the padding. */
const bytes = codec<Buffer>(
  (value) => {
    if (typeof value !== 'string') return new Refused('must be a string of base64')
    if (value.length > MOST_CHARACTERS) return new Refused(`must be at most ${MOST_LOGO_BYTES} bytes`)
    return IS_BASE64.test(value) ? Buffer.from(value, 'base64') : new Refused('must be base64, with its padding')
  },
  { type: 'string', minLength: 1, maxLength: MOST_CHARACTERS, pattern: BASE64 },
)

const years = smallInt({ min: 0, max: 100 })
const KEEP_BORROWERS =
  'The years for which what is known of a customer is kept after the last loan was closed. Null: 10, and no erasure is proposed.'
const KEEP_OTHERS =
  'The years for which what is known of a customer who never borrowed is kept after something was told of it last. Null: 0, and no erasure is proposed.'

export const updateOrganizationRequest = named(
  'UpdateOrganizationRequest',
  z.strictObject({
    legalName: text({ max: LONGEST_NAME })
      .nullable()
      .optional()
      .describe('The name of the lender in documents. Null: `name`.'),
    licenceNumber: text({ max: LONGEST_LICENCE })
      .nullable()
      .optional()
      .describe('The number of the licence, as documents show it. Null: none is shown.'),
    logo: bytes
      .nullable()
      .optional()
      .describe(
        `The picture in documents: a PNG or a JPEG as base64, at most ${MOST_LOGO_BYTES} bytes and ${MOST_LOGO_PIXELS} pixels a side. Null: none.`,
      ),
    approvalAbove: amountOrZero
      .nullable()
      .optional()
      .describe(
        'In the currency of your organization: a reversal, an adjustment, a write-off and a waiver of more wait for a second ADMIN. Null: nothing waits.',
      ),
    keepBorrowersYears: years.nullable().optional().describe(KEEP_BORROWERS),
    keepOthersYears: years.nullable().optional().describe(KEEP_OTHERS),
  }),
  { example: examples.changeOfOrganization },
)

export const organizationSchema = named(
  'Organization',
  z.object({
    id: z.string(),
    name: z.string(),
    legalName: z.string().nullable().describe('The name of the lender in documents; null: `name`.'),
    licenceNumber: z.string().nullable(),
    hasLogo: z.boolean().describe('Whether documents show a logo.'),
    currencyCode: z.string().describe('The currency in which the organization lends, unless a product has another.'),
    mode: word('Whether the organization is a live one or a test one', MODES),
    approvalAbove: z
      .number()
      .nullable()
      .describe(
        'In `currencyCode`: a reversal, an adjustment, a write-off and a waiver of more wait for a second ADMIN. Null: nothing waits.',
      ),
    keepBorrowersYears: count.nullable().describe(KEEP_BORROWERS),
    keepOthersYears: count.nullable().describe(KEEP_OTHERS),
    officeId: z.string(),
    officeName: z.string(),
    paymentMethod: z.string().describe('How customers pay, where no transaction says otherwise.'),
  }),
  { example: examples.organization },
)

/** Builds the view of an organization. */
export const toOrganization = ({
  id,
  currency,
  approvalAbove,
  ...rest
}: OrganizationSettings): z.infer<typeof organizationSchema> => ({
  id: String(id),
  name: rest.name,
  legalName: rest.legalName,
  licenceNumber: rest.licenceNumber,
  hasLogo: rest.hasLogo,
  currencyCode: currency,
  mode: rest.mode,
  approvalAbove: approvalAbove === null ? null : minorToNumber(approvalAbove, currencyOf(currency)),
  keepBorrowersYears: rest.keepBorrowersYears,
  keepOthersYears: rest.keepOthersYears,
  officeId: rest.officeId,
  officeName: rest.officeName,
  paymentMethod: rest.paymentMethod,
})
