import { type Chart, methodOf } from '../accounting/chart.ts'
import { type Contributing, contributionOf, isMethod, type Method, openingOf } from '../accounting/contribution.ts'
import { bookedDay, type LoanAfter, stepsOf } from '../accounting/posted.ts'
import { differencesOf, type Provision, type ProvisionBooking, provisionAmounts } from '../accounting/provisions.ts'
import {
  amountsFromText,
  amountsToText,
  isBalanced,
  isNothing,
  lessAmounts,
  NO_AMOUNTS,
  SLOTS,
  type SlotAmounts,
} from '../accounting/slots.ts'
import { dateIn, type Instant, type LocalDate } from '../dates.ts'
import type { StoredChange } from '../loan/change/changeText.ts'

/** A posting of a loan, as it is stored, with the balances that the trail keeps of its change. */
export interface CheckedPosting {
  readonly id: bigint
  /** Null for a posting of a walk through the loans. */
  readonly changeId: bigint | null
  readonly kind: string
  readonly method: string | null
  readonly contribution: string | null
  readonly valueDate: LocalDate
  readonly bookedOn: LocalDate
  readonly postedAt: Instant
  readonly amounts: SlotAmounts
  readonly loanChange: StoredChange | undefined
}

/** The journal of an organization, as far as it decides what a loan's postings must be. */
export interface CheckedJournal {
  readonly changeId: bigint
  /** Whether all loans have been walked through. */
  readonly isWalked: boolean
  readonly chart: Chart
  /** The time zone of the service. */
  readonly zone: string
  /** Returns the first day that was open when the journal came to a change; null where nothing was closed by then. */
  readonly openFromAt: (changeId: bigint) => LocalDate | null
}

/** A loan, and what the check found that it is. */
export interface PostedLoan {
  readonly productId: number | null
  /** The last row of the trail about the loan. */
  readonly lastChangeId: bigint
  /** What replay says. */
  readonly state: Contributing
}

/**
 * Makes the postings of a loan again from the balances of its changes, and compares the sum with replay.
 * @param postings in their order
 * @returns a sentence for each difference
 */
export function brokenByJournal(
  loan: PostedLoan,
  postings: readonly CheckedPosting[],
  journal: CheckedJournal,
): string[] {
  let before: SlotAmounts = NO_AMOUNTS
  const isOpenedLoan = postings[0]?.kind === 'opening'
  const broken: string[] = []
  for (const [index, posting] of postings.entries()) {
    const contribution = amountsFromText(posting.contribution ?? 'none')
    const fault = (message: string) => broken.push(`posting ${posting.id} ${message}`)
    if (!contribution || !isMethod(posting.method)) {
      fault('does not say what the loan contributes')
      return broken
    }
    const making = { method: posting.method, before, contribution, journal, isOpenedLoan, isFirst: index === 0 }
    faultsOf(posting, making).forEach(fault)
    before = contribution
  }
  // The journal comes to the last changes a moment later.
  if (!journal.isWalked || loan.lastChangeId > journal.changeId) return broken
  const method = methodOf(journal.chart, loan.productId)
  const expected = contributionOf(method, loan.state)
  const difference = differenceOf(before, expected)
  return difference === undefined ? broken : [...broken, `its postings sum to ${difference} by replay`]
}

interface Making {
  readonly method: Method
  readonly before: SlotAmounts
  readonly contribution: SlotAmounts
  readonly journal: CheckedJournal
  /** Whether the first posting of the loan is an opening, and whether the posting is the first. */
  readonly isOpenedLoan: boolean
  readonly isFirst: boolean
}

function faultsOf(posting: CheckedPosting, making: Making): string[] {
  const { method, before, contribution, journal, isOpenedLoan } = making
  const { amounts, kind, changeId, valueDate, bookedOn } = posting
  const change = lessAmounts(contribution, before)
  const steps = changeId !== null && posting.loanChange ? stepsOf(posting.loanChange) : []
  const isOpening = isOpeningOf(posting, steps[0], making)
  const expected = isOpening ? openingOf(change) : change
  // What an opened loan had earned before is in opening_equity, also by another method.
  const [is, shouldBe] =
    kind === 'method_changed' && isOpenedLoan ? [amounts, expected].map(withEquity) : [amounts, expected]
  const difference = differenceOf(is!, shouldBe!)
  const faults = [
    ...(isBalanced(amounts) ? [] : ['has other debits than credits']),
    ...(difference === undefined ? [] : [`has ${difference} by what the loan contributes`]),
    ...((kind === 'opening') === isOpening
      ? []
      : [`is of the kind ${kind}, and ${isOpening ? 'opens' : 'does not open'} the loan`]),
  ]
  // A posting of a walk through the loans counts from the day on which it is booked.
  if (changeId === null && bookedOn !== valueDate) faults.push(`is booked on ${bookedOn}, and counts from ${valueDate}`)
  if (changeId === null) return faults
  const day = bookedDay(valueDate, journal.openFromAt(changeId))
  if (bookedOn !== day) faults.push(`is booked on ${bookedOn}, and it must be on ${day}`)
  const told = steps.map(({ balances, on }) => ({ contribution: contributionOf(method, balances), on }))
  const last = told.at(-1)
  if (!last || told.some((step) => differenceOf(contribution, step.contribution) === undefined && agreesOn(step.on)))
    return faults
  const left = differenceOf(contribution, last.contribution)
  if (left !== undefined) faults.push(`leaves a contribution of ${left} by the balances in the trail`)
  if (!agreesOn(last.on)) faults.push(`counts from ${valueDate}, and by the trail from ${last.on}`)
  return faults

  /** Returns whether the posting counts from the day of a change: what is imported, from the day of the import. */
  function agreesOn(on: LocalDate): boolean {
    const isImported = isOpening && steps[0]?.isImported
    return valueDate === (isImported ? dateIn(journal.zone, posting.postedAt) : on)
  }
}

