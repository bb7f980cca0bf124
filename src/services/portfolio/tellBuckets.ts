import {
  type ChangedBucket,
  claimPortfolio,
  readCandidates,
  saveBuckets,
  setTold,
  type ToldLoan,
} from '../../db/portfolio/toldBuckets.ts'
import { inTransaction } from '../../db/postgres/transaction.ts'
import { dateIn, dayAfter, type Instant, type LocalDate, startOfDay } from '../../domain/dates.ts'
import type { DelinquencyPolicy } from '../../domain/delinquency/policy.ts'
import { type DelinquencyNow, delinquencyNow } from '../../domain/delinquency/position.ts'
import { loanTold } from '../../domain/loan/change/change.ts'
import { changeToText } from '../../domain/loan/change/changeText.ts'
import { replay } from '../../domain/loan/replay.ts'
import { findPolicy } from '../delinquency/policies.ts'
import type { Deps } from '../deps.ts'

/** Loans whose buckets are told in one transaction. */
const LOANS_A_ROUND = 200
/** Milliseconds after which a round replays no further loan: requests wait for the loans of a round. */
const LOCKED_MS = 200
/** The walks through the loans of a day after the first one, for loans that another change had locked. */
const MOST_WALKS = 3

type TellDeps = Pick<Deps, 'db' | 'config' | 'now'>

/** A place in a walk through the loans that may be in another bucket than was told on a day. */
export interface TellingPlace {
  readonly day: LocalDate
  /** The loan after which to go on. */
  readonly after: bigint
  /** Whether loans were left out, because another change had locked them: they are looked at again. */
  readonly isPartial: boolean
  /** The number of walks through all loans that were made before. */
  readonly walks: number
}

/** The result of a round of telling. */
export interface Told {
  /** Where to go on; undefined where all of the day are told, or another instance tells them. */
  readonly next: TellingPlace | undefined
  /** The failures of loans that cannot be replayed. Nobody is told of these, and of all others. */
  readonly damaged: readonly Error[]
}

const NOTHING: Told = { next: undefined, damaged: [] }

/**
 * Tells of the loans of an organization that are in another bucket than was told last, once a day, when the sweep has
 * saved what time changed with the beginning of the day.
 * @param place where to go on; undefined: from the beginning
 */
export async function tellBuckets(deps: TellDeps, organizationId: number, place?: TellingPlace): Promise<Told> {
  const { db, config, now } = deps
  const at = now(organizationId)
  const day = dateIn(config.zone, at)
  const from = place?.day === day ? place : { day, after: 0n, isPartial: false, walks: 0 }
  const began = performance.now()
  const { version, policy } = await findPolicy(deps, organizationId, {})
  return inTransaction(db, async (transaction): Promise<Told> => {
    const head = await claimPortfolio(transaction, organizationId, startOfDay(day, config.zone))
    if (!head?.isSwept || isDone(head.toldOn, day)) return NOTHING
    const asked = { organizationId, after: from.after, day, now: at, policy, most: LOANS_A_ROUND }
    const { loans, left, last } = await readCandidates(transaction, config.zone, asked)
    const damaged: Error[] = []
    /** The first loan that is left to the next round, so that no request waits long for these. */
    let later: number | undefined
    const changed = loans.flatMap(({ id, read }, index) => {
      if (later === undefined && index > 0 && performance.now() - began > LOCKED_MS) later = index
      if (later !== undefined) return []
      try {
        return changedBucket(read(), policy, { at, version: version ?? 0 }) ?? []
      } catch (error) {
        damaged.push(new Error(`loan ${id} cannot be replayed, and is left out; run \`book check\``, { cause: error }))
        return []
      }
    })
    const isSilent = head.toldOn === null
    await saveBuckets(transaction, changed, { organizationId, policyVersion: version ?? 0, day, now: at, isSilent })
    const isPartial = from.isPartial || left > 0
    if (later !== undefined) return { next: { ...from, after: loans[later - 1]!.id, isPartial }, damaged }
    if (loans.length + left === LOANS_A_ROUND)
      return { next: { ...from, after: last ?? from.after, isPartial }, damaged }
    // A loan that is changed all the time is told of on another day.
    if (isPartial && from.walks < MOST_WALKS)
      return { next: { day, after: 0n, isPartial: false, walks: from.walks + 1 }, damaged }
    await setTold(transaction, organizationId, day)
    return { next: undefined, damaged }
  })
}

/**
 * Returns whether a day is done by the last day that was. A day of long after it was done by a clock that was ahead: it
 * counts for nothing. The clocks of two instances may differ around midnight.
 */
export const isDone = (last: LocalDate | null, day: LocalDate): boolean =>
  last !== null && last >= day && last <= dayAfter(day)

/** Returns what is to be saved of a loan; undefined where the bucket is the one that was told. */
function changedBucket(
  loan: ToldLoan,
  policy: DelinquencyPolicy,
  { at, version }: { readonly at: Instant; readonly version: number },
): ChangedBucket | undefined {
  const { terms, entries } = loan
  const found = delinquencyNow(loan, policy, at)
  const [best] = policy.buckets
  const told = loan.told ?? best!.name
  if (found ? found.bucket.name === told : loan.told === null) return undefined
  const changed = loanTold(loan, {
    version: loan.version,
    on: dateIn(terms.zone, at),
    after: replay(terms, entries, at),
  })
  return {
    loanId: loan.id,
    bucket: found?.bucket.name ?? null,
    isBest: found?.bucket === best,
    before: { bucket: told },
    after: found ? afterOf(found, version) : {},
    change: changeToText(changed),
  }
}

/** Returns what the trail keeps of the bucket of a loan. */
const afterOf = ({ bucket, since, daysPastDue }: DelinquencyNow, policyVersion: number) => ({
  bucket: bucket.name,
  ...(bucket.class !== null && { class: bucket.class }),
  ...(bucket.stage !== null && { stage: bucket.stage }),
  daysPastDue,
  since,
  policyVersion,
})
