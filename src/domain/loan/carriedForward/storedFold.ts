import type { LocalDate } from '../../dates.ts'
import { NONE, type Period, subtract, totalOf } from '../allocation.ts'
import type { FoldedSoFar } from '../fold.ts'
import { isNothingWaived, NOTHING_FORGONE } from '../recognition.ts'
import { amountFromText, amountToText, portionsFromText, portionsToText } from './portionsText.ts'
import { atChargeOffFromText, atChargeOffToText, forgoneFromText, forgoneToText } from './recognitionText.ts'

/** The part of a loan that is carried forward: the fold over its entries, and the value date of the last entry. */
export interface StoredFold {
  readonly fold: FoldedSoFar
  readonly lastOn: LocalDate | null
}

/**
 * The first field of the text. A change of what a fold means, or of how it is written, changes the version: no loan
 * then continues from a text of another meaning.
 */
const FORMAT_VERSION = '1'
/** The first field of the text of a loan of which something was waived, or that is charged off. */
const WITH_RECOGNITION = '2'

/** The text of some 150 open instalments; a longer text costs more to read than the entries cost to replay. */
const MOST_CHARACTERS = 4_000

/**
 * Writes a fold as text: the totals, and what is left of each open instalment. The next entry then needs neither the
 * entries before it nor the schedule.
 * `1;last,paidOff,chargedOff,penaltyRaised,overpaid;due;paid;waived;date,portions;…`; amounts by component, minor
 * units, empty for 0. With `2` as the first field, what the books had recognised comes after `waived`.
 * @returns null for a loan with a write-off, whose recoveries are allocated instalment by instalment, and for a text
 *   that is too long
 */
export function foldToText({ fold, lastOn }: StoredFold): string | null {
  if (fold.writtenOffOn !== null) return null
  const { due, paid, waived } = fold.totals
  const head = [lastOn, fold.paidOffOn, fold.chargedOffOn, fold.penaltyRaised ? 1 : '', amountToText(fold.overpaid)]
  const open = fold.periods.flatMap((period) => (period.owed > 0n ? [`${period.dueDate},${leftOf(period)}`] : []))
  const totals = [due, paid, waived].map(portionsToText)
  const isPlain = fold.atChargeOff === null && isNothingWaived(waived)
  const begin = [isPlain ? FORMAT_VERSION : WITH_RECOGNITION, head.join(','), ...totals]
  const recognised = isPlain ? [] : [forgoneToText(fold.forgone), atChargeOffToText(fold.atChargeOff)]
  const text = [...begin, ...recognised, ...open].join(';')
  return text.length > MOST_CHARACTERS ? null : text
}

/**
 * Reads the fold from its text. Its periods are the open ones, each with what is left of it.
 * @returns undefined for a text of another format version, and for a damaged one, whose totals do not match its periods
 */
export function foldFromText(text: string): StoredFold | undefined {
  try {
    const stored = parse(text)
    return stored && isWhole(stored.fold) ? stored : undefined
  } catch (error) {
    // An amount is missing, or is not a number.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const isWhole = ({ owed, overpaid, totals: { due, paid, waived } }: FoldedSoFar): boolean =>
  totalOf(due) - totalOf(paid) - totalOf(waived) === owed && (owed === 0n || overpaid === 0n)

function parse(text: string): StoredFold | undefined {
  const [version, head = '', due = '', paid = '', waived, ...rest] = text.split(';')
  if ((version !== FORMAT_VERSION && version !== WITH_RECOGNITION) || waived === undefined) return undefined
  const [lastOn, paidOffOn, chargedOffOn, penaltyRaised, overpaid] = head.split(',')
  const isPlain = version === FORMAT_VERSION
  // The version before this one wrote every loan plainly; what the books had recognised is not known then.
  if (isPlain && (chargedOffOn || !isNothingWaived(portionsFromText(waived)))) return undefined
  const open = isPlain ? rest : rest.slice(2)
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
      ...(isPlain ? PLAIN : recognisedFrom(rest)),
      hasOpenPeriodsOnly: true,
      firstOwing: 0,
    },
  }
}

const PLAIN = { forgone: NOTHING_FORGONE, atChargeOff: null }

/** @throws SyntaxError */
const recognisedFrom = ([forgone = '', atChargeOff = '']: readonly string[]) => ({
  forgone: forgoneFromText(forgone),
  atChargeOff: atChargeOffFromText(atChargeOff),
})

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

/** Returns what is left of an instalment, as text. */
const leftOf = ({ due, paid, waived }: Period): string =>
  portionsToText(paid === NONE && waived === NONE ? due : subtract(subtract(due, paid), waived))
