import { access, type FileHandle, open, stat } from 'node:fs/promises'
import type { Command } from 'commander'
import { BORROWER_DETAILS } from '../../../domain/customer/customer.ts'
import { type FaultNames, inNames, ledByField } from '../../../domain/errors.ts'
import {
  type Author,
  type Importer,
  type ImportKind,
  type ImportMark,
  importFile,
  type Refusal,
  type Report,
} from '../../../services/book/bookImport.ts'
import { customerImporter } from '../../../services/book/importCustomers.ts'
import { loanImporter } from '../../../services/book/importLoans.ts'
import { transactionImporter } from '../../../services/book/importTransactions.ts'
import { toCustomerLine, toLoanLine, toTransactionLine } from '../../files/lines.ts'
import { digestOf, formatOf, readLines } from '../../files/readLines.ts'
import { organizationOption } from '../../options.ts'
import { performAdding, type Shell, type Task } from '../../perform.ts'
import { UsageError } from '../../terminal/terminalIo.ts'

interface ImportOptions {
  readonly organization?: number
  readonly customers?: string
  readonly loans?: string
  readonly transactions?: string
  readonly report?: string
  /** False with `--no-events`. */
  readonly events: boolean
}

/** The kinds, in the order in which they need each other. */
const KINDS: readonly ImportKind[] = ['customers', 'loans', 'transactions']

const HELP = `
Each file is NDJSON (.ndjson, .jsonl: a JSON object a line) or CSV (.csv: names in its first line). Its fields:
  customers     externalId; activationDate, ${BORROWER_DETAILS.join(', ')},
                and who the customer is: personFirstName, … (as book export --identities writes them)
  loans         externalId, customerId (the customer's externalId), productId, principal, disbursedAt (RFC 3339)
  transactions  loanExternalId, transactionAmount, transactionDate, idempotencyKey; type (Repayment), note
What an export says besides is passed over. The ids make a line idempotent: what is there already stays.
An import that was cut short continues where it was when the same file is given again.`

export function importCommand(book: Command, shell: Shell): void {
  book
    .command('import')
    .description('import customers, loans and transactions, through the same rules as a request')
    .option('--customers <file>', 'customers')
    .option('--loans <file>', 'loans')
    .option('--transactions <file>', 'what happened to the loans: repayments, and the other types')
    .option(
      '--report <prefix>',
      'where refused lines go: <prefix>.customers.ndjson and so on; beside each file when left out',
    )
    .option('--no-events', 'tell no receiver of what is imported, as of an old book; it is sealed all the same')
    .addOption(organizationOption())
    .addHelpText('after', HELP)
    .action((options: ImportOptions, command: Command) =>
      performAdding(shell, command, async (task) => {
        const files = KINDS.flatMap((kind) => {
          const path = options[kind]
          return path === undefined ? [] : [{ kind, path, report: reportOf(options.report, kind, path) }]
        })
        if (files.length === 0) throw new UsageError('name a file: --customers, --loans or --transactions')
        for (const { path } of files) {
          formatOf(path)
          await access(path).catch(() => {
            throw new UsageError(`${path} cannot be read`)
          })
        }
        const organization = await task.organization(options.organization)
        const named = files.map(({ kind, path }) => `${kind} of ${path}`).join(', ')
        await task.confirm(`Import into organization ${organization.id}, ${organization.name}: ${named}?`)
        const author = { ...task.by(organization.id), isUnannounced: !options.events }
        return importFiles(task, author, files)
      }),
    )
}

const reportOf = (prefix: string | undefined, kind: ImportKind, path: string): string =>
  prefix === undefined ? `${path}.refused.ndjson` : `${prefix}.${kind}.ndjson`

interface Imported extends ImportMark {
  readonly kind: ImportKind
  readonly file: string
  readonly report: string
  readonly resumedAt: number
  readonly finished: boolean
  readonly seconds: number
}

