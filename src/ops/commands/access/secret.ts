import type { Command } from 'commander'
import { SHORTEST_SECRET } from '../../../app/config.ts'
import { WHOLE_SERVICE } from '../../../services/access/keyRing.ts'
import { rotateRootSecret } from '../../../services/access/rootSecret.ts'
import { readGiven } from '../../files/givenFile.ts'
import { perform, type Shell } from '../../perform.ts'
import { UsageError } from '../../terminal/terminalIo.ts'

const LONGEST_SECRET = 1_000

export function secretCommands(program: Command, shell: Shell): void {
  program
    .command('secret')
    .description('the secret that encrypts keys, KEY_ENCRYPTION_SECRET')
    .command('rotate')
    .description('replace it: every start needs the new one from then on; instances that run go on')
    .argument('<file>', 'a file with the new secret')
    .action((file: string, _options: object, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, confirm }) => {
        const secret = (await readGiven(file, 'new secret')).toString('utf8').trim()
        if (secret.length < SHORTEST_SECRET || secret.length > LONGEST_SECRET)
          throw new UsageError(`the new secret must be ${SHORTEST_SECRET} to ${LONGEST_SECRET} characters`)
        await confirm('Replace KEY_ENCRYPTION_SECRET? No instance starts with the one of now any more.')
        await rotateRootSecret(deps, by(WHOLE_SERVICE), secret)
        printer.done(
          { rotated: true },
          'KEY_ENCRYPTION_SECRET is replaced: give the new one to every instance and to the command line before the next start.',
        )
      }),
    )
}
