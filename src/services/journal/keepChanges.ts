import { setImmediate as turn } from 'node:timers/promises'
import type { Deps } from '../../app/deps.ts'
import type { JournalHead } from '../../db/journal/journalHead.ts'
import {
  insertPostings,
  type KeptLoan,
  type NewPosting,
  readKeptLoans,
  type UnkeptChange,
} from '../../db/journal/keeping.ts'
import { isUnavailable } from '../../db/postgres/errors.ts'
import type { Transaction } from '../../db/postgres/transaction.ts'
import { moment } from '../../db/queries/rows.ts'
import { balancesFromText } from '../../domain/events/keptBalances.ts'
import { type Chart, methodOf } from '../../domain/journal/chart.ts'
import { afterKept, bookedDay, type LoanAfter, postedBy } from '../../domain/journal/posted.ts'
import { postingKindOf } from '../../domain/journal/postingKinds.ts'
import {
  amountsFromText,
  amountsToText,
  isNothing,
  lessAmounts,
  NO_AMOUNTS,
  type SlotAmounts,
} from '../../domain/journal/slots.ts'
import { replayChange } from '../events/replayChange.ts'

/** Changes that are posted before requests get their turn. */
const SLICE = 50

const LARGEST = 2n ** 63n - 1n

/** Returns the loan that a change names; undefined for a change of something else, and for a damaged id. */
function loanIdOf({ entity, entityId }: Pick<UnkeptChange, 'entity' | 'entityId'>): bigint | undefined {
  if (entity !== 'loan' || !/^[1-9]\d{0,18}$/.test(entityId)) return undefined
  const id = BigInt(entityId)
  return id <= LARGEST ? id : undefined
}

/** The journal of an organization while it is continued. */
export interface Keeping {
  readonly transaction: Transaction
  readonly organizationId: number
  readonly chart: Chart
}

type KeepDeps = Pick<Deps, 'config' | 'loanBatches' | 'listener'>

/** A loan while its changes are posted, one after the other. */
type Working = Omit<KeptLoan, 'contribution'> & { contribution: Contributed }

/**
 * Posts changes of loans, in their order. A change that moves no amount has no posting.
 * @returns the head of the journal after them
 */
export async function keepChanges(
  deps: KeepDeps,
  keeping: Keeping,
  head: JournalHead,
  changes: readonly UnkeptChange[],
): Promise<JournalHead> {
  const { transaction, organizationId } = keeping
  const ids = [...new Set(changes.flatMap((change) => loanIdOf(change) ?? []))]
  const loans = new Map<bigint, Working>()
  if (ids.length > 0)
    for (const loan of await readKeptLoans(transaction, organizationId, ids))
      loans.set(loan.id, { ...loan, contribution: contributionFrom(loan.contribution) })
  const postings: NewPosting[] = []
  let { sequence } = head
  for (const [index, change] of changes.entries()) {
    if (index % SLICE === SLICE - 1) await turn()
    const loan = loans.get(loanIdOf(change) ?? 0n)
    const at = change.first ?? sequence
    sequence = change.last ?? sequence
    if (!loan) continue
    const after = afterKept(keptOf(change)) ?? (await replayedAfter(deps, organizationId, change))
    if (!after || loan.contribution === 'damaged') {
      deps.listener.changeNotPosted()
      continue
    }
    const posting = postingOf(keeping.chart, head, { loan, before: loan.contribution, change, after, sequence: at })
    if (posting) postings.push({ ...posting, id: head.postingId + BigInt(postings.length) + 1n })
  }
  await insertPostings(transaction, organizationId, postings)
  const changeId = changes.at(-1)?.id ?? head.changeId
  return { ...head, changeId, sequence, postingId: head.postingId + BigInt(postings.length) }
}

const keptOf = ({ balances }: UnkeptChange) => (balances === null ? undefined : balancesFromText(balances))

/** What a loan contributes by its last posting; undefined where it has none. */
type Contributed = SlotAmounts | undefined | 'damaged'

/** Reads what a loan contributes by its last posting. */
export const contributionFrom = (text: string | null): Contributed =>
  text === null ? undefined : (amountsFromText(text) ?? 'damaged')

/**
 * Returns a loan after a change of which the trail does not keep enough. Undefined where the loan cannot be replayed: a
 * damaged loan must not keep the others of its lender out of the journal; book check names it.
 */
export async function replayedAfter(
  deps: KeepDeps,
  organizationId: number,
  change: Pick<UnkeptChange, 'id' | 'at' | 'entityId'>,
): Promise<LoanAfter | undefined> {
  try {
    const replayed = await replayChange(deps, organizationId, change)
    return replayed && { balances: replayed.state, on: replayed.on, isImported: false }
  } catch (error) {
    if (isUnavailable(error)) throw error
    return undefined
  }
}

interface ToPost {
  readonly loan: Working
  /** What the loan contributed before the change. */
  readonly before: SlotAmounts | undefined
  readonly change: UnkeptChange
  readonly after: LoanAfter
  readonly sequence: bigint
}

function postingOf(
  chart: Chart,
  head: JournalHead,
  { loan, before, change, after, sequence }: ToPost,
): Omit<NewPosting, 'id'> | undefined {
  const method = methodOf(chart, loan.productId)
  const isFirst = change.action === 'create'
  const { amounts, contribution, isOpened } = postedBy(method, after, before, isFirst)
  // An opening that moves no amount is kept, too: the next posting continues from its contribution.
  if (isNothing(lessAmounts(contribution, before ?? NO_AMOUNTS))) return undefined
  loan.contribution = contribution
  const transactionId = change.postedId ?? change.reversedId
  return {
    ...{ sequence, changeId: change.id, loanId: loan.id, productId: loan.productId ?? 0, currency: loan.currency },
    transactionId: transactionId === null ? null : BigInt(transactionId),
    kind: isOpened ? 'opening' : postingKindOf({ ...change, isImported: false }),
    valueDate: after.on,
    bookedOn: bookedDay(after.on, head.openFrom),
    postedAt: moment(change.at),
    ...{ amounts, method, contribution: amountsToText(contribution), moved: null },
  }
}
