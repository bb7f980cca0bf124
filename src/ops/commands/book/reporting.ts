import type { Command } from 'commander'
import {
  grantReporting,
  listReporting,
  type Reader,
  readerNameOf,
  revokeReporting,
} from '../../../services/access/reportingRoles.ts'
import { type OfOrganization, organizationOption, wholeNumber } from '../../options.ts'
import { perform, type Shell } from '../../perform.ts'
import { GENERATE, passwordFrom } from '../access/accounts.ts'

/** Roles are the owner's to make: the service's role may not. */
const AS_OWNER = { asOwner: true }
const ROLE = ['--role <name>', 'its name; mkopo_reporting_<organization> when left out'] as const

interface GrantOptions extends OfOrganization {
  readonly role?: string
  readonly connections: number
  readonly generate?: boolean
}

/** Adds the commands for roles of the database that read the views of `reporting`. */
export function reportingCommands(program: Command, shell: Shell): void {
  const reporting = program.command('reporting').description('roles of the database that read the reporting views')
  reporting
    .command('grant')
    .description('make a role that reads the rows of one organization, or give it another password')
    .addOption(organizationOption())
    .option(...ROLE)
    .option('--connections <number>', 'the most sessions at a time', wholeNumber, 5)
    .option(...GENERATE)
    .action((options: GrantOptions, command: Command) =>
      perform(
        shell,
        command,
        async ({ io, deps, printer, by, organization }) => {
          const { id } = await organization(options.organization)
          const { role = readerNameOf(id), connections } = options
          const { password, generated } = await passwordFrom(io, options)
          await grantReporting(deps, by(id), { role, organizationId: id, password, connections })
          const view = { role, organizationId: id, connections, ...(generated && { password }) }
          const shown = generated ? `\nIts password, shown only now: ${password}` : ''
          printer.done(
            view,
            `The role ${role} reads the schema reporting, the rows of organization ${id} alone.${shown}`,
          )
        },
        AS_OWNER,
      ),
    )
  reporting
    .command('revoke')
    .description('end the sessions of a role that reads, and drop it')
    .addOption(organizationOption())
    .option(...ROLE)
    .action((options: OfOrganization & { readonly role?: string }, command: Command) =>
      perform(
        shell,
        command,
        async ({ deps, printer, by, organization, confirm }) => {
          const { id } = await organization(options.organization)
          const { role = readerNameOf(id) } = options
          await confirm(`Drop the role ${role}, and end its sessions?`)
          await revokeReporting(deps, by(id), { role, organizationId: id })
          printer.done({ role, organizationId: id, revoked: true }, `The role ${role} is gone.`)
        },
        AS_OWNER,
      ),
    )
  reporting
    .command('list')
    .description('list the roles that read')
    .action((_options: object, command: Command) =>
      perform(
        shell,
        command,
        async ({ deps, printer }) =>
          printer.list<Reader>(await listReporting(deps), [
            ['organization', (one) => one.organizationId, 'right'],
            ['role', (one) => one.role],
          ]),
        AS_OWNER,
      ),
    )
}
