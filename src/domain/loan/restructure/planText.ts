import { isCalendarDate, isPeriodUnit } from '../../dates.ts'
import { type Distance, RATE_PERIODS } from '../../product/terms.ts'
import { type AddedInterest, RESTRUCTURE_REASONS, type RestructureRole, type ScheduleChange } from './plan.ts'

/** The first field of the text of a plan. A change of how it is written changes it. */
const FORMAT_VERSION = '1'
const NOTHING = '-'

/**
 * Writes a role as text without commas and semicolons: `1 kind value every unit every unit interest reason` for a plan, with
 * the new distance second, and `of ordinal`, with `now` for a fee that is due at once. Amounts in minor units.
 */
export function roleToText(role: RestructureRole): string {
  if ('of' in role) return role.isDueNow ? `of ${role.of} now` : `of ${role.of}`
  const { change, every, interest, reason } = role.plan
  const isDivided = change.kind === 'numberOfRepayments'
  return [
    FORMAT_VERSION,
    change.kind,
    sizeOf(change),
    distanceToText(every),
    distanceToText(isDivided ? change.every : null),
    typeof interest === 'string' ? interest : `${interest.rate}/${interest.ratePer}`,
    reason,
  ].join(' ')
}

function sizeOf(change: ScheduleChange): string {
  switch (change.kind) {
    case 'newFirstDueDate':
    case 'until':
      return change.on
    case 'postponeBy':
      return String(change.periods)
    case 'numberOfRepayments':
      return String(change.count)
    case 'instalmentAmount':
      return String(change.amount)
  }
}

const distanceToText = (distance: Distance | null): string =>
  distance === null ? NOTHING : `${distance.every}/${distance.unit}`

/** Reads a role from its text. @throws SyntaxError for a damaged text, and for one of another format version */
export function roleFromText(text: string): RestructureRole {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new SyntaxError(`the restructure of an entry cannot be read: ${JSON.stringify(text)}`, { cause: error })
  }
}

function parse(text: string): RestructureRole {
  const [format, ...fields] = text.split(' ')
  if (format === 'of') return { of: countFrom(fields[0]), isDueNow: fields[1] === 'now' }
  const [kind = '', value = '', every = '', newEvery = '', interest = '', reason] = fields
  const distance = distanceFrom(every)
  const known = RESTRUCTURE_REASONS.find((one) => one === reason)
  if (format !== FORMAT_VERSION || distance === null || known === undefined) throw new SyntaxError('a restructure')
  const change = changeFrom(kind, value, distanceFrom(newEvery))
  return { plan: { change, every: distance, interest: interestFrom(interest), reason: known } }
}

function changeFrom(kind: string, value: string, every: Distance | null): ScheduleChange {
  switch (kind) {
    case 'newFirstDueDate':
    case 'until':
      if (!isCalendarDate(value)) throw new SyntaxError('a day')
      return { kind, on: value }
    case 'postponeBy':
      return { kind, periods: countFrom(value) }
    case 'numberOfRepayments':
      return { kind, count: countFrom(value), every }
    case 'instalmentAmount':
      return { kind, amount: BigInt(value) }
    default:
      throw new SyntaxError('a kind of change')
  }
}

function interestFrom(text: string): AddedInterest {
  if (text === 'keep' || text === 'none') return text
  const [rate = '', per] = text.split('/')
  const ratePer = RATE_PERIODS.find((one) => one === per)
  if (ratePer === undefined) throw new SyntaxError('a rate')
  return { rate: BigInt(rate), ratePer }
}

function distanceFrom(text: string): Distance | null {
  if (text === NOTHING) return null
  const [every, unit] = text.split('/')
  if (!isPeriodUnit(unit)) throw new SyntaxError('a distance')
  return { every: countFrom(every), unit }
}

function countFrom(text = ''): number {
  const count = Number(text)
  if (!Number.isSafeInteger(count) || count < 1) throw new SyntaxError('a count')
  return count
}
