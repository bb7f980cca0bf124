import { z } from 'zod'
import type { NamedFault } from '../../domain/errors.ts'
import type { ExtendedBody, RecordProduct, Source } from '../../domain/recordStyle/loanRecord.ts'
import type { LoanUpdate } from '../../domain/recordStyle/modifyTerms.ts'
import { type LoanRequest, sameSource } from '../../domain/recordStyle/recordLoan.ts'
import { longestDuration } from '../../domain/schedule/recordSchedule.ts'
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
} from '../../domain/schedule/recordTerms.ts'
import { MOST_INSTALMENTS } from '../../domain/schedule/schedule.ts'
import { JsonNumber } from '../body/json.ts'
import { clearable, eitherOf } from '../body/validation.ts'
import { textPattern } from '../openapi/answers.ts'
import { amount, decimal, int64, localDate, note, smallInt, text } from '../wire.ts'
import * as examples from './openapi/examples.ts'
import { answerFields, named, recordId, registry } from './registry.ts'

const loanId = recordId.describe('Your own id of the loan; unique.')
const loanType = text({ min: 0, max: 100 })
/** The duration of a loan. The schedule of a basic loan does not use it: the dates of the loan say when it is due. */
const duration = smallInt({ min: 1, max: 36_500 })

/**
 * Makes a schema of a whole number that keeps its digits: `12`, `12.0` and, where `schema` accepts it, `"12"` are the
 * same number, and are given back as `12`.
 */
const sentInteger = (schema: z.ZodType<bigint | number>) => {
  const meta = z.globalRegistry.get(schema) ?? {}
  return schema.transform((value): Source => String(value)).meta(meta)
}

const LONGEST_TEXT = 100

/** A text, or a whole number for record systems that count; kept and given back as it was sent. */
const sentText = z
  .unknown()
  .transform((value, context): Source => {
    const read =
      value instanceof JsonNumber ? int64().safeParse(value) : text({ min: 0, max: LONGEST_TEXT }).safeParse(value)
    if (read.success) return value instanceof JsonNumber ? value.source : JSON.stringify(value)
    const message = value instanceof JsonNumber ? 'must be a text, or a whole number' : read.error.issues[0]!.message
    context.issues.push({ code: 'custom', message, input: value })
    return z.NEVER
  })
  .meta({ type: 'string', maxLength: LONGEST_TEXT, pattern: textPattern({ min: 0 }) })

const LONGEST_WORD = 50

