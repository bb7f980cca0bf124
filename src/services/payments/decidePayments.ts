import { service } from '../../db/audit/trail.ts'
import { findCandidates, type Wanted } from '../../db/payments/candidates.ts'
import type { Channel } from '../../db/payments/channels.ts'
import { readParts } from '../../db/payments/parts.ts'
import {
  lockNextUndecided,
  lockPayment,
  type PaymentStep,
  type PaymentSteps,
  savePayments,
} from '../../db/payments/payments.ts'
import { lockReversals, markApplied, type Reversal } from '../../db/payments/reversals.ts'
import { inTransaction, type Transaction } from '../../db/postgres/transaction.ts'
import { dateIn, type Instant } from '../../domain/dates.ts'
import { invariant } from '../../domain/errors.ts'
import { min } from '../../domain/money.ts'
import { causeText } from '../../domain/payments/causes.ts'
import { chooseLoan, typedReference } from '../../domain/payments/matching.ts'
import { decidedStatus, momentAfter, type Payment } from '../../domain/payments/payment.ts'
import type { Caches, Writing } from '../deps.ts'
import type { SavedChange } from '../loans/changes/decide.ts'
import { countPosted } from '../loans/changes/decide.ts'
import { type Part, type PartDeps, postingPart, reversingPart, saveParts } from './allocateParts.ts'
import { channelOf } from './channelCache.ts'
import { payerOf, phoneOf } from './payer.ts'

/** The parts of the service that decide on payments. */
export type DecideDeps = PartDeps & Pick<Caches, 'channels'> & Pick<Writing, 'paymentBox' | 'people'>

/** Payments that are decided on in one transaction. */
export const PAYMENTS_A_ROUND = 200

/** What a round has done. */
interface Round {
  /** The payments that were decided on. */
  readonly decided: readonly Payment[]
  /** Whether payments are left that can be decided on at once. */
  readonly isMore: boolean
  /** Whether a loan was changed meanwhile, so that its payments have to wait for the next round. */
  readonly isStale: boolean
}

/**
 * Decides on the next payments of an organization, in one transaction: those that fit one loan are allocated to it, and the others
 * wait in suspense, each with its cause.
 * @param ids only these payments; all when left out
 */
export async function decideNext(
  deps: DecideDeps,
  organizationId: number,
  ids: readonly bigint[] | null = null,
): Promise<Round> {
  const done = await inTransaction(deps.db, async (transaction) => {
    const payments = await lockNextUndecided(transaction, organizationId, { ids, most: PAYMENTS_A_ROUND })
    if (payments.length === 0) return undefined
    const channels = await channelsOf(deps, organizationId, payments)
    const matches = await matchAll(deps, transaction, payments, channels)
    const author = service(organizationId)
    const parts = payments.flatMap((payment): Part[] => {
      const match = matches.get(payment)!
      if ('cause' in match) return []
      const paymentMethod = channels.get(payment.channelId)!.name
      const part = { part: payment.parts + 1, amount: payment.amount, paymentMethod }
      return [{ author, payment, loanId: match.loanId, decide: postingPart(payment, part) }]
    })
    const results = await saveParts(deps, transaction, organizationId, parts)
    const resultOf = new Map(parts.map(({ payment }, index) => [payment, results[index]!]))
    const now = deps.now(organizationId)
    const posted: SavedChange[] = []
    const steps = payments.flatMap((payment): PaymentSteps[] => {
      const result = resultOf.get(payment)
      if (result === 'stale') return []
      const match = matches.get(payment)!
      if (result && 'saved' in result) {
        posted.push(result.saved)
        return [{ author, before: payment, steps: [allocatedStep(payment, [result.allocation], now)] }]
      }
      const cause = result ? result.refused.message : 'cause' in match ? match.cause : ''
      return [{ author, before: payment, steps: [suspendedStep(payment, cause, now)] }]
    })
    await savePayments(transaction, steps)
    return {
      posted,
      decided: steps.map(({ steps: own }) => own.at(-1)!.after),
      isMore: payments.length === PAYMENTS_A_ROUND,
      isStale: steps.length < payments.length,
    }
  })
  if (!done) return { decided: [], isMore: false, isStale: false }
  for (const change of done.posted) countPosted(deps.listener, change)
  return done
}

