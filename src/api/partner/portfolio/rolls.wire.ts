import { z } from 'zod'
import { type Currency, currencyOf, minorToNumber } from '../../../domain/money.ts'
import type { Moved, RollRates, RollRow } from '../../../domain/portfolio/rolls.ts'
import type { RollAnswer } from '../../../services/portfolio/portfolio.ts'
import { total } from '../../document/answers.ts'
import { localDate, money } from '../../wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'
import { policyMembers, queryPolicy, toPolicy } from './portfolio.wire.ts'

export const rollQuery = z.strictObject({
  from: localDate.meta({ description: 'The first day, at whose end the rows begin.', examples: ['2026-01-31'] }),
  to: localDate.meta({ examples: undefined }).optional().describe('The last day, after `from`. Default: today.'),
  policy: queryPolicy,
})

const moved = { loans: total, principal: money }

const movedSchema = named('RollRateCell', z.object(moved), { example: examples.row.closed })

const target = named('RollRateTarget', z.object({ bucket: z.string(), ...moved }), { example: examples.row.to[0]! })

const row = {
  loans: total.describe('All loans of the row: the sum of its other figures.'),
  principal: money.describe('Their principal outstanding on the first day.'),
  to: z.array(target).describe('The buckets of the last day, in order.'),
  closed: movedSchema.describe('Loans that owe nothing on the last day.'),
  writtenOff: movedSchema.describe('Loans that were written off by the last day.'),
}

const bucketRow = named(
  'RollRateRow',
  z.object({ bucket: z.string().describe('The bucket of the first day.'), ...row }),
  {
    example: examples.row,
  },
)

const { bucket: _, ...withoutBucket } = examples.row
const addedRow = named('RollRateAddition', z.object(row), { example: withoutBucket })

const rates = named(
  'RollRates',
  z.object({
    currencyCode: z.string().describe('ISO 4217, such as `TZS`.'),
    rows: z.array(bucketRow).describe('The buckets of the first day, in order. Each row sums to its opening.'),
    lent: addedRow.describe('Loans that were disbursed after the first day, with the principal of the last day.'),
    reopened: addedRow.describe(
      'Loans that owed nothing on the first day and do on the last, with the principal of the last day.',
    ),
  }),
  { example: examples.rates },
)

export const rollSchema = named(
  'RollRateMatrix',
  z.object({ from: z.iso.date(), to: z.iso.date(), ...policyMembers, currencies: z.array(rates) }),
  { example: examples.rolls },
)

const toMoved = ({ loans, principal }: Moved, currency: Currency) => ({
  loans,
  principal: minorToNumber(principal, currency),
})

const toRow = (one: RollRow, currency: Currency) => ({
  ...toMoved(one, currency),
  to: one.to.map(({ bucket, ...cell }) => ({ bucket: bucket.name, ...toMoved(cell, currency) })),
  closed: toMoved(one.closed, currency),
  writtenOff: toMoved(one.writtenOff, currency),
})

function toRates({ currency: code, from, lent, reopened }: RollRates): z.infer<typeof rates> {
  const currency = currencyOf(code)
  return {
    currencyCode: code,
    rows: from.map(({ bucket, ...one }) => ({ bucket: bucket.name, ...toRow(one, currency) })),
    lent: toRow(lent, currency),
    reopened: toRow(reopened, currency),
  }
}

/** Builds the view of the moves between two days. */
export const toRolls = ({ from, to, policy, rates: found }: RollAnswer): z.infer<typeof rollSchema> => ({
  from,
  to,
  ...toPolicy(policy),
  currencies: found.map(toRates),
})
