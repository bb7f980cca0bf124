import type { Db } from '../postgres/client.ts'

/** The slots over which new organizations are spread. */
export const SLOTS = 1_024

/** What a credential is: an account by its e-mail, an API key or the address of a payment channel by the hash of its secret. */
export type CredentialKind = 'account' | 'key' | 'channel'

/** A credential, by the name under which the directory has it. */
export interface Credential {
  readonly kind: CredentialKind
  readonly name: string
}

/** Where an organization is. */
export interface Place {
  readonly organizationId: number
  /** The name of the book. */
  readonly book: string
  /** The book that the organization is being moved to; null: it is not being moved. */
  readonly movingTo: string | null
  /** Names the run that moves it. */
  readonly mover: string | null
  /** Whether its requests are answered `unavailable`, while its last changes are taken over. */
  readonly stopped: boolean
}

type Prisma = Parameters<Parameters<Db['prisma']['$transaction']>[0]>[0]

/** Raises the version of the directory, by which processes notice that a place is another one. Changes take turns by this row. */
const raiseVersion = (tx: Prisma) => tx.directory.update({ where: { id: 1 }, data: { version: { increment: 1 } } })

/** Returns the version of the directory. */
export async function readVersion({ prisma }: Db): Promise<bigint> {
  return (await prisma.directory.findUniqueOrThrow({ where: { id: 1 } })).version
}

/** Returns the places of all organizations, and the version that they are of, or an older one. */
export async function readPlaces(db: Db): Promise<{ readonly version: bigint; readonly places: readonly Place[] }> {
  // In this order: a change between the two is read again.
  const version = await readVersion(db)
  return { version, places: await db.prisma.organizationPlace.findMany() }
}

/** Returns the place of one organization; undefined where it has none. */
export const readPlace = async ({ prisma }: Db, organizationId: number): Promise<Place | undefined> =>
  (await prisma.organizationPlace.findUnique({ where: { organizationId } })) ?? undefined

/** Returns the organization of a credential; undefined where none has it. */
export async function findCredential({ prisma }: Db, { kind, name }: Credential): Promise<number | undefined> {
  return (await prisma.credentialPlace.findUnique({ where: { kind_name: { kind, name } } }))?.organizationId
}

/** Adds credentials of an organization that are not there yet. */
export async function insertCredentials(
  { prisma }: Db,
  organizationId: number,
  credentials: readonly Credential[],
): Promise<void> {
  const data = credentials.map(({ kind, name }) => ({ kind, name, organizationId }))
  await prisma.credentialPlace.createMany({ data, skipDuplicates: true })
}

/** Returns the credentials that the rows of a book have, by their organizations. */
export async function listCredentialsOfBook(
  { prisma }: Db,
  organizationIds: readonly number[],
): Promise<{ readonly organizationId: number; readonly kind: CredentialKind; readonly name: string }[]> {
  const where = { organizationId: { in: [...organizationIds] } }
  const [accounts, keys, channels] = await Promise.all([
    prisma.account.findMany({ where, select: { organizationId: true, email: true } }),
    prisma.apiKey.findMany({ where, select: { organizationId: true, hash: true } }),
    prisma.paymentChannel.findMany({
      where,
      select: { organizationId: true, secretHash: true, previousSecretHash: true },
    }),
  ])
  return [
    ...accounts.map(({ organizationId, email: name }) => ({ organizationId, kind: 'account' as const, name })),
    ...keys.map(({ organizationId, hash: name }) => ({ organizationId, kind: 'key' as const, name })),
    ...channels.flatMap(({ organizationId, secretHash, previousSecretHash }) =>
      [secretHash, previousSecretHash].flatMap((name) =>
        name === null ? [] : [{ organizationId, kind: 'channel' as const, name }],
      ),
    ),
  ]
}

/** Places an organization that has no place yet. @returns its place, and whether it is new */
export async function insertPlace(
  db: Db,
  organizationId: number,
  book: string,
): Promise<{ readonly place: Place; readonly isNew: boolean }> {
  return db.prisma.$transaction(async (tx) => {
    await raiseVersion(tx)
    const { count } = await tx.organizationPlace.createMany({ data: [{ organizationId, book }], skipDuplicates: true })
    return { place: await tx.organizationPlace.findUniqueOrThrow({ where: { organizationId } }), isNew: count > 0 }
  })
}

/** Removes the place of an organization that was never made. */
export async function deletePlace(db: Db, organizationId: number): Promise<void> {
  await db.prisma.$transaction(async (tx) => {
    await raiseVersion(tx)
    await tx.organizationPlace.deleteMany({ where: { organizationId } })
  })
}

/**
 * Changes a place, where it is as it was read: the book, the move and the run that moves it.
 * @returns whether it was changed
 */
export async function changePlace(
  db: Db,
  { organizationId, book, movingTo, mover, stopped }: Place,
  after: Partial<Pick<Place, 'book' | 'movingTo' | 'mover' | 'stopped'>>,
): Promise<boolean> {
  return db.prisma.$transaction(async (tx) => {
    await raiseVersion(tx)
    const where = { organizationId, book, movingTo, mover, stopped }
    return (await tx.organizationPlace.updateMany({ where, data: after })).count === 1
  })
}

/** Returns the book of each slot, by the number of the slot; empty before they were shared out. */
export async function readSlots({ prisma }: Db): Promise<readonly string[]> {
  const rows = await prisma.bookSlot.findMany({ orderBy: { slot: 'asc' } })
  return rows.map(({ book }) => book)
}

/** Shares out the slots that have no book yet. @param bookOf returns the book of a slot */
export async function insertSlots({ prisma }: Db, bookOf: (slot: number) => string): Promise<void> {
  const data = Array.from({ length: SLOTS }, (_, slot) => ({ slot, book: bookOf(slot) }))
  await prisma.bookSlot.createMany({ data, skipDuplicates: true })
}

/** Gives slots to a book. */
export async function giveSlots(
  { prisma }: Db,
  book: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  await prisma.bookSlot.updateMany({ where: { slot: { gte: from, lte: to } }, data: { book } })
}

/** Returns the slot of an organization: numbers one after the other are in slots far apart. */
export const slotOf = (organizationId: number): number => Number((BigInt(organizationId) * 2_654_435_761n) % 1_024n)
