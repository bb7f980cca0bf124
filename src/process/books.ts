import { setInterval } from 'node:timers'
import { setTimeout as pause } from 'node:timers/promises'
import { DIRECTORY, type NamedBook } from '../app/databaseSettings.ts'
import { handOver, namesOfClients, namesOfPeople } from '../app/front.ts'
import { openService, type ServiceOptions } from '../app/service.ts'
import { isUnavailable } from '../db/postgres/errors.ts'
import { cookieNamesOf } from '../office/desk.ts'
import { type Everybody, keptProviders } from '../office/server.ts'
import { type AccessTrail, keepAccessTrail } from '../services/access/accessTrail.ts'
import type { SignIn } from '../services/access/signIn.ts'
import type { Deps } from '../services/deps.ts'
import { type Credential, openPlaces, type Places } from '../services/directory/directory.ts'
import { beginHere, resumeStopped } from '../services/directory/move.ts'
import { shareSlots } from '../services/directory/slots.ts'
import { takeIn } from '../services/directory/takeIn.ts'
import { combineListeners } from '../services/listener.ts'
import { createPageSessions, type PageSessions } from '../services/office/pageSessions.ts'
import { type Process, type ServedBook, type ServedBookOptions, serveBook } from './servedBook.ts'

/** The pause before a book that was not reached at the start is tried again. */
const AGAIN_MS = 2_000
/** How often a process looks whether an organization is stopped that nobody moves. */
const RESUME_EVERY_MS = 1_000

/** The books of a process, and the directory, whose apps listen. */
export interface SeveralBooks {
  readonly front: ServedBook
  /** Returns the books that are open, the directory with them. */
  books(): readonly ServedBook[]
  /** Starts the background jobs of all books, also of those that are reached later. */
  begin(): void
  /** Stops the look for places, and the tries to reach books. */
  stop(): Promise<void>
}

/** Options of the books of a process. */
interface BooksOptions extends Pick<ServiceOptions, 'skipMigrations'> {
  /** That of the directory. */
  readonly databaseUrl: string
  /** The access trail of the directory. */
  readonly access: AccessTrail
}

/** The books that are open, by their names. */
type Open = Map<string, ServedBook>

/**
 * Opens the books that the settings name, each as a service of its own: with its connections, shared statements, caches, apps and
 * jobs. A book that cannot be reached is tried again until it can; its lenders are refused until then.
 * @param directory the parts of the service on the database that says where each organization is
 * @throws Error where a book is reached and cannot be used, or the directory has a book that is not named
 */
export async function openBooks(directory: Deps, process: Process, options: BooksOptions): Promise<SeveralBooks> {
  const { books } = directory.config
  const names = books.map(({ name }) => name)
  const places = await openPlaces(directory.db, { now: Date.now, log: process.log })
  await shareSlots(directory.db, names, places.all())
  const open: Open = new Map()
  const ofDirectory = bookOfDirectory(books, options.databaseUrl)
  const finding = findersOf(open, places, () => front)
  const deps: Deps = { ...directory, directory: places, signIn: signInOfAll(directory.signIn, finding) }
  const openBook = openerOf({ deps, process, places, seedsIn: ofDirectory ?? names[0]!, ...options })
  const everybody = everybodyOf(open, finding)
  const readiness = readinessOf(open, names, ofDirectory === undefined ? places : undefined)
  const front: ServedBook = await openBook.served(ofDirectory ?? DIRECTORY, deps, options.access, {
    everybody,
    readiness,
  })
  if (ofDirectory !== undefined) open.set(ofDirectory, front)
  const others = books.filter(({ name }) => name !== ofDirectory)
  const tries = await reachAll(others, openBook.opened, open, process.log)
  await places.refresh()
  handOver(front.app, { names: namesOfClients(), places, appOf: (book) => open.get(book)?.app })
  const namesOf = namesOfPeople(cookieNamesOf(directory.config))
  handOver(front.monitor, { names: namesOf, places, appOf: (book) => open.get(book)?.monitor })
  places.onChange(({ organizationId, book, movingTo }) => {
    if (movingTo === null) welcome(open.get(book)?.deps, organizationId)
  })
  const resuming = setInterval(
    () => void resume(deps, open, places, process.log).catch(() => undefined),
    RESUME_EVERY_MS,
  )
  const all = () => [...new Set([front, ...open.values()])]
  return {
    front,
    books: all,
    begin() {
      for (const book of all()) book.begin()
      tries.onOpened((book) => book.begin())
    },
    async stop() {
      clearInterval(resuming)
      tries.stop()
      await places.stop()
    },
  }
}