async function importFiles(
  task: Task,
  author: Author,
  files: readonly { kind: ImportKind; path: string; report: string }[],
): Promise<number> {
  const done: Imported[] = []
  for (const { kind, path, report } of files) {
    if (task.io.stopping.aborted) break
    done.push(await importOne(task, author, { kind, path, report }))
  }
  const stopped = task.io.stopping.aborted
  task.printer.list(done, [
    ['file', (one) => one.file],
    ['lines', (one) => one.linesDone, 'right'],
    ['imported', (one) => one.imported, 'right'],
    ['there already', (one) => one.present, 'right'],
    ['refused', (one) => one.refused, 'right'],
    ['a second', (one) => Math.round((one.linesDone - one.resumedAt) / Math.max(one.seconds, 0.001)), 'right'],
  ])
  for (const { refused, report, resumedAt, file } of done) {
    if (resumedAt > 0)
      task.printer.note(`${file}: went on behind line ${resumedAt}, where an earlier run was cut short.`)
    if (refused > 0) task.printer.note(`${file}: refused lines are in ${report}.`)
  }
  if (stopped) task.printer.note('Stopped. Give the same files again, and it continues where it was.')
  return stopped || done.some(({ refused }) => refused > 0) ? 1 : 0
}

async function importOne(
  task: Task,
  author: Author,
  { kind, path, report: reportPath }: { readonly kind: ImportKind; readonly path: string; readonly report: string },
): Promise<Imported> {
  const { io } = task
  const [{ size }, digest, report] = await Promise.all([stat(path), digestOf(path), openReport(reportPath)])
  const bar = io.startProgress(kind, Math.ceil(size / 1024))
  const begun = performance.now()
  const go = <T>(toValue: (record: unknown) => T, importer: Importer<T>) => {
    const { lines, bytesRead } = readLines(path, toValue)
    const onProgress = () => bar.update(Math.floor(bytesRead() / 1024))
    const run = { organizationId: author.organizationId, stopping: io.stopping, onProgress }
    return importFile(task.deps, { kind, digest, lines, report }, importer, run)
  }
  try {
    const { mark, resumedAt, finished } = await {
      customers: () => go(toCustomerLine, customerImporter(task.deps, author)),
      loans: () => go(toLoanLine, loanImporter(task.deps, author)),
      transactions: () => go(toTransactionLine, transactionImporter(task.deps, author)),
    }[kind]()
    if (finished) bar.update(Math.ceil(size / 1024))
    const seconds = (performance.now() - begun) / 1000
    return { kind, file: path, report: reportPath, ...mark, resumedAt, finished, seconds }
  } finally {
    bar.stop()
    await report.close()
  }
}

/**
 * The report of a file's refused lines, as NDJSON. It holds the content of these lines, so only its owner may read it.
 */
interface ReportFile extends Report {
  close(): Promise<void>
}

/** The names of fields in a file to import. */
const FIELDS: FaultNames = {
  amount: 'transactionAmount',
  valueDate: 'transactionDate',
  chargeAmount: 'transactionAmount',
  chargeDueOn: 'dueDate',
  name: 'note',
}

/** Opens the report and keeps its content: `write` cuts off what an earlier run wrote after the mark. */
async function openReport(path: string): Promise<ReportFile> {
  const file: FileHandle = await open(path, 'a+', 0o600)
  return {
    async write(from, refusals) {
      const { size } = await file.stat()
      // An earlier report may be gone or shortened: the missing part is not invented.
      const start = Math.min(from, size)
      if (size > start) await file.truncate(start)
      if (refusals.length === 0) return start
      const text = refusals.map((refusal) => `${JSON.stringify(inReport(refusal))}\n`).join('')
      await file.appendFile(text)
      await file.datasync()
      return start + Buffer.byteLength(text)
    },
    close: () => file.close(),
  }
}

function inReport({ line, error, record }: Refusal) {
  const { message, details } = inNames(error, FIELDS)
  return { line, code: error.code, message: ledByField(message, details), record }
}
