import { z } from 'zod'
import { ACCOUNT_TYPES } from '../../../domain/journal/chart.ts'
import { METHODS } from '../../../domain/journal/contribution.ts'
import { CODE_PATTERN, LONGEST_CODE, LONGEST_NAME, MOST_ACCOUNTS } from '../../../domain/journal/newChart.ts'
import { chartToJson } from '../../../domain/journal/newChartJson.ts'
import { isOptional, OPTIONAL_SLOTS, type OptionalSlot, SLOTS, type Slot } from '../../../domain/journal/slots.ts'
import type { ChartView } from '../../../services/journal/charts.ts'
import { count, word } from '../../document/answers.ts'
import { codec, Refused, text } from '../../wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'

const CODE_WORDS = `must be 1 to ${LONGEST_CODE} letters without accents, digits, dots, hyphens and underscores`
const CODE = new RegExp(CODE_PATTERN)

/** The code of an account. */
export const code = codec<string>(
  (value) => (typeof value === 'string' && CODE.test(value) ? value : new Refused(CODE_WORDS)),
  {
    type: 'string',
    pattern: CODE_PATTERN,
    examples: ['1000'],
  },
)

const accountMembers = { code, name: text({ max: LONGEST_NAME }), type: z.enum(ACCOUNT_TYPES) }

const newAccount = named('LedgerAccountRequest', z.strictObject(accountMembers), { example: examples.ledgerAccount })

const slots = <T extends z.ZodType>(schema: T) => ({
  ...(Object.fromEntries(SLOTS.filter((slot) => !isOptional(slot)).map((slot) => [slot, schema])) as Record<
    Exclude<Slot, OptionalSlot>,
    T
  >),
  ...(Object.fromEntries(OPTIONAL_SLOTS.map((slot) => [slot, schema.optional()])) as Record<
    OptionalSlot,
    z.ZodOptional<T>
  >),
})

const newSlots = named('ChartSlotsRequest', z.strictObject(slots(code)), { example: examples.newChart.slots })

/** `null` leaves out a slot that may be left out (contract 1.7). */
const slotsOrNull = z.preprocess((value) => {
  if (typeof value !== 'object' || value === null) return value
  const isLeftOut = ([slot, one]: [string, unknown]) => one === null && OPTIONAL_SLOTS.some((name) => name === slot)
  return Object.fromEntries(Object.entries(value).filter((entry) => !isLeftOut(entry)))
}, newSlots)

const PRODUCT_WORDS = 'must be an object such as {"1": "accrual_upfront"}: the id of a product, and a method'

/** Methods by the id of the product; the domain knows which there are. */
const productMethods = codec<Record<string, string>>(
  (value) => {
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
    const isOfTexts = isMap && Object.values(value).every((one) => typeof one === 'string')
    return isOfTexts ? (value as Record<string, string>) : new Refused(PRODUCT_WORDS)
  },
  { type: 'object', additionalProperties: true, description: 'The methods of products, by their ids.' },
)

const newMethods = named(
  'ChartMethodsRequest',
  z.strictObject({
    default: z.enum(METHODS).describe('Of products that `products` does not name, and of loans without a product.'),
    products: productMethods.optional(),
  }),
  { example: examples.newChart.method },
)

/** A text stands for the default alone. */
const method = z.preprocess((value) => (typeof value === 'string' ? { default: value } : value), newMethods)

export const updateChartRequest = named(
  'UpdateChartRequest',
  z.strictObject({
    accounts: z
      .array(newAccount)
      .min(1)
      .max(MOST_ACCOUNTS)
      .describe('All accounts; each code once. One that has postings has to stay.'),
    slots: slotsOrNull,
    method,
  }),
  { example: examples.newChart },
)

const accountOfAnswer = {
  code: z.string(),
  name: z.string(),
  type: word('The type of the account', ACCOUNT_TYPES),
}

const ledgerAccount = named('LedgerAccount', z.object(accountOfAnswer), { example: examples.ledgerAccount })

/** An amount of the journal, in the currency that the answer names. */
export const sum = (description: string) => z.number().meta({ description, examples: [1500] })

export const accountBalance = named(
  'AccountBalance',
  z.object({
    ...accountOfAnswer,
    debit: sum('All debits up to the day.'),
    credit: sum('All credits up to the day.'),
    balance: sum('Above zero on the side where the type of the account has it.'),
  }),
  { example: examples.account },
)

const slotsOfAnswer = named('ChartSlots', z.object(slots(z.string())), { example: examples.newChart.slots })

const methods = named(
  'ChartMethods',
  z.object({
    default: word('How income is recognised', METHODS),
    products: z.unknown().meta({
      type: 'object',
      additionalProperties: true,
      description: 'The methods of products, by their ids.',
    }),
  }),
  { example: examples.newChart.method },
)

export const chartSchema = named(
  'Chart',
  z.object({
    version: count.describe('1 is the chart that every lender begins with.'),
    inForce: z.boolean().describe('False: the journal comes to the chart later. An answer waits 10 s for it.'),
    countsFrom: z.iso
      .date()
      .nullable()
      .describe(
        'The first booked day for which the chart counts; null: it counts from the beginning, or is not in force yet.',
      ),
    accounts: z.array(ledgerAccount).describe('By code.'),
    slots: slotsOfAnswer,
    method: methods,
  }),
  { example: examples.chart },
)

/** Builds the view of a chart. */
export const toChart = ({ version, inForce, countsFrom, chart }: ChartView): z.input<typeof chartSchema> => ({
  version,
  inForce,
  countsFrom,
  ...chartToJson(chart),
})
