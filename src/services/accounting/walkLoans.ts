import { insertPostings, type NewPosting } from '../../db/accounting/insertPostings.ts'
import type { JournalHead } from '../../db/accounting/journalHead.ts'
import { readWalked, type WalkedLoan } from '../../db/accounting/keeping.ts'
import { moment } from '../../db/queries/rows.ts'
import { methodOf } from '../../domain/accounting/chart.ts'
import { contributionOf, isMethod, type Method } from '../../domain/accounting/contribution.ts'
import { bookedDay, changedMethod } from '../../domain/accounting/posted.ts'
import { amountsToText } from '../../domain/accounting/slots.ts'
import type { Deps } from '../deps.ts'
import { contributionFrom, type Keeping } from './keepChanges.ts'

/** Loans of a walk that are posted in one transaction. */
export const LOANS_A_ROUND = 200

type WalkDeps = Pick<Deps, 'listener' | 'now'>

/** The head of a journal during a walk. */
type WalkingHead = JournalHead & { readonly walkedTo: bigint }

/**
 * Posts the next of the loans whose method was changed, from the one method to the other (contract 9.4).
 * @returns the head of the journal after them; its walk is over where no loan was left
 */
export async function walkLoans(deps: WalkDeps, keeping: Keeping, head: WalkingHead): Promise<JournalHead> {
  const { transaction, organizationId } = keeping
  const walked = await readWalked(transaction, organizationId, { ...head, most: LOANS_A_ROUND })
  const postings = walked
    .flatMap((loan) => postingOf(deps, keeping, head, loan) ?? [])
    .map((posting, index): NewPosting => ({ ...posting, id: head.postingId + BigInt(index) + 1n }))
  await insertPostings(transaction, organizationId, postings)
  const isOver = walked.length < LOANS_A_ROUND
  return {
    ...head,
    postingId: head.postingId + BigInt(postings.length),
    walkedTo: isOver ? null : walked.at(-1)!.id,
  }
}

/** Returns the posting of a loan; undefined where its method stays, or where it has no posting yet. */
function postingOf(
  deps: WalkDeps,
  { organizationId, chart }: Keeping,
  head: WalkingHead,
  loan: WalkedLoan,
): Omit<NewPosting, 'id'> | undefined {
  const method = methodOf(chart, loan.productId)
  if (loan.contribution === null || loan.method === method) return undefined
  const before = contributionFrom(loan.contribution)
  if (!loan.last || !before || before === 'damaged') {
    deps.listener.changeNotPosted()
    return undefined
  }
  const contribution = contributionOf(method, loan.last)
  const on = bookedDay(loan.firstOn ?? loan.disbursedOn, head.openFrom)
  return {
    sequence: head.sequence,
    changeId: null,
    loanId: loan.id,
    productId: loan.productId ?? 0,
    currency: loan.currency,
    transactionId: null,
    kind: 'method_changed',
    valueDate: on,
    bookedOn: on,
    postedAt: moment(deps.now(organizationId)),
    amounts: changedMethod(contribution, before, contributionsAtOpening(loan, method)),
    method,
    contribution: amountsToText(contribution),
    moved: null,
  }
}

/** Returns what an opened loan contributed when it was opened, by a new method and by the one that it had; undefined for another loan. */
const contributionsAtOpening = ({ opened, method }: WalkedLoan, now: Method) =>
  opened && isMethod(method) ? { now: contributionOf(now, opened), before: contributionOf(method, opened) } : undefined
