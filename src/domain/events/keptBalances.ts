import type { LocalDate } from '../dates.ts'
import { toDay, toInstant } from '../datesText.ts'
import type { Balances, Recognition } from '../loan/balances.ts'
import { amountFromText, amountToText, portionsFromText, portionsToText } from '../loan/carriedForward/portionsText.ts'
import {
  atChargeOffFromText,
  atChargeOffToText,
  forgoneFromText,
  forgoneToText,
  unearnedFromText,
  unearnedToText,
} from '../loan/carriedForward/recognitionText.ts'
import { LOAN_STATUSES, type LoanStatus } from '../loan/lifecycle.ts'
import type { Outcome } from '../loan/outcomes.ts'
import { type Portions, subtract, totalOf } from '../loan/portions.ts'
import type { HeadTerms } from '../loan/terms.ts'

/** The terms of a loan that a record system may change later, and its borrower. */
export interface KeptTerms
  extends Pick<HeadTerms, 'principal' | 'ratePerPeriod' | 'disbursedAt' | 'disbursedOn' | 'dueOn' | 'dueAt'> {
  readonly customerId: bigint
}

/** The effect of the entry that a change posted. */
export type KeptOutcome = Pick<Outcome, 'portions' | 'overpayment'>

/** What the journal needs of a change besides the totals. */
export interface Booking extends Recognition {
  /** The day from which the change counts: the value date of the entry, the day of disbursement, or the day that was over. */
  readonly on: LocalDate
  /** Whether the change was made by an import of a book that was kept elsewhere. */
  readonly isImported: boolean
}

/** Balances that no receiver is told of. */
type Untold = 'daysOverdue' | 'penaltyOverdue' | 'nextChangeAt'

/** The balances of a loan right after a change, as the trail keeps them. Amounts in minor units. */
export interface KeptBalances extends Omit<Balances, Untold | keyof Recognition> {
  /** The version of the loan: 1 when it was made, one more with each change. */
  readonly version: number
  /** Undefined where the change posted no entry. */
  readonly outcome: KeptOutcome | undefined
  /** Undefined for a loan of a product, whose terms never change. */
  readonly terms: KeptTerms | undefined
  readonly booking: Booking
  /** Of an adjustment to another value date: the loan without the original entry, on the day of that entry. */
  readonly between?: Omit<KeptBalances, 'between'>
}

/** A change of a loan, as far as the text tells of it besides the balances. */
export interface KeptChange extends Pick<KeptBalances, 'version'>, Pick<Booking, 'on' | 'isImported'> {
  /** The effect of the entry that was posted. */
  readonly outcome?: KeptOutcome | undefined
  /** The terms of a loan without a product. */
  readonly terms?: KeptTerms | undefined
}

/** Stands between the text of a loan and that of the loan without the original of an adjustment. */
const BETWEEN = '|'

/** Writes the text of an adjustment to another value date: of the loan after it, and of the loan without the original. */
export const adjustedToText = (after: string, between: string): string => `${after}${BETWEEN}${between}`

/** The first field of the text. A change of how the text is written changes it. */
const FORMAT_VERSION = '1'

/**
 * Writes the balances of a loan right after a change as text: what events and the journal need of it, without a replay.
 * `1;version;status;charged;paid;waived;writtenOff;recovered,overpaid,overdue;dates and flags;outcome;terms;booking`; amounts by
 * component, empty for 0.
 */
export function balancesToText(
  balances: Omit<Balances, Untold>,
  { version, outcome, terms, on, isImported }: KeptChange,
): string {
  const { charged, paid, waived, writtenOff } = balances
  const { nextDueOn, nextDueAmount, overdueSince, chargedOffOn, closedOn, penaltiesRaised } = balances
  const sums = [balances.totalRecovered, balances.totalOverpaid, balances.totalOverdue].map(amountToText)
  return [
    FORMAT_VERSION,
    version,
    LOAN_STATUSES.indexOf(balances.status),
    ...[charged, paid, waived, writtenOff].map(portionsToText),
    sums.join(','),
    [nextDueOn, nextDueAmount, overdueSince, chargedOffOn, closedOn, penaltiesRaised || ''].join(','),
    outcome ? `${portionsToText(outcome.portions)},${amountToText(outcome.overpayment)}` : '',
    terms ? termsToText(terms) : '',
    bookingToText({ ...balances, on, isImported }),
  ].join(';')
}

/**
 * Reads balances from their text.
 * @returns undefined for a text of another format version, and for a damaged one
 */
export function balancesFromText(text: string): KeptBalances | undefined {
  const [after = '', before] = text.split(BETWEEN)
  const kept = keptFromText(after)
  if (before === undefined) return kept
  const between = keptFromText(before)
  return kept && between && { ...kept, between }
}

