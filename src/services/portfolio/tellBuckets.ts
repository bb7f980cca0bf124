import type { Deps } from '../../app/deps.ts'
import {
  type ChangedBucket,
  claimPortfolio,
  readCandidates,
  saveBuckets,
  setTold,
  type ToldLoan,
} from '../../db/portfolio/toldBuckets.ts'
import { inTransaction } from '../../db/postgres/transaction.ts'
import { dateIn, type Instant, startOfDay } from '../../domain/dates.ts'
import { type DelinquencyNow, delinquencyNow } from '../../domain/delinquency/delinquencyNow.ts'
import type { DelinquencyPolicy } from '../../domain/delinquency/policy.ts'
import { balancesToText } from '../../domain/events/keptBalances.ts'
import { replay } from '../../domain/loan/replay.ts'
import { findPolicy } from '../delinquency/policies.ts'

/** Loans whose buckets are told in one transaction. */
const LOANS_A_ROUND = 200

type TellDeps = Pick<Deps, 'db' | 'config' | 'now'>

/**
 * Tells of the loans of an organization that are in another bucket than was told last, once a day, when the sweep has
 * saved what time changed with the beginning of the day.
 * @param after the loan after which to go on
 * @returns the loan after which to go on; undefined where all of the day are told, or another instance tells them
 */
export async function tellBuckets(deps: TellDeps, organizationId: number, after: bigint): Promise<bigint | undefined> {
  const { db, config, now } = deps
  const at = now()
  const day = dateIn(config.zone, at)
  const { version, policy } = await findPolicy(deps, organizationId, {})
  return inTransaction(db, async (transaction) => {
    const head = await claimPortfolio(transaction, organizationId, startOfDay(day, config.zone))
    if (!head?.isSwept || (head.toldOn !== null && head.toldOn >= day)) return undefined
    const asked = { organizationId, after, day, policy, most: LOANS_A_ROUND }
    const loans = await readCandidates(transaction, config.zone, asked)
    const changed = loans.flatMap((loan) => changedBucket(loan, policy, { at, version: version ?? 0 }) ?? [])
    const isSilent = head.toldOn === null
    await saveBuckets(transaction, changed, { organizationId, policyVersion: version ?? 0, day, now: at, isSilent })
    if (loans.length === LOANS_A_ROUND) return { next: loans.at(-1)!.id }
    await setTold(transaction, organizationId, day)
    return { next: undefined }
  }).then((told) => told?.next)
}

/** Returns what is to be saved of a loan; undefined where the bucket is the one that was told. */
function changedBucket(
  loan: ToldLoan,
  policy: DelinquencyPolicy,
  { at, version }: { readonly at: Instant; readonly version: number },
): ChangedBucket | undefined {
  const { terms, entries, productId, customerId } = loan
  const found = delinquencyNow(loan, policy, at)
  const [best] = policy.buckets
  const told = loan.told ?? best!.name
  if (found ? found.bucket.name === told : loan.told === null) return undefined
  const kept = {
    ...{ version: loan.version, on: dateIn(terms.zone, at), isImported: false },
    ...(productId === null && { terms: { ...terms, customerId } }),
  }
  return {
    loanId: loan.id,
    bucket: found?.bucket.name ?? null,
    isBest: found?.bucket === best,
    before: { bucket: told },
    after: found ? afterOf(found, version) : {},
    balances: balancesToText(replay(terms, entries, at), kept),
  }
}

/** Returns what the trail keeps of the bucket of a loan. */
const afterOf = ({ bucket, since, daysPastDue }: DelinquencyNow, policyVersion: number) => ({
  bucket: bucket.name,
  ...(bucket.class !== null && { class: bucket.class }),
  ...(bucket.stage !== null && { stage: bucket.stage }),
  ...{ daysPastDue, since, policyVersion },
})
