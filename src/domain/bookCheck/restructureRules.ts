import type { Entry } from '../loan/entry.ts'
import type { Loan } from '../loan/loan.ts'
import type { AddedInterest, RestructureRole, ScheduleChange } from '../loan/restructure/plan.ts'
import { causeOf, planOf } from '../loan/restructure/plan.ts'
import { roleFromText, roleToText } from '../loan/restructure/planText.ts'
import { WAIVERS } from '../loan/restructure/restructureLoan.ts'
import { rateToNumber } from '../money.ts'
import type { Distance } from '../product/terms.ts'

/** The types of the entries that are posted with a restructure. */
const PART_TYPES: readonly string[] = [...Object.values(WAIVERS), 'Fee']

/**
 * Checks what the entries of a loan say of its restructures: an entry has a plan where it is a restructure, and a waiver or a fee
 * that was posted with one has its day, its moment and its reversal.
 * @returns a sentence for each entry that does not fit
 */
export function brokenByRestructures({ entries }: Pick<Loan, 'entries'>): string[] {
  const byOrdinal = new Map(entries.map((entry) => [entry.ordinal, entry]))
  return entries.flatMap((entry): string[] => {
    const { id, type, restructure } = entry
    const isRestructure = type === 'Restructure'
    if (isRestructure !== (planOf(restructure) !== undefined))
      return [
        isRestructure
          ? `entry ${id} is a restructure, and does not say what it changes`
          : `entry ${id} is a ${type}, and says that it restructures the loan`,
      ]
    const of = causeOf(restructure)
    if (of === undefined) return []
    if (!PART_TYPES.includes(type)) return [`entry ${id} is a ${type}, which is never posted with a restructure`]
    const cause = byOrdinal.get(of)
    if (cause === undefined || planOf(cause.restructure) === undefined)
      return [`entry ${id} was posted with a restructure that is entry number ${of} of the loan, and that is none`]
    return partOf(entry, cause)
  })
}

/** Returns how an entry that was posted with a restructure does not fit that restructure. */
function partOf(entry: Entry, cause: Entry): string[] {
  const named = `entry ${entry.id} was posted with the restructure ${cause.id}`
  return [
    ...(entry.valueDate === cause.valueDate
      ? []
      : [`${named}, and is dated ${entry.valueDate}; the restructure counts from ${cause.valueDate}`]),
    ...(entry.postedAt === cause.postedAt ? [] : [`${named}, and not at the same moment`]),
    ...(entry.reversedAt === cause.reversedAt
      ? []
      : [`${named}, and only one of the two is reversed, or each at another moment`]),
  ]
}

/** Writes a role in words, to be compared: what a restructure changes, or with which one an entry was posted. */
export function roleWords(role: RestructureRole | null | undefined): string {
  if (!role) return ''
  if ('of' in role)
    return `, posted with the restructure that is entry number ${role.of}${role.isDueNow ? ', and due at once' : ''}`
  const { change, every, interest, reason } = role.plan
  return `, which is ${changeWords(change)} for ${reason}, with ${interestWords(interest)}, of instalments ${distanceWords(every)} apart`
}

/** Writes the text of a role in words; a text that cannot be read as it is. */
export function roleTextWords(text: string | null): string {
  if (text === null) return ''
  try {
    const role = roleFromText(text)
    // What the words leave out, the text must have, too.
    return roleToText(role) === text ? roleWords(role) : `, with the text ${JSON.stringify(text)}`
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return `, with the text ${JSON.stringify(text)}`
  }
}

function changeWords(change: ScheduleChange): string {
  switch (change.kind) {
    case 'newFirstDueDate':
      return `a first due date on ${change.on}`
    case 'postponeBy':
      return `a holiday of ${change.periods} ${change.periods === 1 ? 'period' : 'periods'}`
    case 'numberOfRepayments':
      return `a division into ${change.count} instalments${change.every ? ` ${distanceWords(change.every)} apart` : ''}`
    case 'instalmentAmount':
      return `a division into instalments of ${change.amount}`
    case 'until':
      return `a roll-over until ${change.on}`
  }
}

const distanceWords = ({ every, unit }: Distance): string => `${every} ${every === 1 ? unit.slice(0, -1) : unit}`

function interestWords(interest: AddedInterest): string {
  if (interest === 'keep') return 'interest by the rate of the loan'
  if (interest === 'none') return 'no interest'
  return `interest of ${rateToNumber(interest.rate)} percent a ${interest.ratePer}`
}
