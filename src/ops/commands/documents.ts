import { writeFile as write } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import {
  type Coded,
  DOCUMENT_FORMATS,
  type DocumentFormat,
  makeReceipt,
  makeStatement,
  writeFile,
} from '../../services/documents/documents.ts'
import { LANGUAGES, type Language } from '../../words/words.ts'
import { toDocumentView } from '../documentView.ts'
import { external, LOAN, type LoanOptions, refOf } from '../loanNames.ts'
import { calendarDate, longNumber, organizationOption } from '../options.ts'
import { perform, type Shell, type Task } from '../perform.ts'
import { Declined, UsageError } from '../terminal/terminalIo.ts'
import { visibleCsv, visibleJson } from '../terminal/visible.ts'

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
