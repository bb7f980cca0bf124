import type { Command } from 'commander'
import { type ListedHead, listHeads } from '../../../services/events/chainHeads.ts'
import { perform, type Shell } from '../../perform.ts'

export function sealCommand(book: Command, shell: Shell): void {
  book
    .command('seal')
    .description('show the head of each chain of changes, to be kept elsewhere')
    .addHelpText(
      'after',
      `\nKeep the lines where nobody who can write to the database can write, such as a signed mail or a safe. Later,
"book check --head <line>" proves that nothing up to that head was rewritten. Organization 0 is the service itself.`,
    )
    .action((_: object, command: Command) =>
      perform(shell, command, async ({ io, deps, printer }) => {
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
