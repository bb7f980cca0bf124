import { type Fault, type FaultRole, invalidArgument, LendingError } from '../errors.ts'
import { type Currency, type Decimal, minorToNumber, parseDecimal, type Rate, rateToNumber, toMinor } from '../money.ts'
import { hasInvisible, hasVisible } from '../visibleText.ts'
import {
  type Bucket,
  COUNT_FROM,
  type CountFrom,
  type DelinquencyPolicy,
  type Materiality,
  PRESETS,
  STAGES,
  type Stage,
} from './policy.ts'

/** A bucket of a request; the rate in percent. */
export interface NewBucket {
  readonly name: string
  readonly fromDays: number
  /** Left out in the last bucket alone. */
  readonly toDays?: number | undefined
  readonly class?: string | undefined
  readonly stage?: number | undefined
  readonly provisionRate?: Decimal | undefined
}

/** A request for a policy: the name of a preset, or rules of the lender's own. */
export interface NewPolicy {
  readonly preset?: string | undefined
  readonly buckets?: readonly NewBucket[] | undefined
  readonly countFrom?: string | undefined
  readonly materiality?:
    | { readonly amount?: Decimal | undefined; readonly percentOfPrincipal?: Decimal | undefined }
    | undefined
  /** Default 0. */
  readonly cureDays?: number | undefined
}

/** A policy that was asked for, and the name of its preset; null: the lender's own. */
export interface AskedPolicy {
  readonly name: string | null
  readonly policy: DelinquencyPolicy
}

/** The most buckets of a policy, the most characters of a name and of a class, and the most days. */
export const MOST_BUCKETS = 20
export const LONGEST_NAME = 100
export const MOST_DAYS = 3_650
export const MOST_CURE_DAYS = 365
/** Decimals of a percentage of a policy. */
export const PERCENT_DECIMALS = 4
/** Decimals of a rate, which is held in millionths of a percent. */
const RATE_DECIMALS = 6

/** The faults that a refusal lists at most. */
const MOST_FAULTS = 20

const PRESET_NAMES = PRESETS.map(({ name }) => name)
const TEXT_WORDS = `must be 1 to ${LONGEST_NAME} characters that can be seen, and spaces: no control characters, no invisible ones, and none that turn the text around`

/**
 * Returns the policy that a request asks for.
 * @param currency of the organization, in which the limit of materiality is
 * @throws LendingError `invalid_argument` that lists what is at fault
 */
export function policyOf(request: NewPolicy, currency: Currency): AskedPolicy {
  const { preset: name, ...own } = request
  if (name === undefined) return { name: null, policy: ownPolicy(own, currency) }
  const preset = PRESETS.find((one) => one.name === name)
  if (!preset) throw invalidArgument('preset', `must be one of ${PRESET_NAMES.join(', ')}`)
  for (const member of ['buckets', 'countFrom', 'materiality', 'cureDays'] as const)
    if (own[member] !== undefined)
      throw invalidArgument(
        member,
        (nameOf) => `cannot be given together with ${nameOf('preset')}, which has rules of its own`,
      )
  return { name, policy: preset.policy }
}

function ownPolicy(
  { buckets, countFrom, materiality, cureDays = 0 }: Omit<NewPolicy, 'preset'>,
  currency: Currency,
): DelinquencyPolicy {
  if (buckets === undefined)
    throw invalidArgument(
      'buckets',
      (nameOf) => `is required, unless ${nameOf('preset')} names one of ${PRESET_NAMES.join(', ')}`,
    )
  const faults = bucketFaults(buckets)
  const fault = (role: FaultRole, wording: string) => faults.push({ role, wording })
  if (!(COUNT_FROM as readonly (string | undefined)[]).includes(countFrom))
    fault('countFrom', countFrom === undefined ? 'is required' : `must be one of ${COUNT_FROM.join(', ')}`)
  if (!isWhole(cureDays, 0, MOST_CURE_DAYS)) fault('cureDays', `must be a whole number, 0 to ${MOST_CURE_DAYS}`)
  const [first] = faults
  if (first) throw new LendingError('invalid_argument', first.wording, faults.slice(0, MOST_FAULTS))
  return {
    buckets: buckets.map(bucketOf),
    countFrom: countFrom as CountFrom,
    materiality: materiality === undefined ? null : materialityOf(materiality, currency),
    cureDays,
  }
}

const isWhole = (value: number, least: number, most: number): boolean =>
  Number.isInteger(value) && value >= least && value <= most

