import { type Command, InvalidArgumentError } from 'commander'
import { hasLeft, moveOrganization } from '../../services/directory/move.ts'
import { giveSlots, listSlots, SLOTS } from '../../services/directory/slots.ts'
import { wholeNumber } from '../options.ts'
import { perform, type Shell, type Task } from '../perform.ts'
import { Declined, type OpenedBooks, UsageError, withProgress } from '../terminal/terminalIo.ts'

/** Adds the commands of a service with several books. */
export function bookPlacesCommands(program: Command, shell: Shell): void {
  const books = program.command('books').description('the databases that organizations are in, where there are several')

  books
    .command('list')
    .description('list the books: how many organizations each has, and how many of the slots for new ones')
    .action((_options: object, command: Command) =>
      perform(shell, command, async (task) => {
        const { names, places, directory } = severalOf(task)
        const slots = await listSlots(directory.db)
        task.printer.list(
          names.map((book) => ({
            book,
            organizations: places().filter((place) => place.book === book).length,
            slots: slots.filter((name) => name === book).length,
          })),
          [
            ['book', ({ book }) => book],
            ['organizations', ({ organizations }) => organizations, 'right'],
            ['slots', ({ slots: own }) => own, 'right'],
          ],
        )
      }),
    )

  books
    .command('give-slots')
    .description('have new organizations of some slots made in a book; those that are there stay where they are')
    .argument('<book>', 'its name')
    .argument('<slots>', `0 to ${SLOTS - 1}, such as 512-767`, slotsIn)
    .action((book: string, slots: Slots, _options: object, command: Command) =>
      perform(shell, command, async (task) => {
        const { directory, names } = severalOf(task)
        if (!names.includes(book)) throw new Declined(`there is no book ${book}; there are ${names.join(', ')}`)
        await giveSlots(directory.db, book, slots)
        task.printer.done(
          { book, ...slots },
          `New organizations of the slots ${slots.from} to ${slots.to} are made in the book ${book}.`,
        )
      }),
    )
}

/** Adds the command that moves an organization to another book. */
export function moveCommand(organizations: Command, shell: Shell): void {
  organizations
    .command('move')
    .description('move an organization to another book while it works; a run that was cut off is repeated')
    .argument('<organization>', 'its number', wholeNumber)
    .requiredOption('--to <book>', 'the name of the book that it is to be in')
    .action((organizationId: number, { to }: { readonly to: string }, command: Command) =>
      perform(shell, command, (task) => move(task, organizationId, to), { asOwner: true }),
    )
}

async function move(task: Task, organizationId: number, to: string): Promise<void> {
  const books = severalOf(task)
  const { io, printer } = task
  const place = books.places().find((one) => one.organizationId === organizationId)
  if (!place) throw new Declined(`there is no organization ${organizationId}`)
  if (!books.names.includes(to)) throw new Declined(`there is no book ${to}; there are ${books.names.join(', ')}`)
  const from = place.book === to ? await leftBook(books, organizationId, to) : place.book
  if (from === undefined) throw new Declined(`organization ${organizationId} is in the book ${to} already`)
  const side = async (name: string) => ({ name, deps: await books.open(name), ownerUrl: books.ownerUrlOf(name) })
  const [source, target] = [await side(from), await side(to)]
  const { stoppedMs, loans } = await withProgress(io, 'tables', (onCopied) =>
    moveOrganization({
      directory: books.directory,
      source,
      target,
      organizationId,
      now: Date.now,
      onCopied,
      onStep: (step) => printer.note(`${step} …`),
    }),
  )
  printer.done(
    { organizationId, book: to, loans, stoppedMs: Math.round(stoppedMs) },
    `Organization ${organizationId}, ${loans} loans, is in the book ${to}. It was stopped for ${(stoppedMs / 1_000).toFixed(1)} s.`,
  )
}

/** Returns the book that an organization has left, where a run was cut off before it deleted the rows there. */
async function leftBook(books: OpenedBooks, organizationId: number, present: string): Promise<string | undefined> {
  for (const name of books.names)
    if (name !== present && (await hasLeft(await books.open(name), organizationId))) return name
  return undefined
}

function severalOf({ books }: Task): OpenedBooks {
  if (!books) throw new UsageError('there is one book: BOOKS names several')
  return books
}

interface Slots {
  readonly from: number
  readonly to: number
}

/** Reads slots, `512-767` or `512`. @throws InvalidArgumentError */
function slotsIn(text: string): Slots {
  const [, first, last = first] = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(text) ?? []
  const [from, to] = [Number(first), Number(last)]
  if (first === undefined || from > to || to >= SLOTS)
    throw new InvalidArgumentError(`It must be slots of 0 to ${SLOTS - 1}, such as 512-767.`)
  return { from, to }
}
