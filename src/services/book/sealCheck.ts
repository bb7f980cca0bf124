import {
  BEFORE_ALL,
  type ChainHead,
  countChangesAfter,
  findChangedLater,
  type ReadChange,
  readChain,
  readChainHeads,
  readDecisionsLike,
  readPartsAfter,
  type StoredPart,
} from '../../db/events/sealedChain.ts'
import { readSealed, type SealedRow } from '../../db/events/sealedRows.ts'
import type { Snapshot } from '../../db/postgres/transaction.ts'
import { type Head, headText } from '../events/chainHeads.ts'
import { type ChainSecret, marksOf, nameMarkOf, readMarks } from '../events/seal.ts'
import { differencesOfRows, isAbsent } from './sealDifferences.ts'
import { checkPart, type PartWalk, partName, settle, startWalk } from './sealParts.ts'

/** What the check of the seals takes. */
export interface SealOptions {
  readonly secret: ChainSecret
  readonly organizationId: number | undefined
  /** Heads that were kept elsewhere: the chain up to each must be what it was. */
  readonly heads: readonly Head[]
  readonly stopping: AbortSignal | undefined
  readonly add: (difference: { organizationId: number; of: string; message: string }) => void
  readonly onProgress: ((done: number, total: number) => void) | undefined
}

/** What the check of the seals has read. */
export interface SealsChecked {
  /** Changes of which the seal was checked. */
  readonly sealed: number
  /** Changes that are not sealed yet. */
  readonly unsealed: number
}

/**
 * Walks the chain of each organization from its beginning: every row of the trail has its seal, every seal follows from
 * the one before, and the rows of the book are what was sealed. Reads bounded batches of the snapshot.
 */
export async function checkSeals(snapshot: Snapshot, options: SealOptions): Promise<SealsChecked> {
  const heads = await readChainHeads(snapshot, options.organizationId)
  let [total, unsealed] = [0, 0]
  for (const { organizationId, changeId } of heads) {
    total += await countChangesAfter(snapshot, organizationId, BEFORE_ALL)
    unsealed += await countChangesAfter(snapshot, organizationId, changeId)
  }
  let sealed = 0
  const progress = (changes: number) => {
    sealed += changes
    options.onProgress?.(sealed, total - unsealed)
  }
  for (const head of heads) if (!options.stopping?.aborted) await checkChain(snapshot, head, options, progress)
  const checked = new Set(heads.map(({ organizationId }) => organizationId))
  for (const { organizationId, changeId } of options.heads.filter((one) => !checked.has(one.organizationId)))
    options.add({ organizationId, of: `head ${changeId}`, message: 'no organization has that number' })
  return { sealed, unsealed }
}

/** A walk, with the heads on its way. */
interface ChainWalk extends PartWalk {
  /** The last change of which an event is there. */
  last: bigint
  /** Heads that were kept, by their change. */
  readonly kept: Map<bigint, Head[]>
}

async function checkChain(
  snapshot: Snapshot,
  head: ChainHead,
  { secret, heads, stopping, add }: SealOptions,
  progress: (changes: number) => void,
): Promise<void> {
  const { organizationId } = head
  const fault = (of: string, message: string) => add({ organizationId, of, message })
  const isOurs = head.changeId === 0n || head.keyId === secret.keyId
  if (!isOurs)
    fault(
      'event_chain',
      `was sealed with the secret ${head.keyId || 'of no name'}, and KEY_ENCRYPTION_SECRET makes ${secret.keyId}: the hashes cannot be checked`,
    )
  const own = heads.filter((one) => one.organizationId === organizationId)
  const kept = Map.groupBy(own, ({ changeId }) => changeId)
  const walk = {
    ...startWalk({ organizationId, secret: isOurs ? secret : undefined, fault, sequence: head.beginsAfter }),
    kept,
    last: 0n,
  }
  for (let after = BEFORE_ALL; after < head.changeId && !stopping?.aborted; ) {
    const { changes, parts, end } = await readChain(snapshot, { organizationId, after, end: head.changeId })
    await checkBatch(snapshot, walk, changes, parts)
    progress(changes.length)
    after = end
  }
  if (stopping?.aborted) return
  for (const part of await readPartsAfter(snapshot, organizationId, head.changeId))
    fault(partName(part), `is after the head of the chain, change ${head.changeId}`)
  checkHead(walk, head)
}

