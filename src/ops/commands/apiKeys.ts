import type { Command } from 'commander'
import type { Role } from '../../services/access/accounts.ts'
import { createApiKey, listApiKeys, revokeApiKey } from '../../services/access/apiKeys.ts'
import { nameGiven, organizationOption, role, takeName, wholeNumber } from '../options.ts'
import { perform, performAdding, type Shell } from '../perform.ts'
import { toSecond } from '../terminal/format.ts'

export function apiKeyCommands(program: Command, shell: Shell): void {
  const keys = program.command('api-keys').description('what record systems sign in with')

  takeName(keys.command('create'), 'what it is for')
    .description('make an API key and show it, once')
    .addOption(organizationOption())
    .option('--role <role>', 'USER, ADMIN or AUDITOR; may be given twice', role)
    .action((argument: string | undefined, options: { organization?: number; role?: Role[] }, command: Command) => {
      const name = nameGiven(command, argument)
      return performAdding(shell, command, async ({ deps, printer, by, organization }) => {
        const { id: organizationId } = await organization(options.organization)
        const { key, apiKey } = await createApiKey(deps, by(organizationId), { name, roles: options.role ?? ['USER'] })
        const { id, roles } = apiKey
        printer.done(
          { id, organizationId, name, roles, key },
          `API key ${id}, ${name}, ${roles.join(' and ')} of organization ${organizationId}.\nIt is, shown only now: ${key}`,
        )
      })
    })

  keys
    .command('list')
    .description('list the API keys of an organization; never the keys themselves')
    .addOption(organizationOption())
    .action((options: { organization?: number }, command: Command) =>
      perform(shell, command, async ({ deps, printer, organization }) => {
        const at = (instant: number | null) => toSecond(instant, deps.config.zone)
        printer.list(
          await listApiKeys(deps, (await organization(options.organization)).id),
          [
            ['id', (one) => one.id, 'right'],
            ['name', (one) => one.name],
            ['begins', (one) => one.prefix],
            ['roles', (one) => one.roles.join(' ')],
            ['created', (one) => at(one.createdAt)],
            ['revoked', (one) => at(one.revokedAt)],
          ],
          (one) => ({ ...one, createdAt: at(one.createdAt), revokedAt: at(one.revokedAt) || null }),
        )
      }),
    )

  keys
    .command('revoke')
    .description('refuse an API key for good, within 5 s on every instance')
    .argument('<id>', 'its number', wholeNumber)
    .addOption(organizationOption())
    .action((id: number, options: { organization?: number }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization, confirm }) => {
        const { id: organizationId } = await organization(options.organization)
        await confirm(`Revoke API key ${id} of organization ${organizationId} for good?`)
        const { name } = await revokeApiKey(deps, by(organizationId), id)
        printer.done({ id, organizationId, name, revoked: true }, `API key ${id}, ${name}, is revoked.`)
      }),
    )
}
