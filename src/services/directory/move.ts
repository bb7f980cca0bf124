import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import {
  forgetAbsent,
  listAbsent,
  markArrived,
  markArriving,
  markLeft,
  takeBackLeft,
} from '../../db/directory/absent.ts'
import {
  analyze,
  bytesBehind,
  connectAsOwner,
  deleteOrganization,
  dropFence,
  faultOf,
  hasOrganization,
  listMovedTables,
  type MovedTable,
  makeFence,
  type OwnerConnection,
  publish,
  raiseSequences,
  readCopied,
  readLikeness,
  readSequences,
  subscribe,
  takenOver,
  takeOverAtOnce,
  tookTooLong,
  unpublish,
  unsubscribe,
  writersEnded,
} from '../../db/directory/moving.ts'
import { changePlace, type Place, readPlace } from '../../db/directory/places.ts'
import { aloneFor } from '../../db/postgres/transaction.ts'
import { failedPrecondition, invariant, LendingError, notFound } from '../../domain/errors.ts'
import { checkBook } from '../book/bookCheck.ts'
import type { Deps } from '../deps.ts'
import { LOOK_EVERY_MS } from './directory.ts'

/** The name of the lock that the run which moves an organization holds in the directory. */
const MOVE = 'move of an organization'
/** Every process has noticed by then that an organization is stopped. */
const NOTICED_MS = 2 * LOOK_EVERY_MS + 200
/** What is left to be taken over before an organization is stopped. */
const NEAR_BYTES = 512 * 1_024
const LOOK_AT_COPY_MS = 100
/** The longest that an organization is stopped for: then it goes on in the book that it was in. */
const STOP_WITHIN_MS = 10_000

/** A book, for a move: the parts of the service on it, as the owner of its tables, and the URL of that role. */
export interface MovedBook {
  readonly name: string
  readonly deps: Deps
  readonly ownerUrl: string
}

/** The steps of a move, for the person who watches it. */
export type MoveStep = 'copying' | 'checking' | 'stopping' | 'switched' | 'checking again' | 'deleting' | 'done'

/** Options of a move. */
export interface MoveOptions {
  /** The directory. */
  readonly directory: Deps
  readonly source: MovedBook
  readonly target: MovedBook
  readonly organizationId: number
  readonly now: () => number
  onStep?(step: MoveStep): void
  /** Called with the tables that are copied. */
  onCopied?(ready: number, tables: number): void
}

/** The outcome of a move. */
export interface Moved {
  /** Milliseconds for which requests of the organization were refused; 0 where an earlier run had switched it. */
  readonly stoppedMs: number
  readonly loans: number
}

/** The parts of a move that is under way. */
interface Move extends MoveOptions {
  readonly from: OwnerConnection
  readonly to: OwnerConnection
  readonly tables: readonly MovedTable[]
}

const aborted = (message: string) => new LendingError('aborted', message)

/**
 * Moves an organization to another book while it works: copies its rows and follows their changes by logical replication, checks the
 * copy, stops the organization for some seconds, compares both sides, and switches. A run that was cut off is repeated with the same
 * arguments: what it left is removed, or finished where it had switched.
 * @throws LendingError `failed_precondition` where a book cannot give or take it, `aborted` where another run moves it, or it could not be
 *   stopped in time; it is in the book that it was in then
 */
export async function moveOrganization(options: MoveOptions): Promise<Moved> {
  const { directory, source, target, organizationId } = options
  const [from, to] = await connectBoth(source.ownerUrl, target.ownerUrl)
  try {
    const moved = await aloneFor(directory.db, { name: MOVE, organizationId }, async () => {
      const tables = await listMovedTables(from)
      const move: Move = { ...options, from, to, tables }
      const place = await readPlace(directory.db, organizationId)
      if (!place) throw notFound(`there is no organization ${organizationId}`)
      if (place.book === target.name && place.movingTo === null) return finish(move, 0)
      if (place.book !== source.name) throw aborted('the organization was moved by another run meanwhile')
      return begin(move, place)
    })
    if (!moved) throw aborted(`another run moves organization ${organizationId}`)
    return moved
  } finally {
    await Promise.allSettled([from.end(), to.end()])
  }
}

async function connectBoth(source: string, target: string): Promise<[OwnerConnection, OwnerConnection]> {
  const from = await connectAsOwner(source)
  try {
    return [from, await connectAsOwner(target)]
  } catch (error) {
    await from.end()
    throw error
  }
}

