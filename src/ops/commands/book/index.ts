import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { EXPORT_KINDS, exportBook } from '../../../services/book/bookExport.ts'
import { exportReporting, REPORTING_VIEWS } from '../../../services/book/reportingExport.ts'
import type { Format } from '../../files/readLines.ts'
import { makeFolder, recordsSink } from '../../files/writeRecords.ts'
import { organizationOption } from '../../options.ts'
import { perform, type Shell, type Task } from '../../perform.ts'
import { Declined, UsageError } from '../../terminal/terminalIo.ts'
import { checkCommand, sealCommand } from './check.ts'
import { importCommand } from './import.ts'

export function bookCommands(program: Command, shell: Shell): void {
  const book = program.command('book').description('the whole book: check, seal, import, export')
  checkCommand(book, shell)
  sealCommand(book, shell)
  importCommand(book, shell)
  exportCommand(book, shell)
}

interface ExportOptions {
  readonly organization?: number
  readonly format: Format | 'parquet'
  readonly identities?: boolean
}

function exportCommand(book: Command, shell: Shell): void {
  book
    .command('export')
    .description("write an organization's book as it is at one moment: customers, loans, instalments, transactions")
    .argument('<folder>', 'where the files go; it may not have them yet')
    .addOption(
      new Option('--format <format>', 'how they are written; parquet has the reporting views')
        .choices(['ndjson', 'csv', 'parquet'])
        .default('ndjson'),
    )
    .option('--identities', 'with who the customers are, decrypted')
    .addOption(organizationOption())
    .action((folder: string, options: ExportOptions, command: Command) =>
      perform(shell, command, async (task) => {
        const { id } = await task.organization(options.organization)
        const { format, identities = false } = options
        if (format === 'parquet' && identities)
          throw new UsageError('--identities is not for parquet: the reporting views have no word of a person')
        const kinds = format === 'parquet' ? REPORTING_VIEWS : EXPORT_KINDS
        const files = kinds.map((kind) => ({ kind, path: join(folder, `${kind}.${format}`) }))
        for (const { path } of files)
          if (await isThere(path)) throw new Declined(`${path} is there already: name another folder`)
        await makeFolder(folder)
        const rows: Readonly<Record<string, number>> =
          format === 'parquet'
            ? await writeParquet(task, id, folder)
            : await writeBook(task, id, { folder, format, identities })
        task.printer.list(
          files.map(({ kind, path }) => ({ kind, file: path, rows: rows[kind] ?? 0 })),
          [
            ['file', (one) => one.file],
            ['rows', (one) => one.rows, 'right'],
          ],
        )
      }),
    )
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Writes the book as an import reads it. @returns the number of rows of each kind */
async function writeBook(
  { io, deps, by }: Task,
  organizationId: number,
  { folder, format, identities }: { readonly folder: string; readonly format: Format; readonly identities: boolean },
) {
  const sink = recordsSink(folder, format, io)
  try {
    const { stopping } = io
    return await exportBook(deps, by(organizationId), { kinds: EXPORT_KINDS, sink, stopping, identities })
  } finally {
    await sink.abandon()
  }
}

/** Writes the reporting views as files of Parquet. @returns the number of rows of each view */
async function writeParquet({ io, deps, by }: Task, organizationId: number, folder: string) {
  // Loaded here: no other command needs the writer.
  const { parquetSink } = await import('../../files/parquet.ts')
  const sink = parquetSink((view) => join(folder, `${view}.parquet`), io, REPORTING_VIEWS.length)
  try {
    return await exportReporting(deps, by(organizationId), { sink, stopping: io.stopping })
  } finally {
    await sink.abandon()
  }
}
