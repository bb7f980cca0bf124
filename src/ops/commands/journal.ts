import { type Command, Option } from 'commander'
import { chartToJson, readNewChart } from '../../domain/accounting/newChartJson.ts'
import { BASES, type Basis } from '../../domain/accounting/trialBalance.ts'
import { minorToText } from '../../domain/money.ts'
import { getChart, setChart } from '../../services/accounting/charts.ts'
import { closePeriod } from '../../services/accounting/closePeriod.ts'
import {
  balanceSheetCsv,
  incomeRows,
  incomeStatementCsv,
  type StatementRow,
  sheetRows,
} from '../../services/accounting/csv.ts'
import { exportJournal, JOURNAL_FORMATS, type JournalFormat } from '../../services/accounting/exportJournal.ts'
import {
  type BooksOfCurrency,
  type BooksOfDays,
  getBooks,
  getBooksUpTo,
} from '../../services/accounting/financialStatements.ts'
import { listPeriods } from '../../services/accounting/periods.ts'
import { getClosingText, getTrialBalance } from '../../services/accounting/trialBalance.ts'
import { readGivenJson } from '../files/givenFile.ts'
import { calendarDate, currencyOption, type OfOrganization, organizationOption, wholeNumber } from '../options.ts'
import { perform, type Shell, type Task } from '../perform.ts'
import { toSecond } from '../terminal/format.ts'
import { UsageError } from '../terminal/terminalIo.ts'
import { requireOneFormat, writeCsv } from './portfolio/par.ts'

/** Adds the commands of the journal. They wait for the service, which keeps the journal in the background. */
export function journalCommands(program: Command, shell: Shell): void {
  const journal = program
    .command('journal')
    .description('the journal of the loans: balances, exports, closes, the chart')
  trialBalanceCommand(journal, shell)
  incomeStatementCommand(journal, shell)
  balanceSheetCommand(journal, shell)
  exportCommand(journal, shell)
  periodsCommand(journal, shell)
  closeCommand(journal, shell)
  chartCommands(journal, shell)
}

interface BalanceOptions extends OfOrganization {
  readonly asOf?: string
  readonly basis?: Basis
  readonly currency?: string
  readonly product?: number
  readonly hashed?: boolean
}

function trialBalanceCommand(journal: Command, shell: Shell): void {
  journal
    .command('trial-balance')
    .description('print debits, credits and balance of each account up to a day')
    .addOption(organizationOption())
    .option('--as-of <date>', 'the last day; today when left out', calendarDate)
    .addOption(basisOption())
    .addOption(currencyOption("the organization's when left out"))
    .option('--product <id>', 'only what loans of this product contribute', wholeNumber)
    .option('--hashed', 'print the lines of which the hash of a close is made, of all currencies; takes --as-of alone')
    .action((options: BalanceOptions, command: Command) =>
      perform(shell, command, async ({ io, deps, printer, by, organization }) => {
        const { asOf, basis, currency, product, hashed } = options
        if (hashed && ((asOf === undefined || basis) ?? currency ?? product))
          throw new UsageError('--hashed takes --as-of, and no other choice')
        const caller = by((await organization(options.organization)).id)
        if (hashed && asOf !== undefined) return io.out(await getClosingText(deps, caller, asOf))
        const found = await getTrialBalance(deps, caller, { asOf, basis, currency, productId: product })
        const text = (amount: bigint) => minorToText(amount, found.currency)
        const { accounts, totalDebit, totalCredit, currency: of, ...rest } = found
        const rows = accounts.map(({ code, name, type, debit, credit, balance }) => {
          return { code, name, type, debit: text(debit), credit: text(credit), balance: text(balance) }
        })
        const totals = { totalDebit: text(totalDebit), totalCredit: text(totalCredit) }
        if (printer.json) return printer.done({ ...rest, currencyCode: of.code, accounts: rows, ...totals }, '')
        printer.note(`${of.code}, ${rest.basis}, as of ${rest.asOf}, up to event ${rest.sequence}`)
        const total = {
          code: '',
          name: 'total',
          type: '',
          debit: totals.totalDebit,
          credit: totals.totalCredit,
          balance: '',
        }
        return printer.list(
          [...rows, total],
          [
            ['code', (one) => one.code],
            ['account', (one) => one.name],
            ['type', (one) => one.type],
            ['debit', (one) => one.debit, 'right'],
            ['credit', (one) => one.credit, 'right'],
            ['balance', (one) => one.balance, 'right'],
          ],
        )
      }),
    )
}

interface StatementOptions extends OfOrganization {
  readonly basis?: Basis
  readonly csv?: boolean
}

const basisOption = () => new Option('--basis <basis>', 'by booked days or by value dates').choices(BASES)

function incomeStatementCommand(journal: Command, shell: Shell): void {
  journal
    .command('income-statement')
    .description('print what each account of income and expenses changed over some days, and the result')
    .addOption(organizationOption())
    .requiredOption('--from <date>', 'the first day', calendarDate)
    .requiredOption('--to <date>', 'the last day', calendarDate)
    .addOption(basisOption())
    .option('--csv', 'print CSV')
    .action((options: StatementOptions & { readonly from: string; readonly to: string }, command: Command) =>
      perform(shell, command, async (task) => {
        requireOneFormat(task, options)
        const caller = task.by((await task.organization(options.organization)).id)
        const books = await getBooks(task.deps, caller, options)
        if (options.csv) return writeCsv(task, incomeStatementCsv(books))
        return printStatement(task, books, incomeRows, { from: books.from, to: books.to })
      }),
    )
}

