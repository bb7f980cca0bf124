import type { Deps } from '../../app/deps.ts'
import { insertPostings, type NewPosting } from '../../db/journal/insertPostings.ts'
import type { JournalHead } from '../../db/journal/journalHead.ts'
import { lastEventUpTo, readWalked, type WalkedLoan } from '../../db/journal/keeping.ts'
import { moment } from '../../db/queries/rows.ts'
import { dateIn, type LocalDate } from '../../domain/dates.ts'
import { balancesFromText } from '../../domain/events/keptBalances.ts'
import { methodOf } from '../../domain/journal/chart.ts'
import { contributionOf, isMethod, type Method, openingOf } from '../../domain/journal/contribution.ts'
import { afterKept, bookedDay, changedMethod } from '../../domain/journal/posted.ts'
import { amountsToText, isNothing } from '../../domain/journal/slots.ts'
import { contributionFrom, type Keeping, replayedAfter } from './keepChanges.ts'

/** Loans of a walk that are posted in one transaction. */
export const LOANS_A_ROUND = 200

type WalkDeps = Pick<Deps, 'config' | 'loanBatches' | 'listener' | 'now'>

/**
 * Posts the next loans of a walk: those that were there before the journal, against `opening_equity`; or those whose
 * method was changed, from the one method to the other (contract 9.1, 9.4).
 * @returns the head of the journal after them; its walk is over where no loan was left
 */
export async function walkLoans(
  deps: WalkDeps,
  keeping: Keeping,
  before: JournalHead & { readonly walk: 'opening' | 'method_changed' },
): Promise<JournalHead> {
  const { transaction, organizationId } = keeping
  // The journal of a book of before begins after the events that were told by then.
  const isFirst = before.walkedTo === 0n && before.sequence === 0n
  const sequence = isFirst ? await lastEventUpTo(transaction, organizationId, before.changeId) : before.sequence
  const head = { ...before, sequence }
  const openFrom = head.openFrom ?? (head.walk === 'opening' ? firstOfMonth(deps, organizationId) : null)
  const walked = await readWalked(transaction, organizationId, { ...head, most: LOANS_A_ROUND })
  const found = await Promise.all(walked.map((loan) => postingOf(deps, keeping, { ...head, openFrom }, loan)))
  const postings = found
    .filter((posting) => posting !== undefined)
    .map((posting, index): NewPosting => ({ ...posting, id: head.postingId + BigInt(index) + 1n }))
  await insertPostings(transaction, organizationId, postings)
  const isOver = walked.length < LOANS_A_ROUND
  return {
    ...head,
    // What came before a book had a journal is closed, where there were loans.
    openFrom: postings.length > 0 ? openFrom : head.openFrom,
    postingId: head.postingId + BigInt(postings.length),
    walk: isOver ? null : head.walk,
    walkedTo: isOver ? 0n : walked.at(-1)!.id,
  }
}

/** Returns the first day of the current month. */
const firstOfMonth = ({ config, now }: WalkDeps, organizationId: number): LocalDate =>
  `${dateIn(config.zone, now(organizationId)).slice(0, 7)}-01`

async function postingOf(
  deps: WalkDeps,
  { organizationId, chart }: Keeping,
  head: JournalHead,
  loan: WalkedLoan,
): Promise<Omit<NewPosting, 'id'> | undefined> {
  if (loan.changeId === null) return undefined
  const isOpening = head.walk === 'opening'
  const method = methodOf(chart, loan.productId)
  if (isOpening ? loan.contribution !== null : loan.method === method) return undefined
  const change = { at: loan.at, action: OPENED, entityId: String(loan.id) }
  const after =
    afterKept(loan.balances === null ? undefined : balancesFromText(loan.balances)) ??
    (await replayedAfter(deps, organizationId, change))
  const before = contributionFrom(loan.contribution)
  if (!after || before === 'damaged') {
    deps.listener.changeNotPosted()
    return undefined
  }
  const contribution = contributionOf(method, after.balances)
  const atOpening = before && (await contributionsAtOpening(deps, organizationId, loan, method))
  const amounts = before ? changedMethod(contribution, before, atOpening) : openingOf(contribution)
  if (isNothing(contribution) && isNothing(amounts)) return undefined
  const on = bookedDay(loan.firstOn ?? loan.disbursedOn, head.openFrom)
  return {
    ...{ sequence: head.sequence, changeId: null, loanId: loan.id, productId: loan.productId ?? 0 },
    ...{ currency: loan.currency, transactionId: null, kind: before ? 'method_changed' : 'opening' },
    ...{ valueDate: on, bookedOn: on, postedAt: moment(deps.now(organizationId)) },
    ...{ amounts, method, contribution: amountsToText(contribution), moved: null },
  }
}

/** Returns what an opened loan contributed when it was opened, by a new method and by the one that it had; undefined for another loan. */
async function contributionsAtOpening(
  deps: WalkDeps,
  organizationId: number,
  { id, openedAt, method }: WalkedLoan,
  now: Method,
) {
  if (openedAt === null || !isMethod(method)) return undefined
  const then = await replayedAfter(deps, organizationId, { at: openedAt, action: OPENED, entityId: String(id) })
  return then && { now: contributionOf(now, then.balances), before: contributionOf(method, then.balances) }
}

/** Stands for the action of the change up to which a loan is replayed. */
const OPENED = 'opening'
