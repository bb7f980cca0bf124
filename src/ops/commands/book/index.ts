import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { EXPORT_KINDS, exportBook } from '../../../services/book/bookExport.ts'
import type { Format } from '../../files/readLines.ts'
import { openFolder } from '../../files/writeRecords.ts'
import { organizationOption } from '../../options.ts'
import { perform, type Shell } from '../../perform.ts'
import { Declined } from '../../terminal/terminalIo.ts'
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
  readonly format: Format
  readonly identities?: boolean
}

function exportCommand(book: Command, shell: Shell): void {
  book
    .command('export')
    .description("write an organization's book as it is at one moment: customers, loans, instalments, transactions")
    .argument('<folder>', 'where the four files go; it may not have them yet')
    .addOption(new Option('--format <format>', 'how they are written').choices(['ndjson', 'csv']).default('ndjson'))
    .option('--identities', 'with who the customers are, decrypted')
    .addOption(organizationOption())
    .action((folder: string, options: ExportOptions, command: Command) =>
      perform(shell, command, async ({ io, deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const files = EXPORT_KINDS.map((kind) => ({ kind, path: join(folder, `${kind}.${options.format}`) }))
        for (const { path } of files)
          if (
            await access(path).then(
              () => true,
              () => false,
            )
          )
            throw new Declined(`${path} is there already: name another folder`)
        const sink = await openFolder(folder, options.format, io)
        try {
          const rows = await exportBook(deps, by(id), {
            kinds: EXPORT_KINDS,
            sink,
            stopping: io.stopping,
            identities: options.identities ?? false,
          })
          printer.list(
            files.map(({ kind, path }) => ({ kind, file: path, rows: rows[kind] })),
            [
              ['file', (one) => one.file],
              ['rows', (one) => one.rows, 'right'],
            ],
          )
        } finally {
          await sink.abandon()
        }
      }),
    )
}