/** Returns what is at fault in the buckets: each by itself, and each with the one before it. */
function bucketFaults(buckets: readonly NewBucket[]): Fault[] {
  if (buckets.length === 0 || buckets.length > MOST_BUCKETS)
    return [{ role: 'buckets', wording: `must have 1 to ${MOST_BUCKETS} buckets, not ${buckets.length}` }]
  const first = new Map<string, number>()
  let stage = 0
  return buckets.flatMap((bucket, index): Fault[] => {
    const faults: Fault[] = []
    const fault = (member: string, wording: string) => faults.push({ role: `buckets[${index}].${member}`, wording })
    const { name } = bucket
    const at = first.get(name) ?? index
    first.set(name, at)
    if (!isName(name)) fault('name', TEXT_WORDS)
    else if (at !== index) fault('name', `is the name of buckets[${at}], too: each bucket has a name of its own`)
    if (bucket.class !== undefined && !isName(bucket.class)) fault('class', TEXT_WORDS)
    dayFaults(buckets, index, fault)
    if (bucket.stage !== undefined) {
      if (!(STAGES as readonly number[]).includes(bucket.stage)) fault('stage', `must be ${STAGES.join(', ')}`)
      else if (bucket.stage < stage) fault('stage', `must not be below ${stage}, the stage of a bucket before it`)
      stage = Math.max(stage, bucket.stage)
    }
    if (bucket.provisionRate) {
      const wording = percentFault(bucket.provisionRate)
      if (wording !== undefined) fault('provisionRate', wording)
    }
    return faults
  })
}

/** Adds what is at fault in the days of a bucket: it begins on the day after the one before it, and only the last has no end. */
function dayFaults(
  buckets: readonly NewBucket[],
  index: number,
  fault: (member: string, wording: string) => void,
): void {
  const { fromDays, toDays } = buckets[index]!
  const before = buckets[index - 1]
  if (!isWhole(fromDays, 0, MOST_DAYS)) fault('fromDays', `must be a whole number, 0 to ${MOST_DAYS}`)
  else if (!before && fromDays !== 0) fault('fromDays', 'must be 0: the first bucket has the loans that are not late')
  else if (before?.toDays !== undefined && fromDays !== before.toDays + 1)
    fault(
      'fromDays',
      `must be ${before.toDays + 1}, one more than toDays of the bucket before it: no gap and no overlap`,
    )
  const isLast = index === buckets.length - 1
  if (isLast && toDays !== undefined) fault('toDays', 'must be left out in the last bucket, which has no end')
  if (isLast) return
  if (toDays === undefined) fault('toDays', 'is required: only the last bucket has no end')
  else if (!isWhole(toDays, 0, MOST_DAYS)) fault('toDays', `must be a whole number, 0 to ${MOST_DAYS}`)
  else if (toDays < fromDays) fault('toDays', `must be at least ${fromDays}, which is fromDays of the bucket`)
}

const isName = (text: string): boolean =>
  hasVisible(text) && !hasInvisible(text) && [...text].length <= LONGEST_NAME && !/\p{Cc}/u.test(text)

function percentFault({ units, scale }: Decimal): string | undefined {
  if (scale > PERCENT_DECIMALS) return `must have at most ${PERCENT_DECIMALS} decimals`
  return units < 0n || units > 100n * 10n ** BigInt(scale) ? 'must be 0 to 100 percent' : undefined
}

const rateOf = ({ units, scale }: Decimal): Rate => units * 10n ** BigInt(RATE_DECIMALS - scale)

const bucketOf = ({ name, fromDays, toDays, class: ofClass, stage, provisionRate }: NewBucket): Bucket => ({
  name,
  fromDays,
  toDays: toDays ?? null,
  class: ofClass ?? null,
  stage: stage === undefined ? null : (stage as Stage),
  provisionRate: provisionRate ? rateOf(provisionRate) : null,
})

function materialityOf(
  { amount, percentOfPrincipal: percent }: NonNullable<NewPolicy['materiality']>,
  currency: Currency,
): Materiality {
  if (amount === undefined && percent === undefined)
    throw invalidArgument('materiality', 'must have amount, percentOfPrincipal, or both')
  const wording = percent && percentFault(percent)
  if (wording !== undefined) throw invalidArgument('materiality.percentOfPrincipal', wording)
  return {
    amount: amount ? toMinor(amount, currency, 'materiality.amount', { zeroAllowed: true }) : null,
    ...(amount && { currency: currency.code }),
    percentOfPrincipal: percent ? rateOf(percent) : null,
  }
}

type Members = Readonly<Record<string, unknown>>

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
