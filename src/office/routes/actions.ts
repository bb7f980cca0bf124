import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { html } from '../../api/http/html.ts'
import { displayName } from '../../domain/customer/customer.ts'
import { notFound } from '../../domain/errors.ts'
import { createIdempotency } from '../../services/access/idempotency.ts'
import { isWaiting } from '../../services/approvals/waiting.ts'
import { closeCustomer, getCustomer } from '../../services/customers/customers.ts'
import type { Core } from '../../services/deps.ts'
import { previewDecision } from '../../services/loans/changes/preview.ts'
import { getLoan } from '../../services/loans/loans.ts'
import { getProduct, retireProduct } from '../../services/organizations/products.ts'
import { customerStep, lendStep } from '../collections/lending.ts'
import { assignStep, cancelStep, contactStep, holdStep, promiseStep, releaseHoldStep } from '../collections/steps.ts'
import { type Desk, dayOf, type Fields, idOf, sayName } from '../desk.ts'
import { acceptExportStep, createExportStep } from '../exports/steps.ts'
import { tile, tiles } from '../layout/page.ts'
import {
  type Field,
  LOAN_ACTIONS,
  type LoanAction,
  noteOf,
  REASON,
  type Subject,
  TRANSACTION_ACTIONS,
} from '../loan/actions.ts'
import { RESTRUCTURE, REVERSE_RESTRUCTURE } from '../loan/restructures.ts'
import { collateralStep, guarantorStep, releaseStep } from '../loan/security.ts'
import { bookProvisionsStep, closeMonthStep } from '../monthEnd/steps.ts'
import { giveConsentStep, withdrawConsentStep } from '../people/consents.ts'
import { askStep, requestStep } from '../people/decideRequests.ts'
import { approvalStep, previewTable, rejectAllStep } from './approvals.ts'
import { type Step, takeStep } from './flow.ts'
import { allocateStep, returnStep, reverseStep } from './payments.ts'
import { identifyStep } from './people.ts'
import { applyStep } from './reconciliations.ts'

type Params = Readonly<Record<'id' | 'loanId' | 'partId' | 'transactionId' | 'action', string>>
type Request = FastifyRequest<{ Params: Params; Querystring: Fields }>

const noSuchAction = () => notFound('there is no such action')

/** Returns an action by the word in the address. @throws LendingError `not_found` */
function actionOf(actions: Readonly<Record<string, LoanAction>>, name: string): LoanAction {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (!action) throw noSuchAction()
  return action
}

/** Adds what people may do at the office pages. */
export function addActions(app: FastifyInstance, deps: Core): void {
  const idempotency = createIdempotency(deps)
  const add = (path: string, stepOf: (request: Request) => Promise<Step>) =>
    app.route<{ Params: Params; Querystring: Fields }>({
      method: ['GET', 'POST'],
      url: path,
      handler: async (request: Request, reply: FastifyReply) =>
        takeStep(idempotency, request, reply, await stepOf(request)),
    })
  add('/customers/do/create', customerStep)
  add('/customers/:id/do/lend', lendStep)
  add('/customers/:id/do/contact', contactStep)
  add('/loans/:id/do/promise', promiseStep)
  add('/loans/:id/promises/:partId/do/cancel', cancelStep)
  add('/loans/:id/do/hold', holdStep)
  add('/loans/:id/holds/:partId/do/release', releaseHoldStep)
  add('/loans/:id/do/assign', assignStep)
  add('/loans/:id/do/:action', loanStep)
  add('/loans/:id/transactions/:transactionId/do/:action', transactionStep)
  add('/customers/:id/do/close', closeStep)
  add('/customers/:id/do/identify', identifyStep)
  add('/customers/:id/do/consent', giveConsentStep)
  add('/customers/:id/do/ask', askStep)
  add('/data-requests/:id/do/:action', requestStep)
  add('/customers/:id/consents/:partId/do/withdraw', withdrawConsentStep)
  add('/loans/:id/add/guarantor', guarantorStep)
  add('/loans/:id/add/collateral', collateralStep)
  add('/loans/:id/guarantors/:partId/do/release', (request) => releaseStep(request, 'guarantors'))
  add('/loans/:id/collateral/:partId/do/release', (request) => releaseStep(request, 'collateral'))
  add('/products/:id/do/retire', retireStep)
  add('/payments/:id/loans/:loanId/do/allocate', allocateStep)
  add('/payments/:id/do/return', returnStep)
  add('/payments/:id/do/reverse', (request) => reverseStep(request, undefined))
  add('/payments/:id/repayments/:transactionId/do/reverse', (request) =>
    reverseStep(request, idOf(request.params.transactionId, 'transaction')),
  )
  add('/reconciliations/:id/do/apply', applyStep)
  add('/month-end/:id/do/close', closeMonthStep)
  add('/month-end/:id/do/provisions', bookProvisionsStep)
  add('/bureau-files/do/create', createExportStep)
  add('/bureau-files/:id/do/accept', acceptExportStep)
  add('/pending/:id/do/:action', approvalStep)
  add('/pending/asked-by/:id/do/reject', (request) => rejectAllStep(request, 'asker'))
  add('/pending/of-loan/:id/do/reject', (request) => rejectAllStep(request, 'loan'))
}

