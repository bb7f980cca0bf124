import { type Command, InvalidArgumentError, Option } from 'commander'
import { currencyOf, type Decimal, minorToText, parseDecimal } from '../../domain/money.ts'
import { inSuspense, PAYMENT_STATUSES, type PaymentStatus } from '../../domain/payments/payment.ts'
import { DIFFERENCE_KINDS, LINE_KINDS } from '../../domain/payments/reconciliation.ts'
import { STATEMENT_LAYOUTS, type StatementLayout } from '../../domain/payments/statementLayouts.ts'
import { type Channel, getChannel, listChannels } from '../../services/payments/channels.ts'
import { listPayments, type PaymentView } from '../../services/payments/payments.ts'
import {
  applyReconciliation,
  getReconciliation,
  listLines,
  type Reconciliation,
  reconcile,
  type StoredLine,
} from '../../services/payments/reconciliation/reconcile.ts'
import { readGiven } from '../files/givenFile.ts'
import { calendarDate, longNumber, type OfOrganization, organizationOption, wholeNumber } from '../options.ts'
import { perform, type Shell, type Task } from '../perform.ts'
import { toSecond } from '../terminal/format.ts'
import { withProgress } from '../terminal/terminalIo.ts'

const MOST_CHANNELS = 500
const MOST_ROWS = 500

export function paymentCommands(program: Command, shell: Shell): void {
  const payments = program
    .command('payments')
    .description('payments that come in, and the statements of their providers')
  channelsCommand(payments, shell)
  listCommand(payments, shell)
  reconcileCommand(payments, shell)
  applyCommand(payments, shell)
}

/** Reads how many rows are listed. */
function rowCount(text: string): number {
  const rows = wholeNumber(text)
  if (rows > MOST_ROWS) throw new InvalidArgumentError(`It must be ${MOST_ROWS} at most.`)
  return rows
}

/** Reads an amount that may be below 0. */
function balance(text: string): Decimal {
  const read = parseDecimal(text.replace(/^-/, ''))
  if (!read) throw new InvalidArgumentError('It must be an amount such as 1500 or -20.50.')
  return text.startsWith('-') ? { ...read, units: -read.units } : read
}

const rowsOption = (description: string) =>
  new Option('-n, --rows <number>', description).argParser(rowCount).default(100)

function channelsCommand(payments: Command, shell: Shell): void {
  payments
    .command('channels')
    .description('list the wallets and bank accounts on which payments come in')
    .addOption(organizationOption())
    .action((options: OfOrganization, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const { items } = await listChannels(deps, by(id), { rows: MOST_CHANNELS })
        printer.list(items.map(channelView), [
          ['id', (one) => one.id, 'right'],
          ['state', (one) => one.state],
          ['adapter', (one) => one.adapter],
          ['currency', (one) => one.currency],
          ['short code', (one) => one.shortCode],
          ['account', (one) => one.account],
          ['name', (one) => one.name],
        ])
      }),
    )
}

/** Returns a channel as it is printed, without the hashes of its secrets. */
const channelView = ({ id, name, adapter, currency, shortCode, account, zone, disabledAt }: Channel) => ({
  id: String(id),
  state: disabledAt === null ? 'active' : 'disabled',
  adapter,
  currency,
  shortCode,
  account,
  zone,
  name,
})

interface ListOptions extends OfOrganization {
  readonly status?: PaymentStatus
  readonly channel?: number
  readonly receipt?: string
  readonly rows: number
}

function listCommand(payments: Command, shell: Shell): void {
  payments
    .command('list')
    .description('list payments in the order in which they were received; those to match by --status unmatched')
    .addOption(new Option('--status <status>', 'only those that are so').choices(PAYMENT_STATUSES))
    .option('--channel <id>', 'only those of this channel', wholeNumber)
    .option('--receipt <text>', "only those with this receipt of the provider's")
    .addOption(rowsOption('the first so many'))
    .addOption(organizationOption())
    .action((options: ListOptions, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const { status, channel: channelId, receipt, rows } = options
        const filter = { channelId, receipt, ...(status && { statuses: [status] }) }
        const { items, next } = await listPayments(deps, by(id), filter, { rows })
        printer.list(
          items.map((one) => paymentView(one, deps.config.zone)),
          [
            ['id', (one) => one.id, 'right'],
            ['paid', (one) => one.paidAt],
            ['status', (one) => one.status],
            ['amount', (one) => one.amount, 'right'],
            ['suspense', (one) => one.suspense, 'right'],
            ['currency', (one) => one.currency],
            ['receipt', (one) => one.receipt],
            ['reference', (one) => one.reference],
            ['may be of loan', (one) => one.candidates.join(' ')],
          ],
        )
        if (next) printer.note(`There are more than these ${rows}.`)
      }),
    )
}

function paymentView({ payment, candidates }: PaymentView, zone: string) {
  const money = (minor: bigint) => minorToText(minor, currencyOf(payment.currency))
  const { id, channelId, receipt, reference, status, currency, paidAt, amount } = payment
  return {
    id: String(id),
    channelId: String(channelId),
    receipt,
    reference,
    status,
    currency,
    paidAt: toSecond(paidAt, zone),
    amount: money(amount),
    suspense: money(inSuspense(payment)),
    candidates: candidates.map(({ loanId }) => String(loanId)),
  }
}