/** A word of a vocabulary, in any of its spellings. */
const word = (read: (text: string) => string | undefined, words: readonly string[]) =>
  text({ max: LONGEST_WORD })
    .refine((given) => read(given) !== undefined, `must be one of ${words.join(', ')}`)
    .meta({
      type: 'string',
      description: `${words.map((one) => `\`${one}\``).join(', ')}; in any case, with spaces or underscores.`,
      'x-extensible-enum': words,
      examples: [words[0]],
    })

/** A number that may replace a word: 2 for "2". */
const numberAsWord = z.unknown().transform((value) => (value instanceof JsonNumber ? value.source : value))

const durationPeriod = word(readDurationPeriod, durationPeriods)

const notNegative = decimal
  .refine(({ units }) => units >= 0n, 'must not be negative')
  .meta({ type: 'number', format: 'double', minimum: 0 })

const product = named(
  'StockItemRequest',
  z.strictObject({
    stock_id: sentInteger(int64({ min: 0n })).describe('Your own id of the product that was lent.'),
    quantity: sent(notNegative),
    price: sent(notNegative).describe('The price of one.'),
  }),
  { example: examples.product },
)

const MOST_PRODUCTS = 500
const products = z.array(product).max(MOST_PRODUCTS).describe('What was lent in kind.')

const ANSWER_FIELDS = answerFields('created_at', 'updated_at')

const basicLoan = named(
  'CreateBasicLoanRequest',
  z.strictObject({
    borrower_id: recordId.describe('Your own id of the borrower.'),
    loan_id: loanId,
    loan_type: loanType.optional().describe('What kind of loan, in your own words.'),
    principal_amount: amount.describe("Greater than 0, in the organization's currency."),
    released_date: localDate.describe('The day on which the money was paid out.'),
    due_date: localDate.describe('The day by which all of it is to be paid back. Not before released_date.'),
    duration: duration.describe('For your own use, with duration_period: the dates say when the loan is due.'),
    duration_period: durationPeriod,
    description: note.optional(),
    products: products.optional(),
    ...ANSWER_FIELDS,
  }),
  { example: examples.newLoan },
)

const extendedLoan = named(
  'CreateExtendedLoanRequest',
  z.strictObject({
    loan_id: loanId,
    borrower_id: recordId.describe('Your own id of the borrower.'),
    loan_application_id: sentText
      .optional()
      .describe('Your own id of the application, such as `LA-2026-001`; a whole number is taken too.'),
    loan_disbursed_by_id: sentInteger(int64()).optional().describe('Your own id of who paid it out.'),
    loan_principal_amount: sent(amount).describe("Greater than 0, in the organization's currency."),
    loan_released_date: sent(localDate).describe('The day on which the money was paid out.'),
    loan_interest_method: sent(word(readInterestMethod, interestMethods)),
    loan_interest_type: sent(word(readInterestType, interestTypes)),
    loan_interest_period: sent(word(readInterestPeriod, interestPeriods)),
    loan_interest: sent(decimal, { type: 'number', format: 'double', minimum: 0 }).describe(
      'Percent per interest period, with at most 4 decimals; of type fixed, an amount per interest period.',
    ),
    loan_duration_period: sent(durationPeriod),
    loan_duration: sentInteger(smallInt({ min: 1, max: longestDuration })).describe(
      'How long the loan runs, in units of loan_duration_period.',
    ),
    loan_payment_scheme_id: sentInteger(int64({ min: 1n })).describe(
      '6 daily, 4 weekly, 9 every two weeks, 3 monthly, 12 every two months, 13 quarterly, 781 every four months, 14 half-yearly, 1943 every nine months, 11 yearly, 10 lump sum; another number spaces the instalments evenly.',
    ),
    loan_num_of_repayments: sentInteger(smallInt({ min: 1, max: MOST_INSTALMENTS })).describe(
      'The number of instalments.',
    ),
    loan_decimal_places: sent(numberAsWord.pipe(word(readDecimalPlaces, [...decimalPlaces, '0', '1', '2'])), {
      type: 'string',
      minLength: 1,
      maxLength: LONGEST_WORD,
      pattern: textPattern({}),
      description: `How each amount of the schedule is rounded: ${decimalPlaces.map((one) => `\`${one}\``).join(', ')}; in any case, with spaces or underscores. \`0\`, \`1\` and \`2\` are short for integer, one and two decimals. Default: two decimals.`,
      'x-extensible-enum': decimalPlaces,
      examples: [decimalPlaces[0]],
    }).optional(),
  }),
  { example: examples.newExtendedLoan },
)

const SHARED = ['loan_id', 'borrower_id', ...Object.keys(ANSWER_FIELDS)]
const BASIC_ONLY = Object.keys(basicLoan.shape).filter((name) => !SHARED.includes(name))
const EXTENDED_ONLY = Object.keys(extendedLoan.shape).filter((name) => !SHARED.includes(name))

/** Fields of an extended loan's item, and the term that each repeats. */
const SAID_AGAIN = {
  principal_amount: 'loan_principal_amount',
  released_date: 'loan_released_date',
  duration: 'loan_duration',
  duration_period: 'loan_duration_period',
} as const

/** The item of an extended loan as it was read: the fields that follow from its terms have to agree with them. */
const extendedItem = extendedLoan
  .extend({
    loan_type: loanType.optional(),
    principal_amount: sent(amount).optional(),
    released_date: sent(localDate).optional(),
    due_date: localDate.optional(),
    duration: sentInteger(duration).optional(),
    duration_period: sent(durationPeriod).optional(),
    description: note.optional(),
    products: products.optional(),
    ...ANSWER_FIELDS,
  })
  .superRefine((item, context) => {
    for (const [field, term] of Object.entries(SAID_AGAIN) as [keyof typeof SAID_AGAIN, keyof ExtendedBody][])
      if (item[field] !== undefined && !sameSource(item[field], item[term]))
        context.addIssue({ code: 'custom', path: [field], message: `must say what ${term} says, or be left out` })
  })

/**
 * A loan of either body. The extended one is known by its `loan_…` terms (contract 5.3); a body with `created_at`,
 * which only answers have, is an item that is sent back.
 */
export const createLoanRequest = eitherOf([basicLoan, extendedLoan], (body): z.ZodType | NamedFault[] => {
  const extended = EXTENDED_ONLY.find((name) => Object.hasOwn(body, name))
  if (extended === undefined) return basicLoan
  const mixed = BASIC_ONLY.filter((name) => Object.hasOwn(body, name))
  if (Object.hasOwn(body, 'created_at')) return extendedItem
  if (mixed.length === 0) return extendedLoan
  const message = `belongs to the basic body, and ${extended} to the extended one: send one of the two`
  return mixed.map((field) => ({ field, message }))
})
registry.add(createLoanRequest, {
  id: 'CreateLoanRequest',
  description: 'The basic body, or the extended one, which is recognised by its `loan_…` terms.',
})

