import type { Command } from 'commander'
import {
  listSigningKeys,
  retireSigningKey,
  revokeSigningKey,
  rotateSigningKey,
  WHOLE_SERVICE,
} from '../../../services/access/keyRing.ts'
import { perform, type Shell } from '../../perform.ts'
import { toSecond } from '../../terminal/format.ts'

export function signingKeyCommands(program: Command, shell: Shell): void {
  const keys = program.command('keys').description('the RSA keys that sign tokens')

  keys
    .command('list')
    .description('list the signing keys, newest first')
    .action((_options: object, command: Command) =>
      perform(shell, command, async ({ deps, printer }) => {
        const at = (instant: number | null) => toSecond(instant, deps.config.zone)
        printer.list(
          await listSigningKeys(deps),
          [
            ['kid', (one) => one.kid],
            ['state', (one) => (one.signs ? `${one.state}, signs` : one.state)],
            ['created', (one) => at(one.createdAt)],
            ['retired', (one) => at(one.retiredAt)],
            ['revoked', (one) => at(one.revokedAt)],
          ],
          (one) => ({
            ...one,
            createdAt: at(one.createdAt),
            retiredAt: at(one.retiredAt) || null,
            revokedAt: at(one.revokedAt) || null,
          }),
        )
      }),
    )

  keys
    .command('rotate')
    .description('make a new key, which signs from now on; those before it go on verifying')
    .action((_options: object, command: Command) =>
      perform(shell, command, async ({ deps, printer, by }) => {
        const kid = await rotateSigningKey(deps, by(WHOLE_SERVICE))
        printer.done({ kid, state: 'active' }, `Key ${kid} signs from now on; every instance knows within 5 s.`)
      }),
    )

  keys
    .command('retire')
    .description('let a key sign no longer; it still verifies, and the newest of the others signs')
    .argument('<kid>')
    .action((kid: string, _options: object, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, confirm }) => {
        await confirm(`Let key ${kid} sign no longer?`)
        await retireSigningKey(deps, by(WHOLE_SERVICE), kid)
        printer.done({ kid, state: 'retired' }, `Key ${kid} is retired: it verifies, and signs no longer.`)
      }),
    )

  keys
    .command('revoke')
    .description('refuse every token that a key has signed, within 5 s on every instance')
    .argument('<kid>')
    .action((kid: string, _options: object, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, confirm }) => {
        await confirm(`Refuse every token that key ${kid} has signed? Those who have one must sign in again.`)
        await revokeSigningKey(deps, by(WHOLE_SERVICE), kid)
        printer.done({ kid, state: 'revoked' }, `Key ${kid} is revoked: within 5 s it verifies nothing.`)
      }),
    )
}
