import type { FastifyRequest } from 'fastify'
import { html } from '../../api/http/html.ts'
import { failedPrecondition, LendingError, notFound } from '../../domain/errors.ts'
import { currencyOf, minorToText, toMinor } from '../../domain/money.ts'
import { inSuspense, type Payment } from '../../domain/payments/payment.ts'
import { isWaiting } from '../../services/approvals/waiting.ts'
import { getLoan } from '../../services/loans/loans.ts'
import {
  allocatePayment,
  getPayment,
  LONGEST_NOTE,
  type PaymentView,
  requireSuspense,
} from '../../services/payments/payments.ts'
import { previewAllocation, previewReversal } from '../../services/payments/previewPayment.ts'
import { returnPayment, reverseAllocations } from '../../services/payments/takeBack.ts'
import { type Desk, type Fields, idOf } from '../desk.ts'
import { money } from '../layout/page.ts'
import { amountOf, type Field, NOTE, noteOf } from '../loan/actions.ts'
import { partsTable, paymentTiles, repaymentsTable } from '../payments/payment.ts'
import { previewTable } from './approvals.ts'
import type { Step } from './flow.ts'

type Request = Pick<FastifyRequest<{ Params: Readonly<Record<'id' | 'loanId', string>> }>, 'desk' | 'params'>

const AMOUNT: Field = { name: 'amount', word: 'amount', kind: 'amount', isRequired: true }
const WHY: Field = { name: 'note', word: 'note', kind: 'text', isRequired: true, longest: LONGEST_NOTE }

/** Returns what the steps of a payment share: its page, and the payment as it is now, which each step shows. */
const ofPayment = ({ desk }: Request, id: bigint) => ({
  back: `/payments/${id}`,
  changed: 'changedPayment' as const,
  async about() {
    const view = await getPayment(desk.deps, desk.caller, id)
    return html`${await paymentTiles(desk, view)}${repaymentsTable(desk, view)}`
  },
})

const suspenseText = (payment: Payment) => minorToText(inSuspense(payment), currencyOf(payment.currency))

/** Returns the steps of allocating a payment, or a part of it, to a loan. @throws LendingError `not_found` */
export async function allocateStep(request: Request): Promise<Step> {
  const { desk, params } = request
  const { deps, caller, say } = desk
  const [id, loanId] = [idOf(params.id, 'payment'), idOf(params.loanId, 'loan')]
  const [{ payment }, { loan }] = await Promise.all([
    getPayment(deps, caller, id),
    getLoan(deps, caller, { id: loanId }),
  ])
  const customer = loan.customerBusinessName ?? loan.customerExternalId ?? loan.customerId
  return {
    ...ofPayment(request, id),
    title: say('titleAllocate', { id, loan: loanId }),
    means: say('meansAllocate'),
    fields: [AMOUNT],
    values: { amount: suspenseText(payment) },
    asksFirst: true,
    async show(fields) {
      const asked = { loan: { id: loanId }, amount: amountOf(fields) }
      const { view, amount, preview } = await previewAllocation(deps, caller, id, asked)
      const { currency, receipt, version } = view.payment
      const values = { amount: money(amount, currency), currency, receipt, loan: loanId, customer }
      return {
        view: html`<p><strong>${say('askAllocate', values)}</strong></p>${previewTable(desk, preview)}`,
        mark: `${version} ${preview.loan.version}`,
      }
    },
    async run(by, fields) {
      await allocatePayment(deps, by, id, [{ loan: { id: loanId }, amount: amountOf(fields) }])
      return 'doneAllocate'
    },
  }
}

/** Reads the note, which a return has to have. @throws LendingError `invalid_argument` */
function whyOf(fields: Fields): string {
  const note = noteOf(fields)
  if (note === null) throw new LendingError('invalid_argument', `note must be 1 to ${LONGEST_NOTE} characters`)
  return note
}

/** Returns the steps of noting that a payment, or a part of it, was paid back. @throws LendingError `not_found` */
export async function returnStep(request: Request): Promise<Step> {
  const { desk, params } = request
  const { deps, caller, say } = desk
  const id = idOf(params.id, 'payment')
  const { payment } = await getPayment(deps, caller, id)
  return {
    ...ofPayment(request, id),
    title: say('titleReturn', { id }),
    means: say('meansReturn'),
    fields: [AMOUNT, WHY],
    values: { amount: suspenseText(payment) },
    async show(fields) {
      whyOf(fields)
      const { payment: now } = await getPayment(deps, caller, id)
      if (inSuspense(now) === 0n) throw failedPrecondition('nothing of the payment is in suspense')
      const amount = toMinor(amountOf(fields), currencyOf(now.currency), 'paymentAmount')
      requireSuspense(now, amount)
      return {
        view: partsTable(desk, now, { ...now, returned: now.returned + amount }),
        mark: String(now.version),
      }
    },
    async run(by, fields) {
      const result = await returnPayment(deps, by, id, { amount: amountOf(fields), note: whyOf(fields) })
      return isWaiting(result) ? 'doneWaits' : 'doneReturn'
    },
  }
}

/**
 * Returns the steps of taking repayments of a payment from their loans again.
 * @param only one of the repayments; undefined: all that stand
 * @throws LendingError `not_found`
 */
export async function reverseStep(request: Request, only: bigint | undefined): Promise<Step> {
  const { desk, params } = request
  const { deps, caller, say } = desk
  const id = idOf(params.id, 'payment')
  const first = await getPayment(deps, caller, id)
  if (only !== undefined && !first.parts.some(({ transactionId }) => transactionId === only))
    throw notFound('no repayment of this payment has that id')
  return {
    ...ofPayment(request, id),
    title: say('titleReverseAllocations', { id }),
    means: say('meansReverseAllocations'),
    fields: [NOTE],
    values: {},
    async show(fields) {
      const view = await getPayment(deps, caller, id)
      return showReversal(desk, view, only, noteOf(fields))
    },
    async run(by, fields) {
      const request = { note: noteOf(fields), ...(only !== undefined && { only: [only] }) }
      const result = await reverseAllocations(deps, by, id, request)
      return isWaiting(result) ? 'doneWaits' : 'doneReverseAllocations'
    },
  }
}

/** Shows a payment without some repayments; and the loan, where it is one repayment. */
async function showReversal(desk: Desk, view: PaymentView, only: bigint | undefined, note: string | null) {
  const { payment, parts } = view
  const live = parts.filter(
    ({ reversedAt, transactionId }) => reversedAt === null && (only === undefined || transactionId === only),
  )
  const [one, ...others] = live
  if (!one) throw failedPrecondition('the payment has no repayment that stands')
  const taken = live.reduce((sum, { amount }) => sum + amount, 0n)
  const own = partsTable(desk, payment, { ...payment, allocated: payment.allocated - taken })
  if (others.length > 0)
    return { view: html`${own}${repaymentsTable(desk, { ...view, parts: live })}`, mark: String(payment.version) }
  const preview = await previewReversal(desk.deps, desk.caller, one, note)
  return { view: html`${own}${previewTable(desk, preview)}`, mark: `${payment.version} ${preview.loan.version}` }
}
