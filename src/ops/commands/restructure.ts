import { type Command, InvalidArgumentError, Option } from 'commander'
import { PERIOD_UNITS, type PeriodUnit } from '../../domain/dates.ts'
import { RESTRUCTURE_REASONS, type RestructureReason } from '../../domain/loan/restructure/plan.ts'
import {
  type AskedChange,
  RESTRUCTURE_FEE_TREATMENTS,
  type RestructureFee,
  type RestructureRequest,
  WAIVERS,
} from '../../domain/loan/restructure/restructureLoan.ts'
import { type Decimal, minorToText } from '../../domain/money.ts'
import { rateOf } from '../../domain/product/newValues.ts'
import { RATE_PERIODS, type RatePer } from '../../domain/product/terms.ts'
import { isWaiting } from '../../services/approvals/waiting.ts'
import { getLoan } from '../../services/loans/loans.ts'
import {
  previewRestructure,
  type RestructuredLoan,
  restructure,
  reverseRestructureOf,
} from '../../services/loans/restructures.ts'
import { toLoanView } from '../loanView.ts'
import { calendarDate, decimalNumber, longNumber, membersOf, organizationOption, wholeNumber } from '../options.ts'
import { perform, type Shell } from '../perform.ts'
import { type Column, toTable } from '../terminal/format.ts'
import { UsageError } from '../terminal/terminalIo.ts'
import { printWaiting } from './approvals.ts'
import { external, LOAN, type LoanOptions, refOf } from './documents.ts'

interface RestructureOptions extends LoanOptions {
  readonly firstDue?: string
  readonly postpone?: number
  readonly instalments?: number
  readonly every?: number
  readonly unit: PeriodUnit
  readonly instalmentAmount?: Decimal
  readonly until?: string
  readonly effective?: string
  readonly interest: RestructureRequest['interest']
  readonly fee?: RestructureFee
  readonly waive?: RestructureRequest['waive']
  readonly reason: RestructureReason
  readonly note?: string
  readonly preview?: boolean
}

/** Adds `loans restructure` and `loans reverse-restructure`. */
export function restructureCommands(loans: Command, shell: Shell): void {
  loans
    .command('restructure')
    .description('schedule again what an Active loan owes: one of the first five options')
    .argument(...LOAN)
    .option('--first-due <date>', 'the first instalment that owes something is due on this day', calendarDate)
    .option('--postpone <periods>', 'a holiday: each instalment waits for so many periods', wholeNumber)
    .option('--instalments <number>', 'an extension: divide what is owed into so many', wholeNumber)
    .option('--instalment-amount <amount>', 'divide what is owed into instalments of an amount', decimalNumber)
    .option('--until <date>', 'a roll-over: the one instalment that is left is due on this day', calendarDate)
    .option('--every <number>', 'with --instalments: periods between them; as before when left out', wholeNumber)
    .addOption(new Option('--unit <unit>', 'with --every: of the periods').choices(PERIOD_UNITS).default('months'))
    .option('--effective <date>', 'the day from which it counts; today when left out', calendarDate)
    .option('--interest <rule>', 'of the added time: keep, none, or a rate such as 2/month', addedInterest, 'keep')
    .option('--fee <fee>', 'name=…,amount=…,treatment=due_now|added', fee)
    .option('--waive <amounts>', '[penalty=…][,fees=…][,interest=…]', waivers)
    .addOption(new Option('--reason <reason>', 'why').choices(RESTRUCTURE_REASONS).makeOptionMandatory())
    .option('--note <text>', 'more of why')
    .option('--preview', 'show what it would make of the loan, and change nothing')
    .addOption(external())
    .addOption(organizationOption())
    .action((named: string, options: RestructureOptions, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization, confirm }) => {
        const request = requestOf(options)
        const caller = by((await organization(options.organization)).id)
        const ref = refOf(named, options)
        if (options.preview) {
          const preview = await previewRestructure(deps, caller, ref, request)
          return printer.done(viewOf(preview), scheduleText(preview))
        }
        const { loan } = await getLoan(deps, caller, ref)
        await confirm(`Restructure loan ${loan.id} (${options.reason})?`)
        const made = await restructure(deps, caller, ref, request)
        if (isWaiting(made)) return printWaiting(printer, made)
        printer.done(viewOf(made), `Loan ${loan.id} is restructured.\n\n${scheduleText(made)}`)
      }),
    )

  loans
    .command('reverse-restructure')
    .description(
      'mark a restructure reversed, with its waivers and its fee: the loan becomes what it would be without it',
    )
    .argument(...LOAN)
    .argument('<transaction>', 'the number of the restructure', longNumber)
    .option('--note <text>', 'why; kept in the audit trail')
    .addOption(external())
    .addOption(organizationOption())
    .action((named: string, transactionId: bigint, options: LoanOptions & { note?: string }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization, confirm }) => {
        const caller = by((await organization(options.organization)).id)
        const ref = refOf(named, options)
        const { loan } = await getLoan(deps, caller, ref)
        await confirm(`Reverse restructure ${transactionId} of loan ${loan.id}?`)
        const left = await reverseRestructureOf(deps, caller, { ref, transactionId }, options.note ?? null)
        if (isWaiting(left)) return printWaiting(printer, left)
        printer.done(viewOf(left), `Restructure ${transactionId} is reversed.\n\n${scheduleText(left)}`)
      }),
    )
}