/** Finds the book of a credential, or of an organization; undefined where there is none, or it was not reached. */
interface Finders {
  readonly ofCredential: (credential: Credential) => Promise<ServedBook | undefined>
  readonly ofOrganization: (organizationId: number) => Promise<ServedBook | undefined>
  readonly front: () => ServedBook
}

function findersOf(open: Open, places: Places, front: () => ServedBook): Finders {
  const ofOrganization = async (organizationId: number) => {
    const place = await places.find(organizationId)
    return place && open.get(place.book)
  }
  return {
    ofOrganization,
    front,
    async ofCredential(credential) {
      const owner = await places.owner(credential)
      return owner === undefined ? undefined : ofOrganization(owner)
    },
  }
}

/** Opens a book, and serves it. */
interface Opener {
  opened(book: NamedBook): Promise<ServedBook>
  served(name: string, parts: Deps, access: AccessTrail, more?: ServedBookOptionsOfFront): Promise<ServedBook>
}

type ServedBookOptionsOfFront = Pick<ServedBookOptions, 'everybody' | 'readiness'>

interface OpenerOptions extends BooksOptions {
  readonly deps: Deps
  readonly process: Process
  readonly places: Places
  /** The book that gets the demonstration data. */
  readonly seedsIn: string
}

function openerOf({ deps, process, places, seedsIn, skipMigrations = false }: OpenerOptions): Opener {
  const { config } = deps
  const { log, metrics, recent } = process
  const opener: Opener = {
    async opened({ name, url: databaseUrl, ownerUrl }) {
      const access = keepAccessTrail(Date.now, log)
      const ofBook = { ...metrics.listener, ...metrics.jobsOf(name) }
      const listener = combineListeners(ofBook, recent.listener, access.listener)
      const how = {
        config,
        now: Date.now,
        clock: Date.now,
        skipMigrations,
        seeds: name === seedsIn,
        shared: deps,
        patience: 'never',
      } as const
      const bookLog = log.child({ book: name })
      const parts = await openService({ ...how, databaseUrl, ownerUrl, listener, log: bookLog })
      const served = await opener.served(name, parts, access)
      await served.monitor.ready()
      return served
    },
    async served(name, parts, access, more = {}) {
      const isBook = config.books.some((book) => book.name === name)
      if (isBook) for (const fault of await takeIn(deps.db, { name, db: parts.db })) log.warn(fault)
      const isHere = (organizationId: number) => {
        const place = places.known(organizationId)
        return place?.book === name && !place.stopped
      }
      return serveBook(parts, process, { name, access, isHere, ...more })
    },
  }
  return opener
}

/** Books that are tried again until they are reached. */
interface Tries {
  /** Calls `tell` with each book that is reached later. */
  onOpened(tell: (book: ServedBook) => void): void
  stop(): void
}

/** Opens books, and tries those again that cannot be reached. @throws Error where a book is reached and cannot be used */
async function reachAll(
  books: readonly NamedBook[],
  opened: Opener['opened'],
  open: Open,
  log: Process['log'],
): Promise<Tries> {
  const tells: ((book: ServedBook) => void)[] = []
  let isStopped = false
  const reach = async (book: NamedBook): Promise<boolean> => {
    try {
      const served = await opened(book)
      open.set(book.name, served)
      for (const tell of tells) tell(served)
      return true
    } catch (error) {
      if (!isUnavailable(error)) throw error
      return false
    }
  }
  async function keepTrying(book: NamedBook): Promise<void> {
    log.warn({ book: book.name }, 'the book cannot be reached; its organizations are refused until it can')
    for (let isOpen = false; !isOpen && !isStopped; ) {
      await pause(AGAIN_MS, undefined, { ref: false })
      if (isStopped) return
      isOpen = await reach(book).catch((err: unknown) => {
        log.error({ err, book: book.name }, 'the book cannot be used; it will be tried again')
        return false
      })
    }
  }
  const reached = await Promise.all(books.map(async (book) => ({ book, isOpen: await reach(book) })))
  for (const { book, isOpen } of reached) if (!isOpen) void keepTrying(book)
  return {
    onOpened: (tell) => void tells.push(tell),
    stop: () => {
      isStopped = true
    },
  }
}

/**
 * Forgets what a book knew of an organization that has come: numbers that were drawn before may be below what it has. Where the run that
 * moved it was cut off after the switch, it is still marked as on its way.
 */
function welcome(parts: Deps | undefined, organizationId: number): void {
  if (parts) void beginHere(parts, organizationId).catch(() => undefined)
  parts?.idBlocks.forget()
  parts?.organizations.forget(organizationId)
  void parts?.testClocks.refreshAll().catch(() => undefined)
}