async function begin(move: Move, found: Place): Promise<Moved> {
  const { directory, source } = move
  await requireBooks(move)
  const place = await takeOverPlace(move, found)
  let switched: { readonly stoppedMs: number; readonly loans: number }
  try {
    switched = await copyAndSwitch(move, place)
  } catch (error) {
    // Nothing is deleted where it is not certain that the organization is in the old book, and that no other run moves it.
    if (await goOn(directory, source, place).catch(() => false)) await removeCopy(move).catch(() => undefined)
    throw error
  }
  move.onStep?.('switched')
  return { ...(await finish(move, switched.stoppedMs)), loans: switched.loans }
}

/** Copies the organization, follows its changes, and switches it to the new book. */
async function copyAndSwitch(move: Move, place: Place) {
  const { from, to, target, organizationId, tables } = move
  // The copy of an earlier run is not used.
  await removeCopy(move)
  await markArriving(target.deps.db, organizationId)
  move.onStep?.('copying')
  await makeFence(from, tables, organizationId)
  await publish(from, tables, organizationId)
  await subscribe(to, from, organizationId)
  await copied(move)
  await analyze(to, tables)
  move.onStep?.('checking')
  const loans = await requireSound(target, organizationId)
  await nearlyTakenOver(move)
  move.onStep?.('stopping')
  return { stoppedMs: await switchOver(move, place), loans }
}

/** Requires that the books can give and take the organization. @throws LendingError `failed_precondition` */
async function requireBooks({ from, to, source, target, tables, organizationId }: Move): Promise<void> {
  const faults = { [source.name]: await faultOf(from, 'source'), [target.name]: await faultOf(to, 'target') }
  for (const [name, fault] of Object.entries(faults))
    if (fault !== undefined) throw failedPrecondition(`the book ${name}: ${fault}`)
  const there = new Set((await listMovedTables(to)).map(({ name }) => name))
  if (there.size !== tables.length || !tables.every(({ name }) => there.has(name)))
    throw failedPrecondition(`the books ${source.name} and ${target.name} have different tables: migrate both first`)
  const isCopy = (await listAbsent(target.deps.db)).includes(organizationId)
  if (!isCopy && (await hasOrganization(to, organizationId)))
    throw failedPrecondition(`the book ${target.name} has another organization ${organizationId}`)
}

/** Notes in the directory that this run moves the organization. @returns its place */
async function takeOverPlace({ directory, source, target, organizationId }: Move, found: Place): Promise<Place> {
  const place = { ...found, movingTo: target.name, mover: randomUUID(), stopped: false }
  if (!(await changePlace(directory.db, found, place)))
    throw aborted('the place of the organization was changed meanwhile')
  // Only now: the switch of an earlier run cannot come any more. No change is to be refused by its mark.
  await takeBackLeft(source.deps.db, organizationId)
  return place
}

/** Waits until all tables are copied. @throws LendingError `aborted` where the copy failed */
async function copied({ to, target, organizationId, onCopied }: Move): Promise<void> {
  for (;;) {
    const copy = await readCopied(to, organizationId)
    if (!copy?.isEnabled)
      throw aborted(`the rows could not be copied: the log of the server of the book ${target.name} says why`)
    onCopied?.(copy.ready, copy.tables)
    if (copy.tables > 0 && copy.ready === copy.tables) return
    await pause(LOOK_AT_COPY_MS)
  }
}

/** Requires that the copy is a sound book. @returns the number of its loans */
async function requireSound({ name, deps }: MovedBook, organizationId: number): Promise<number> {
  const { found, differences, loans } = await checkBook(deps, { organizationId })
  if (found > 0)
    throw aborted(
      `book check finds ${found} differences of organization ${organizationId} in the book ${name}, the first of ${differences[0]?.of}: ${differences[0]?.message}`,
    )
  return loans
}

/** Waits until little is left to be taken over, and has each change taken over at once from then on. */
async function nearlyTakenOver(move: Move): Promise<void> {
  await takeOverAtOnce(move.to, move.organizationId)
  while ((await bytesBehind(move.from, move.organizationId)) > NEAR_BYTES) await requireFollowing(move)
}

async function requireFollowing({ to, target, organizationId }: Move): Promise<void> {
  if (!(await readCopied(to, organizationId))?.isEnabled)
    throw aborted(`the changes could not be followed: the log of the server of the book ${target.name} says why`)
  await pause(LOOK_AT_COPY_MS)
}

