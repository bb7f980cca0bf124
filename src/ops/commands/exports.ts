import { open, rename } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { checkFormat, isFaulty } from '../../domain/exports/checkFormat.ts'
import { LINE_KINDS } from '../../domain/exports/vocabulary.ts'
import { currencyOf, minorToText } from '../../domain/money.ts'
import type { Caller } from '../../services/access/caller.ts'
import type { Deps } from '../../services/deps.ts'
import { readExportFile, type SentFile } from '../../services/exports/exportFile.ts'
import {
  acceptExport,
  createExport,
  type ExportFile,
  getExport,
  listExceptions,
  listNewestExports,
} from '../../services/exports/exports.ts'
import { exportsJob } from '../../services/exports/exportsJob.ts'
import { createFormat, getFormat, listFormats, type OfferedFormat } from '../../services/exports/formats.ts'
import { readGivenJson } from '../files/givenFile.ts'
import { calendarDate, longNumber, type OfOrganization, organizationOption, wholeNumber } from '../options.ts'
import { perform, type Shell, type Task } from '../perform.ts'
import { printerFor, toSecond } from '../terminal/format.ts'
import { Declined, withProgress } from '../terminal/terminalIo.ts'

/** The pause while the service makes the file that a command waits for. */
const AGAIN_MS = 200

const MOST_ROWS = 1_000

/** Adds the commands of the files for credit bureaux and supervisors. */
export function exportCommands(program: Command, shell: Shell): void {
  const exports = program.command('exports').description('files for credit bureaux and supervisors')
  createCommand(exports, shell)
  listCommand(exports, shell)
  showCommand(exports, shell)
  exceptionsCommand(exports, shell)
  fileCommand(exports, shell)
  acceptCommand(exports, shell)
}

interface CreateOptions extends OfOrganization {
  readonly asOf?: string
  readonly corrections?: boolean
  readonly setting: Readonly<Record<string, string>>
}

/** Collects `name=value`. */
function setting(text: string, before: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const [, name, value] = /^([A-Za-z]\w*)=(.*)$/.exec(text) ?? []
  if (name === undefined || value === undefined) throw new InvalidArgumentError('It must be name=value.')
  return { ...before, [name]: value }
}

function createCommand(exports: Command, shell: Shell): void {
  exports
    .command('create')
    .description('make a file as of the end of a day, and say what is in it')
    .argument('<format>', 'the name of a format, or name@version')
    .option('--as-of <date>', 'a day that is over; with --corrections, that of an accepted file', calendarDate)
    .option('--corrections', 'only loans whose lines are others than in the accepted file')
    .addOption(
      new Option('--setting <name=value>', 'a constant that the format takes; again for each')
        .argParser(setting)
        .default({}),
    )
    .addOption(organizationOption())
    .action((format: string, options: CreateOptions, command: Command) =>
      perform(shell, command, async (task) => {
        const { deps, by, organization } = task
        const { id } = await organization(options.organization)
        const { asOf, corrections, setting: settings } = options
        const mode = corrections ? 'corrections' : 'full'
        const begun = await createExport(deps, by(id), { format, asOf, mode, settings })
        printFile(task, await makeFile(task, by(id), begun))
      }),
    )
}

/** Works at the files of an organization until one is made; the service may work at them, too. */
async function makeFile({ io, deps }: Task, caller: Caller, begun: ExportFile): Promise<ExportFile> {
  const job = exportsJob(deps)
  return withProgress(io, 'loans', async (onProgress) => {
    for (;;) {
      io.stopping.throwIfAborted()
      const left = await job.work(caller.organizationId, io.stopping)
      const file = await getExport(deps, caller, begun.id)
      if (file.total > 0) onProgress(file.done, file.total)
      if (file.state !== 'running') return file
      if (left === 'waits') await pause(AGAIN_MS)
    }
  })
}

