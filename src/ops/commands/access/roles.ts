import type { Command } from 'commander'
import { PERMISSIONS } from '../../../domain/access/permissions.ts'
import { deleteRole, getRole, listRoles, putRole, type RoleView } from '../../../services/access/roles.ts'
import { type OfOrganization, organizationOption } from '../../options.ts'
import { perform, performAdding, type Shell } from '../../perform.ts'

/** Adds `mkopo roles`: the sets of permissions that the accounts and keys of an organization have. */
export function roleCommands(program: Command, shell: Shell): void {
  const roles = program.command('roles').description('sets of permissions that accounts and API keys have')
  for (const add of [addList, addShow, addPut, addDelete, addPermissions]) add(roles, shell)
}

const viewOf = ({ updatedAt: _, ...role }: RoleView) => role

function addList(roles: Command, shell: Shell): void {
  roles
    .command('list')
    .description('list the roles of an organization, the built-in ones first')
    .addOption(organizationOption())
    .action((options: OfOrganization, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        printer.list<RoleView>(
          await listRoles(deps, by(id)),
          [
            ['name', (one) => one.name],
            ['built in', (one) => (one.builtIn ? 'yes' : '')],
            ['permissions', (one) => one.permissions.join(' ')],
            ['description', (one) => one.description],
          ],
          viewOf,
        )
      }),
    )
}

function addShow(roles: Command, shell: Shell): void {
  roles
    .command('show')
    .description('show a role')
    .argument('<name>')
    .addOption(organizationOption())
    .action((name: string, options: OfOrganization, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const role = await getRole(deps, by(id), name)
        printer.done(viewOf(role), `${role.name}: ${role.permissions.join(' ')}`)
      }),
    )
}

function addPut(roles: Command, shell: Shell): void {
  roles
    .command('put')
    .description('make a role, or give one that is there these permissions and no others')
    .argument('<name>')
    .argument('<permissions...>', 'names of permissions: see mkopo roles permissions')
    .option('--description <text>', 'what the role is for')
    .addOption(organizationOption())
    .action(
      (name: string, permissions: string[], options: OfOrganization & { description?: string }, command: Command) =>
        performAdding(shell, command, async ({ deps, printer, by, organization }) => {
          const { id } = await organization(options.organization)
          const asked = { permissions: permissions.flatMap((one) => one.split(',')), description: options.description }
          const role = await putRole(deps, by(id), name, asked)
          printer.done(viewOf(role), `The role ${role.name} of organization ${id}: ${role.permissions.join(' ')}.`)
        }),
    )
}

function addDelete(roles: Command, shell: Shell): void {
  roles
    .command('delete')
    .description('delete a role that no account and no API key has')
    .argument('<name>')
    .addOption(organizationOption())
    .action((name: string, options: OfOrganization, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization, confirm }) => {
        const { id } = await organization(options.organization)
        await confirm(`Delete the role ${name} of organization ${id}?`)
        await deleteRole(deps, by(id), name)
        printer.done({ name, organizationId: id, deleted: true }, `The role ${name} is deleted.`)
      }),
    )
}

function addPermissions(roles: Command, shell: Shell): void {
  roles
    .command('permissions')
    .description('list the permissions, and what each lets do')
    .action((_options: object, command: Command) =>
      perform(shell, command, async ({ printer }) => {
        const all = Object.entries(PERMISSIONS).map(([permission, means]) => ({ permission, means }))
        printer.list(all, [
          ['permission', (one) => one.permission],
          ['lets', (one) => one.means],
        ])
      }),
    )
}
