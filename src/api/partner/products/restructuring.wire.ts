import { z } from 'zod'
import { rateToNumber } from '../../../domain/money.ts'
import { MOST_DAYS_ADDED, MOST_RESTRUCTURES } from '../../../domain/product/restructuring.ts'
import type { RestructureLimits } from '../../../domain/product/terms.ts'
import { count, percent } from '../../openapi/answers.ts'
import { decimal, smallInt } from '../../wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'

/** The bounds of restructures in a request for a product. */
export const newRestructuring = named(
  'RestructuringRequest',
  z.strictObject({
    maxTimes: smallInt({ min: 0, max: MOST_RESTRUCTURES })
      .optional()
      .describe('How often a loan may be restructured; 0: never. Default: no limit.'),
    minPaidPercent: decimal
      .meta({ minimum: 0, maximum: 100, description: 'Percent of the principal that has to be repaid. Default 0.' })
      .optional(),
    maxDaysAdded: smallInt({ min: 0, max: MOST_DAYS_ADDED })
      .optional()
      .describe('The most days by which the last due date may move from the one that was lent. Default: no limit.'),
  }),
  { example: examples.restructuring },
)

/** The bounds of restructures in the answer of a product. */
export const restructuring = named(
  'Restructuring',
  z.object({
    maxTimes: count.optional().describe('How often a loan may be restructured. Left out: no limit.'),
    minPaidPercent: percent.optional().describe('Percent of the principal that has to be repaid. Left out: 0.'),
    maxDaysAdded: count.optional().describe('The most days by which the last due date may move. Left out: no limit.'),
  }),
  { example: examples.restructuring },
)

/** Builds the view of the bounds of restructures. */
export const toRestructuring = ({ maxTimes, minPaidPercent, maxDaysAdded }: RestructureLimits) => ({
  ...(maxTimes !== null && { maxTimes }),
  ...(minPaidPercent !== null && { minPaidPercent: rateToNumber(minPaidPercent) }),
  ...(maxDaysAdded !== null && { maxDaysAdded }),
})
