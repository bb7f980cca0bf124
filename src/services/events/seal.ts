import { hash, hkdfSync } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type Mac, macOf } from '../../db/audit/mac.ts'
import { SEALED, SEALED_TRAIL, type Texts } from '../../db/events/sealedColumns.ts'
import type { SealedRow } from '../../db/events/trailedChange.ts'

/** The secret of the chain. The database does not hold it. */
export interface ChainSecret {
  readonly mac: Mac
  /** Names the secret, without telling it: `event_chain.key_id`. */
  readonly keyId: string
  /** Makes the stamps that rows of the trail get when they are written. */
  readonly stampMac: Mac
}

/** A change that is to be sealed. */
export interface ChangeToSeal {
  readonly organizationId: number
  readonly changeId: bigint
  /** The row of the trail, by the columns of `SEALED_TRAIL`. */
  readonly trail: Texts
  /** The rows that the change made true. */
  readonly subjects: readonly SealedRow[]
  /** The events of the change, at least one: the change itself, then what followed. */
  readonly events: readonly { readonly type: string; readonly sequence: bigint | null }[]
}

/** A sealed event: a row of `event`. */
export interface SealedPart {
  readonly part: number
  readonly sequence: bigint | null
  readonly type: string
  /** Null: the change made no row true, or the part is not the first. */
  readonly digest: Buffer | null
  readonly marks: Buffer
  readonly hash: Buffer
}

/**
 * Derives the keys of the chain and of the stamps from KEY_ENCRYPTION_SECRET (HKDF with SHA-256). The signing keys are encrypted with
 * other keys, so the one secret tells nothing about the other.
 */
export function chainSecret(keyEncryptionSecret: string): ChainSecret {
  const derive = (name: string) => Buffer.from(hkdfSync('sha256', keyEncryptionSecret, '', name, 32))
  const derived = derive('mkopo chain of changes 1')
  const keyId = hash('sha256', Buffer.concat([Buffer.from('mkopo id of a chain key 1'), derived]), 'hex').slice(0, 16)
  return { mac: macOf(derived), keyId, stampMac: macOf(derive('mkopo stamps of the trail 1')) }
}

/** Stands for the hash before the first part of a chain. */
const GENESIS = Buffer.alloc(32)
const NO_MARKS = Buffer.alloc(0)

/**
 * Seals a change: its parts, each of which has a hash over the hash before it and over itself.
 * @param before the hash of the last part of the change before; empty at the beginning of a chain
 * @returns the parts, and the hash of the last of them
 */
export function sealChange(
  secret: ChainSecret,
  before: Uint8Array,
  change: ChangeToSeal,
): { parts: SealedPart[]; hash: Buffer } {
  const parts: SealedPart[] = []
  let last: Uint8Array = before
  for (const [part, { type, sequence }] of change.events.entries()) {
    const isFirst = part === 0
    const digest = isFirst ? digestOf(change.subjects) : null
    const marks = isFirst ? marksOf(change.trail, change.subjects) : NO_MARKS
    const sealed = { part, sequence, type, digest, marks }
    const hashed = hashOf(secret, last, { ...change, trail: isFirst ? change.trail : null }, sealed)
    parts.push({ ...sealed, hash: hashed })
    last = hashed
  }
  return { parts, hash: last as Buffer }
}

/**
 * Returns the hash of a part: HMAC-SHA-256 over the hash before it and the text of the part.
 * @param of.trail null for a part that is not the first of its change
 */
export function hashOf(
  secret: ChainSecret,
  before: Uint8Array,
  of: { readonly organizationId: number; readonly changeId: bigint; readonly trail: Texts | null },
  sealed: Omit<SealedPart, 'hash'>,
): Buffer {
  return secret.mac(partText(of, sealed), before.length === 0 ? GENESIS : before)
}

/** Returns the text of a part. JSON keeps apart what stands side by side: no two different parts have the same text. */
export const partText = (
  { organizationId, changeId, trail }: Parameters<typeof hashOf>[2],
  { part, sequence, type, digest, marks }: Omit<SealedPart, 'hash'>,
): string =>
  JSON.stringify([
    'part 1',
    organizationId,
    String(changeId),
    part,
    sequence === null ? null : String(sequence),
    type,
    trail,
    digest?.toString('base64') ?? null,
    marks.toString('base64'),
  ])

