import type { Command } from 'commander'
import { minorToText } from '../../domain/money.ts'
import { isWaiting } from '../../services/approvals/waiting.ts'
import { getLoanWithDelinquency } from '../../services/delinquency/loanDelinquency.ts'
import { getLoan } from '../../services/loans/loans.ts'
import { postTransaction, reverseTransaction } from '../../services/loans/transactions.ts'
import { toLoanText, toLoanView, toShownLoan } from '../loanView.ts'
import { calendarDate, longNumber, organizationOption } from '../options.ts'
import { perform, type Shell } from '../perform.ts'
import { printWaiting } from './approvals.ts'
import { documentCommands, external, LOAN, type LoanOptions, refOf } from './documents.ts'
import { restructureCommands } from './restructure.ts'

export function loanCommands(program: Command, shell: Shell): void {
  const loans = program.command('loans').description('single loans')

  loans
    .command('show')
    .description('show a loan as it is now, with its schedule and every entry')
    .argument(...LOAN)
    .addOption(external())
    .addOption(organizationOption())
    .action((named: string, options: LoanOptions, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const view = toShownLoan(await getLoanWithDelinquency(deps, by(id), refOf(named, options)))
        printer.done(view, printer.json ? '' : toLoanText(view))
      }),
    )

  documentCommands(loans, shell)
  restructureCommands(loans, shell)

  loans
    .command('reverse')
    .description('mark a transaction reversed: the loan becomes what it would be without it')
    .argument(...LOAN)
    .argument('<transaction>', 'its number', longNumber)
    .option('--note <text>', 'why; kept in the audit trail')
    .addOption(external())
    .addOption(organizationOption())
    .action((named: string, transaction: bigint, options: LoanOptions & { note?: string }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization, confirm }) => {
        const caller = by((await organization(options.organization)).id)
        const ref = refOf(named, options)
        const { loan } = await getLoan(deps, caller, ref)
        await confirm(`Reverse transaction ${transaction} of loan ${loan.id}?`)
        const note = options.note ?? null
        const reversed = await reverseTransaction(deps, caller, { ref, transactionId: transaction }, note)
        if (isWaiting(reversed)) return printWaiting(printer, reversed)
        const { entry } = reversed
        const amount = `${minorToText(entry.amount, loan.terms.currency)} ${loan.terms.currency.code}`
        printer.done(
          toLoanView(await getLoan(deps, caller, ref)),
          `The ${entry.type} of ${amount}, ${entry.valueDate}, is reversed.`,
        )
      }),
    )

  loans
    .command('write-off')
    .description('write off what is outstanding: Active becomes Closed (written off)')
    .argument(...LOAN)
    .option('--date <date>', 'its value date; today when left out', calendarDate)
    .option('--note <text>', 'why')
    .addOption(external())
    .addOption(organizationOption())
    .action((named: string, options: LoanOptions & { note?: string; date?: string }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization, confirm }) => {
        const caller = by((await organization(options.organization)).id)
        const ref = refOf(named, options)
        const { loan, state } = await getLoan(deps, caller, ref)
        const owed = `${minorToText(state.totalOutstanding, loan.terms.currency)} ${loan.terms.currency.code}`
        await confirm(`Write off loan ${loan.id}, on which ${owed} are outstanding?`)
        const { date: valueDate, note = null } = options
        const posting = { type: 'Write-off', amount: null, valueDate, token: null, note } as const
        const posted = await postTransaction(deps, caller, ref, posting)
        if (isWaiting(posted)) return printWaiting(printer, posted)
        const { entry } = posted
        const amount = `${minorToText(entry.amount, loan.terms.currency)} ${loan.terms.currency.code}`
        printer.done(
          toLoanView(await getLoan(deps, caller, ref)),
          `Loan ${loan.id}: ${amount} are written off, as transaction ${entry.id}.`,
        )
      }),
    )
}
