import type { Instant, LocalDate } from '../dates.ts'
import { balancesFromText } from '../events/keptBalances.ts'
import { type Chart, methodOf } from '../journal/chart.ts'
import { type Contributing, contributionOf, METHODS, type Method, openingOf } from '../journal/contribution.ts'
import { afterKept, bookedDay } from '../journal/posted.ts'
import {
  amountsFromText,
  isBalanced,
  isNothing,
  lessAmounts,
  NO_AMOUNTS,
  SLOTS,
  type SlotAmounts,
} from '../journal/slots.ts'

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
  readonly balances: string | null
}

/** The journal of an organization, as far as it decides what a loan's postings must be. */
export interface CheckedJournal {
  readonly changeId: bigint
  /** Whether all loans have been walked through. */
  readonly isWalked: boolean
  readonly chart: Chart
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
  const broken: string[] = []
  for (const posting of postings) {
    const contribution = amountsFromText(posting.contribution ?? 'none')
    const fault = (message: string) => broken.push(`posting ${posting.id} ${message}`)
    if (!contribution || !isMethod(posting.method)) {
      fault('does not say what the loan contributes')
      return broken
    }
    faultsOf(posting, { method: posting.method, before, contribution, journal }).forEach(fault)
    before = contribution
  }
  // The journal comes to the last changes a moment later.
  if (!journal.isWalked || loan.lastChangeId > journal.changeId) return broken
  const method = methodOf(journal.chart, loan.productId)
  const expected = contributionOf(method, loan.state)
  const difference = differenceOf(before, expected)
  return difference === undefined ? broken : [...broken, `its postings sum to ${difference} by replay`]
}

const isMethod = (method: string | null): method is Method => METHODS.some((one) => one === method)

interface Making {
  readonly method: Method
  readonly before: SlotAmounts
  readonly contribution: SlotAmounts
  readonly journal: CheckedJournal
}

function faultsOf(posting: CheckedPosting, { method, before, contribution, journal }: Making): string[] {
  const { amounts, kind, changeId, valueDate, bookedOn } = posting
  const change = lessAmounts(contribution, before)
  const expected = kind === 'opening' ? openingOf(change) : change
  const difference = differenceOf(amounts, expected)
  const faults = [
    ...(isBalanced(amounts) ? [] : ['has other debits than credits']),
    ...(difference === undefined ? [] : [`has ${difference} by what the loan contributes`]),
  ]
  if (changeId === null) return faults
  const after = afterKept(posting.balances === null ? undefined : balancesFromText(posting.balances))
  const day = bookedDay(valueDate, journal.openFromAt(changeId))
  if (bookedOn !== day) faults.push(`is booked on ${bookedOn}, and it must be on ${day}`)
  // Of a change of an older program, the trail does not tell enough.
  if (!after) return faults
  const told = differenceOf(contribution, contributionOf(method, after.balances))
  if (told !== undefined) faults.push(`leaves a contribution of ${told} by the balances in the trail`)
  if (after.on !== valueDate) faults.push(`counts from ${valueDate}, and by the trail from ${after.on}`)
  return faults
}

/** Returns the first slot in which amounts differ, in words, minor units; undefined where none does. */
function differenceOf(is: SlotAmounts, shouldBe: SlotAmounts): string | undefined {
  if (isNothing(lessAmounts(is, shouldBe))) return undefined
  const slot = SLOTS.find((one) => is[one] !== shouldBe[one])!
  return `${is[slot]} in ${slot}, and it must be ${shouldBe[slot]}`
}