/** Compares the end of the walk with the head of the chain, and with the heads that the walk has not come to. */
function checkHead(walk: ChainWalk, head: ChainHead): void {
  const { changeId, sequence, hash } = head
  if (walk.doubtful) settle(walk, walk.doubtful.computed.equals(hash) ? 'hash' : 'unknown')
  else if (walk.before && !Buffer.from(walk.before).equals(hash))
    walk.fault('event_chain', 'hash is not that of the last event')
  if (walk.last < changeId)
    walk.fault('event_chain', `change_id is ${changeId}, and the last event is of change ${walk.last}`)
  if (walk.sequence !== sequence)
    walk.fault('event_chain', `sequence is ${sequence}, and the last event has ${walk.sequence}`)
  for (const missed of [...walk.kept.values()].flat())
    walk.fault(
      `head ${missed.changeId}`,
      missed.changeId > changeId
        ? `the chain ends at change ${changeId}, before the head: its end was cut off, or an older state was restored`
        : `no seal of change ${missed.changeId} is there`,
    )
}

async function checkBatch(
  snapshot: Snapshot,
  walk: ChainWalk,
  changes: readonly ReadChange[],
  parts: readonly StoredPart[],
): Promise<void> {
  const byChange = Map.groupBy(parts, ({ changeId }) => changeId)
  const known = new Map(changes.map((change) => [change.id, change]))
  const later = await findChangedLater(snapshot, walk.organizationId, changes)
  const ids = [...new Set([...known.keys(), ...byChange.keys()])].sort((one, other) => Number(one - other))
  let rows = new Map<bigint, SealedRow[]>()
  for (const [index, id] of ids.entries()) {
    const change = known.get(id)
    if (change && !rows.has(id)) {
      const rest = ids.slice(index).flatMap((one) => known.get(one) ?? [])
      rows = await readSealed(snapshot, walk.organizationId, rest)
    }
    const own = byChange.get(id) ?? []
    const made = change
      ? await withLostDecision(snapshot, walk.organizationId, { change, rows: rows.get(id)! }, own[0])
      : []
    checkChange(walk, { id, change, rows: made, isChangedLater: later.has(id) }, own)
  }
}

/** A change of the trail, of a seal, or of both. */
interface CheckedChange {
  readonly id: bigint
  readonly change: ReadChange | undefined
  readonly rows: readonly SealedRow[]
  readonly isChangedLater: boolean
}

function checkChange(walk: ChainWalk, checked: CheckedChange, parts: readonly StoredPart[]): void {
  const { id, change, rows, isChangedLater } = checked
  if (change === undefined) walk.fault(`audit_entry ${id}`, 'is not there, and it is sealed')
  else if (parts.length === 0 || parts[0]!.part !== 0) {
    walk.fault(`event ${id}/0`, 'is not there: the change is in the trail, and has no seal')
    lose(walk)
  }
  if (parts.length > 0) walk.last = id
  for (const [index, stored] of parts.entries()) {
    const due = parts[0]!.part === 0 ? index : index + 1
    if (stored.part !== due) {
      walk.fault(`event ${id}/${due}`, 'is not there, and a later part of the change is')
      lose(walk)
    }
    const changed = checkPart(walk, stored, change, rows)
    if (stored.part !== 0 || change === undefined || changed === 'digest') continue
    const marks = readMarks(changed === 'marks' ? marksOf(change.trail, rows) : stored.marks)
    if (marks === undefined) continue
    for (const { of, message } of differencesOfRows(id, rows, { digest: stored.digest, marks, isChangedLater }))
      walk.fault(of, message)
  }
  compareHeads(walk, id)
}

/** Goes on after a part that is gone: the hash that the next one follows from is not known. */
function lose(walk: ChainWalk): void {
  settle(walk, 'unknown')
  walk.before = undefined
}

function compareHeads(walk: ChainWalk, id: bigint): void {
  const { kept, before = new Uint8Array(0), sequence, organizationId } = walk
  for (const head of kept.get(id) ?? []) {
    const hash = Buffer.from(before).toString('hex')
    if (hash !== head.hash || sequence !== head.sequence)
      walk.fault(
        `head ${id}`,
        `the chain was rewritten up to change ${id} or before it: it is ${headText({ organizationId, changeId: id, sequence, hash })} now`,
      )
  }
  kept.delete(id)
}

/** Puts the decision that was sealed in place of one that is not found: its customer, kind or time was changed. */
async function withLostDecision(
  snapshot: Snapshot,
  organizationId: number,
  { change, rows }: { readonly change: ReadChange; readonly rows: readonly SealedRow[] },
  first: StoredPart | undefined,
): Promise<readonly SealedRow[]> {
  const lost = rows.findIndex((row) => row.table === 'credit_decision' && isAbsent(row))
  const marks = lost === -1 ? undefined : first && readMarks(first.marks)?.rows[lost]
  if (marks === undefined) return rows
  const like = await readDecisionsLike(snapshot, organizationId, change)
  const found = like.find((one) => nameMarkOf(one) === marks.name)
  return found ? rows.with(lost, found) : rows
}
