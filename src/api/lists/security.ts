import { z } from 'zod'
import { toRfc3339 } from '../../domain/dates.ts'
import {
  COLLATERAL_KINDS,
  LONGEST_COLLATERAL,
  LONGEST_RELATIONSHIP,
  LONGEST_RELEASE,
} from '../../domain/loan/security.ts'
import { currencyOf, minorToNumber } from '../../domain/money.ts'
import type { CollateralView } from '../../services/loans/security/collateral.ts'
import type { GuarantorView } from '../../services/loans/security/guarantors.ts'
import { word } from '../openapi/answers.ts'
import { amount, instant, localDate, money, text } from '../wire.ts'

// What a loan is secured by, in both styles: a style gives the names of the members, writes the ids, and names the guarantor.

/** The members of a guarantor in a body, besides who it is. */
export const GUARANTOR_MEMBERS = {
  relationship: text({ max: LONGEST_RELATIONSHIP })
    .describe('What the guarantor is to the borrower, in your own words.')
    .meta({ examples: ['Sister'] }),
  amount: amount.optional().describe('What is guaranteed, in the currency of the loan; left out: all of the loan.'),
  from: localDate
    .optional()
    .describe('The day from which it is guaranteed; not in the future, and today when left out.'),
  until: localDate.optional().describe('The last day of the guarantee; left out: until the guarantor is released.'),
}

/** The members of collateral in a body. */
export const COLLATERAL_MEMBERS = {
  kind: z.enum(COLLATERAL_KINDS),
  description: text({ max: LONGEST_COLLATERAL.description, lines: true }).describe('What it is. It is kept encrypted.'),
  value: amount.describe('What it is worth, in the currency of the loan.'),
  valuedOn: localDate.optional().describe('The day of that value; not in the future, and today when left out.'),
  registration: text({ max: LONGEST_COLLATERAL.registration })
    .optional()
    .describe('Its number in a register, such as that of vehicles. It is kept encrypted.'),
  owner: text({ max: LONGEST_COLLATERAL.owner }).optional().describe('Who owns it. It is kept encrypted.'),
}

/** The members of a release in a body. */
export const RELEASE_MEMBERS = {
  reason: text({ max: LONGEST_RELEASE }).describe('Why, without the name of a person.'),
  releasedOn: localDate.optional().describe('The day of it; not in the future, and today when left out.'),
}

const RELEASED = {
  releasedOn: z.iso.date().optional().describe('Absent while the loan has it.'),
  releaseReason: z.string().optional(),
  createdAt: instant.describe('When it was recorded.'),
  updatedAt: instant,
}

/** The members of a guarantor in an answer, besides the ids and who it is. */
export const GUARANTOR_ANSWER = {
  relationship: z.string(),
  amount: money.optional().describe('What is guaranteed; absent where all of the loan is.'),
  from: z.iso.date(),
  until: z.iso.date().optional(),
  ...RELEASED,
}

/** The members of collateral in an answer, besides the ids. */
export const COLLATERAL_ANSWER = {
  kind: word('What it is', COLLATERAL_KINDS),
  value: money,
  valuedOn: z.iso.date(),
  description: z.string().optional().describe('For an ADMIN alone; so are `registration` and `owner`.'),
  registration: z.string().optional(),
  owner: z.string().optional(),
  ...RELEASED,
}

/** What both kinds of security have of their release and their times. */
interface Released {
  readonly releasedOn: string | null
  readonly releaseReason: string | null
  readonly createdAt: number
  readonly updatedAt: number
}

const toReleased = ({ releasedOn, releaseReason, createdAt, updatedAt }: Released, zone: string) => ({
  ...(releasedOn !== null && { releasedOn }),
  ...(releaseReason !== null && { releaseReason }),
  createdAt: toRfc3339(createdAt, zone),
  updatedAt: toRfc3339(updatedAt, zone),
})

/** Builds the view of a guarantor, by the names of the domain, without ids and without who it is. */
export const toGuarantorView = ({ guarantor, currency }: GuarantorView, zone: string) => ({
  relationship: guarantor.relationship,
  ...(guarantor.amount !== null && { amount: minorToNumber(guarantor.amount, currencyOf(currency)) }),
  from: guarantor.fromDate,
  ...(guarantor.untilDate !== null && { until: guarantor.untilDate }),
  ...toReleased(guarantor, zone),
})

/** Builds the view of collateral, by the names of the domain and without ids. */
export const toCollateralView = ({ collateral, currency, details }: CollateralView, zone: string) => ({
  kind: collateral.kind,
  value: minorToNumber(collateral.value, currencyOf(currency)),
  valuedOn: collateral.valuedOn,
  ...(details && { description: details.description }),
  ...(details && details.registration !== null && { registration: details.registration }),
  ...(details && details.owner !== null && { owner: details.owner }),
  ...toReleased(collateral, zone),
})