function balanceSheetCommand(journal: Command, shell: Shell): void {
  journal
    .command('balance-sheet')
    .description('print assets, liabilities and equity at the end of a day, and the accumulated result')
    .addOption(organizationOption())
    .option('--as-of <date>', 'the day; today when left out', calendarDate)
    .addOption(basisOption())
    .option('--csv', 'print CSV')
    .action((options: StatementOptions & { readonly asOf?: string }, command: Command) =>
      perform(shell, command, async (task) => {
        requireOneFormat(task, options)
        const caller = task.by((await task.organization(options.organization)).id)
        const books = await getBooksUpTo(task.deps, caller, options)
        if (options.csv) return writeCsv(task, balanceSheetCsv(books))
        return printStatement(task, books, sheetRows, { asOf: books.to })
      }),
    )
}

/** Prints the rows of a financial statement, of each currency. @param days the days that it is of */
function printStatement(
  { printer }: Pick<Task, 'printer'>,
  { basis, sequence, currencies }: BooksOfDays,
  toRows: (books: BooksOfCurrency) => readonly StatementRow[],
  days: Readonly<Record<string, string>>,
): void {
  const rows = currencies.flatMap((books) =>
    toRows(books).map(({ amount, ...row }) => {
      return { currencyCode: books.currency.code, ...row, amount: minorToText(amount, books.currency) }
    }),
  )
  if (printer.json) {
    printer.done({ ...days, basis, sequence, rows }, '')
    return
  }
  printer.note(`${basis}, ${Object.values(days).join(' to ')}, up to event ${sequence}`)
  printer.list(rows, [
    ['currency', (one) => one.currencyCode],
    ['type', (one) => one.type],
    ['code', (one) => one.code],
    ['account', (one) => one.name ?? 'total'],
    ['amount', (one) => one.amount, 'right'],
  ])
}

function exportCommand(journal: Command, shell: Shell): void {
  journal
    .command('export')
    .description('write a month of the journal to stdout, with control totals at its end')
    .argument('<month>', 'such as 2026-01')
    .addOption(organizationOption())
    .addOption(
      new Option('--format <format>', 'for hledger, or for a spreadsheet').choices(JOURNAL_FORMATS).default('hledger'),
    )
    .action((period: string, options: OfOrganization & { readonly format: JournalFormat }, command: Command) =>
      perform(shell, command, async ({ io, deps, by, organization }) => {
        const { id } = await organization(options.organization)
        for await (const part of await exportJournal(deps, by(id), { period, format: options.format })) {
          io.stopping.throwIfAborted()
          io.out(part)
        }
      }),
    )
}

function periodsCommand(journal: Command, shell: Shell): void {
  journal
    .command('periods')
    .description('list the months of the books, newest first')
    .addOption(organizationOption())
    .action((options: OfOrganization, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const at = (instant: number | null) => toSecond(instant, deps.config.zone)
        printer.list(
          await listPeriods(deps, by(id)),
          [
            ['month', (one) => one.month],
            ['state', (one) => one.state],
            ['closed at', (one) => at(one.closedAt)],
            ['sequence', (one) => one.closeSequence?.toString(), 'right'],
            ['hash', (one) => one.trialBalanceHash],
          ],
          (one) => ({ ...one, closedAt: at(one.closedAt) || null }),
        )
      }),
    )
}

function closeCommand(journal: Command, shell: Shell): void {
  journal
    .command('close')
    .description('close the oldest open month, once it is over: its booked balances never change again')
    .argument('<month>', 'such as 2026-01')
    .addOption(organizationOption())
    .action((month: string, options: OfOrganization, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization, confirm }) => {
        const { id: organizationId } = await organization(options.organization)
        await confirm(`Close ${month} of organization ${organizationId} for good?`)
        const closed = await closePeriod(deps, by(organizationId), month)
        const { closeSequence, trialBalanceHash } = closed
        printer.done(
          { organizationId, ...closed, closedAt: toSecond(closed.closedAt, deps.config.zone) },
          `${month} of organization ${organizationId} is closed, at event ${closeSequence}.\nThe hash of its trial balance: ${trialBalanceHash}`,
        )
      }),
    )
}

function chartCommands(journal: Command, shell: Shell): void {
  const charts = journal.command('chart').description('the chart of accounts, and how income is recognised')
  charts
    .command('show')
    .description('print the newest chart, as JSON that `set` takes')
    .addOption(organizationOption())
    .action((options: OfOrganization, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const { version, chart, inForce, countsFrom } = await getChart(deps, by(id))
        const from = countsFrom === null ? 'from the beginning' : `from ${countsFrom} on`
        printer.note(`version ${version}, ${inForce ? `counts ${from}` : 'not in force yet'}`)
        printer.done(chartToJson(chart), JSON.stringify(chartToJson(chart), null, 2))
      }),
    )

  charts
    .command('set')
    .description('set the chart, which counts from the first open month on')
    .argument('<file>', 'the chart, JSON')
    .addOption(organizationOption())
    .action((file: string, options: OfOrganization, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization, confirm }) => {
        const { id: organizationId } = await organization(options.organization)
        const chart = readNewChart(await readGivenJson(file, 'chart'))
        await confirm(`Keep the journal of organization ${organizationId} by ${file} from now on?`)
        const { version } = await setChart(deps, by(organizationId), chart)
        printer.done({ organizationId, version }, `The chart of organization ${organizationId} is version ${version}.`)
      }),
    )
}