/** Stops the organization, takes its last changes over, compares both sides and switches. @returns the milliseconds of the stop */
async function switchOver(move: Move, place: Place): Promise<number> {
  const { directory, from, to, source, target, organizationId, now } = move
  const stopped = { ...place, stopped: true }
  if (!(await changePlace(directory.db, place, stopped)))
    throw aborted('the place of the organization was changed meanwhile')
  const begun = performance.now()
  const left = () => Math.max(0, STOP_WITHIN_MS - (performance.now() - begun))
  const late = (what: string) =>
    aborted(
      `${what} within ${STOP_WITHIN_MS / 1_000} s: the organization goes on in the book ${source.name}; try again`,
    )
  await pause(NOTICED_MS)
  await markLeft(source.deps.db, organizationId, now())
  if (!(await writersEnded(from, left()))) throw late('the last transactions of the book did not end')
  if (!(await takenOver(from, organizationId, left()))) throw late('the last changes were not taken over')
  const [mine, theirs] = await Promise.all([from, to].map((book) => readLikeness(book, move, left()))).catch(
    (error: unknown) => {
      throw tookTooLong(error) ? late('both sides could not be compared') : error
    },
  )
  invariant(mine && theirs, 'two sides')
  const different = Object.keys(mine).filter((what) => mine[what] !== theirs[what])
  if (different.length > 0)
    throw aborted(
      `the copy differs from the book ${source.name}: ${different.map((what) => `${what} ${mine[what]} and ${theirs[what]}`).join('; ')}`,
    )
  await raiseSequences(to, await readSequences(from))
  const moved = { book: target.name, movingTo: null, mover: null, stopped: false }
  // By one row: the organization is in the one book, or in the other.
  if (!(await changePlace(directory.db, stopped, moved)))
    throw aborted('the place of the organization was changed meanwhile')
  return performance.now() - begun
}

/** Begins the work of the new book, checks it, and deletes the rows of the old one. */
async function finish(move: Move, stoppedMs: number): Promise<Moved> {
  const { from, to, source, target, organizationId, tables, onStep } = move
  await markArrived(target.deps.db, organizationId)
  await unsubscribe(to, organizationId)
  await unpublish(from, organizationId)
  onStep?.('checking again')
  const { found, loans, differences } = await checkBook(target.deps, { organizationId })
  if (found > 0)
    throw aborted(
      `the organization is in the book ${target.name}, and book check finds ${found} differences there, the first of ${differences[0]?.of}: ${differences[0]?.message}; the rows in the book ${source.name} are kept`,
    )
  onStep?.('deleting')
  await deleteOrganization(from, tables, organizationId)
  await dropFence(from, tables, organizationId)
  await forgetAbsent(source.deps.db, organizationId)
  onStep?.('done')
  return { stoppedMs, loans }
}

/** Removes what a run has made for a move that is not finished. */
async function removeCopy({ from, to, target, organizationId, tables }: Move): Promise<void> {
  await unsubscribe(to, organizationId)
  await unpublish(from, organizationId)
  for (const book of [from, to]) await dropFence(book, tables, organizationId)
  await deleteOrganization(to, tables, organizationId)
  await forgetAbsent(target.deps.db, organizationId)
}

/**
 * Has an organization go on in the book that it is in, where the run of this place was moving it. In this order: the switch of that run
 * cannot come any more before the first change is taken.
 * @returns whether it was so, and the organization is in that book and is not being moved
 */
async function goOn(
  directory: Deps,
  { name, deps }: Pick<MovedBook, 'name' | 'deps'>,
  { organizationId, mover }: Pick<Place, 'organizationId' | 'mover'>,
): Promise<boolean> {
  const place = await readPlace(directory.db, organizationId)
  if (place?.book !== name || place.movingTo === null || place.mover !== mover) return false
  const taken = { ...place, mover: randomUUID() }
  if (!(await changePlace(directory.db, place, taken))) return false
  await takeBackLeft(deps.db, organizationId)
  return changePlace(directory.db, taken, { movingTo: null, mover: null, stopped: false })
}

/**
 * Has an organization go on that is stopped, where the run that moves it is gone: nobody holds its lock.
 * @param book the book in which the organization is
 * @returns whether it goes on
 */
export async function resumeStopped(
  directory: Deps,
  book: Pick<MovedBook, 'name' | 'deps'>,
  place: Place,
): Promise<boolean> {
  const { organizationId } = place
  return (await aloneFor(directory.db, { name: MOVE, organizationId }, () => goOn(directory, book, place))) ?? false
}

/** Returns whether an organization has left a book that still has its rows: the run that moved it was cut off. */
export const hasLeft = async ({ db }: Pick<Deps, 'db'>, organizationId: number): Promise<boolean> =>
  (await listAbsent(db)).includes(organizationId)

/** Has the jobs of a book work on an organization that has come, where the run that moved it was cut off before it said so. */
export const beginHere = ({ db }: Pick<Deps, 'db'>, organizationId: number): Promise<void> =>
  markArrived(db, organizationId)