function keptFromText(text: string): Omit<KeptBalances, 'between'> | undefined {
  const [format, version = '', status = '', charged, paid, waived, writtenOff, sums, marks, outcome, terms, booking] =
    text.split(';')
  if (format !== FORMAT_VERSION || terms === undefined || booking === undefined) return undefined
  try {
    const buckets = [charged, paid, waived, writtenOff].map((portions = '') => portionsFromText(portions))
    return {
      version: countFromText(version),
      ...totalsOf(buckets as [Portions, Portions, Portions, Portions]),
      status: statusAt(Number(status)),
      ...sumsFromText(sums),
      ...marksFromText(marks),
      outcome: outcome ? outcomeFromText(outcome) : undefined,
      terms: terms === '' ? undefined : termsFromText(terms),
      booking: bookingFromText(booking),
    }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/**
 * Writes `on/imported,deducted/unearned/forgone, waived and written off/at the charge-off`, without what is empty at the
 * end, and without the comma where nothing was deducted.
 */
const bookingToText = ({ on, isImported, unearned, forgone, atChargeOff, deducted }: Booking): string =>
  [
    on,
    `${isImported ? 1 : ''}${deducted > 0n ? `,${deducted}` : ''}`,
    unearnedToText(unearned),
    forgoneToText(forgone),
    atChargeOffToText(atChargeOff),
  ]
    .join('/')
    .replace(/\/+$/, '')

/** @throws SyntaxError */
function bookingFromText(text: string): Booking {
  const [on = '', marks = '', unearned = '', waived = '', writtenOff = '', ...atChargeOff] = text.split('/')
  const [isImported, deducted] = marks.split(',')
  return {
    on: toDay(on),
    isImported: isImported === '1',
    deducted: amountFromText(deducted),
    unearned: unearnedFromText(unearned),
    forgone: forgoneFromText(`${waived}/${writtenOff}`),
    atChargeOff: atChargeOffFromText(atChargeOff.join('/')),
  }
}

/** @throws SyntaxError for a number of no status */
function statusAt(index: number): LoanStatus {
  const status = LOAN_STATUSES[index]
  if (status === undefined) throw new SyntaxError('a status')
  return status
}

function totalsOf([charged, paid, waived, writtenOff]: [Portions, Portions, Portions, Portions]) {
  const outstanding = subtract(subtract(subtract(charged, paid), waived), writtenOff)
  const totals = {
    totalPaid: totalOf(paid),
    totalOutstanding: totalOf(outstanding),
    totalWrittenOff: totalOf(writtenOff),
  }
  return { charged, paid, waived, writtenOff, outstanding, ...totals }
}

function sumsFromText(text = '') {
  const [totalRecovered, totalOverpaid, totalOverdue] = text.split(',').map(amountFromText)
  return { totalRecovered: totalRecovered ?? 0n, totalOverpaid: totalOverpaid ?? 0n, totalOverdue: totalOverdue ?? 0n }
}

function marksFromText(text = '') {
  const [nextDueOn, nextDueAmount, overdueSince, chargedOffOn, closedOn, penaltiesRaised] = text.split(',')
  return {
    nextDueOn: dayFromText(nextDueOn),
    nextDueAmount: nextDueAmount ? BigInt(nextDueAmount) : null,
    overdueSince: dayFromText(overdueSince),
    chargedOffOn: dayFromText(chargedOffOn),
    closedOn: dayFromText(closedOn),
    penaltiesRaised: Number(penaltiesRaised),
  }
}

function outcomeFromText(text: string): KeptOutcome {
  const comma = text.lastIndexOf(',')
  return { portions: portionsFromText(text.slice(0, comma)), overpayment: amountFromText(text.slice(comma + 1)) }
}

const termsToText = (terms: KeptTerms): string =>
  [
    terms.customerId,
    terms.principal,
    terms.ratePerPeriod,
    terms.disbursedAt,
    terms.disbursedOn,
    terms.dueOn,
    terms.dueAt,
  ].join(',')

function termsFromText(text: string): KeptTerms {
  const [customerId = '', principal = '', rate = '', disbursedAt, disbursedOn = '', dueOn = '', dueAt] = text.split(',')
  return {
    customerId: BigInt(customerId),
    principal: BigInt(principal),
    ratePerPeriod: BigInt(rate),
    disbursedAt: toInstant(disbursedAt),
    disbursedOn: toDay(disbursedOn),
    dueOn: toDay(dueOn),
    dueAt: toInstant(dueAt),
  }
}

/** Reads a day; null for an empty text. @throws SyntaxError */
const dayFromText = (text = ''): LocalDate | null => (text === '' ? null : toDay(text))

/** @throws SyntaxError for a text that is no whole number from 1 on */
function countFromText(text: string): number {
  const count = Number(text)
  if (!Number.isSafeInteger(count) || count < 1) throw new SyntaxError('a count')
  return count
}
