import type { Command } from 'commander'
import { headText, type ListedHead, listHeads } from '../../../services/events/chainHeads.ts'
import { acceptRestored, findLeft } from '../../../services/events/keptHeads.ts'
import { perform, type Shell } from '../../perform.ts'
import { UsageError } from '../../terminal/terminalIo.ts'

export function sealCommand(book: Command, shell: Shell): void {
  book
    .command('seal')
    .description('show the head of each chain of changes, to be kept elsewhere')
    .option('--restored', 'accept that the chains are older than the heads in HEADS_FILE: an older book was restored')
    .addHelpText(
      'after',
      `\nKeep the lines where nobody who can write to the database can write, such as a signed mail or a safe. Later,
"book check --head <line>" proves that nothing up to that head was rewritten. Organization 0 is the service itself.

The service adds heads to HEADS_FILE by itself, and stops to number events where a chain has gone back. After a restore to an
earlier moment, or a fail-over that lost changes, --restored adds to the file that the heads of the lost changes hold no longer.`,
    )
    .action(({ restored = false }: { restored?: boolean }, command: Command) =>
      perform(shell, command, async ({ io, deps, printer, confirm }) => {
        if (restored) {
          if (deps.config.headsFile === '')
            throw new UsageError(
              'HEADS_FILE is not set: a service without it knows no earlier head once it is started again',
            )
          const left = await findLeft(deps)
          const lines = left.map(
            ({ last, changeId }) => `${headText(last)}: not there; the chain is as kept up to change ${changeId}`,
          )
          if (!printer.json) for (const line of lines) io.out(`${line}\n`)
          if (left.length > 0)
            await confirm('Accept that an older book was restored, and that these heads hold no longer?')
          await acceptRestored(deps, left)
          const said =
            left.length === 0
              ? 'Every head in HEADS_FILE is there; nothing was added.'
              : `Added to ${deps.config.headsFile}.`
          printer.done({ accepted: left.map(({ last, changeId }) => ({ head: headText(last), changeId })) }, said)
          return
        }
        const heads = await listHeads(deps)
        if (!printer.json) for (const head of heads) io.out(`${lineOf(head)}\n`)
        else printer.done({ heads }, '')
        const waiting = heads.reduce((sum, { unsealed }) => sum + unsealed, 0)
        if (waiting > 0) printer.note(waitingNote(waiting))
      }),
    )
}

const lineOf = ({ text, organizationId }: ListedHead): string =>
  text ?? `organization ${organizationId}: nothing is sealed yet`

/** Returns the note about changes that are not sealed yet. */
export const waitingNote = (changes: number): string =>
  changes === 1 ? '1 change is not sealed yet.' : `${changes} changes are not sealed yet.`
