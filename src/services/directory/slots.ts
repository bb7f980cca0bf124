import {
  deletePlace,
  giveSlots as give,
  insertPlace,
  insertSlots,
  type Place,
  readSlots,
  SLOTS,
  slotOf,
} from '../../db/directory/places.ts'
import type { Db } from '../../db/postgres/client.ts'
import { failedPrecondition, invariant, notFound } from '../../domain/errors.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'

export { SLOTS } from '../../db/directory/places.ts'

/**
 * Shares out the slots of a new directory among the books, in the order in which these are named.
 * @throws LendingError `failed_precondition` where the directory names a book that the service does not have
 */
export async function shareSlots(directory: Db, books: readonly string[], places: readonly Place[]): Promise<void> {
  const slots = await readSlots(directory)
  if (slots.length < SLOTS) await insertSlots(directory, (slot) => books[Math.floor((slot * books.length) / SLOTS)]!)
  const ofPlaces = places.flatMap(({ book, movingTo }) => (movingTo === null ? [book] : [book, movingTo]))
  const missing = [...slots, ...ofPlaces].find((name) => !books.includes(name))
  if (missing !== undefined)
    throw failedPrecondition(
      `BOOKS: the directory has the book ${missing}, which is not named: name it; before a book goes, its organizations are moved and its slots given to others`,
    )
}

/** Returns the book of each slot, by the number of the slot. */
export const listSlots = (directory: Db): Promise<readonly string[]> => readSlots(directory)

/** Has new organizations of some slots made in a book. */
export const giveSlots = (directory: Db, book: string, slots: { readonly from: number; readonly to: number }) =>
  give(directory, book, slots)

/** The place of a new organization, which is not made yet. */
export interface NewPlace {
  readonly id: number
  readonly book: string
  /** Takes the place back where the organization was not made. */
  takeBack(): Promise<void>
}

/**
 * Gives a new organization its place, in the book of its slot.
 * @param given its number; the lowest that no organization has when left out
 * @returns its place; where an organization has that number already, that of the other one
 */
export async function placeNew(directory: Db, places: readonly Place[], given: number | undefined): Promise<NewPlace> {
  const id = given ?? nextNumber(places)
  const ofSlot = (await readSlots(directory))[slotOf(id)]
  invariant(ofSlot !== undefined, 'slots that are shared out')
  const { place, isNew } = await insertPlace(directory, id, ofSlot)
  return {
    id,
    book: place.book,
    takeBack: async () => {
      if (isNew) await deletePlace(directory, id)
    },
  }
}

function nextNumber(places: readonly Place[]): number {
  const taken = new Set(places.map(({ organizationId }) => organizationId))
  for (let next = 1; next <= LARGEST_INT32; next++) if (!taken.has(next)) return next
  throw notFound('there is no number left for an organization')
}
