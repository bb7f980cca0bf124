import { writeFile as write } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import { toRfc3339 } from '../../domain/dates.ts'
import { isReversed, type LoanLine } from '../../domain/documents/loanLines.ts'
import { paymentMethodOf } from '../../domain/loan/entry.ts'
import { COMPONENTS, totalOf } from '../../domain/loan/portions.ts'
import { minorToText } from '../../domain/money.ts'
import {
  type Coded,
  DOCUMENT_FORMATS,
  type DocumentFormat,
  makeReceipt,
  makeStatement,
  writeFile,
} from '../../services/documents/documents.ts'
import { codeText } from '../../services/documents/texts.ts'
import type { LoanRef } from '../../services/loans/loans.ts'
import { LANGUAGES, type Language } from '../../words/words.ts'
import { calendarDate, longNumber, numberIn, organizationOption } from '../options.ts'
import { perform, type Shell, type Task } from '../perform.ts'
import { visibleCsv, visibleJson } from '../terminal/format.ts'
import { Declined, UsageError } from '../terminal/terminalIo.ts'

/** The options by which a command names a loan. */
export interface LoanOptions {
  readonly organization?: number
  readonly external?: boolean
}

/** The argument that names a loan. */
export const LOAN = ['<loan>', 'its number; with --external, your own id of it'] as const

/** Returns the option that says which id of a loan is given. */
export const external = () => new Option('--external', 'the loan is named by its externalId')

interface DocumentOptions extends LoanOptions {
  readonly language: Language
  readonly format?: DocumentFormat | 'json'
  readonly output?: string
}

const FORMATS = [...DOCUMENT_FORMATS, 'json'] as const

/** Adds the options that statements and receipts have in common. */
const withOptions = (command: Command): Command =>
  command
    .addOption(new Option('--language <language>', 'of its words').choices([...LANGUAGES]).default('en'))
    .addOption(new Option('--format <format>', 'pdf when left out').choices([...FORMATS]))
    .option('--output <file>', 'where to write it; a PDF needs it')
    .addOption(external())
    .addOption(organizationOption())

/** Adds the commands that make documents of a loan. */
export function documentCommands(loans: Command, shell: Shell): void {
  withOptions(
    loans
      .command('statement')
      .description('make a statement of a loan, as PDF, CSV or JSON')
      .argument(...LOAN)
      .option('--from <date>', 'the first value date; the disbursement when left out', calendarDate)
      .option('--to <date>', 'the last value date; today when left out', calendarDate),
  ).action((named: string, options: DocumentOptions & { from?: string; to?: string }, command: Command) =>
    perform(shell, command, async (task) => {
      const { from, to, language } = options
      const caller = task.by((await task.organization(options.organization)).id)
      await print(task, options, await makeStatement(task.deps, caller, refOf(named, options), { from, to, language }))
    }),
  )

  withOptions(
    loans
      .command('receipt')
      .description('make the receipt of a transaction, as PDF, CSV or JSON')
      .argument(...LOAN)
      .argument('<transaction>', 'its number', longNumber),
  ).action((named: string, transactionId: bigint, options: DocumentOptions, command: Command) =>
    perform(shell, command, async (task) => {
      const caller = task.by((await task.organization(options.organization)).id)
      const of = { ref: refOf(named, options), transactionId }
      await print(task, options, await makeReceipt(task.deps, caller, of, { language: options.language }))
    }),
  )
}

/** Writes a document to its file, or to the terminal. */
async function print(task: Task, options: DocumentOptions, coded: Coded): Promise<void> {
  const { io, deps, printer, by, organization } = task
  const { output, format = printer.json ? 'json' : 'pdf' } = options
  if (format === 'json') {
    const view = toDocumentView(coded, deps.config.zone)
    if (output !== undefined) await save(output, toJson(view))
    else if (printer.json) printer.done(view, '')
    else io.out(`${visibleJson(toJson(view))}\n`)
    return
  }
  if (format === 'pdf' && output === undefined) throw new UsageError('a PDF is no text: say --output <file>')
  const { id: organizationId } = await organization(options.organization)
  const { bytes } = await writeFile(deps, by(organizationId), coded, format)
  if (output === undefined) io.out(visibleCsv(bytes.toString()))
  else await save(output, bytes)
}

const toJson = (view: object): string =>
  JSON.stringify(view, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value), 2)

async function save(file: string, content: string | Buffer): Promise<void> {
  try {
    await write(file, content)
  } catch (error) {
    throw new Declined(`${file} cannot be written: ${(error as Error).message}`)
  }
}

/** Writes a document as JSON of the command line, with exact amounts as texts. */
function toDocumentView({ document, code }: Coded, zone: string): object {
  const { kind, language, lender, borrower, loan } = document
  const { currency, principal, deducted, settled, ...terms } = loan
  const text = (minor: bigint) => minorToText(minor, currency)
  const head = {
    code: codeText(code),
    kind,
    language,
    lender,
    customer: borrower,
    loan: {
      ...terms,
      currencyCode: currency.code,
      principal: text(principal),
      feesDeducted: text(deducted),
      settled: text(settled),
    },
  }
  if (document.kind === 'receipt')
    return { ...head, ...toLine(document.line, text), postedAt: toRfc3339(document.postedAt, zone) }
  const { from, to, opening, charged, credited, closing, state, lines, schedule } = document
  return {
    ...head,
    from,
    to,
    status: state.status,
    openingBalance: text(opening),
    charged: text(charged),
    credited: text(credited),
    closingBalance: text(closing),
    lines: lines.map((line) => toLine(line, text)),
    totalOutstanding: text(state.totalOutstanding),
    totalOverdue: text(state.totalOverdue),
    totalOverpaid: text(state.totalOverpaid),
    instalments: schedule.map(({ period, dueDate, due, paid, waived, writtenOff, owed }) => ({
      period,
      dueDate,
      due: text(totalOf(due)),
      paid: text(totalOf(paid)),
      givenUp: text(totalOf(waived) + totalOf(writtenOff)),
      owed: text(owed),
    })),
  }
}

function toLine(line: LoanLine, text: (minor: bigint) => string): object {
  const { date, type, entry, amount, portions, overpayment, change, balance } = line
  return {
    date,
    type,
    ...(entry && { transactionId: entry.id, reference: entry.token, paymentMethod: paymentMethodOf(entry) }),
    ...(entry && { status: isReversed(line) ? 'reversed' : 'posted' }),
    amount: text(amount),
    ...Object.fromEntries(COMPONENTS.map((component) => [component, text(portions[component])])),
    overpayment: text(overpayment),
    change: text(change),
    balance: text(balance),
  }
}

/** Returns the name of a loan. @throws UsageError for a text that is no number */
export function refOf(named: string, { external: isOwn = false }: LoanOptions): LoanRef {
  if (isOwn) return { externalId: named }
  const id = numberIn(named)
  if (id === undefined) throw new UsageError(`${named} is no loan's number; say --external for your own id`)
  return { id }
}
