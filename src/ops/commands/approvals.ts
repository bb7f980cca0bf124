import { type Command, Option } from 'commander'
import { currencyOf, minorToText } from '../../domain/money.ts'
import {
  ACTION_STATES,
  type ActionFilter,
  approvePendingAction,
  getPendingAction,
  listPendingActions,
  type PendingAction,
  rejectPendingAction,
  rejectPendingActions,
  withdrawPendingAction,
} from '../../services/approvals/approvals.ts'
import type { Waits } from '../../services/approvals/waiting.ts'
import { decisionCommand } from '../decision.ts'
import { longNumber, type OfOrganization, organizationOption, wholeNumber } from '../options.ts'
import { perform, type Shell } from '../perform.ts'
import { type Printer, toSecond } from '../terminal/format.ts'

interface ListOptions extends OfOrganization {
  readonly state?: NonNullable<ActionFilter['state']>
  readonly rows: number
  readonly after?: string
  readonly askedBy?: number
}

interface RejectOptions extends OfOrganization {
  readonly askedBy?: number
  readonly loan?: bigint
  readonly reason: string
}

/** Says that a request waits for a second ADMIN. */
export function printWaiting(printer: Printer, { waits }: Waits): void {
  const amount = `${textOf(waits)} ${waits.currency}`
  printer.done(
    viewOf(waits, undefined),
    `Nothing is posted: the ${waits.kind} of ${amount} waits for an ADMIN, as pending action ${waits.id}.`,
  )
}

/** Adds the commands of the actions that wait for a second ADMIN. */
export function approvalCommands(program: Command, shell: Shell): void {
  const approvals = program.command('approvals').description('what waits for a second ADMIN')
  listCommand(approvals, shell)
  showCommand(approvals, shell)
  const decide = decisionCommand<PendingAction>(approvals, shell, {
    get: ({ deps }, caller, id) => getPendingAction(deps, caller, id),
    nameOf: (action) => `the ${action.kind} of ${textOf(action)} ${action.currency} on ${targetOf(action)}`,
    viewOf,
    endOf: ({ id, state }) => `The pending action ${id} is ${state}.`,
  })
  decide('approve', 'approve an action that an account asked for: it is posted', (task, caller, { id }) =>
    approvePendingAction(task.deps, caller, id),
  )
  decide('withdraw', 'withdraw an action that the command line asked for', (task, caller, { id }) =>
    withdrawPendingAction(task.deps, caller, id),
  )
  decide('reject', 'reject an action: nothing is posted', (task, caller, { id, reason = '' }) =>
    rejectPendingAction(task.deps, caller, id, reason),
  ).requiredOption('--reason <text>', 'why, for the one who asked')
  rejectAllCommand(approvals, shell)
}

function listCommand(approvals: Command, shell: Shell): void {
  approvals
    .command('list')
    .description('list the actions, oldest first')
    .addOption(new Option('--state <state>', 'only these').choices(ACTION_STATES))
    .option('--asked-by <account>', 'only what this account asked for', wholeNumber)
    .addOption(organizationOption())
    .option('-n, --rows <number>', 'at most so many', wholeNumber, 100)
    .option('--after <cursor>', 'those after an earlier list: its next')
    .action(({ organization: given, state, rows, after, askedBy }: ListOptions, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(given)
        const { zone } = deps.config
        const range = after === undefined ? { rows } : { rows, after }
        const { items, next } = await listPendingActions(deps, by(id), { state, askedBy }, range)
        if (next !== undefined && items.length === rows) printer.note(`more: --after ${next}`)
        printer.list(
          items,
          [
            ['id', (one) => String(one.id), 'right'],
            ['state', (one) => one.state],
            ['kind', (one) => one.kind],
            ['on', targetOf],
            ['amount', textOf, 'right'],
            ['currency', (one) => one.currency],
            ['asked', (one) => toSecond(one.askedAt, zone)],
            ['by', (one) => nameOf(one.askedBy)],
          ],
          (one) => viewOf(one, zone),
        )
      }),
    )
}

function showCommand(approvals: Command, shell: Shell): void {
  approvals
    .command('show')
    .description('show an action: who asked for what, and what became of it')
    .argument('<id>', 'its number', longNumber)
    .addOption(organizationOption())
    .action((action: bigint, options: OfOrganization, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const caller = by((await organization(options.organization)).id)
        const found = viewOf(await getPendingAction(deps, caller, action), deps.config.zone)
        printer.done(found, JSON.stringify(found, null, 2))
      }),
    )
}

function rejectAllCommand(approvals: Command, shell: Shell): void {
  approvals
    .command('reject-all')
    .description('reject all actions of an account, or on a loan, but for those that the command line asked for')
    .option('--asked-by <account>', 'what this account asked for', wholeNumber)
    .option('--loan <id>', 'what is on this loan', longNumber)
    .requiredOption('--reason <text>', 'why, for those who asked')
    .addOption(organizationOption())
    .action(({ organization: given, askedBy, loan: loanId, reason }: RejectOptions, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization, confirm }) => {
        const caller = by((await organization(given)).id)
        const whose = [askedBy !== undefined && `of account ${askedBy}`, loanId !== undefined && `on loan ${loanId}`]
        await confirm(`reject all pending actions ${whose.filter(Boolean).join(' ')}?`)
        const of = { ...(askedBy !== undefined && { askedBy }), ...(loanId !== undefined && { loanId }) }
        const rejected = await rejectPendingActions(deps, caller, { ...of, reason })
        printer.done({ rejected: rejected.map(String) }, `${rejected.length} pending actions are rejected.`)
      }),
    )
}

const textOf = ({ amount, currency }: Pick<PendingAction, 'amount' | 'currency'>): string =>
  minorToText(amount, currencyOf(currency))

/** Returns the loan or the payment that an action is on, by its number. */
const targetOf = ({ loanId, paymentId }: PendingAction): string =>
  loanId === null ? `payment ${paymentId}` : `loan ${loanId}`

const nameOf = (account: number | null): string => (account === null ? 'the command line' : `account ${account}`)

/** Builds the view of an action. @param zone of its instants; undefined leaves them out */
function viewOf(action: PendingAction, zone: string | undefined): object {
  const { id, loanId, paymentId, transactionId, postedId, askedAt, decidedAt, ...rest } = action
  const numbers = { id, loanId, paymentId, transactionId, postedId }
  return {
    ...Object.fromEntries(
      Object.entries(numbers).map(([name, value]) => [name, value === null ? null : String(value)]),
    ),
    ...rest,
    amount: textOf(action),
    ...(zone !== undefined && { askedAt: toSecond(askedAt, zone), decidedAt: toSecond(decidedAt, zone) || null }),
  }
}
