import fc from 'fast-check'
import type { Replayable } from '../../../src/domain/loan/fold.ts'
import { type LoanTerms, termsFor } from '../../../src/domain/loan/terms/terms.ts'
import { randomFrom } from '../../support/random.ts'
import { anyLent } from '../terms/anyLent.ts'
import { dateOf, dayAt, dayOf, startOf } from '../terms/naive/calendar.ts'

/** A loan whose entries were posted on their days, and the same loan whose entries were all posted later, in any order. */
export interface TwiceKept {
  readonly terms: LoanTerms
  readonly inOrder: readonly Replayable[]
  readonly backDated: readonly Replayable[]
}

/** A book of loans that are kept twice. */
export interface TwiceKeptBook {
  readonly loans: readonly TwiceKept[]
  /** A moment after all that happened. */
  readonly end: number
  /** The number of entries that were posted later than their days; and of them reversed, and adjusted. */
  readonly counts: { entries: number; reversed: number; adjusted: number }
}

/** The loans are lent within two months from a moment on, and end before a day. */
const LENT_FROM = Date.parse('2026-01-31T09:30:00+03:00')
const LAST_DUE = '2026-11-01'
const DAY_MS = 86_400_000

/** How many days after the last due date something may be dated. */
const DAYS_AFTER = 60

const TYPES = [
  ...(['Repayment', 'Repayment', 'Repayment', 'Repayment', 'Repayment', 'Waive Interest', 'Fee', 'Penalty'] as const),
  ...(['Refund', 'Credit Balance Refund', 'Recovery Repayment', 'Charge-off', 'Write-off'] as const),
]

/** What is wrong with an entry when it is posted first: nothing, its amount, or all of it. */
type Mistake = 'none' | 'amount' | 'all'

/** Makes a random book. */
export function twiceKeptBook(seed: number, loans: number, entriesOfEach: number): TwiceKeptBook {
  const random = randomFrom(seed)
  const terms = fc
    .sample(anyLent, { seed, numRuns: loans * 3 })
    .map(({ product, principal }) => termsFor(product, principal, LENT_FROM + random(60) * DAY_MS, 'Africa/Nairobi'))
    .filter(({ dueOn }) => dueOn < LAST_DUE)
    .slice(0, loans)
  const lastDay = Math.max(...terms.map(({ schedule }) => dayOf(schedule.at(-1)!.dueDate))) + DAYS_AFTER
  const end = startOf(lastDay + 3)
  const counts = { entries: 0, reversed: 0, adjusted: 0 }
  const kept = terms.map((one) => twiceKept(one, entriesOfEach, { random, after: startOf(lastDay + 1), counts }))
  return { loans: kept, end, counts }
}

interface Making {
  readonly random: (below: number) => number
  /** The first instant at which what is dated back is posted. */
  readonly after: number
  readonly counts: TwiceKeptBook['counts']
}

function twiceKept(terms: LoanTerms, many: number, { random, after, counts }: Making): TwiceKept {
  const first = dayAt(terms.disbursedAt)
  const days = dayOf(terms.schedule.at(-1)!.dueDate) + DAYS_AFTER - first
  const asked = Array.from({ length: many }, () => {
    const day = first + random(days + 1)
    const type = TYPES[random(TYPES.length)]!
    const amount = 1n + (terms.principal * BigInt(random(250))) / 1_000n
    const dueOn = type === 'Fee' || type === 'Penalty' ? dateOf(Math.max(first, day + random(60) - 20)) : null
    const mistake: Mistake = (['none', 'none', 'none', 'none', 'amount', 'all'] as const)[random(6)]!
    // Entries of one day keep their order, which is that of posting.
    return { day, type, amount, dueOn, mistake, key: random(1_000_000) }
  }).toSorted((a, b) => a.day - b.day)
  const right = asked.filter(({ mistake }) => mistake !== 'all')
  const inOrder = right.map(
    (one, index): Replayable => ({
      ...entryOf(one),
      ...posted(index + 1, startOf(one.day + 1) - 1),
      amount: one.amount,
    }),
  )
  const keyOf = new Map(asked.map(({ day, key }) => [day, key]))
  const shuffled = asked.toSorted((a, b) => keyOf.get(a.day)! - keyOf.get(b.day)! || a.day - b.day)
  const backDated: Replayable[] = []
  for (const one of shuffled) {
    const ordinal = backDated.length + 1
    const at = after + ordinal * 60_000
    const isWrong = one.mistake !== 'none'
    counts.entries++
    backDated.push({
      ...{ ...entryOf(one), ...posted(ordinal, at), amount: isWrong ? one.amount * 3n : one.amount },
      reversedAt: isWrong ? at + 30_000 : null,
    })
    if (one.mistake === 'all') counts.reversed++
    if (one.mistake !== 'amount') continue
    counts.adjusted++
    // An adjustment takes the place of its original.
    backDated.push({ ...entryOf(one), ...posted(ordinal + 1, at + 30_000), place: ordinal, amount: one.amount })
  }
  return { terms, inOrder, backDated }
}

const entryOf = ({ day, type, dueOn }: Pick<Replayable, 'type'> & { day: number; dueOn: string | null }) => ({
  ...{ type, valueDate: dateOf(day), dueOn },
  ...{ token: null, note: null, replaces: null, reversedAt: null },
})

const posted = (ordinal: number, postedAt: number) => ({ ordinal, place: ordinal, postedAt })
