import { type Command, Option } from 'commander'
import {
  createOrganization,
  listOrganizations,
  MODES,
  type NewOrganization,
  updateOrganization,
} from '../../services/lenders/organizations.ts'
import { currencyOption, organizationOption, wholeNumber } from '../options.ts'
import { perform, performAdding, type Shell } from '../perform.ts'

export function organizationCommands(program: Command, shell: Shell): void {
  const organizations = program.command('organizations').description('the lenders that the book belongs to')

  organizations
    .command('create')
    .description('make an organization')
    .requiredOption('--name <name>', 'what it is called')
    .addOption(currencyOption('in which it lends').makeOptionMandatory())
    .addOption(
      new Option('--mode <mode>', 'live; or test, which has a clock of its own that can be advanced')
        .choices(MODES)
        .default('live'),
    )
    .option('--id <number>', 'its number; the next one when left out', wholeNumber)
    .option('--office-id <text>', 'its office', '1')
    .option('--office-name <text>', "its office's name", 'Head Office')
    .option('--payment-method <text>', 'how its customers pay, where nobody says otherwise', 'Mobile Money')
    .action((asked: NewOrganization, command: Command) =>
      performAdding(shell, command, async ({ deps, printer, by }) => {
        const made = await createOrganization(deps, by(asked.id ?? 0), asked)
        printer.done(
          made,
          `${made.mode === 'test' ? 'Test organization' : 'Organization'} ${made.id}, ${made.name}, lends in ${made.currency}.`,
        )
      }),
    )

  organizations
    .command('update')
    .description('change the settings of an organization')
    .addOption(organizationOption())
    .requiredOption('--payment-method <text>', 'how its customers pay from now on, where nobody says otherwise')
    .action((asked: { organization?: number; paymentMethod: string }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(asked.organization)
        const { paymentMethod } = asked
        const updated = await updateOrganization(deps, by(id), { paymentMethod })
        printer.done(updated, `Customers of organization ${id} pay by ${paymentMethod} from now on.`)
      }),
    )

  organizations
    .command('list')
    .description('list the organizations')
    .action((_options: object, command: Command) =>
      perform(shell, command, async ({ deps, printer }) =>
        printer.list(await listOrganizations(deps), [
          ['id', ({ id }) => id, 'right'],
          ['name', ({ name }) => name],
          ['mode', ({ mode }) => mode],
          ['currency', ({ currency }) => currency],
          ['payment method', ({ paymentMethod }) => paymentMethod],
          ['office', ({ officeId, officeName }) => `${officeId} ${officeName}`],
        ]),
      ),
    )
}
