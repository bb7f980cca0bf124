import type { Command } from 'commander'
import { perform, type Shell } from '../perform.ts'

export function migrateCommand(program: Command, shell: Shell): void {
  program
    .command('migrate')
    .description('bring the database to the schema of this program, as a start of the service does')
    .action((_options: object, command: Command) =>
      perform(shell, command, async ({ printer }) => printer.done({ migrated: true }, 'The database is up to date.'), {
        migrate: true,
        newDatabase: true,
      }),
    )
}
