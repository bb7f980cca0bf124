import type { Command } from 'commander'
import { createOrganization, listOrganizations, type NewOrganization } from '../../services/organizations.ts'
import { currencyOption, wholeNumber } from '../options.ts'
import { perform, type Shell } from '../perform.ts'

export function organizationCommands(program: Command, shell: Shell): void {
  const organizations = program.command('organizations').description('the lenders that the book belongs to')

  organizations
    .command('create')
    .description('make an organization')
    .requiredOption('--name <name>', 'what it is called')
    .addOption(currencyOption('in which it lends').makeOptionMandatory())
    .option('--id <number>', 'its number; the next one when left out', wholeNumber)
    .option('--office-id <text>', 'its office', '1')
    .option('--office-name <text>', "its office's name", 'Head Office')
    .action((asked: NewOrganization, command: Command) =>
      perform(shell, command, async ({ deps, say, by }) => {
        const made = await createOrganization(deps, by(asked.id ?? 0), asked)
        say.done(made, `Organization ${made.id}, ${made.name}, lends in ${made.currency}.`)
      }),
    )

  organizations
    .command('list')
    .description('list the organizations')
    .action((_options: object, command: Command) =>
      perform(shell, command, async ({ deps, say }) =>
        say.list(await listOrganizations(deps), [
          ['id', ({ id }) => id, 'right'],
          ['name', ({ name }) => name],
          ['currency', ({ currency }) => currency],
          ['office', ({ officeId, officeName }) => `${officeId} ${officeName}`],
        ]),
      ),
    )
}