async function channelsOf(
  deps: Pick<DecideDeps, 'channels'>,
  organizationId: number,
  payments: readonly Pick<Payment, 'channelId'>[],
): Promise<ReadonlyMap<number, Channel>> {
  const ids = [...new Set(payments.map(({ channelId }) => channelId))]
  const found = await Promise.all(ids.map((channelId) => channelOf(deps, { organizationId, channelId })))
  return new Map(found.map((channel) => [channel.id, channel]))
}

/** Finds the loan of each payment, or why it has none. */
async function matchAll(
  deps: DecideDeps,
  transaction: Transaction,
  payments: readonly Payment[],
  channels: ReadonlyMap<number, Channel>,
) {
  const wanted = payments.map((payment) => wantedOf(deps, payment, channels.get(payment.channelId)!))
  const candidates = await findCandidates({ pool: transaction }, payments[0]!.organizationId, wanted)
  return new Map(
    payments.map((payment) => {
      const isByPhone = channels.get(payment.channelId)!.matchPhone
      return [payment, chooseLoan(candidates.get(payment.id) ?? [], { currency: payment.currency, isByPhone })]
    }),
  )
}

/** Returns what a payment says of the one who paid; the phone number only where it may decide. */
export const wantedOf = (
  deps: Pick<DecideDeps, 'paymentBox' | 'people'>,
  payment: Payment,
  { matchPhone }: Pick<Channel, 'matchPhone'>,
): Wanted => ({
  id: payment.id,
  typed: typedReference(payment.reference),
  ...phoneOf(deps, payment.organizationId, matchPhone ? payerOf(deps.paymentBox, payment).phone : null),
})

/** Returns the step of a payment of which parts were allocated. */
export function allocatedStep(payment: Payment, allocations: PaymentStep['allocations'], now: Instant): PaymentStep {
  const allocated = allocations.reduce((sum, { amount }) => sum + amount, payment.allocated)
  const parts = payment.parts + allocations.length
  const after = afterChange(payment, { allocated, parts, cause: null }, now)
  return { action: 'allocate', after, allocations, moved: null, note: null }
}

const suspendedStep = (payment: Payment, cause: string, now: Instant): PaymentStep => ({
  action: 'suspend',
  after: afterChange(payment, { cause: cause.slice(0, LONGEST_CAUSE) }, now),
  allocations: [],
  moved: null,
  note: null,
})

/** The most characters of a cause. */
const LONGEST_CAUSE = 500

/** Returns a payment after a change, which is not before the last one, with the status that follows from where its money is. */
export function afterChange(payment: Payment, change: Partial<Payment>, now: Instant): Payment {
  const after = { ...payment, ...change, updatedAt: momentAfter([payment], now), version: payment.version + 1 }
  return { ...after, status: decidedStatus(after) }
}

/** Thrown where a loan was changed meanwhile: nothing of the transaction is saved. */
export class StalePartError extends Error {
  override readonly name = 'StalePartError'
}

/**
 * Reverses repayments of a payment, in a transaction that has locked it.
 * @returns the step of the payment, and the changes of the loans; undefined where it has no repayment that stands
 * @throws LendingError where a loan refuses; StalePartError where one was changed meanwhile
 */