function listCommand(exports: Command, shell: Shell): void {
  exports
    .command('list')
    .description('list the files, the newest first')
    .option('-n, --rows <number>', 'the latest so many', wholeNumber, 50)
    .addOption(organizationOption())
    .action((options: OfOrganization & { readonly rows: number }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const files = await listNewestExports(deps, by(id), { rows: Math.min(options.rows, MOST_ROWS) })
        printer.list(
          files.map((file) => fileView(file, deps)),
          [
            ['id', (one) => one.id, 'right'],
            ['format', (one) => `${one.format}@${one.formatVersion}`],
            ['as of', (one) => one.asOf],
            ['mode', (one) => one.mode],
            ['state', (one) => one.state],
            ['accepted', (one) => one.accepted, 'right'],
            ['excluded', (one) => one.excluded, 'right'],
            ['exceptions', (one) => one.exceptions, 'right'],
            ['made', (one) => one.finishedAt],
          ],
        )
      }),
    )
}

function showCommand(exports: Command, shell: Shell): void {
  exports
    .command('show')
    .description('print how far a file is, and its control totals')
    .argument('<export>', 'its number', longNumber)
    .addOption(organizationOption())
    .action((exportId: bigint, options: OfOrganization, command: Command) =>
      perform(shell, command, async (task) => {
        const { id } = await task.organization(options.organization)
        printFile(task, await getExport(task.deps, task.by(id), exportId))
      }),
    )
}

function exceptionsCommand(exports: Command, shell: Shell): void {
  exports
    .command('exceptions')
    .description('list what is wrong with loans that a file does not have')
    .argument('<export>', 'its number', longNumber)
    .option('-n, --rows <number>', 'of the first so many loans', wholeNumber, 100)
    .addOption(organizationOption())
    .action((exportId: bigint, options: OfOrganization & { readonly rows: number }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const rows = Math.min(options.rows, MOST_ROWS)
        const { items } = await listExceptions(deps, by(id), exportId, { rows })
        printer.list(items, [
          ['loan', (one) => String(one.loanId), 'right'],
          ['field', (one) => one.field],
          ['rule', (one) => one.rule],
          ['value', (one) => one.value],
        ])
      }),
    )
}

function fileCommand(exports: Command, shell: Shell): void {
  exports
    .command('file')
    .description('write a file that is made; only its owner may read it, since it holds personal data')
    .argument('<export>', 'its number', longNumber)
    .option('--output <file>', 'where to write it; under its own name when left out')
    .addOption(organizationOption())
    .action((exportId: bigint, options: OfOrganization & { readonly output?: string }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const sent = await readExportFile(deps, by(id), exportId)
        const path = options.output ?? sent.name
        await writeParts(path, sent)
        printer.done({ file: path, sha256: sent.sha256 }, `${path} is written; its SHA-256 is ${sent.sha256}.`)
      }),
    )
}

async function writeParts(path: string, { parts }: SentFile): Promise<void> {
  const part = `${path}.part`
  const file = await open(part, 'w', 0o600).catch((error: Error) => {
    throw new Declined(`${path} cannot be written: ${error.message}`)
  })
  try {
    for await (const text of parts) await file.appendFile(text)
  } finally {
    await file.close()
  }
  await rename(part, path)
}

function acceptCommand(exports: Command, shell: Shell): void {
  exports
    .command('accept')
    .description('say that the receiver has accepted a file: corrections are then of it')
    .argument('<export>', 'its number', longNumber)
    .addOption(organizationOption())
    .action((exportId: bigint, options: OfOrganization, command: Command) =>
      perform(shell, command, async (task) => {
        const { id } = await task.organization(options.organization)
        printFile(task, await acceptExport(task.deps, task.by(id), exportId))
      }),
    )
}

/** Returns a file as the command line shows it. */
function fileView(file: ExportFile, { config: { zone } }: Pick<Deps, 'config'>) {
  const sums = file.figures ?? file.sums
  const countOf = (kind: (typeof LINE_KINDS)[number]) =>
    Object.values(sums[kind] ?? {}).reduce((all, { loans }) => all + loans, 0)
  return {
    id: String(file.id),
    format: file.format,
    formatVersion: file.formatVersion,
    asOf: file.asOf,
    mode: file.mode,
    state: file.state,
    done: file.done,
    total: file.total,
    accepted: countOf('accepted'),
    excluded: countOf('excluded'),
    exceptions: countOf('exception'),
    reasons: sums.reasons ?? {},
    sha256: file.sha256 && Buffer.from(file.sha256).toString('hex'),
    finishedAt: toSecond(file.finishedAt, zone) || null,
    acceptedAt: toSecond(file.acceptedAt, zone) || null,
    totals: LINE_KINDS.flatMap((kind) =>
      Object.entries(sums[kind] ?? {}).map(([currency, sum]) => {
        const text = (minor: string) => minorToText(BigInt(minor), currencyOf(currency))
        return {
          kind,
          currency,
          loans: sum.loans,
          principal: text(sum.principal),
          principalOutstanding: text(sum.principalOutstanding),
          outstanding: text(sum.outstanding),
          overdue: text(sum.overdue),
        }
      }),
    ),
  }
}