const loanStep = ({ desk, params }: Request): Promise<Step> => {
  const loanId = idOf(params.id, 'loan')
  return changeStep(desk, actionOf({ ...LOAN_ACTIONS, restructure: RESTRUCTURE }, params.action), {
    loanId,
    transactionId: 0n,
  })
}

const transactionStep = ({ desk, params }: Request): Promise<Step> => {
  const subject = { loanId: idOf(params.id, 'loan'), transactionId: idOf(params.transactionId, 'transaction') }
  const actions = { ...TRANSACTION_ACTIONS, 'reverse-restructure': REVERSE_RESTRUCTURE }
  return changeStep(desk, actionOf(actions, params.action), subject)
}

/** Returns the steps of an action on a loan. */
async function changeStep(desk: Desk, action: LoanAction, subject: Subject): Promise<Step> {
  const { deps, caller, say } = desk
  const { loanId, transactionId } = subject
  const { loan, at } = await getLoan(deps, caller, { id: loanId })
  const entry = loan.entries.find(({ id }) => id === transactionId)
  if (transactionId !== 0n && !entry) throw notFound('no transaction of this loan has that id')
  return {
    title: say(action.title, { loan: loanId, id: transactionId }),
    means: say(action.means),
    fields: action.fields,
    values: action.start?.(loan, entry, at) ?? {},
    back: `/loans/${loanId}`,
    async show(fields) {
      const decide = await action.decide(deps, caller, fields, subject)
      const preview = await previewDecision(deps, caller, { id: loanId }, decide)
      return { view: previewTable(desk, preview), mark: String(preview.loan.version) }
    },
    async run(by, fields) {
      const result = await action.run(deps, by, subject, fields)
      return isWaiting(result) ? 'doneWaits' : action.done
    },
  }
}

const CLOSURE: readonly Field[] = [{ name: 'date', word: 'closureDate', kind: 'date' }, REASON]

/** Returns the steps of closing a customer. */
async function closeStep({ desk, params }: Request): Promise<Step> {
  const { deps, caller, say } = desk
  const id = idOf(params.id, 'customer')
  const customer = await getCustomer(deps, caller, { id })
  return {
    title: say('titleClose', { id }),
    means: say('meansClose'),
    fields: CLOSURE,
    values: {},
    back: `/customers/${id}`,
    show: async (fields) => {
      dayOf(fields, 'date')
      noteOf(fields, 'reason')
      const now = await getCustomer(deps, caller, { id })
      const becomes = html`${sayName(say, now.status)} → ${say('Closed')}`
      return { view: tiles([tile(displayName(customer), becomes)]), mark: now.status }
    },
    async run(by, fields) {
      const reason = noteOf(fields, 'reason') ?? undefined
      await closeCustomer(deps, by, { id }, { closureDate: dayOf(fields, 'date'), reason })
      return 'doneClose'
    },
  }
}

/** Returns the steps of retiring a product. */
async function retireStep({ desk, params }: Request): Promise<Step> {
  const { deps, caller, say } = desk
  const id = idOf(params.id, 'loan product')
  const product = await getProduct(deps, caller, id)
  return {
    title: say('titleRetire', { id }),
    means: say('meansRetire'),
    fields: [],
    values: {},
    back: '/products',
    show: async () => {
      const { retired } = await getProduct(deps, caller, id)
      const becomes = html`${say(retired ? 'retired' : 'lending')} → ${say('retired')}`
      return { view: tiles([tile(product.name, becomes)]), mark: String(retired) }
    },
    async run(by) {
      await retireProduct(deps, by, Number(id))
      return 'doneRetire'
    },
  }
}