/** Has organizations go on that a move had stopped which was cut off. */
async function resume(directory: Deps, open: Open, places: Places, log: Process['log']): Promise<void> {
  for (const place of places.all()) {
    const { organizationId, book: name, stopped } = place
    const deps = stopped ? open.get(name)?.deps : undefined
    if (deps && (await resumeStopped(directory, { name, deps }, place)))
      log.warn({ organization: organizationId }, `a move was cut off; the organization goes on in the book ${name}`)
  }
}

/** Returns what readiness says: it fails where no book can be served. @param places of a directory that is no book itself */
const readinessOf = (open: Open, names: readonly string[], places: Places | undefined) => {
  const isAnyWell = () => [...open.values()].some((book) => book.state() === 'ok')
  return {
    ready: async () => isAnyWell(),
    trouble: () => (isAnyWell() ? undefined : 'no book can be reached and takes changes'),
    books: () => ({
      ...Object.fromEntries(names.map((name) => [name, open.get(name)?.state() ?? 'the database was not reached'])),
      ...(places && { [DIRECTORY]: places.answers() ? 'ok' : 'the directory does not answer' }),
    }),
  }
}

/** Returns the sign-in over all books: the account of an e-mail signs in at its own. */
function signInOfAll(own: SignIn, { ofCredential, front }: Finders): SignIn {
  const signInOf = async (email: string) => {
    const book = await ofCredential({ kind: 'account', name: email.toLowerCase() })
    return book === undefined || book === front() ? own : book.deps.signIn
  }
  return {
    ...own,
    issueToken: async (email, ...rest) => (await signInOf(email)).issueToken(email, ...rest),
    confirm: async (email, ...rest) => (await signInOf(email)).confirm(email, ...rest),
  }
}

/** Returns the people of all books, for the page on which they sign in. */
function everybodyOf(open: Open, { ofCredential, ofOrganization, front }: Finders): Everybody {
  const sessions = onceForEach((book): PageSessions => createPageSessions(book.deps))
  const providers = onceForEach((book) => keptProviders(book.deps))
  return {
    sessions: sessionsOfAll(async (whose) => {
      const book = await ('email' in whose
        ? ofCredential({ kind: 'account', name: whose.email.toLowerCase() })
        : ofOrganization(whose.organizationId))
      return sessions(book ?? front())
    }),
    async listProviders() {
      const lists = await Promise.all([...open.values()].map((book) => providers(book)().catch(() => [])))
      return lists.flat()
    },
  }
}

/** Returns the name of the book that has the database of the directory; undefined where none has. */
export const bookOfDirectory = (books: readonly NamedBook[], databaseUrl: string): string | undefined =>
  books.find(({ url }) => url === databaseUrl)?.name

/** Returns a function that makes something of each book once. */
function onceForEach<T>(make: (book: ServedBook) => T): (book: ServedBook) => T {
  const made = new Map<ServedBook, T>()
  return (book) => {
    const before = made.get(book) ?? make(book)
    made.set(book, before)
    return before
  }
}

/** Returns the sessions of all books: of an e-mail, of an account, or of a cookie, which begins with the number of its organization. */
function sessionsOfAll(
  find: (whose: { readonly email: string } | { readonly organizationId: number }) => Promise<PageSessions>,
): PageSessions {
  const ofCookie = (cookie: string) => find({ organizationId: Number(/^(\d{1,10})\./.exec(cookie)?.[1] ?? 0) })
  return {
    open: async (request) => (await find(request)).open(request),
    openKnown: async (person) => (await find(person.account)).openKnown(person),
    find: async (cookie) => (await ofCookie(cookie)).find(cookie),
    forget: (cookie) => void ofCookie(cookie).then((sessions) => sessions.forget(cookie)),
    close: async (cookie) => (await ofCookie(cookie)).close(cookie),
  }
}

/** Migrates each book that can be reached, and seeds the demonstration data in the first one where it belongs there. */
export async function bringBooksUpToDate(directory: Deps, databaseUrl: string, log: Process['log']): Promise<void> {
  const { books } = directory.config
  const ofDirectory = bookOfDirectory(books, databaseUrl)
  for (const [index, { name, url, ownerUrl }] of books.entries()) {
    if (name === ofDirectory) continue
    const how = { config: directory.config, now: Date.now, clock: Date.now, log: log.child({ book: name }) }
    const seeds = ofDirectory === undefined && index === 0
    await openService({ ...how, databaseUrl: url, ownerUrl, shared: directory, seeds, patience: 'never' }).then(
      ({ db }) => db.close(),
      (error: unknown) => {
        if (!isUnavailable(error)) throw error
        log.warn({ book: name }, 'the book cannot be reached, and was not migrated')
      },
    )
  }
}
