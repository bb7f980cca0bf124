import { type FaultRole, invalidArgument } from '../errors.ts'
import { type Currency, type Decimal, minorToNumber, parseDecimal, rateToNumber } from '../money.ts'
import type { NewBucket, NewPolicy } from './newPolicy.ts'
import type { DelinquencyPolicy } from './policy.ts'

/** Writes a policy as JSON that `readNewPolicy` takes. @param currency of the organization */
export const policyToJson = ({ buckets, countFrom, materiality, cureDays }: DelinquencyPolicy, currency: Currency) => ({
  buckets: buckets.map(({ name, fromDays, toDays, class: ofClass, stage, provisionRate }) => ({
    name,
    fromDays,
    ...(toDays !== null && { toDays }),
    ...(ofClass !== null && { class: ofClass }),
    ...(stage !== null && { stage }),
    ...(provisionRate !== null && { provisionRate: rateToNumber(provisionRate) }),
  })),
  countFrom,
  ...(materiality && {
    materiality: {
      ...(materiality.amount !== null && { amount: minorToNumber(materiality.amount, currency) }),
      ...(materiality.percentOfPrincipal !== null && {
        percentOfPrincipal: rateToNumber(materiality.percentOfPrincipal),
      }),
    },
  }),
  cureDays,
})

type Members = Readonly<Record<string, unknown>>

/**
 * Reads a request for a policy from JSON that nothing has checked.
 * @throws LendingError `invalid_argument` for a part that has not the form of one
 */
export function readNewPolicy(json: unknown): NewPolicy {
  const { buckets, materiality, ...rest } = membersOf(json, 'policy', [
    'preset',
    'buckets',
    'countFrom',
    'materiality',
    'cureDays',
  ])
  return {
    preset: textIn(rest, 'preset', 'preset'),
    buckets: buckets === undefined ? undefined : readBuckets(buckets),
    countFrom: textIn(rest, 'countFrom', 'countFrom'),
    materiality: materiality === undefined ? undefined : readMateriality(materiality),
    cureDays: numberIn(rest, 'cureDays', 'cureDays'),
  }
}

/** Returns the members of an object, without those that are null, which stand for what is left out. */
function membersOf(json: unknown, role: FaultRole, known: readonly string[]): Members {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw invalidArgument(role, 'must be an object')
  const unknown = Object.keys(json).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw invalidArgument(role, `has the member ${JSON.stringify(unknown)}, and takes ${known.join(', ')} alone`)
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null))
}

function textIn(members: Members, name: string, role: FaultRole): string | undefined {
  const value = members[name]
  if (value !== undefined && typeof value !== 'string') throw invalidArgument(role, 'must be a text')
  return value
}

function numberIn(members: Members, name: string, role: FaultRole): number | undefined {
  const value = members[name]
  if (value !== undefined && typeof value !== 'number') throw invalidArgument(role, 'must be a number')
  return value
}

/** Returns a number as the decimal that its shortest text is, which is that of the file up to 15 digits. */
function decimalIn(members: Members, name: string, role: FaultRole): Decimal | undefined {
  const value = numberIn(members, name, role)
  const decimal = value === undefined ? undefined : parseDecimal(String(value))
  if (value !== undefined && !decimal) throw invalidArgument(role, 'is too large, or has too many digits')
  return decimal
}

function readBuckets(buckets: unknown): NewBucket[] {
  if (!Array.isArray(buckets)) throw invalidArgument('buckets', 'must be a list of buckets')
  return buckets.map((bucket, index): NewBucket => {
    const roleOf = (member: string) => `buckets[${index}].${member}` as const
    const members = membersOf(bucket, `buckets[${index}]`, [
      'name',
      'fromDays',
      'toDays',
      'class',
      'stage',
      'provisionRate',
    ])
    const name = textIn(members, 'name', roleOf('name'))
    const fromDays = numberIn(members, 'fromDays', roleOf('fromDays'))
    if (name === undefined) throw invalidArgument(roleOf('name'), 'is required')
    if (fromDays === undefined) throw invalidArgument(roleOf('fromDays'), 'is required')
    return {
      name,
      fromDays,
      toDays: numberIn(members, 'toDays', roleOf('toDays')),
      class: textIn(members, 'class', roleOf('class')),
      stage: numberIn(members, 'stage', roleOf('stage')),
      provisionRate: decimalIn(members, 'provisionRate', roleOf('provisionRate')),
    }
  })
}

function readMateriality(materiality: unknown): NewPolicy['materiality'] {
  const members = membersOf(materiality, 'materiality', ['amount', 'percentOfPrincipal'])
  return {
    amount: decimalIn(members, 'amount', 'materiality.amount'),
    percentOfPrincipal: decimalIn(members, 'percentOfPrincipal', 'materiality.percentOfPrincipal'),
  }
}
