import type { FastifyRequest } from 'fastify'
import { type Html, html } from '../../api/http/html.ts'
import { decideAction, fromStoredRequest, isOnPayment } from '../../domain/approvals/pendingAction.ts'
import { invalidArgument, invariant, notFound } from '../../domain/errors.ts'
import type { Period } from '../../domain/loan/allocation.ts'
import type { LoanState } from '../../domain/loan/replay.ts'
import type { Payment } from '../../domain/payments/payment.ts'
import type { Caller } from '../../services/access/caller.ts'
import {
  approvePendingAction,
  getPendingAction,
  LONGEST_REASON,
  listPendingActions,
  type PendingAction,
  pendingOf,
  rejectPendingAction,
  rejectPendingActions,
  withdrawPendingAction,
} from '../../services/approvals/approvals.ts'
import { type Preview, previewDecision } from '../../services/loans/changes/preview.ts'
import { getPayment } from '../../services/payments/payments.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'
import { type Desk, type Fields, idOf, type PageWord, sayName } from '../desk.ts'
import { type Column, type Done, figures, money, table, tile, tiles } from '../layout/page.ts'
import { type Field, noteOf } from '../loan/actions.ts'
import { KIND_WORDS, targetText } from '../pages/pending.ts'
import { partsTable } from '../payments/payment.ts'
import type { Step } from './flow.ts'

/** What is done with a pending action. */
interface Verb {
  readonly title: PageWord
  readonly means: PageWord
  readonly done: Done
  readonly fields: readonly Field[]
  run(deps: Desk['deps'], caller: Caller, id: bigint, fields: Fields): Promise<PendingAction>
}

/** As many as may wait of an account or on a loan. */
const MOST_LISTED = 200

const REASON: Field = { name: 'reason', word: 'reason', kind: 'text', isRequired: true, longest: LONGEST_REASON }

const VERBS: Readonly<Record<string, Verb>> = {
  approve: {
    title: 'titleApprove',
    means: 'meansApprove',
    done: 'doneApprove',
    fields: [],
    run: approvePendingAction,
  },
  reject: {
    title: 'titleReject',
    means: 'meansReject',
    done: 'doneReject',
    fields: [REASON],
    run: (deps, caller, id, fields) => rejectPendingAction(deps, caller, id, reasonOf(fields)),
  },
  withdraw: {
    title: 'titleWithdraw',
    means: 'meansWithdraw',
    done: 'doneWithdraw',
    fields: [],
    run: withdrawPendingAction,
  },
}

function reasonOf(fields: Fields): string {
  const reason = noteOf(fields, 'reason')
  if (reason === null) throw invalidArgument('reason', `must be 1 to ${LONGEST_REASON} characters`)
  return reason
}

type Request = FastifyRequest<{ Params: Readonly<Record<'id' | 'action', string>> }>

/** Returns the steps of approving, rejecting or withdrawing a pending action. @throws LendingError `not_found` */
export async function approvalStep({ desk, params }: Pick<Request, 'desk' | 'params'>): Promise<Step> {
  const { deps, caller, say } = desk
  const id = idOf(params.id, 'pending action')
  const verb = Object.hasOwn(VERBS, params.action) ? VERBS[params.action] : undefined
  if (!verb) throw notFound('there is no such action')
  const found = await getPendingAction(deps, caller, id)
  return {
    title: say(verb.title, { action: say(KIND_WORDS[found.kind]), target: targetText(desk, found) }),
    means: say(verb.means),
    fields: verb.fields,
    values: {},
    back: '/pending',
    async show(fields) {
      if (verb.fields.length > 0) reasonOf(fields)
      const action = await pendingOf(deps, caller, id)
      return verb.run === approvePendingAction ? becomes(desk, action) : asked(desk, action)
    },
    async run(by, fields) {
      await verb.run(deps, by, id, fields)
      return verb.done
    },
  }
}

/** Returns the steps of rejecting all that waits of an account, or on a loan. @throws LendingError `not_found` */
export async function rejectAllStep(
  { desk, params }: Pick<Request, 'desk' | 'params'>,
  whose: 'asker' | 'loan',
): Promise<Step> {
  const { deps, caller, say } = desk
  const id = idOf(params.id, whose === 'loan' ? 'loan' : 'account')
  if (whose === 'asker' && id > LARGEST_INT32) throw notFound('no account has that id')
  const of = whose === 'loan' ? { loanId: id } : { askedBy: Number(id) }
  return {
    title: say(whose === 'loan' ? 'titleRejectOfLoan' : 'titleRejectOfAsker', { id }),
    means: say('meansRejectAll'),
    fields: [REASON],
    values: {},
    back: '/pending',
    async show(fields) {
      reasonOf(fields)
      const { items, total = 0 } = await listPendingActions(
        deps,
        caller,
        { state: 'pending', ...of },
        { rows: MOST_LISTED, page: 1 },
      )
      const view = tiles([tile(say('pendingActions'), total)])
      return { view, mark: `${total} ${items.at(-1)?.id ?? ''}` }
    },
    async run(by, fields) {
      await rejectPendingActions(deps, by, { ...of, reason: reasonOf(fields) })
      return 'doneRejectAll'
    },
  }
}

