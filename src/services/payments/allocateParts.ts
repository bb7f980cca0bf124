import type { Author } from '../../db/audit/trail.ts'
import { readLoans } from '../../db/loans/loans.ts'
import { type ChangeBatch, saveLoans } from '../../db/loans/saveLoans.ts'
import type { StoredHead, StoredLoan } from '../../db/loans/storedLoan.ts'
import type { Transaction } from '../../db/postgres/transaction.ts'
import { reserveIds } from '../../db/queries/idBlocks.ts'
import { failedPrecondition, invariant, LendingError, notFound } from '../../domain/errors.ts'
import { isHead } from '../../domain/loan/carriedForward/loanHead.ts'
import { balancesNow, type Decision, findByToken, post, requireUnreversed, reversalOf } from '../../domain/loan/loan.ts'
import { currencyOf } from '../../domain/money.ts'
import { momentAfter, type Payment, partToken } from '../../domain/payments/payment.ts'
import type { Allocation } from '../../domain/payments/paymentChange.ts'
import type { Core, Writing } from '../deps.ts'
import { decideAll, type Result, type SavedChange } from '../loans/changes/decide.ts'

/** The parts of the service that post parts of payments to loans. */
export type PartDeps = Core & Pick<Writing, 'idBlocks'>

/** A part of a payment that is to be posted to a loan, or a repayment of it that is to be reversed. */
export interface Part {
  readonly author: Author
  readonly payment: Payment
  readonly loanId: bigint
  /** Decides on the loan. */
  readonly decide: (loan: StoredLoan | StoredHead, now: number) => Decision
}

/** What became of a part: it is saved with the transaction; the loan refused it; or the loan was changed meanwhile. */
export type PartResult =
  | { readonly saved: SavedChange; readonly allocation: Allocation }
  | { readonly refused: LendingError }
  | 'stale'

/** The part of a payment that is posted to a loan: how it is called, how much it is, and how it was paid. */
interface PartToPost {
  readonly part: number
  readonly amount: bigint
  readonly paymentMethod: string
}

/** Returns the decision that posts a part of a payment to a loan: as a recovery where the loan is written off. */
export const postingPart =
  (payment: Payment, { part, amount, paymentMethod }: PartToPost): Part['decide'] =>
  (loan, now) => {
    const { currency } = loan.terms
    if (currency.code !== payment.currency)
      throw failedPrecondition(`the loan is in ${currency.code}, and the payment in ${payment.currency}`)
    // A repayment that was imported from another book, or that a caller posted, may have the token of a part.
    let number = part
    while (findByToken(loan, partToken(payment.id, number))) number++
    const isWrittenOff = balancesNow(loan, now).status === 'Closed (written off)'
    const posting = {
      type: isWrittenOff ? ('Recovery Repayment' as const) : ('Repayment' as const),
      amount: { units: amount, scale: currencyOf(payment.currency).decimals },
      valueDate: payment.valueDate,
      token: partToken(payment.id, number),
      note: null,
      paymentMethod,
      paymentId: payment.id,
    }
    return post(loan, posting, now)
  }

/** Returns the decision that reverses a repayment that was allocated from a payment. */
export const reversingPart =
  (transactionId: bigint, note: string | null): Part['decide'] =>
  (loan, now) => {
    invariant(!isHead(loan), 'a reversal is decided on the whole loan')
    return reversalOf(loan, requireUnreversed(loan, transactionId), now, note)
  }

/**
 * Posts and reverses parts of payments in a transaction, the loans of all of them in one statement. A part that a loan refuses, or
 * whose loan was changed meanwhile, keeps no other away.
 * @returns what became of each part
 */
export async function saveParts(
  deps: PartDeps,
  transaction: Transaction,
  organizationId: number,
  parts: readonly Part[],
): Promise<PartResult[]> {
  const byLoan = Map.groupBy(parts, ({ loanId }) => loanId)
  const { zone } = deps.config
  const keys = [...byLoan.keys()].map((id) => ({ organizationId, ref: { id }, zone }))
  const read = await readLoans({ pool: transaction }, keys)
  // Each part may settle its loan early, which posts a waiver, too.
  const nextId = await reserveIds(deps, 'entry', 2 * parts.length)
  const testClock = deps.testClocks.find(organizationId)
  const payments = parts.map(({ payment }) => payment)
  const now = () => momentAfter(payments, deps.now(organizationId))
  const results = new Map<Part, PartResult>()
  const batches: { readonly batch: ChangeBatch; readonly asked: readonly Part[]; readonly all: readonly Result[] }[] =
    []
  for (const [index, { ref }] of keys.entries()) {
    const asked = byLoan.get(ref.id)!
    const loan = read[index]
    if (!loan) {
      for (const part of asked) results.set(part, { refused: notFound('no loan has that id') })
      continue
    }
    const toDecide = asked.map(({ author, decide }) => {
      const { claim: _, ...payer } = author
      const saving = (before: StoredLoan | StoredHead, at: number) => ({ save: decide(before, at) })
      return { author: payer, posting: undefined, entryId: nextId(), decide: saving }
    })
    const decided = decideAll(loan, toDecide, { now, elsewhere: NOWHERE, nextId })
    invariant(decided, 'a decision on the whole loan')
    batches.push({ batch: { loan, changes: decided.changes, testClock }, asked, all: decided.results })
  }
  const changing = batches.filter(({ batch }) => batch.changes.length > 0)
  const saved =
    changing.length === 0
      ? []
      : await saveLoans(
          { pool: transaction },
          changing.map(({ batch }) => batch),
        )
  const stale = new Set(changing.filter((_, index) => !saved[index]))
  for (const one of batches)
    for (const [index, part] of one.asked.entries())
      results.set(part, stale.has(one) ? 'stale' : resultOf(one.all[index]!, part))
  return parts.map((part) => results.get(part)!)
}

const NOWHERE: ReadonlySet<bigint> = new Set()

/** Returns what became of a part that was decided. @throws what is no refusal */
function resultOf(result: Result, { loanId }: Part): PartResult {
  if ('refused' in result) {
    if (result.refused instanceof LendingError) return { refused: result.refused }
    throw result.refused
  }
  invariant('saved' in result.changed, 'a part that is saved')
  const saved = result.changed
  const entry = saved.posted ?? saved.saved.reversed
  invariant(entry, 'a part posts an entry or reverses one')
  return { saved, allocation: { loanId, transactionId: entry.id, amount: entry.amount } }
}