/** Returns whether a posting has to be an opening: of a walk, what is stored; of an import, on a loan that was opened. */
function isOpeningOf(
  { kind, changeId }: CheckedPosting,
  after: LoanAfter | undefined,
  { isFirst, isOpenedLoan }: Making,
): boolean {
  if (changeId === null || !after || isFirst) return kind === 'opening'
  return after.isImported && isOpenedLoan
}

/** The slots of what is owed to the lender and by the lender, and of money. */
const withEquity = (amounts: SlotAmounts): SlotAmounts => ({
  ...openingOf(amounts),
  cash: amounts.cash,
  payments_in_suspense: amounts.payments_in_suspense,
})

/** Returns the first slot in which amounts differ, in words, minor units; undefined where none does. */
function differenceOf(is: SlotAmounts, shouldBe: SlotAmounts): string | undefined {
  if (isNothing(lessAmounts(is, shouldBe))) return undefined
  const slot = SLOTS.find((one) => is[one] !== shouldBe[one])!
  return `${is[slot]} in ${slot}, and it must be ${shouldBe[slot]}`
}

/** A booking of provisions, as the trail and the events have it. */
export interface TrailedBooking {
  readonly changeId: bigint
  readonly at: Instant
  /** The number of its event; null where no receiver is told. */
  readonly told: bigint | null
  /** Undefined where the row of the trail is damaged: nothing is posted then. */
  readonly booking: ProvisionBooking | undefined
}

/** A posting of provisions, as it is stored. */
export interface ProvisionPosting {
  readonly id: bigint
  readonly changeId: bigint | null
  readonly sequence: bigint
  /** 0: of no product. */
  readonly productId: number
  readonly currency: string
  readonly transactionId: bigint | null
  readonly method: string | null
  readonly contribution: string | null
  readonly valueDate: LocalDate
  readonly bookedOn: LocalDate
  readonly postedAt: Instant
  readonly amounts: SlotAmounts
}

/** What a check finds of provisions: what it is of, and a sentence. */
interface ProvisionFault {
  readonly of: string
  readonly message: string
}

type Shown = Pick<ProvisionPosting, 'valueDate' | 'bookedOn' | 'productId' | 'currency' | 'amounts'>

/**
 * Makes the postings of provisions again from the bookings in the trail, and compares them.
 * @param bookings those that the journal has come to, in their order
 * @param postings in their order
 * @param openFromAt returns the first day that was open when the journal came to a change
 */
export function brokenByProvisions(
  bookings: readonly TrailedBooking[],
  postings: readonly ProvisionPosting[],
  openFromAt: (changeId: bigint) => LocalDate | null,
): ProvisionFault[] {
  const stored = Map.groupBy(postings, ({ changeId }) => changeId)
  /** The allowance by the bookings so far. */
  const allowance: (Provision & { readonly asOf: LocalDate })[] = []
  const faults: ProvisionFault[] = []
  for (const { changeId, booking, ...change } of bookings) {
    const own = stored.get(changeId) ?? []
    stored.delete(changeId)
    const found = own.map(postingText)
    const { asOf, provisions } = booking ?? { asOf: 'a damaged day', provisions: [] }
    const before = allowance.filter((one) => one.asOf <= asOf)
    const left = booking ? differencesOf(provisions, before) : []
    allowance.push(...left.map(({ difference: amount, ...one }) => ({ ...one, amount, asOf })))
    const bookedOn = bookedDay(asOf, openFromAt(changeId))
    const expected = left.map(({ difference, productId, currency }) =>
      postingText({
        valueDate: asOf,
        bookedOn,
        productId: productId ?? 0,
        currency,
        amounts: provisionAmounts(difference),
      }),
    )
    if (found.join('; ') !== expected.join('; '))
      faults.push({
        of: `provisions of ${asOf}, change ${changeId}`,
        message: `have the postings ${found.join('; ') || 'none'}, and by the trail they must be ${expected.join('; ') || 'none'}`,
      })
    faults.push(...own.flatMap((posting) => provisionFaultsOf(posting, change)))
  }
  for (const { id, changeId } of [...stored.values()].flat())
    faults.push({ of: `posting ${id}`, message: `is of change ${changeId ?? 'none'}, which books no provisions` })
  return faults
}

const postingText = ({ valueDate, bookedOn, productId, currency, amounts }: Shown): string =>
  `${currency}, product ${productId}, of ${valueDate} on ${bookedOn}: ${amountsToText(amounts)}`

function provisionFaultsOf(
  { id, sequence, postedAt, transactionId, method, contribution }: ProvisionPosting,
  { at, told }: Pick<TrailedBooking, 'at' | 'told'>,
): ProvisionFault[] {
  const fault = (message: string): ProvisionFault => ({ of: `posting ${id}`, message })
  const faults: ProvisionFault[] = []
  if (postedAt !== at)
    faults.push(fault(`was posted at ${isoOf(postedAt)}, and by the trail the change was made at ${isoOf(at)}`))
  if (told !== null && sequence !== told)
    faults.push(fault(`is numbered ${sequence}, and the event of its change ${told}`))
  if (transactionId !== null || method !== null || contribution !== null)
    faults.push(fault('books provisions, and says what only a posting of a loan says'))
  return faults
}

const isoOf = (instant: Instant): string => new Date(instant).toISOString()
