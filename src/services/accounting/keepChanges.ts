import { setImmediate as turn } from 'node:timers/promises'
import { insertPostings, type NewPosting } from '../../db/accounting/insertPostings.ts'
import type { JournalHead } from '../../db/accounting/journalHead.ts'
import { findOpened, readContributions, type UnkeptChange } from '../../db/accounting/keeping.ts'
import type { Transaction } from '../../db/postgres/transaction.ts'
import { moment } from '../../db/queries/rows.ts'
import { type Chart, methodOf } from '../../domain/accounting/chart.ts'
import { bookedDay, type LoanAfter, type LoanBefore, postedBy, stepsOf } from '../../domain/accounting/posted.ts'
import { paymentKindOf, postingKindOf } from '../../domain/accounting/postingKinds.ts'
import {
  amountsFromText,
  amountsToText,
  isNothing,
  lessAmounts,
  NO_AMOUNTS,
  type SlotAmounts,
} from '../../domain/accounting/slots.ts'
import { dateIn } from '../../domain/dates.ts'
import type { StoredChange } from '../../domain/loan/change/changeText.ts'
import { PAYMENT } from '../../domain/payments/paymentText.ts'
import { LARGEST_INT64 } from '../../toolbox/integers.ts'
import type { Deps } from '../deps.ts'

/**
 * Changes that are sealed, or posted, before requests get their turn. Few: at half of the highest rate 99 of 100 repayments are answered
 * within 16 to 20 ms, with 125 within 26 to 40 ms. A turn costs next to nothing.
 */
export const CHANGES_A_TURN = 10

/** Returns the loan that a change names; undefined for a change of something else, and for a damaged id. */
function loanIdOf({ entity, entityId }: Pick<UnkeptChange, 'entity' | 'entityId'>): bigint | undefined {
  if (entity !== 'loan' || !/^[1-9]\d{0,18}$/.test(entityId)) return undefined
  const id = BigInt(entityId)
  return id <= LARGEST_INT64 ? id : undefined
}

/** The journal of an organization while it is continued. */
export interface Keeping {
  readonly transaction: Transaction
  readonly organizationId: number
  readonly chart: Chart
}

type KeepDeps = Pick<Deps, 'config' | 'listener'>

/** A loan while its changes are posted, one after the other. */
interface Working {
  readonly id: bigint
  contribution: Contributed
  isOpened: boolean
}

/** The change of a loan by its names, as far as it says which loan that is. */
type NamedChange = Pick<UnkeptChange, 'entity' | 'entityId'>

/** Posts changes of loans, a part of them at a time, and inserts all of their postings at the end. */
export interface Keeper {
  /** Posts the next changes. A change that moves no amount has no posting. */
  take(changes: readonly UnkeptChange[]): Promise<void>
  /** Inserts the postings. @returns the head of the journal after them */
  end(): Promise<JournalHead>
}

/** Begins to post changes of loans, in their order. @param named all of the changes that will be posted */
export async function startKeeping(
  deps: KeepDeps,
  keeping: Keeping,
  head: JournalHead,
  named: readonly NamedChange[],
): Promise<Keeper> {
  const { transaction, organizationId, chart } = keeping
  const loans = await readLoans(keeping, named)
  const postings: NewPosting[] = []
  let { changeId, sequence } = head

  function takeOne(change: UnkeptChange): void {
    const loan = loans.get(loanIdOf(change) ?? 0n)
    const at = change.first ?? sequence
    changeId = change.id
    sequence = change.last ?? sequence
    if (change.entity === PAYMENT) takePayment(change, at)
    if (!loan) return
    const { loanChange } = change
    // A damaged row must not keep the others of its lender out of the journal; book check names it.
    if (!loanChange || loan.contribution === 'damaged') {
      deps.listener.changeNotPosted()
      return
    }
    const steps = stepsOf(loanChange)
    for (const [step, after] of steps.entries()) {
      const before = { contribution: loan.contribution, isOpened: loan.isOpened }
      const isLast = step === steps.length - 1
      const posting = postingOf(deps, chart, head, { loan, before, change, loanChange, after, isLast, sequence: at })
      if (posting) postings.push({ ...posting, id: head.postingId + BigInt(postings.length) + 1n })
    }
  }

  function takePayment(change: UnkeptChange, at: bigint): void {
    const posting = postingOfPayment(head, change, at)
    if (posting === 'damaged') deps.listener.changeNotPosted()
    else if (posting) postings.push({ ...posting, id: head.postingId + BigInt(postings.length) + 1n })
  }

  return {
    async take(changes) {
      // Only what an import posts is posted otherwise on a loan that was opened.
      const imported = idsOf(changes.filter(({ loanChange }) => loanChange?.isImported))
      const opened = imported.length > 0 ? await findOpened(transaction, organizationId, imported) : []
      for (const id of opened) loans.get(id)!.isOpened = true
      for (const change of changes) takeOne(change)
    },
    async end() {
      await insertPostings(transaction, organizationId, postings)
      return { ...head, changeId, sequence, postingId: head.postingId + BigInt(postings.length) }
    },
  }
}