const asked = (desk: Desk, action: PendingAction) => ({
  view: tiles([tile(targetText(desk, action), `${money(action.amount, action.currency)} ${action.currency}`)]),
  mark: action.state,
})

/** Shows what the loan or the payment becomes when an action is approved now. */
async function becomes(desk: Desk, action: PendingAction) {
  const { deps, caller } = desk
  const { kind, loanId, paymentId } = action
  if (isOnPayment(kind)) {
    invariant(paymentId !== null, 'an action on a payment')
    const { payment } = await getPayment(deps, caller, paymentId)
    const after = afterTakenBack(payment, action)
    return { view: partsTable(desk, payment, after), mark: `${action.state} ${payment.version}` }
  }
  invariant(loanId !== null, 'an action on a loan')
  const request = fromStoredRequest(kind, action.request)
  const preview = await previewDecision(deps, caller, { id: loanId }, (loan, now) => decideAction(loan, request, now))
  return { view: previewTable(desk, preview), mark: `${action.state} ${preview.loan.version}` }
}

/** Returns a payment as it is once an action on it is approved. */
const afterTakenBack = (payment: Payment, { kind, amount }: PendingAction): Payment =>
  kind === 'return-payment'
    ? { ...payment, returned: payment.returned + amount }
    : { ...payment, allocated: payment.allocated - amount }

/** Builds the tables of a loan as it is and as it becomes: its figures, and the instalments that change. */
export function previewTable(desk: Desk, preview: Preview): Html {
  const { say } = desk
  const { loan, before, after } = preview
  const of = (minor: bigint) => money(minor, loan.terms.currency)
  const status = (state: LoanState) => sayName(say, state.status)
  const rows: [string, (state: LoanState) => string][] = [
    [say('status'), status],
    [say('principal'), ({ outstanding }) => of(outstanding.principal)],
    [say('interest'), ({ outstanding }) => of(outstanding.interest)],
    [say('fees'), ({ outstanding }) => of(outstanding.fees)],
    [say('penalty'), ({ outstanding }) => of(outstanding.penalty)],
    [say('outstanding'), ({ totalOutstanding }) => of(totalOutstanding)],
    [say('overdue'), ({ totalOverdue }) => of(totalOverdue)],
    [say('paid'), ({ totalPaid }) => of(totalPaid)],
    [say('overpaid'), ({ totalOverpaid }) => of(totalOverpaid)],
  ]
  const mark = (changed: boolean, text: string) => (changed ? html`<strong>${text}</strong>` : text)
  const cells = rows.map(([name, read]) => {
    const [now, then] = [read(before), read(after)]
    return [name, now, mark(now !== then, then)]
  })
  return html`${table(say('previewTitle'), [[''], ...figures(say('now'), say('afterwards'))], cells, say('nothing'))}
${changedInstalments(desk, preview)}`
}

/** Builds the table of the instalments of which the due date or what is owed changes; nothing where none does. */
function changedInstalments({ say }: Desk, { loan, before, after }: Preview): Html | false {
  const of = (period: Period | undefined) => (period ? money(period.owed, loan.terms.currency) : '')
  const mark = (text: string, was: string) => (text === was ? text : html`<strong>${text}</strong>`)
  const count = Math.max(before.periods.length, after.periods.length)
  const rows = Array.from({ length: count }, (_, index) => [before.periods[index], after.periods[index]] as const)
    .filter(([was, is]) => was?.dueDate !== is?.dueDate || was?.owed !== is?.owed)
    .map(([was, is]) => [
      `${(is ?? was)!.period}`,
      was?.dueDate ?? '',
      mark(is?.dueDate ?? '', was?.dueDate ?? ''),
      of(was),
      mark(of(is), of(was)),
    ])
  const [now, then] = [say('now'), say('afterwards')]
  const [due, owed] = [say('dueOn'), say('owed')]
  const columns: Column[] = [
    ['#'],
    [`${due}: ${now}`],
    [`${due}: ${then}`],
    ...figures(`${owed}: ${now}`, `${owed}: ${then}`),
  ]
  return rows.length > 0 && table(say('schedule'), columns, rows, say('nothing'))
}
