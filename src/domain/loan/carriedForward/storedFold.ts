import type { LocalDate } from '../../dates.ts'
import type { Period } from '../allocation.ts'
import type { FoldedSoFar } from '../debt.ts'
import { NONE, subtract, totalOf } from '../portions.ts'
import { isNothingWaived, NOTHING_FORGONE } from '../recognition.ts'
import type { HeadTerms } from '../terms/terms.ts'
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

/** The first field of the text of a loan with rules of its own. */
const WITH_RULES = '3'

/** The number of fields between the totals and the instalments, by the first field. */
const MORE_FIELDS: ReadonlyMap<string, number> = new Map([
  [FORMAT_VERSION, 0],
  [WITH_RECOGNITION, 2],
  [WITH_RULES, 3],
])

/** The terms on which the text of a fold depends. */
type FoldedTerms = Pick<HeadTerms, 'rules' | 'dueOn'>

/** The text of some 150 open instalments; a longer text costs more to read than the entries cost to replay. */
const MOST_CHARACTERS = 4_000

/**
 * Writes a fold as text: the totals, and what is left of each open instalment. The next entry then needs neither the
 * entries before it nor the schedule.
 * `1;last,paidOff,chargedOff,penaltyRaised,overpaid;due;paid;waived;date,portions;…`; amounts by component, minor
 * units, empty for 0. Money that came from received payments follows `overpaid`, where there is some. With `2` as the first field, what the books had recognised comes after `waived`. With `3`, the day of
 * the latest penalty follows, and the date of an instalment is `date*penalties` where penalties were raised with it.
 * @returns null for a loan with a write-off, whose recoveries are allocated instalment by instalment, for one that was
 *   restructured, whose schedule is not that of its terms, for one whose interest runs on after the last due date, and for a text
 *   that is too long
 */
export function foldToText({ rules }: FoldedTerms, { fold, lastOn }: StoredFold): string | null {
  if (fold.writtenOffOn !== null || fold.restructured !== null || rules?.afterDue) return null
  const { due, paid, waived } = fold.totals
  const standing = [lastOn, fold.paidOffOn, fold.chargedOffOn, fold.penaltiesRaised || '', amountToText(fold.overpaid)]
  const head = fold.fromPayments === 0n ? standing : [...standing, amountToText(fold.fromPayments)]
  const open = fold.periods
    .filter(({ owed }) => owed > 0n)
    .map((period) => `${rules ? dateOf(period) : period.dueDate},${leftOf(period)}`)
  const totals = [due, paid, waived].map(portionsToText)
  const isPlain = fold.atChargeOff === null && isNothingWaived(waived)
  const version = rules ? WITH_RULES : isPlain ? FORMAT_VERSION : WITH_RECOGNITION
  const begin = [version, head.join(','), ...totals]
  const recognised = [forgoneToText(fold.forgone), atChargeOffToText(fold.atChargeOff)]
  const more = {
    [FORMAT_VERSION]: [],
    [WITH_RECOGNITION]: recognised,
    [WITH_RULES]: [...recognised, fold.lastPenaltyOn ?? ''],
  }[version]
  const text = [...begin, ...more, ...open].join(';')
  return text.length > MOST_CHARACTERS ? null : text
}

/**
 * Reads the fold from its text. Its periods are the open ones, each with what is left of it.
 * @returns undefined for a text of another format version, and for a damaged one, whose totals do not match its periods
 */
export function foldFromText(terms: FoldedTerms, text: string): StoredFold | undefined {
  try {
    const stored = parse(terms, text)
    return stored && isWhole(stored.fold) ? stored : undefined
  } catch (error) {
    // An amount is missing, or is not a number.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const isWhole = ({ owed, overpaid, penaltiesRaised, totals: { due, paid, waived } }: FoldedSoFar): boolean =>
  Number.isSafeInteger(penaltiesRaised) &&
  totalOf(due) - totalOf(paid) - totalOf(waived) === owed &&
  (owed === 0n || overpaid === 0n)

function parse(terms: FoldedTerms, text: string): StoredFold | undefined {
  const [version, head = '', due = '', paid = '', waived, ...rest] = text.split(';')
  const isKnown = version === WITH_RULES ? terms.rules !== null : terms.rules === null && MORE_FIELDS.has(version ?? '')
  if (!isKnown || waived === undefined) return undefined
  const [lastOn, paidOffOn, chargedOffOn, penalties, overpaid, fromPayments] = head.split(',')
  const isPlain = version === FORMAT_VERSION
  // A plain text says nothing of what the books had recognised.
  if (isPlain && (chargedOffOn || !isNothingWaived(portionsFromText(waived)))) return undefined
  const open = rest.slice(MORE_FIELDS.get(version!))
  const periods = open.map(version === WITH_RULES ? toPenalizedPeriod : toPeriod)
  const penaltiesRaised = Number(penalties)
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
      penaltiesRaised,
      interestAfterDue: 0n,
      lastInterestOn: null,
      fromPayments: amountFromText(fromPayments),
      lastPenaltyOn: (version === WITH_RULES ? rest[2] : penaltiesRaised > 0 ? terms.dueOn : '') || null,
      restructured: null,
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

/** Returns the due date of an instalment, with the number of penalties that were raised with it. */
const dateOf = ({ dueDate, penalties }: Period): string => (penalties === 0 ? dueDate : `${dueDate}*${penalties}`)

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
    penalties: 0,
  }
}

/** Reads an instalment whose date may have the number of its penalties. */
function toPenalizedPeriod(text: string): Period {
  const { dueDate, ...period } = toPeriod(text)
  const [date = '', penalties = ''] = dueDate.split('*')
  return { ...period, fromDate: date, dueDate: date, penalties: Number(penalties) }
}

/** Returns what is left of an instalment, as text. */
const leftOf = ({ due, paid, waived }: Period): string =>
  portionsToText(paid === NONE && waived === NONE ? due : subtract(subtract(due, paid), waived))
