import { setTimeout as pause } from 'node:timers/promises'
import {
  type Credential,
  findCredential,
  insertCredentials,
  type Place,
  readPlaces,
  readVersion,
} from '../../db/directory/places.ts'
import type { Db } from '../../db/postgres/client.ts'
import { LendingError } from '../../domain/errors.ts'
import { createLru } from '../../toolbox/lru.ts'
import { createSingleFlight } from '../../toolbox/singleFlight.ts'

export type { Credential, CredentialKind, Place } from '../../db/directory/places.ts'

/** How often a process looks whether a place is another one. */
export const LOOK_EVERY_MS = 500
/** A place that was read this long ago, because the directory does not answer, is not used any more. */
export const PLACES_LAST_MS = 300_000
/** A look that takes longer counts as failed. */
const PATIENCE_MS = 2_000
/** The credentials that a process remembers. */
const MOST_CREDENTIALS = 200_000

/** Where the accounts, API keys and payment channels of organizations are found. */
export interface Directory {
  /**
   * Notes whose a credential is, before the credential is made.
   * @throws LendingError `already_exists` where another organization has it
   */
  enter(credential: Credential, organizationId: number): Promise<void>
  /** The database of the directory, where attempts to sign in are counted; left out where there is one book, which has them. */
  readonly db?: Db
}

/** The directory of a service with one database, which needs none. */
export const ONE_BOOK: Directory = { enter: async () => undefined }

/** Where the organizations are, as this process read it last. */
export interface Places extends Directory {
  /**
   * Returns the place of an organization; undefined where it has none.
   * @throws LendingError `unavailable` where the directory has not answered for five minutes
   */
  find(organizationId: number): Place | undefined | Promise<Place | undefined>
  /** Returns the organization of a credential; undefined where none has it. @throws the error of a directory that does not answer */
  owner(credential: Credential): number | undefined | Promise<number | undefined>
  /** Returns all places that were read last. */
  all(): readonly Place[]
  /** Returns the place of an organization as it was read last, without a question; undefined where it had none. */
  known(organizationId: number): Place | undefined
  /** Whether the directory answered the last look. */
  answers(): boolean
  /** Reads the places again. */
  refresh(): Promise<void>
  /** Calls `tell` with each place that is another one than before. */
  onChange(tell: (place: Place) => void): void
  stop(): Promise<void>
}

/** Options of the places. */
export interface PlacesOptions {
  readonly now: () => number
  readonly log?: { warn(message: string): void; info(message: string): void }
}

const keyOf = ({ kind, name }: Credential) => `${kind} ${name}`

const isAway = () =>
  new LendingError('unavailable', 'the directory of the organizations does not answer; try again', [], 1)

/** Reads the places of all organizations, and looks for changes until it is stopped. */
export async function openPlaces(db: Db, options: PlacesOptions): Promise<Places> {
  const { now } = options
  const read = readingOf(db, now)
  const owners = createLru<string, number>(MOST_CREDENTIALS)
  await read.refresh()
  const looks = lookAt(read.refresh, options)
  return {
    db,
    find(organizationId) {
      if (now() - read.heardAt() >= PLACES_LAST_MS) throw isAway()
      const place = read.known().get(organizationId)
      if (place || !looks.answers()) return place
      // It may have been made a moment ago.
      return read.refresh().then(() => read.known().get(organizationId))
    },
    owner(credential) {
      const key = keyOf(credential)
      const remembered = owners.get(key)
      if (remembered !== undefined) return remembered
      return findCredential(db, credential).then((organizationId) => {
        if (organizationId !== undefined) owners.set(key, organizationId)
        return organizationId
      })
    },
    async enter(credential, organizationId) {
      await insertCredentials(db, organizationId, [credential])
      if ((await findCredential(db, credential)) === organizationId) return
      const isAccount = credential.kind === 'account'
      throw new LendingError(
        'already_exists',
        isAccount ? 'an account with that e-mail exists already' : 'the secret is taken; try again',
      )
    },
    all: () => [...read.known().values()],
    known: (organizationId) => read.known().get(organizationId),
    answers: looks.answers,
    refresh: read.refresh,
    onChange: read.onChange,
    stop: looks.stop,
  }
}

/** The places that were read last. */
function readingOf(db: Db, now: () => number) {
  let known: ReadonlyMap<number, Place> = new Map()
  let version = -1n
  let heardAt = now()
  const listeners: ((place: Place) => void)[] = []
  const share = createSingleFlight<'places', void>()

  async function read(): Promise<void> {
    const begun = now()
    if ((await readVersion(db)) !== version) {
      const found = await readPlaces(db)
      const before = known
      known = new Map(found.places.map((place) => [place.organizationId, place]))
      const isFirst = version === -1n
      version = found.version
      const changed = isFirst ? [] : found.places.filter((place) => !isSame(before.get(place.organizationId), place))
      for (const place of changed) for (const tell of listeners) tell(place)
    }
    heardAt = begun
  }

  return {
    known: () => known,
    heardAt: () => heardAt,
    refresh: () => share('places', read),
    onChange: (tell: (place: Place) => void) => void listeners.push(tell),
  }
}

/** Looks for changes again and again, and says in the log when the directory goes and comes back. */
function lookAt(refresh: () => Promise<void>, { log }: PlacesOptions) {
  const stopping = new AbortController()
  let isAnswering = true

  async function look(): Promise<void> {
    const late = pause(PATIENCE_MS, false, { ref: false })
    const reading = refresh().then(
      () => true,
      () => false,
    )
    const answers = await Promise.race([reading, late])
    if (answers !== isAnswering)
      answers
        ? log?.info('the directory of the organizations answers again')
        : log?.warn('the directory of the organizations does not answer; what was read of it is used for five minutes')
    isAnswering = answers
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await pause(LOOK_EVERY_MS, undefined, { ref: false, signal: stopping.signal }).catch(() => undefined)
      if (!stopping.signal.aborted) await look()
    }
  }

  const running = run()
  return {
    answers: () => isAnswering,
    async stop() {
      stopping.abort()
      await Promise.race([running, pause(PATIENCE_MS, undefined, { ref: false })])
    },
  }
}

const isSame = (one: Place | undefined, other: Place) =>
  one?.book === other.book && one.stopped === other.stopped && one.movingTo === other.movingTo

/** Returns the refusal of a request whose organization is stopped while it is moved. */
export const isBeingMoved = (): LendingError =>
  new LendingError('unavailable', 'the books of the organization are being moved; try again in some seconds', [], 1)
