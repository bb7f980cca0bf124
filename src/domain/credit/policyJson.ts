import { invalidArgument } from '../errors.ts'
import { type Currency, currencyCodes, currencyOf, minorToText, parseDecimal, toMinor } from '../money.ts'
import { type CreditPolicy, GRADES, type Grade, type GradeLimit, type Ramp } from './policy.ts'

/** The highest score (contract 4.5). */
const HIGHEST_SCORE = 1000

/** A value that JSON can hold. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** The names of the amounts among the facts and results of decisions. */
const AMOUNTS: ReadonlySet<string> = new Set([
  'chargedOff',
  'writtenOff',
  'borrowed',
  'repaid',
  'largestRepaid',
  'outstanding',
  'limit',
  'creditLimit',
  'availableLimit',
  'currentLimit',
  'statementLimit',
  'inflow',
  'averageMonthlyInflow',
  'leastMonthlyInflow',
  'openingBalance',
  'closingBalance',
])

/** Writes a policy as JSON: the same shape, amounts as decimal text (`"250000.00"`), the currency as its code. */
export const policyToJson = (policy: CreditPolicy): Json =>
  toStored({ ...policy, currency: policy.currency.code }, policy.currency)

/**
 * Writes a policy as it is stored. A flag that is false is left out, so that an earlier version of the program, which
 * does not know the flag, can read the policy.
 */
export function policyToKeep(policy: CreditPolicy): Json {
  const { anonymous, ...rules } = policy.statement
  return toStored(
    { ...policy, currency: policy.currency.code, statement: anonymous ? policy.statement : rules },
    policy.currency,
  )
}

/**
 * Reads a policy that an organization stored.
 * @throws LendingError `invalid_argument` naming the first figure at fault (`policy.score.base`)
 */
export function readPolicy(json: unknown): CreditPolicy {
  const top = partOf(json, 'policy')
  const code = top.text('currency')
  if (!currencyCodes.includes(code))
    throw invalidArgument('policy.currency', `must be one of ${currencyCodes.join(', ')}`)
  const currency = currencyOf(code)
  const grades = top.part('grades')
  const limits = top.part('limits')
  const policy: CreditPolicy = {
    version: top.text('version'),
    currency,
    score: readScore(top.part('score'), currency),
    grades: { A: grades.score('A'), B: grades.score('B'), C: grades.score('C') },
    limits: {
      A: readLimit(limits.part('A'), currency),
      B: readLimit(limits.part('B'), currency),
      C: readLimit(limits.part('C'), currency),
      D: readLimit(limits.part('D'), currency),
    },
    step: top.amount('step', currency, 1n),
    statement: readStatementRules(top.part('statement'), currency),
  }
  for (const part of [top, grades, limits]) part.done()
  requireOrder(policy)
  return policy
}

/** Requires what the laws of the score rest on: at most 1000 points, and no grade with more than a better one. */
function requireOrder({ score, grades, limits }: CreditPolicy): void {
  const whole =
    score.base + score.onTime.weight + score.loansClosed.weight + score.months.weight + score.largestRepaid.weight
  if (whole > HIGHEST_SCORE)
    throw invalidArgument('policy.score', `its base and weights must come to ${HIGHEST_SCORE} at most, not ${whole}`)
  if (!(grades.A > grades.B && grades.B > grades.C)) throw invalidArgument('policy.grades', 'must fall from A to C')
  if (score.overdueNow.first > score.overdueNow.most)
    throw invalidArgument('policy.score.overdueNow', 'must not begin above its most')
  for (const [index, grade] of GRADES.entries()) {
    const { least, most } = limits[grade]
    if (least > most) throw invalidArgument(`policy.limits.${grade}`, 'its least must not be above its most')
    const above = limits[GRADES[index - 1] ?? grade]
    if (limits[grade].percent > above.percent || least > above.least || most > above.most)
      throw invalidArgument(`policy.limits.${grade}`, 'must not be above those of a better grade')
  }
}

function readScore(part: Part, currency: Currency): CreditPolicy['score'] {
  const onTime = part.part('onTime')
  const worst = part.part('worstDelay')
  const now = part.part('overdueNow')
  const ceilings = part.part('ceilings')
  const amounts = part.part('largestRepaid')
  const score = {
    base: part.score('base'),
    onTime: { weight: onTime.score('weight'), prior: onTime.whole('prior', 0, 1000) },
    loansClosed: readRamp(part.part('loansClosed')),
    months: readRamp(part.part('months')),
    largestRepaid: { weight: amounts.score('weight'), full: amounts.amount('full', currency, 1n) },
    worstDelay: { most: worst.score('most'), fullDays: worst.whole('fullDays', 1, 10_000) },
    overdueNow: { first: now.score('first'), most: now.score('most'), fullDays: now.whole('fullDays', 1, 10_000) },
    ceilings: {
      writtenOff: ceilings.score('writtenOff'),
      chargedOff: ceilings.score('chargedOff'),
      recovered: ceilings.score('recovered'),
    },
  }
  for (const read of [part, onTime, worst, now, ceilings, amounts]) read.done()
  return score
}

