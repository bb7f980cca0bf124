import type { Command } from 'commander'
import type { Config } from '../app/config.ts'
import { DIRECTORY } from '../app/databaseSettings.ts'
import { openService } from '../app/service.ts'
import type { Deps } from '../services/deps.ts'
import { isBeingMoved, openPlaces } from '../services/directory/directory.ts'
import { placeNew, shareSlots } from '../services/directory/slots.ts'
import { Declined, type OpenedBooks } from './terminal/terminalIo.ts'

/** How a command opens books. */
interface Opening {
  readonly migrate: boolean
  readonly asOwner: boolean
}

/** Opens the directory of the books that the settings name, and each book when it is asked for. */
export async function openBooks(
  directory: Deps,
  { databaseUrl, ownerUrl }: { readonly databaseUrl: string; readonly ownerUrl: string },
  { migrate, asOwner }: Opening,
): Promise<OpenedBooks> {
  const { config } = directory
  const places = await openPlaces(directory.db, { now: Date.now })
  const names = config.books.map(({ name }) => name)
  await shareSlots(directory.db, names, places.all())
  const deps: Deps = { ...directory, directory: places }
  const opened = new Map<string, Promise<Deps>>()
  const named = new Map(
    [...config.books, ...extraOf(config, { databaseUrl, ownerUrl })].map((book) => [book.name, book]),
  )

  function open(name: string): Promise<Deps> {
    const book = named.get(name)
    if (!book) throw new Declined(`there is no book ${name}; there are ${[...named.keys()].join(', ')}`)
    const how = {
      config,
      now: Date.now,
      skipMigrations: !migrate,
      asOwner,
      shared: deps,
      seeds: false,
      patience: 'always',
    } as const
    const opening =
      opened.get(name) ??
      (book.url === databaseUrl
        ? Promise.resolve(deps)
        : openService({ ...how, databaseUrl: book.url, ownerUrl: book.ownerUrl }))
    opened.set(name, opening)
    return opening
  }

  return {
    directory: deps,
    names,
    open,
    ownerUrlOf: (name) => {
      const { url = '', ownerUrl: own = '' } = named.get(name) ?? {}
      return url === databaseUrl ? ownerUrl || url : own || url
    },
    places: places.all,
    async of(organizationId) {
      const place = await places.find(organizationId)
      if (!place) throw new Declined(`there is no organization ${organizationId}`)
      if (place.stopped) throw isBeingMoved()
      return open(place.book)
    },
    ownerOf: async (email) => places.owner({ kind: 'account', name: email.toLowerCase() }),
    async place(given) {
      const place = await placeNew(directory.db, places.all(), given)
      try {
        return { ...place, deps: await open(place.book) }
      } catch (error) {
        await place.takeBack()
        throw error
      }
    },
    async close() {
      await places.stop()
      const all = await Promise.allSettled(opened.values())
      for (const one of all) if (one.status === 'fulfilled' && one.value !== deps) await one.value.db.close()
    },
  }
}

/** Returns the directory as a book of its own, where no book has its database. */
const extraOf = (
  { books }: Config,
  { databaseUrl, ownerUrl }: { readonly databaseUrl: string; readonly ownerUrl: string },
) => (books.some(({ url }) => url === databaseUrl) ? [] : [{ name: DIRECTORY, url: databaseUrl, ownerUrl }])

/** The commands that are of the whole service: what they read and write is in the directory. */
const OF_SERVICE = new Set(['keys', 'secret', 'books', 'organizations create', 'organizations move'])

/** Returns the words by which a command is called. */
function pathOf(command: Command): string[] {
  const words: string[] = []
  for (let one: Command | null = command; one?.parent; one = one.parent) words.unshift(one.name())
  return words
}

/**
 * Returns the books on which a command works: that of the organization or of the account that it names, the directory, or else one
 * book after the other.
 */
export async function booksOfCommand(command: Command, books: OpenedBooks): Promise<readonly Deps[]> {
  const { organization } = command.optsWithGlobals<{ readonly organization?: unknown }>()
  if (typeof organization === 'number') return [await books.of(organization)]
  const path = pathOf(command)
  if (OF_SERVICE.has(path[0] ?? '') || OF_SERVICE.has(path.join(' '))) return [books.directory]
  const at = command.registeredArguments.findIndex((argument) => argument.name() === 'email')
  const email: unknown = at < 0 ? undefined : command.processedArgs[at]
  const owner = typeof email === 'string' ? await books.ownerOf(email) : undefined
  if (owner !== undefined) return [await books.of(owner)]
  return Promise.all(books.names.map((name) => books.open(name)))
}
