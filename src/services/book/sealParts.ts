import type { StoredPart } from '../../db/events/sealedChain.ts'
import type { Texts } from '../../db/events/sealedColumns.ts'
import type { SealedRow, TrailedChange } from '../../db/events/trailedChange.ts'
import { untoldTypeOf } from '../../domain/events/changeEvents.ts'
import { EVENT_TYPES } from '../../domain/events/eventTypes.ts'
import { type ChainSecret, digestOf, hashOf, marksOf, readMarks } from '../events/seal.ts'
import { changedTrailColumns } from './sealDifferences.ts'

/** A part whose hash is not what its columns make, until the next part says why. */
interface Doubtful {
  readonly name: string
  /** The hash that the columns of the part make. */
  readonly computed: Buffer
}

/** A walk along the chain of one organization. */
export interface PartWalk {
  readonly organizationId: number
  /** Undefined: the chain was made with another secret, and its hashes cannot be computed. */
  readonly secret: ChainSecret | undefined
  readonly fault: (of: string, message: string) => void
  /** The last hash, as it is stored; undefined where a part before is gone. */
  before: Uint8Array | undefined
  /** The last number of an event. */
  sequence: bigint
  doubtful: Doubtful | undefined
  /** The number that a part had before it was changed. */
  former: Pick<StoredPart, 'sequence'>
}

export const startWalk = (of: Pick<PartWalk, 'organizationId' | 'secret' | 'fault' | 'sequence'>): PartWalk => ({
  ...of,
  before: new Uint8Array(0),
  doubtful: undefined,
  former: { sequence: null },
})

/** The columns of `event` that a hash covers. */
type Column = 'sequence' | 'type' | 'digest' | 'marks'

/** Returns the name of a part in messages. */
export const partName = ({ changeId, part }: Pick<StoredPart, 'changeId' | 'part'>): string =>
  `event ${changeId}/${part}`

/**
 * Checks a part of the chain: its number, and its hash over the hash before it.
 * @param change the row of the trail; undefined where it is not there
 * @param rows that the change made true
 * @returns the column of the part that was changed, where it is known
 */
export function checkPart(
  walk: PartWalk,
  stored: StoredPart,
  change: TrailedChange | undefined,
  rows: readonly SealedRow[],
): Column | undefined {
  const changed = checkHash(walk, stored, change, rows)
  const due = walk.sequence + 1n
  if (stored.sequence !== null && stored.sequence !== due && changed !== 'sequence')
    walk.fault(partName(stored), `sequence is ${stored.sequence}, and ${due} is the next`)
  // A number that was changed is counted as what it was, so that the parts after it are not named, too.
  const { sequence } = changed === 'sequence' ? walk.former : stored
  walk.sequence = sequence ?? walk.sequence
  walk.before = stored.hash
  return changed
}

function checkHash(
  walk: PartWalk,
  stored: StoredPart,
  change: TrailedChange | undefined,
  rows: readonly SealedRow[],
): Column | undefined {
  const { secret, before } = walk
  if (stored.part === 0 && change === undefined) return skip(walk)
  const made = (key: ChainSecret, hash: Uint8Array, part: StoredPart) =>
    hashOf(key, hash, { ...walk, changeId: stored.changeId, trail: trailOf(part, change) }, part)
  const makes = (hash: Uint8Array, part: StoredPart) =>
    secret !== undefined && made(secret, hash, part).equals(stored.hash)
  if (before !== undefined && makes(before, stored)) return settle(walk, 'stands')
  if (walk.doubtful && makes(walk.doubtful.computed, stored)) return settle(walk, 'hash')
  settle(walk, 'unknown')
  const known =
    before && secret ? changedColumn(walk, stored, { rows, change, makes: (part) => makes(before, part) }) : undefined
  if (known) {
    walk.fault(partName(stored), `${known} was changed after it was sealed`)
    return known
  }
  const marks = readMarks(stored.marks)
  const columns = change && stored.part === 0 && marks ? changedTrailColumns(change.trail, marks) : []
  for (const column of columns) walk.fault(`audit_entry ${stored.changeId}`, `${column} is not what was sealed`)
  if (columns.length === 0 && before && secret)
    walk.doubtful = { name: partName(stored), computed: made(secret, before, stored) }
  return undefined
}

/** Returns the columns of the trail that the seal has: those that were known when the change was sealed. */
function trailOf({ part, marks }: StoredPart, change: TrailedChange | undefined): Texts | null {
  if (part > 0 || change === undefined) return null
  return marks.length === 0 ? change.trail : change.trail.slice(0, marks[0])
}

/** Passes a part whose row of the trail is gone: its hash cannot be computed. */
function skip(walk: PartWalk): undefined {
  settle(walk, 'unknown')
}

/** Says of the doubtful part what the next part has shown: that its hash alone was changed, or that more was. */
export function settle(walk: PartWalk, shown: 'hash' | 'stands' | 'unknown'): undefined {
  const { doubtful } = walk
  walk.doubtful = undefined
  if (doubtful === undefined) return
  if (shown === 'hash') walk.fault(doubtful.name, 'hash was changed after it was sealed')
  else walk.fault(doubtful.name, 'does not follow from the part before: a part was changed, removed or added')
}

/** Finds the one column of a part with whose former value the hash is right. */
function changedColumn(
  walk: PartWalk,
  stored: StoredPart,
  {
    rows,
    change,
    makes,
  }: {
    readonly rows: readonly SealedRow[]
    readonly change: TrailedChange | undefined
    readonly makes: (part: StoredPart) => boolean
  },
): Column | undefined {
  const former = [walk.sequence + 1n, null].find((sequence) => makes({ ...stored, sequence }))
  if (former !== undefined) {
    walk.former = { sequence: former }
    return 'sequence'
  }
  const types = change ? [...EVENT_TYPES, untoldTypeOf(change)] : EVENT_TYPES
  if (types.some((type) => makes({ ...stored, type }))) return 'type'
  if (stored.part > 0 || change === undefined) {
    if (makes({ ...stored, digest: null })) return 'digest'
    return makes({ ...stored, marks: Buffer.alloc(0) }) ? 'marks' : undefined
  }
  if (makes({ ...stored, digest: digestOf(rows) })) return 'digest'
  return makes({ ...stored, marks: marksOf(change.trail, rows) }) ? 'marks' : undefined
}
