import type { LocalDate } from '../../dates.ts'
import { NONE, type Period, type Portions, take, totalOf } from '../allocation.ts'
import type { FoldedSoFar } from '../fold.ts'

/** Where a loan's entries have brought it: their fold, and the value date of the last of them. */
export interface Carried {
  readonly fold: FoldedSoFar
  readonly lastOn: LocalDate | null
}

/**
 * What the text begins with. Whoever changes what a fold means, or how it is written, changes this, so that no loan goes
 * on from what was carried by other rules.
 */
const RULES = '1'

/** A schedule of some 150 open instalments; of a longer one it takes less to add up the entries. */
const MOST_CHARACTERS = 4_000

/**
 * What is carried forward, so that the next entry needs neither those before it nor the schedule: the totals, and what
 * is left of each open instalment. `1;last,paidOff,chargedOff,penaltyRaised,overpaid;due;paid;waived;date,portions;…`;
 * amounts by component, minor units, nothing for 0.
 * @returns null for a loan with a write-off, which what comes in later is held against instalment by instalment, and for
 *   one that is too long
 */
export function carriedToText({ fold, lastOn }: Carried): string | null {
  if (fold.writtenOffOn !== null) return null
  const { due, paid, waived } = fold.totals
  const head = [lastOn, fold.paidOffOn, fold.chargedOffOn, fold.penaltyRaised ? 1 : '', amountToText(fold.overpaid)]
  const open = fold.periods.flatMap((period) => (period.owed > 0n ? [`${period.dueDate},${leftOf(period)}`] : []))
  const totals = [due, paid, waived].map(portionsToText)
  const text = [RULES, head.join(','), ...totals, ...open].join(';')
  return text.length > MOST_CHARACTERS ? null : text
}

/**
 * The same again. Its periods are the open ones, of each of which only what is left is known.
 * @returns undefined for what was written by other rules, or is damaged: where the totals do not say what is left
 */
export function carriedFromText(text: string): Carried | undefined {
  try {
    const carried = parse(text)
    return carried && isWhole(carried.fold) ? carried : undefined
  } catch (error) {
    // Of amounts that are not there, or no numbers.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const isWhole = ({ owed, overpaid, totals: { due, paid, waived } }: FoldedSoFar): boolean =>
  totalOf(due) - totalOf(paid) - totalOf(waived) === owed && (owed === 0n || overpaid === 0n)

function parse(text: string): Carried | undefined {
  const [rules, head = '', due = '', paid = '', waived, ...open] = text.split(';')
  if (rules !== RULES || waived === undefined) return undefined
  const [lastOn, paidOffOn, chargedOffOn, penaltyRaised, overpaid] = head.split(',')
  const periods = open.map(toPeriod)
  return {
    lastOn: lastOn || null,
    fold: {
      periods,
      totals: {
        due: portionsFromText(due),
        paid: portionsFromText(paid),
        waived: portionsFromText(waived),
        writtenOff: NONE,
        recovered: NONE,
      },
      owed: periods.reduce((sum, { owed }) => sum + owed, 0n),
      overpaid: amountFromText(overpaid),
      chargedOffOn: chargedOffOn || null,
      writtenOffOn: null,
      paidOffOn: paidOffOn || null,
      penaltyRaised: penaltyRaised === '1',
      isCarried: true,
      firstOwing: 0,
    },
  }
}

function toPeriod(text: string): Period {
  const comma = text.indexOf(',')
  const dueDate = text.slice(0, comma)
  const due = portionsFromText(text, comma + 1)
  return {
    period: 0,
    fromDate: dueDate,
    dueDate,
    due,
    paid: NONE,
    waived: NONE,
    writtenOff: NONE,
    recovered: NONE,
    owed: totalOf(due),
    completedOn: null,
  }
}

/** What is left of an instalment. */
const leftOf = ({ due, paid, waived }: Period): string =>
  portionsToText(paid === NONE && waived === NONE ? due : take(take(due, paid), waived))

const portionsToText = ({ penalty, fees, interest, principal }: Readonly<Portions>): string =>
  `${amountToText(penalty)},${amountToText(fees)},${amountToText(interest)},${amountToText(principal)}`

/**
 * The last four parts of a text, from an index on; without lists of its parts, of which most loans have dozens.
 * @throws SyntaxError where there are fewer, or one is no number
 */
function portionsFromText(text: string, from = 0): Portions {
  const fees = text.indexOf(',', from) + 1
  const interest = text.indexOf(',', fees) + 1
  const principal = text.indexOf(',', interest) + 1
  if (fees === 0 || interest === 0 || principal === 0) throw new SyntaxError('an amount of each component')
  return {
    penalty: amountFromText(text.slice(from, fees - 1)),
    fees: amountFromText(text.slice(fees, interest - 1)),
    interest: amountFromText(text.slice(interest, principal - 1)),
    principal: amountFromText(text.slice(principal)),
  }
}

const amountToText = (minor: bigint): string => (minor === 0n ? '' : String(minor))

const amountFromText = (text = ''): bigint => (text === '' ? 0n : BigInt(text))