/** Returns the text of rows, with the names of their columns: no two different lists of rows have the same text. */
export const rowsText = (rows: readonly SealedRow[]): string =>
  JSON.stringify([
    'rows 1',
    ...rows.map(({ table, key, values }) => [table, key, SEALED[table].columns.slice(0, values.length), values]),
  ])

/** The bytes of a SHA-256. */
const DIGEST = 32

const isMutable = ({ table }: SealedRow): boolean => SEALED[table].isMutable

/**
 * Returns the SHA-256 of the rows that never change and that of the rows that may, one after the other: a later change
 * must not make the first unprovable. Null where there is no row.
 */
export function digestOf(rows: readonly SealedRow[]): Buffer | null {
  if (rows.length === 0) return null
  const mutable = rows.filter(isMutable)
  const fixed = mutable.length === 0 ? rows : rows.filter((row) => !isMutable(row))
  const digests = [fixed, mutable]
    .filter((group) => group.length > 0)
    .map((group) => hash('sha256', rowsText(group), 'buffer'))
  return digests.length === 1 ? digests[0]! : Buffer.concat(digests)
}

/** Returns the part of a digest that is of the rows that never change; null where there is none. */
export const fixedDigestOf = (digest: Buffer | null, rows: readonly SealedRow[]): Buffer | null =>
  rows.every(isMutable) ? null : (digest?.subarray(0, DIGEST) ?? null)

/** Returns the rows that never change. */
export const fixedRows = (rows: readonly SealedRow[]): SealedRow[] => rows.filter((row) => !isMutable(row))

/** The bytes of a mark. */
const MARK = 2

/** Marks that begin the marks of a column, by its name. */
const STARTS = new Map<string, number>()

function startOf(name: string): number {
  const known = STARTS.get(name)
  if (known !== undefined) return known
  const start = crc32(name)
  STARTS.set(name, start)
  return start
}

/** Returns the mark of a value in a column: two bytes, by which a changed column is named. They prove nothing alone. */
export const markOf = (column: string, value: string | null): number =>
  (value === null ? ~startOf(column) : crc32(value, startOf(column))) & 0xffff

/** Returns the mark of a row's name. */
export const nameMarkOf = ({ table, key }: Pick<SealedRow, 'table' | 'key'>): number => markOf(table, key)

/**
 * Writes marks as bytes: the number of the trail's columns and a mark for each; then for each row the number of its
 * columns, the mark of its name and a mark for each.
 */
export function marksOf(trail: Texts, rows: readonly SealedRow[]): Buffer {
  const size = rows.reduce((sum, { values }) => sum + 1 + MARK * (values.length + 1), 1 + MARK * trail.length)
  const marks = Buffer.allocUnsafe(size)
  let at = marks.writeUInt8(trail.length, 0)
  at = writeMarks(marks, at, SEALED_TRAIL, trail)
  for (const row of rows) {
    at = marks.writeUInt8(row.values.length, at)
    at = marks.writeUInt16BE(nameMarkOf(row), at)
    at = writeMarks(marks, at, SEALED[row.table].columns, row.values)
  }
  return marks
}

/** Writes the mark of each value. By numbers: an iterator makes an object for each of the hundred columns of a change. */
function writeMarks(marks: Buffer, from: number, columns: readonly string[], values: Texts): number {
  let at = from
  for (let index = 0; index < values.length; index++)
    at = marks.writeUInt16BE(markOf(columns[index]!, values[index]!), at)
  return at
}

/** The marks of a sealed change, as numbers. */
export interface ReadMarks {
  readonly trail: readonly number[]
  readonly rows: readonly { readonly name: number; readonly values: readonly number[] }[]
}

/** Reads marks from their bytes; undefined for bytes that are none. */
export function readMarks(marks: Buffer): ReadMarks | undefined {
  let at = 0
  const take = (count: number) =>
    Array.from({ length: count }, () => {
      at += MARK
      return marks.readUInt16BE(at - MARK)
    })
  try {
    const trail = take(marks.readUInt8(at++))
    const rows: ReadMarks['rows'][number][] = []
    while (at < marks.length) {
      const count = marks.readUInt8(at++)
      const [name = 0] = take(1)
      rows.push({ name, values: take(count) })
    }
    return { trail, rows }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