/** Posts changes of loans, in their order. @returns the head of the journal after them */
export async function keepChanges(
  deps: KeepDeps,
  keeping: Keeping,
  head: JournalHead,
  changes: readonly UnkeptChange[],
): Promise<JournalHead> {
  const keeper = await startKeeping(deps, keeping, head, changes)
  for (let from = 0; from < changes.length; from += CHANGES_A_TURN) {
    if (from > 0) await turn()
    await keeper.take(changes.slice(from, from + CHANGES_A_TURN))
  }
  return keeper.end()
}

/** Returns the posting of a change of a payment: of the money that came in or went out with it; undefined where none did. */
function postingOfPayment(
  { openFrom }: JournalHead,
  { id: changeId, entityId, at, action, paymentChange }: UnkeptChange,
  sequence: bigint,
): Omit<NewPosting, 'id'> | 'damaged' | undefined {
  if (!paymentChange || !/^[1-9]\d{0,18}$/.test(entityId)) return 'damaged'
  const { moved, currency } = paymentChange
  if (!moved) return undefined
  const { amount, on, account } = moved
  return {
    sequence,
    changeId,
    loanId: null,
    productId: 0,
    currency,
    transactionId: null,
    kind: paymentKindOf(action),
    valueDate: on,
    bookedOn: bookedDay(on, openFrom),
    postedAt: moment(at),
    amounts: { ...NO_AMOUNTS, cash: amount, payments_in_suspense: -amount },
    method: null,
    contribution: null,
    moved: null,
    payment: { id: BigInt(entityId), account },
  }
}

/** Returns the loans that changes name, each once. */
const idsOf = (some: readonly NamedChange[]): bigint[] => [...new Set(some.flatMap((change) => loanIdOf(change) ?? []))]

/** Reads the loans of changes, as the journal has them. */
async function readLoans({ transaction, organizationId }: Keeping, changes: readonly NamedChange[]) {
  const ids = idsOf(changes)
  const found = ids.length > 0 ? await readContributions(transaction, organizationId, ids) : []
  const contributions = new Map(found.map(({ id, contribution }) => [id, contributionFrom(contribution)]))
  return new Map(ids.map((id): [bigint, Working] => [id, { id, contribution: contributions.get(id), isOpened: false }]))
}

/** What a loan contributes by its last posting; undefined where it has none. */
type Contributed = SlotAmounts | undefined | 'damaged'

/** Reads what a loan contributes by its last posting. */
export const contributionFrom = (text: string | null): Contributed =>
  text === null ? undefined : (amountsFromText(text) ?? 'damaged')

interface ToPost {
  readonly loan: Working
  readonly before: LoanBefore
  readonly change: UnkeptChange
  readonly loanChange: StoredChange
  readonly after: LoanAfter
  /** False for the loan without the original of an adjustment. */
  readonly isLast: boolean
  readonly sequence: bigint
}

function postingOf(
  { config }: KeepDeps,
  chart: Chart,
  head: JournalHead,
  { loan, before, change, loanChange, after, isLast, sequence }: ToPost,
): Omit<NewPosting, 'id'> | undefined {
  const { productId, currency, posted, reversed } = loanChange
  const method = methodOf(chart, productId)
  const { amounts, contribution, isOpened } = postedBy(method, after, before, change.action === 'create')
  // An opening that moves no amount is kept, too: the next posting continues from its contribution.
  if (isNothing(lessAmounts(contribution, before.contribution ?? NO_AMOUNTS))) return undefined
  if (before.contribution === undefined) loan.isOpened = isOpened
  loan.contribution = contribution
  // What was made elsewhere is in these books from its import on.
  const on = isOpened && after.isImported ? dateIn(config.zone, change.at) : after.on
  const transaction = isLast ? (posted ?? reversed) : reversed
  const types = { postedType: posted?.type ?? null, reversedType: reversed?.type ?? null }
  return {
    sequence,
    changeId: change.id,
    loanId: loan.id,
    productId: productId ?? 0,
    currency,
    transactionId: transaction?.id ?? null,
    kind: isOpened ? 'opening' : postingKindOf({ action: change.action, ...types }),
    valueDate: on,
    bookedOn: bookedDay(on, head.openFrom),
    postedAt: moment(change.at),
    amounts,
    method,
    contribution: amountsToText(contribution),
    moved: null,
  }
}