type CreateLoanRequest = z.infer<typeof createLoanRequest>

/** Reads the fields of a loan besides its terms; an empty text means none. */
const toRemarks = (body: Pick<z.infer<typeof basicLoan>, 'loan_type' | 'description' | 'products'>) => ({
  loanType: body.loan_type || null,
  description: body.description || null,
  products: toProducts(body.products ?? []),
})

const toProducts = (sentProducts: z.infer<typeof products>): RecordProduct[] =>
  sentProducts.map(({ stock_id: stockId, quantity, price }) => ({ stockId, quantity, price }))

/** Reads a body of either shape as the loan to book. */
export function toAsked(body: CreateLoanRequest): LoanRequest {
  if ('loan_interest_method' in body) {
    const item: z.infer<typeof extendedItem> = body
    return { extended: toExtended(item), dueOn: item.due_date, remarks: toRemarks(item) }
  }
  return {
    basic: {
      principal: body.principal_amount,
      releasedOn: body.released_date,
      dueOn: body.due_date,
      duration: body.duration,
      durationPeriod: body.duration_period,
    },
    remarks: toRemarks(body),
  }
}

/** Returns the terms of an extended body alone, each as it was sent. */
const toExtended = <Sent extends object>(body: Sent): Pick<Sent, keyof Sent & keyof ExtendedBody> =>
  Object.fromEntries(
    EXTENDED_ONLY.map((name) => [name, body[name as keyof Sent]]).filter(([, value]) => value !== undefined),
  ) as Pick<Sent, keyof Sent & keyof ExtendedBody>

const { loan_id: _, borrower_id: __, ...extendedTerms } = extendedLoan.partial().shape

const NOT_CHANGED = 'A term of the extended body, which an update does not change: as the loan has it, or left out.'

/** The terms of an extended loan in a PUT: a PUT does not change them, but an item that is sent back may hold them. */
const storedTerms = Object.fromEntries(
  Object.entries(extendedTerms).map(([name, field]) => [name, clearable(field.unwrap().describe(NOT_CHANGED))]),
) as typeof extendedTerms

export const updateLoanRequest = named(
  'UpdateLoanRequest',
  z.strictObject({
    borrower_id: recordId.optional().describe('Another borrower, if given.'),
    loan_id: clearable(recordId.describe('If given, that of the path.')),
    loan_type: clearable(loanType, ''),
    products: clearable(products.describe('Replaces all products of before.'), []),
    principal_amount: sent(amount).optional().describe('Not less than what was repaid of it.'),
    released_date: localDate.optional().describe('Not after a repayment of this loan.'),
    due_date: localDate
      .optional()
      .describe('Not before released_date. Of an extended loan it follows from the other terms.'),
    duration: duration.optional(),
    duration_period: durationPeriod.optional(),
    description: clearable(note, ''),
    ...storedTerms,
    ...ANSWER_FIELDS,
  }),
  { example: examples.loanChanges },
)

/** Reads the body of an update as the changes it asks for. */
export const toUpdate = (body: z.infer<typeof updateLoanRequest>): LoanUpdate => ({
  borrowerId: body.borrower_id,
  principal: body.principal_amount,
  releasedOn: body.released_date,
  dueOn: body.due_date,
  duration: body.duration,
  durationPeriod: body.duration_period,
  loanType: body.loan_type,
  description: body.description,
  products: body.products === undefined ? undefined : toProducts(body.products),
  storedTerms: toExtended(body),
})

/**
 * Makes a schema that accepts what `schema` does and keeps the JSON that was sent, so that the value is given back
 * exactly as it was sent; its meaning is read where it is needed.
 */
function sent(schema: z.ZodType, meta: Record<string, unknown> = z.globalRegistry.get(schema) ?? {}) {
  return z
    .unknown()
    .transform((value, context): Source => {
      const parsed = schema.safeParse(value)
      if (parsed.success) return value instanceof JsonNumber ? value.source : JSON.stringify(value)
      const message = parsed.error.issues[0]?.message ?? 'is not valid'
      context.issues.push({ code: 'custom', message, input: value })
      return z.NEVER
    })
    .meta(meta)
}
