import { z } from 'zod'
import { type Currency, currencyOf, minorToNumber, rateToNumber } from '../../../domain/money.ts'
import type { BookedProvisions } from '../../../services/journal/bookProvisions.ts'
import type { ProvisionGroup, Provisions } from '../../../services/portfolio/provisions.ts'
import { count, percent, total } from '../../document/answers.ts'
import { localDate, money } from '../../wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'
import { policyMembers, queryPolicy, toPolicy } from './portfolio.wire.ts'

const asOf = localDate.meta({ examples: undefined }).optional().describe('The day. Default: today.')

export const provisionsQuery = z.strictObject({ asOf, policy: queryPolicy })

export const bookProvisionsRequest = named('BookProvisionsRequest', z.strictObject({ asOf }), {
  example: examples.booking,
})

/** An amount that may be below 0. */
const difference = z.number().meta({ examples: [1500] })

const bucket = named(
  'ProvisionBucket',
  z.object({
    bucket: z.string().describe('The name of the bucket.'),
    provisionRate: percent.optional().describe('In percent; absent where the bucket has none.'),
    loans: total,
    principalOutstanding: money,
    provision: money,
  }),
  { example: examples.provisionGroup.buckets[0]! },
)

const productId = count.nullable().describe('Null: loans of a record system.')

const group = named(
  'ProvisionGroup',
  z.object({
    currencyCode: z.string().describe('ISO 4217, such as `TZS`.'),
    productId,
    loans: total.describe('Open loans.'),
    principalOutstanding: money,
    provision: money.describe('The sum of the provisions of the loans.'),
    booked: difference.describe('The allowance in the journal with value dates up to the day.'),
    difference: difference.describe('What a booking would post: `provision` less `booked`.'),
    buckets: z.array(bucket).describe('Every bucket of the policy, in order.'),
  }),
  { example: examples.provisionGroup },
)

export const provisionsSchema = named(
  'Provisions',
  z.object({ asOf: z.iso.date(), ...policyMembers, groups: z.array(group).describe('By currency and product.') }),
  { example: examples.provisions },
)

const posting = named(
  'ProvisionPosting',
  z.object({
    currencyCode: z.string().describe('ISO 4217, such as `TZS`.'),
    productId,
    provision: money.describe('What is booked now.'),
    bookedBefore: difference.describe('The allowance before.'),
    difference: difference.describe('What was posted; below 0 where less is expected to be lost.'),
  }),
  { example: examples.booked.postings[0]! },
)

export const bookedSchema = named(
  'BookedProvisions',
  z.object({
    asOf: z.iso.date(),
    postings: z.array(posting).describe('What was posted; empty where all was booked before.'),
  }),
  { example: examples.booked },
)

function toGroup({
  currency: code,
  productId: of,
  total: sums,
  booked,
  buckets,
}: ProvisionGroup): z.infer<typeof group> {
  const currency: Currency = currencyOf(code)
  const amount = (minor: bigint) => minorToNumber(minor, currency)
  return {
    currencyCode: code,
    productId: of,
    loans: sums.loans,
    principalOutstanding: amount(sums.principal),
    provision: amount(sums.provision),
    booked: amount(booked),
    difference: amount(sums.provision - booked),
    buckets: buckets.map(({ bucket: { name, provisionRate }, loans, principal, provision }) => ({
      bucket: name,
      ...(provisionRate !== null && { provisionRate: rateToNumber(provisionRate) }),
      loans,
      principalOutstanding: amount(principal),
      provision: amount(provision),
    })),
  }
}

/** Builds the view of provisions. */
export const toProvisions = ({ asOf: day, policy, groups }: Provisions): z.infer<typeof provisionsSchema> => ({
  asOf: day,
  ...toPolicy(policy),
  groups: groups.map(toGroup),
})

/** Builds the view of a booking. */
export const toBooked = ({ asOf: day, postings }: BookedProvisions): z.infer<typeof bookedSchema> => ({
  asOf: day,
  postings: postings.map(({ currency: code, productId: of, provision, bookedBefore, difference: posted }) => {
    const amount = (minor: bigint) => minorToNumber(minor, currencyOf(code))
    return {
      currencyCode: code,
      productId: of,
      provision: amount(provision),
      bookedBefore: amount(bookedBefore),
      difference: amount(posted),
    }
  }),
})
