import { z } from 'zod'
import type { FieldFault } from '../../domain/errors.ts'
import type { ExtendedBody, RecordProduct } from '../../domain/loanRecord.ts'

import type { LoanAsked } from '../../domain/recordLoan.ts'
import { longestDuration, mostRepayments } from '../../domain/recordSchedule.ts'
import {
  decimalPlaces,
  durationPeriods,
  interestMethods,
  interestPeriods,
  interestTypes,
  readDecimalPlaces,
  readDurationPeriod,
  readInterestMethod,
  readInterestPeriod,
  readInterestType,
} from '../../domain/recordTerms.ts'
import type { LoanUpdate } from '../../domain/restate.ts'
import { eitherOf } from '../shapes.ts'
import { amount, decimal, int64, localDate, note, pageQuery, smallInt, text } from '../wire.ts'
import * as examples from './examples.ts'
import { named, recordId } from './registry.ts'
import { numberAsWord, sent, word } from './sent.ts'

const loanId = recordId.describe('Your own id of the loan; unique.')
const loanType = text({ min: 0, max: 100 })
/** Of a basic loan it is only told; its dates say when it is due. */
const duration = smallInt({ min: 1, max: 36_500 })
const durationPeriod = word(readDurationPeriod, durationPeriods)

const basicLoan = named(
  'NewLoan',
  z.strictObject({
    borrower_id: recordId,
    loan_id: loanId,
    loan_type: loanType.optional(),
    principal_amount: amount.describe("Greater than 0, in the organization's currency."),
    released_date: localDate,
    due_date: localDate.describe('Not before released_date.'),
    duration,
    duration_period: durationPeriod,
    description: note.optional(),
  }),
  { example: examples.newLoan },
)

const extendedLoan = named(
  'NewExtendedLoan',
  z.strictObject({
    loan_id: loanId,
    borrower_id: recordId,
    loan_application_id: sent(int64()).optional(),
    loan_disbursed_by_id: sent(int64()).optional(),
    loan_principal_amount: sent(amount),
    loan_released_date: sent(localDate),
    loan_interest_method: sent(word(readInterestMethod, interestMethods)),
    loan_interest_type: sent(word(readInterestType, interestTypes)),
    loan_interest_period: sent(word(readInterestPeriod, interestPeriods)),
    loan_interest: sent(decimal, { type: 'number', minimum: 0 }).describe(
      'Percent per interest period, with at most 4 decimals; of type fixed, an amount per interest period.',
    ),
    loan_duration_period: sent(durationPeriod),
    loan_duration: sent(smallInt({ min: 1, max: longestDuration })),
    loan_payment_scheme_id: sent(int64({ min: 1n })).describe(
      '6 daily, 4 weekly, 9 every two weeks, 3 monthly, 12 every two months, 13 quarterly, 781 every four months, 14 half-yearly, 1943 every nine months, 11 yearly, 10 lump sum; another number spaces the instalments evenly.',
    ),
    loan_num_of_repayments: sent(smallInt({ min: 1, max: mostRepayments })),
    loan_decimal_places: sent(numberAsWord.pipe(word(readDecimalPlaces, [...decimalPlaces, '0', '1', '2'])), {
      type: ['string', 'integer'],
      description: `How cells of the schedule are rounded: ${decimalPlaces.join(', ')}, 0, 1 or 2.`,
    }).optional(),
  }),
  { example: examples.newExtendedLoan },
)

const SHARED = ['loan_id', 'borrower_id']
const BASIC_ONLY = Object.keys(basicLoan.shape).filter((name) => !SHARED.includes(name))
const EXTENDED_ONLY = Object.keys(extendedLoan.shape).filter((name) => !SHARED.includes(name))

/** The extended body is told by its `loan_…` terms (contract 5.3). */
export const newLoan = eitherOf([basicLoan, extendedLoan], (body): z.ZodType | FieldFault[] => {
  const extended = EXTENDED_ONLY.find((name) => Object.hasOwn(body, name))
  if (extended === undefined) return basicLoan
  const mixed = BASIC_ONLY.filter((name) => Object.hasOwn(body, name))
  if (mixed.length === 0) return extendedLoan
  const message = `belongs to the basic body, and ${extended} to the extended one: send one of the two`
  return mixed.map((field) => ({ field, message }))
})

type NewLoan = z.infer<typeof newLoan>

/** A body of either shape as what is asked. */
export function toAsked(body: NewLoan): LoanAsked {
  if ('loan_interest_method' in body) {
    const { loan_id: _, borrower_id: __, ...extended } = body
    return { extended: extended satisfies ExtendedBody }
  }
  return {
    basic: {
      principal: body.principal_amount,
      releasedOn: body.released_date,
      dueOn: body.due_date,
      duration: body.duration,
      durationPeriod: body.duration_period,
      loanType: body.loan_type || null,
      description: body.description || null,
    },
  }
}

const notNegative = decimal
  .refine(({ units }) => units >= 0n, 'must not be negative')
  .meta({ type: 'number', minimum: 0 })

const product = z.strictObject({
  stock_id: sent(int64({ min: 0n })),
  quantity: sent(notNegative),
  price: sent(notNegative),
})

const MOST_PRODUCTS = 500

export const loanChanges = named(
  'LoanChanges',
  z.strictObject({
    borrower_id: recordId.optional(),
    loan_id: recordId.optional().describe('If given, that of the path.'),
    loan_type: loanType.optional(),
    products: z.array(product).max(MOST_PRODUCTS).optional().describe('Replaces what was told before.'),
    principal_amount: sent(amount).optional().describe('Not less than what was repaid of it.'),
    released_date: localDate.optional().describe('Not after a repayment of this loan.'),
    due_date: localDate
      .optional()
      .describe('Not before released_date. Of an extended loan it follows from the other terms.'),
    duration: duration.optional(),
    duration_period: durationPeriod.optional(),
    description: note.optional(),
  }),
  { example: examples.loanChanges },
)

/** An update's body as the changes it asks for. */
export const toUpdate = (body: z.infer<typeof loanChanges>): LoanUpdate => ({
  borrowerId: body.borrower_id,
  principal: body.principal_amount,
  releasedOn: body.released_date,
  dueOn: body.due_date,
  duration: body.duration,
  durationPeriod: body.duration_period,
  loanType: body.loan_type,
  description: body.description,
  products: body.products?.map(
    ({ stock_id: stockId, quantity, price }): RecordProduct => ({ stockId, quantity, price }),
  ),
})

export const loanQuery = pageQuery({ rows: 100 })