function requestOf(options: RestructureOptions): RestructureRequest {
  const changes = changesIn(options)
  const [change] = changes
  if (!change || changes.length > 1)
    throw new UsageError('give one of --first-due, --postpone, --instalments, --instalment-amount and --until')
  if (options.every !== undefined && change.kind !== 'numberOfRepayments')
    throw new UsageError('--every goes with --instalments')
  const { effective, interest, fee = null, waive = {}, reason, note = null } = options
  return { effectiveDate: effective, change, interest, fee, waive, reason, note }
}

function changesIn({ firstDue, postpone, instalments, every, unit, ...options }: RestructureOptions): AskedChange[] {
  const { instalmentAmount, until } = options
  const distance = every === undefined ? null : { every, unit }
  return [
    ...(firstDue === undefined ? [] : [{ kind: 'newFirstDueDate' as const, on: firstDue }]),
    ...(postpone === undefined ? [] : [{ kind: 'postponeBy' as const, periods: postpone }]),
    ...(instalments === undefined
      ? []
      : [{ kind: 'numberOfRepayments' as const, count: instalments, every: distance }]),
    ...(instalmentAmount === undefined ? [] : [{ kind: 'instalmentAmount' as const, amount: instalmentAmount }]),
    ...(until === undefined ? [] : [{ kind: 'until' as const, on: until }]),
  ]
}

/** Reads the interest of the added time: `keep`, `none`, or a rate such as `2/month`. */
function addedInterest(text: string): RestructureRequest['interest'] {
  if (text === 'keep' || text === 'none') return text
  const [percent = '', per = ''] = text.split('/', 2)
  const ratePer = RATE_PERIODS.find((one): one is RatePer => one === per)
  if (ratePer === undefined)
    throw new InvalidArgumentError(`It must be keep, none, or a rate such as 2/${RATE_PERIODS.join(' or 2/')}.`)
  return { rate: rateOf('interest', decimalNumber(percent)), ratePer }
}

function fee(text: string): RestructureFee {
  const members = membersOf(text, ['name', 'amount', 'treatment'])
  const [name, amount] = [members.get('name'), members.get('amount')]
  const treatment = RESTRUCTURE_FEE_TREATMENTS.find((one) => one === members.get('treatment'))
  if (!name || amount === undefined || treatment === undefined)
    throw new InvalidArgumentError(`It must be name=…,amount=…,treatment=${RESTRUCTURE_FEE_TREATMENTS.join('|')}.`)
  return { name, amount: decimalNumber(amount), treatment }
}

function waivers(text: string): RestructureRequest['waive'] {
  const members = membersOf(text, Object.keys(WAIVERS))
  return Object.fromEntries([...members].map(([component, amount]) => [component, decimalNumber(amount)]))
}

const viewOf = ({ loan, state, versions }: RestructuredLoan) => ({
  ...toLoanView({ loan, state }),
  scheduleVersion: versions.length,
  restructures: versions.flatMap(({ made }) =>
    made === null ? [] : [{ id: String(made.entry.id), on: made.entry.valueDate, countsAs: made.countsAs }],
  ),
})

/** A line of a schedule, without what was paid of it. */
type Line = ReturnType<typeof toLoanView>['schedule'][number]

const LINES: readonly Column<Line>[] = [
  ['#', (line) => line.period, 'right'],
  ['due date', (line) => line.dueDate],
  ['due', (line) => line.due, 'right'],
  ['owed', (line) => line.owed, 'right'],
]

function scheduleText({ loan, state, versions }: RestructuredLoan): string {
  const { currency } = loan.terms
  const owed = `${minorToText(state.totalOutstanding, currency)} ${currency.code} are outstanding.`
  return `Version ${versions.length} of the schedule; ${owed}\n\n${toTable(toLoanView({ loan, state }).schedule, LINES)}`
}