interface ReconcileOptions extends OfOrganization {
  readonly channel: bigint
  readonly from: string
  readonly to: string
  readonly layout: StatementLayout
  readonly opening?: Decimal
  readonly closing?: Decimal
  readonly rows: number
}

function reconcileCommand(payments: Command, shell: Shell): void {
  payments
    .command('reconcile')
    .description("compare a provider's statement with the payments of its channel; exits with 1 where they differ")
    .argument('<file>', 'the statement as the provider wrote it')
    .requiredOption('--channel <id>', 'whose statement it is', longNumber)
    .requiredOption('--from <date>', 'the first day of the statement', calendarDate)
    .requiredOption('--to <date>', 'the last day of the statement', calendarDate)
    .addOption(new Option('--layout <layout>', 'how the file is laid out').choices(STATEMENT_LAYOUTS).default('plain'))
    .option('--opening <amount>', 'the balance before; that of the statement when left out', balance)
    .option('--closing <amount>', 'the balance after; that of the statement when left out', balance)
    .addOption(rowsOption('show so many differences'))
    .addOption(organizationOption())
    .action((file: string, options: ReconcileOptions, command: Command) =>
      perform(shell, command, async (task) => {
        const { deps, io, by, organization } = task
        const { id } = await organization(options.organization)
        const { channel: channelId, from, to, layout, opening, closing, rows } = options
        const statement = await readGiven(file, 'statement')
        const asked = { channelId, from, to, layout, opening, closing, statement }
        const run = await withProgress(io, 'lines', (onProgress) => reconcile(deps, by(id), { ...asked, onProgress }))
        return printRun(task, run, rows)
      }),
    )
}

function applyCommand(payments: Command, shell: Shell): void {
  payments
    .command('apply')
    .description('receive what a compared statement has and the payments have not, and compare again')
    .argument('<reconciliation>', 'its number', longNumber)
    .addOption(rowsOption('show so many differences that are left'))
    .addOption(organizationOption())
    .action((runId: bigint, options: OfOrganization & { readonly rows: number }, command: Command) =>
      perform(shell, command, async (task) => {
        const { deps, by, organization, confirm } = task
        const caller = by((await organization(options.organization)).id)
        const { figures } = await getReconciliation(deps, caller, runId)
        await confirm(
          `Receive ${figures.missing_here.lines} payments of reconciliation ${runId}, and take ${figures.reversal_missing.lines} back?`,
        )
        return printRun(task, await applyReconciliation(deps, caller, runId), options.rows)
      }),
    )
}

/**
 * Prints a comparison with its first differences.
 * @returns the exit code: 1 where the statement and the payments differ
 */
async function printRun({ deps, printer, by }: Task, run: Reconciliation, rows: number): Promise<number> {
  const caller = by(run.organizationId)
  const { currency, zone } = await getChannel(deps, caller, BigInt(run.channelId))
  const money = (minor: bigint) => minorToText(minor, currencyOf(currency))
  const figures = Object.fromEntries(
    LINE_KINDS.map((kind) => {
      const { lines, amount } = run.figures[kind]
      return [kind, { lines, amount: money(BigInt(amount)) }] as const
    }),
  )
  const { items } = await listLines(deps, caller, run.id, { kinds: DIFFERENCE_KINDS, range: { rows } })
  const differences = items.map((line) => lineView(line, { money, zone }))
  const { id, channelId, fromDate: from, toDate: to, balanced } = run
  const days = from === to ? from : `${from} to ${to}`
  if (printer.json) {
    const of = { id, channelId, from, to, currency, balanced, difference: money(run.difference) }
    printer.done({ ...of, figures, differences }, '')
    return balanced ? 0 : 1
  }
  printer.list(Object.entries(figures), [
    ['kind', ([kind]) => kind.replaceAll('_', ' ')],
    ['lines', ([, { lines }]) => lines, 'right'],
    [currency, ([, { amount }]) => amount, 'right'],
  ])
  if (differences.length > 0)
    printer.list(differences, [
      ['line', (one) => one.line, 'right'],
      ['kind', (one) => one.kind.replaceAll('_', ' ')],
      ['receipt', (one) => one.receipt],
      ['at', (one) => one.at],
      ['amount', (one) => one.amount, 'right'],
      ['reference', (one) => one.reference],
      ['payment', (one) => one.paymentId],
    ])
  const found = DIFFERENCE_KINDS.reduce((sum, kind) => sum + run.figures[kind].lines, 0)
  if (found > differences.length) printer.note(`There are ${found} differences; these are the first.`)
  printer.note(
    balanced
      ? `Reconciliation ${id} of channel ${channelId}, ${days}: nothing is missing or different.`
      : `Reconciliation ${id} of channel ${channelId}, ${days}: not balanced, difference ${money(run.difference)} ${currency}.`,
  )
  return balanced ? 0 : 1
}

interface Printed {
  readonly money: (minor: bigint) => string
  readonly zone: string
}

const lineView = (line: StoredLine, { money, zone }: Printed) => ({
  ...line,
  at: toSecond(line.at, zone),
  amount: money(line.amount),
  paymentId: line.paymentId === null ? null : String(line.paymentId),
})
