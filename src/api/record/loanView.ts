import { z } from 'zod'
import { toRfc3339 } from '../../domain/dates.ts'
import { minorToNumber } from '../../domain/money.ts'
import type { ExtendedBody } from '../../domain/recordStyle/loanRecord.ts'
import { durationOf, loanTypeOf } from '../../domain/recordStyle/recordLoan.ts'
import type { RecordLoan } from '../../services/loans/recordLoans.ts'
import { type RawJson, wireInteger, wireSource } from '../body/json.ts'
import { count } from '../openapi/answers.ts'
import { instant, money } from '../wire.ts'
import * as examples from './openapi/examples.ts'
import { itemOf, listOf, named, wireId } from './registry.ts'

const rawNumber = z.unknown().meta({ type: 'number', format: 'double' }) as z.ZodType<RawJson>
const rawCount = z.unknown().meta({ type: 'integer', format: 'int32' }) as z.ZodType<RawJson>
const rawText = z.unknown().meta({ type: 'string' }) as z.ZodType<RawJson>

const productSchema = named(
  'StockItem',
  z.object({
    stock_id: wireId.describe('Your own id of the product.'),
    quantity: rawNumber,
    price: rawNumber.describe('The price of one.'),
  }),
  {
    example: examples.product,
  },
)

export const loanSchema = named(
  'Loan',
  z.object({
    borrower_id: wireId.describe('The id of the borrower.'),
    loan_id: wireId.describe('Your own id; of a loan that a partner made, the number of the service.'),
    loan_type: z.string().describe('Of a loan that a partner made, the name of its product.'),
    principal_amount: money.describe('The amount that was lent.'),
    released_date: z.iso.date().describe('The day on which the money was paid out.'),
    due_date: z.iso.date().describe('Of several instalments, the last.'),
    duration: count.describe('Of several instalments, the number of `duration_period` that the loan runs.'),
    duration_period: z.string().describe('As it was sent.'),
    description: z.string().describe('An empty text where there is none.'),
    products: z.array(productSchema).optional().describe('When there are any.'),
    loan_application_id: rawText.optional().describe('This and what follows: of an extended loan, as it was sent.'),
    loan_disbursed_by_id: wireId.optional(),
    loan_principal_amount: rawNumber.optional().describe('As `principal_amount`.'),
    loan_released_date: rawText.optional(),
    loan_interest_method: rawText.optional(),
    loan_interest_type: rawText.optional(),
    loan_interest_period: rawText.optional(),
    loan_interest: rawNumber.optional().describe('Percent per interest period; of type fixed, an amount.'),
    loan_duration_period: rawText.optional(),
    loan_duration: rawCount.optional(),
    loan_payment_scheme_id: wireId.optional(),
    loan_num_of_repayments: rawCount.optional(),
    loan_decimal_places: rawText.optional(),
    created_at: instant,
    updated_at: instant,
  }),
  { example: examples.loan },
)

export const loanItem = itemOf('LoanItem', loanSchema)
export const loanList = listOf('LoanList', loanSchema)

export type LoanView = z.infer<typeof loanSchema>

/** The fields of an extended loan, in the order of the contract. */
const EXTENDED: readonly (keyof ExtendedBody)[] = [
  'loan_application_id',
  'loan_disbursed_by_id',
  'loan_principal_amount',
  'loan_released_date',
  'loan_interest_method',
  'loan_interest_type',
  'loan_interest_period',
  'loan_interest',
  'loan_duration_period',
  'loan_duration',
  'loan_payment_scheme_id',
  'loan_num_of_repayments',
  'loan_decimal_places',
]

function extendedAsSent(sent: ExtendedBody): { readonly [Field in keyof ExtendedBody]?: RawJson } {
  return Object.fromEntries(
    EXTENDED.flatMap((field) => {
      const source = sent[field]
      return source === undefined ? [] : [[field, wireSource(source)]]
    }),
  )
}

/** Builds the record style's view of a loan. */
export function toLoan(loan: RecordLoan, zone: string): LoanView {
  const { record } = loan
  const { duration, durationPeriod } = durationOf(loan)
  const products = record?.products ?? []
  return {
    borrower_id: wireInteger(loan.borrowerId),
    loan_id: wireInteger(loan.id),
    loan_type: loanTypeOf(loan),
    principal_amount: minorToNumber(loan.principal, loan.currency),
    released_date: loan.disbursedOn,
    due_date: loan.dueOn,
    duration,
    duration_period: durationPeriod,
    description: record?.description ?? '',
    ...(products.length > 0 && {
      products: products.map(({ stockId, quantity, price }) => ({
        stock_id: wireSource(stockId),
        quantity: wireSource(quantity),
        price: wireSource(price),
      })),
    }),
    ...(record?.extended && extendedAsSent(record.extended)),
    created_at: toRfc3339(loan.createdAt, zone),
    updated_at: toRfc3339(loan.updatedAt, zone),
  }
}