export async function unallocate(
  deps: DecideDeps,
  transaction: Transaction,
  payment: Payment,
  { author, note, only, cause }: Unallocation,
): Promise<{ readonly step: PaymentStep; readonly changes: readonly SavedChange[] } | undefined> {
  const { organizationId } = payment
  const all = await readParts({ pool: transaction }, organizationId, [payment.id])
  const live = all.filter((one) => one.reversedAt === null && (only === undefined || only.includes(one.transactionId)))
  if (live.length === 0) return undefined
  const parts = live.map(({ loanId, transactionId }): Part => {
    return { author, payment, loanId, decide: reversingPart(transactionId, note) }
  })
  const results = await saveParts(deps, transaction, organizationId, parts)
  const saved = results.map(requireSaved)
  const allocations = saved.map(({ allocation }) => allocation)
  const taken = allocations.reduce((sum, { amount }) => sum + amount, 0n)
  const after = afterChange(payment, { allocated: payment.allocated - taken, cause }, deps.now(organizationId))
  const step: PaymentStep = { action: 'reverse allocations', after, allocations, moved: null, note }
  return { step, changes: saved.map(({ saved: change }) => change) }
}

/** Which repayments of a payment are reversed, by whom and why. */
interface Unallocation {
  readonly author: Part['author']
  readonly note: string | null
  /** The repayments; left out: all that stand. */
  readonly only?: readonly bigint[] | undefined
  readonly cause: string
}

/** Returns a part that was saved. @throws LendingError where the loan refused it; StalePartError */
export function requireSaved(result: Awaited<ReturnType<typeof saveParts>>[number]) {
  if (result === 'stale') throw new StalePartError('a loan was changed meanwhile')
  if ('refused' in result) throw result.refused
  return result
}

/** Reversals that are applied in one round, each in a transaction of its own. */
const REVERSALS_A_ROUND = 50

/**
 * Applies what providers have taken back to the payments of an organization: their repayments are reversed, and a closed loan
 * reopens. Of more than what is left of a payment, only that is taken: the rest is a difference of the reconciliation.
 * @returns whether more is left
 */
export async function applyReversals(deps: DecideDeps, organizationId: number): Promise<'done' | 'more'> {
  for (let round = 0; round < REVERSALS_A_ROUND; round++) if (!(await applyNext(deps, organizationId))) return 'done'
  return 'more'
}

async function applyNext(deps: DecideDeps, organizationId: number): Promise<boolean> {
  const changes = await inTransaction(deps.db, async (transaction) => {
    const [reversal] = await lockReversals(transaction, organizationId, 1)
    if (!reversal) return undefined
    const payment = await lockPayment(transaction, organizationId, reversal.paymentId)
    invariant(payment, 'a payment that is locked')
    const author = service(organizationId)
    const why = causeText('taken_back', { receipt: reversal.receipt })
    const taken = await unallocate(deps, transaction, payment, { author, note: why, cause: why })
    const { account } = await channelOf(deps, payment)
    const left = taken?.step.after ?? payment
    const step = reversedStep(deps, left, { reversal, account, note: why })
    const steps = [...(taken ? [taken.step] : []), ...(step ? [step] : [])]
    if (steps.length > 0) await savePayments(transaction, [{ author, before: payment, steps }])
    await markApplied(transaction, reversal, payment.id)
    return taken?.changes ?? []
  })
  for (const change of changes ?? []) countPosted(deps.listener, change)
  return changes !== undefined
}

/** Returns the step of a payment that its provider takes back; undefined where nothing is left of it. */
function reversedStep(
  { now, config }: Pick<DecideDeps, 'now' | 'config'>,
  payment: Payment,
  { reversal, account, note }: { readonly reversal: Reversal; readonly account: string | null; readonly note: string },
): PaymentStep | undefined {
  const amount = min(reversal.amount, payment.amount - payment.returned - payment.reversed)
  if (amount === 0n) return undefined
  const at = Math.max(now(payment.organizationId), reversal.receivedAt)
  const after = afterChange(payment, { reversed: payment.reversed + amount, cause: note }, at)
  const today = dateIn(config.zone, after.updatedAt)
  const day = dateIn(config.zone, reversal.reversedAt)
  return {
    action: 'reverse',
    after,
    allocations: [],
    moved: { amount: -amount, on: day < today ? day : today, account },
    note,
  }
}