function readRamp(part: Part): Ramp<number> {
  const ramp = { weight: part.score('weight'), full: part.whole('full', 1, 10_000) }
  part.done()
  return ramp
}

function readLimit(part: Part, currency: Currency): GradeLimit {
  const percent = part.whole('percent', 0, 10_000)
  const limit = { percent, least: part.amount('least', currency, 0n), most: part.amount('most', currency, 0n) }
  part.done()
  return limit
}

function readStatementRules(part: Part, currency: Currency): CreditPolicy['statement'] {
  const rules = {
    percent: part.whole('percent', 0, 1000),
    fullMonths: part.whole('fullMonths', 1, 120),
    most: part.amount('most', currency, 0n),
    leastMonths: part.whole('leastMonths', 1, 120),
    oldestDays: part.whole('oldestDays', 0, 3660),
    cooldownDays: part.whole('cooldownDays', 0, 3660),
    grades: part.grades('grades'),
    anonymous: part.flag('anonymous'),
  }
  part.done()
  return rules
}

type PolicyPath = 'policy' | `policy.${string}`

/** One object of the stored policy, read member by member; `done` refuses what nobody asked for. */
interface Part {
  whole(name: string, least: number, most: number): number
  score(name: string): number
  part(name: string): Part
  text(name: string): string
  amount(name: string, currency: Currency, least: bigint): bigint
  grades(name: string): readonly Grade[]
  /** Reads a flag; false where it is left out. */
  flag(name: string): boolean
  done(): void
}

function partOf(json: unknown, path: PolicyPath): Part {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw invalidArgument(path, 'must be an object')
  const members = new Map<string, unknown>(Object.entries(json))
  const take = (name: string): unknown => {
    const value = members.get(name)
    members.delete(name)
    return value
  }
  const whole = (name: string, least: number, most: number): number => {
    const value = take(name)
    if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
      throw invalidArgument(`${path}.${name}`, `must be a whole number from ${least} to ${most}`)
    return value
  }
  return {
    whole,
    score: (name: string): number => whole(name, 0, HIGHEST_SCORE),
    part: (name: string): Part => partOf(take(name), `${path}.${name}`),
    text(name: string): string {
      const value = take(name)
      if (typeof value !== 'string' || value.trim() === '' || value.length > 100)
        throw invalidArgument(`${path}.${name}`, 'must be a text of 1 to 100 characters')
      return value
    },
    amount(name: string, currency: Currency, least: bigint): bigint {
      const value = take(name)
      const decimal = typeof value === 'string' ? parseDecimal(value) : undefined
      if (!decimal) throw invalidArgument(`${path}.${name}`, 'must be an amount as text, such as "250000.00"')
      return toMinor(decimal, currency, `${path}.${name}`, { zeroAllowed: least === 0n })
    },
    grades(name: string): readonly Grade[] {
      const value = take(name)
      const known: readonly unknown[] = [...GRADES, 'XX']
      if (!Array.isArray(value) || !value.every((grade): grade is Grade => known.includes(grade)))
        throw invalidArgument(`${path}.${name}`, `must be a list of ${known.join(', ')}`)
      return value
    },
    flag(name: string): boolean {
      const value = members.has(name) ? take(name) : false
      if (typeof value !== 'boolean') throw invalidArgument(`${path}.${name}`, 'must be true or false')
      return value
    },
    done(): void {
      for (const name of members.keys()) throw invalidArgument(`${path}.${name}`, 'is not a figure of a credit policy')
    },
  }
}

/** Returns a value as it is stored: the same shape, amounts as decimal text (`"250000.00"`). */
export function toStored(value: unknown, currency: Currency): Json {
  if (typeof value === 'bigint') return minorToText(value, currency)
  if (Array.isArray(value)) return value.map((one) => toStored(one, currency))
  if (typeof value !== 'object' || value === null) return value as Json
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, toStored(part, currency)]))
}

/** Reads a decision's facts or result from what `toStored` wrote. */
export function fromStored(json: Json): unknown {
  if (Array.isArray(json)) return json.map(fromStored)
  if (typeof json !== 'object' || json === null) return json
  return Object.fromEntries(
    Object.entries(json).map(([name, part]) => [
      name,
      // All decimals of the currency are written, so the digits without the point are minor units.
      AMOUNTS.has(name) && typeof part === 'string' ? BigInt(part.replace('.', '')) : fromStored(part),
    ]),
  )
}