/** Prints a file with its control totals. */
function printFile({ deps, printer }: Task, file: ExportFile): void {
  const view = fileView(file, deps)
  if (printer.json) {
    printer.done(view, '')
    return
  }
  const made = view.state === 'running' ? `${view.done} of ${view.total} loans are done` : `SHA-256 ${view.sha256}`
  printer.note(
    `export ${view.id}: ${view.format}@${view.formatVersion} as of ${view.asOf}, ${view.mode}, ${view.state}; ${made}`,
  )
  for (const [reason, loans] of Object.entries(view.reasons)) printer.note(`left out, ${reason}: ${loans}`)
  printer.list(view.totals, [
    ['loans that are', (one) => one.kind],
    ['currency', (one) => one.currency],
    ['loans', (one) => one.loans, 'right'],
    ['lent', (one) => one.principal, 'right'],
    ['principal left', (one) => one.principalOutstanding, 'right'],
    ['outstanding', (one) => one.outstanding, 'right'],
    ['overdue', (one) => one.overdue, 'right'],
  ])
}

/** Adds the commands of the layouts of files. */
export function exportFormatCommands(program: Command, shell: Shell): void {
  const formats = program.command('export-format').description('layouts of files for bureaux, as data')
  checkCommand(formats, shell)
  formatListCommand(formats, shell)
  formatShowCommand(formats, shell)
  storeCommand(formats, shell)
}

function checkCommand(formats: Command, shell: Shell): void {
  formats
    .command('check')
    .description('say what is wrong with a format, or that it is right; needs no database')
    .argument('<file>', 'the format, JSON')
    .action(async (file: string, _: object, command: Command) => {
      const { io } = shell
      const printer = printerFor(io, command.optsWithGlobals<{ json?: boolean }>().json ?? false)
      const checked = checkFormat(await readGivenJson(file, 'format'))
      if (!isFaulty(checked)) {
        const { name, version, fields } = checked
        printer.done({ faults: [] }, `${name}@${version} is right: ${fields.length} fields.`)
        return
      }
      shell.exitCode = 1
      if (printer.json) return printer.done({ faults: checked }, '')
      printer.list(checked, [
        ['field', (one) => one.field],
        ['rule', (one) => one.rule],
      ])
    })
}

function formatListCommand(formats: Command, shell: Shell): void {
  formats
    .command('list')
    .description('list the formats that come with the service, and those of an organization')
    .addOption(organizationOption())
    .action((options: OfOrganization, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const stored = ({ storedAt }: OfferedFormat) => toSecond(storedAt, deps.config.zone)
        printer.list(
          await listFormats(deps, by(id)),
          [
            ['name', ({ format }) => format.name],
            ['version', ({ format }) => format.version],
            ['stored', stored],
            ['title', ({ format }) => format.title],
          ],
          (one) => ({
            name: one.format.name,
            version: one.format.version,
            title: one.format.title,
            storedAt: stored(one) || null,
          }),
        )
      }),
    )
}

function formatShowCommand(formats: Command, shell: Shell): void {
  formats
    .command('show')
    .description('print a format, as JSON that `check` and `store` take')
    .argument('<format>', 'its name, or name@version')
    .addOption(organizationOption())
    .action((named: string, options: OfOrganization, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const { format } = await getFormat(deps, by(id), named)
        printer.done(format, JSON.stringify(format, null, 2))
      }),
    )
}

function storeCommand(formats: Command, shell: Shell): void {
  formats
    .command('store')
    .description('store a version of a format of an organization, which never changes')
    .argument('<file>', 'the format, JSON')
    .addOption(organizationOption())
    .action((file: string, options: OfOrganization, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const { format } = await createFormat(deps, by(id), await readGivenJson(file, 'format'))
        const { name, version } = format
        printer.done({ organizationId: id, name, version }, `${name}@${version} of organization ${id} is stored.`)
      }),
    )
}
