import { isStampRight, STAMPED } from '../../db/audit/stamp.ts'
import {
  AFTER_ALL,
  BEFORE_ALL,
  type ChainHead,
  countChangesAfter,
  findChangedLater,
  type LastChanges,
  readChain,
  readChainHeads,
  readDecisionsLike,
  readPartsAfter,
  rememberLastChanges,
  type StoredPart,
} from '../../db/events/sealedChain.ts'
import { hasLoanInText, readRowsInText, readSealed, rowsInText } from '../../db/events/sealedRows.ts'
import type { SealedRow, TrailedChange } from '../../db/events/trailedChange.ts'
import type { Snapshot } from '../../db/postgres/transaction.ts'
import { type EventHash, type Head, headText } from '../events/chainHeads.ts'
import { type ChainSecret, marksOf, nameMarkOf, readMarks } from '../events/seal.ts'
import type { Add, CheckParts } from './checkParts.ts'
import {
  type CheckedChange,
  checkPart,
  differencesFromText,
  differencesOfRows,
  isAbsent,
  type PartWalk,
  partName,
  settle,
  startWalk,
} from './sealParts.ts'

/** What the check of the seals takes. */
export interface SealOptions {
  readonly secret: ChainSecret
  readonly organizationId: number | undefined
  /** Heads and hashes of events that were kept elsewhere: the chain up to each must be what it was. */
  readonly heads: readonly (Head | EventHash)[]
  readonly stopping: AbortSignal | undefined
  readonly add: Add
  readonly parts: CheckParts
  readonly onProgress: ((done: number, total: number) => void) | undefined
}

/** What the check of the seals has read. */
export interface SealsChecked {
  /** Changes of which the seal was checked. */
  readonly sealed: number
  /** Changes that are not sealed yet. */
  readonly unsealed: number
  /** Chains that began again with another secret at a change: the stamps of the changes up to it cannot be checked. */
  readonly begunAgain: readonly { readonly organizationId: number; readonly changeId: bigint }[]
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
  for (const head of heads) {
    const part = { organizationId: head.organizationId, of: 'event_chain' }
    if (!options.stopping?.aborted)
      await options.parts.run(part, (add) => checkChain(snapshot, head, { ...options, add }, progress))
  }
  const checked = new Set(heads.map(({ organizationId }) => organizationId))
  for (const head of options.heads.filter((one) => !checked.has(one.organizationId)))
    options.add({
      organizationId: head.organizationId,
      of: nameOfHead(head),
      message: 'no organization has that number',
    })
  const begunAgain = heads
    .filter(({ stampsAfter }) => stampsAfter > 0n)
    .map(({ organizationId, stampsAfter: changeId }) => ({ organizationId, changeId }))
  return { sealed, unsealed, begunAgain }
}

/** Returns the name of what was kept elsewhere in messages. */
const nameOfHead = (head: Head | EventHash): string =>
  'changeId' in head ? `head ${head.changeId}` : `event ${head.sequence}`

/** A walk, with the heads on its way. */
interface ChainWalk extends PartWalk {
  /** Nobody was told of the changes up to this one. */
  readonly openedAt: bigint
  /** The stamps of the changes up to this one cannot be checked. */
  readonly stampsAfter: bigint
  /** The last change of which an event is there. */
  last: bigint
  /** Heads that were kept, by their change. */
  readonly kept: Map<bigint, Head[]>
  readonly lastChanges: LastChanges
  /** Hashes of events that were kept, by the number of the event. */
  readonly told: Map<bigint, EventHash[]>
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
  if (head.beginsAfter !== 0n && !head.isTest)
    fault('event_chain', `begins_after is ${head.beginsAfter}, and the events of a live organization begin at 1`)
  // What was kept before a test organization was emptied is of another chain.
  const own = heads.filter(
    (one) => one.organizationId === organizationId && !(head.isTest && one.sequence <= head.beginsAfter),
  )
  const ofChanges = own.filter((one) => 'changeId' in one)
  const kept = Map.groupBy(ofChanges, ({ changeId }) => changeId)
  const told = Map.groupBy(
    own.filter((one) => !('changeId' in one)),
    ({ sequence }) => sequence,
  )
  const walk = {
    ...startWalk({ organizationId, secret: isOurs ? secret : undefined, fault, sequence: head.beginsAfter }),
    kept,
    told,
    lastChanges: rememberLastChanges(),
    openedAt: head.openedAt,
    stampsAfter: head.stampsAfter,
    last: 0n,
  }
  for (let after = BEFORE_ALL; after < head.changeId && !stopping?.aborted; ) {
    const { changes, parts, end } = await readChain(snapshot, { organizationId, after, end: head.changeId })
    await checkBatch(snapshot, walk, changes, parts)
    progress(changes.length)
    after = end
  }
  if (stopping?.aborted) return
  await checkStampsAfter(snapshot, walk, head)
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
  for (const missed of [...walk.told.values()].flat())
    walk.fault(`event ${missed.sequence}`, 'is not there, and its hash was kept elsewhere')
}

async function checkBatch(
  snapshot: Snapshot,
  walk: ChainWalk,
  changes: readonly TrailedChange[],
  parts: readonly StoredPart[],
): Promise<void> {
  const byChange = Map.groupBy(parts, ({ changeId }) => changeId)
  const known = new Map(changes.map((change) => [change.id, change]))
  const later = await findChangedLater(snapshot, walk.organizationId, changes, walk.lastChanges)
  const current = await readRowsInText(snapshot, walk.organizationId, changes, later)
  const ids = [...new Set([...known.keys(), ...byChange.keys()])].sort((one, other) => Number(one - other))
  let rows = new Map<bigint, SealedRow[]>()
  for (const [index, id] of ids.entries()) {
    const change = known.get(id)
    if (change && !rows.has(id)) {
      const rest = ids.slice(index).flatMap((one) => known.get(one) ?? [])
      rows = await readSealed(snapshot, walk.organizationId, rest)
    }
    const own = byChange.get(id) ?? []
    const sealedNow = change
      ? await withLostDecision(snapshot, walk.organizationId, { change, rows: rows.get(id)! }, own[0])
      : []
    const inText = change ? rowsInText(change) : []
    const checked = { id, change, rows: sealedNow, inText, current: current.get(id) ?? [] }
    checkChange(walk, { ...checked, isChangedLater: later.has(id) }, own)
  }
}

function checkChange(walk: ChainWalk, checked: CheckedChange, parts: readonly StoredPart[]): void {
  const { id, change, rows, isChangedLater } = checked
  if (change === undefined) walk.fault(`audit_entry ${id}`, 'is not there, and it is sealed')
  else if (parts.length === 0 || parts[0]!.part !== 0) {
    walk.fault(`event ${id}/0`, 'is not there: the change is in the trail, and has no seal')
    lose(walk)
  }
  if (change) {
    checkStamp(walk, change)
    if (hasLoanInText(change) && !checked.inText.some(({ table }) => table === 'loan'))
      walk.fault(`audit_entry ${id}`, 'has no contract of the loan that the change made')
    for (const { of, message } of differencesFromText(id, checked)) walk.fault(of, message)
  }
  if (parts.length > 0) walk.last = id
  for (const [index, stored] of parts.entries()) {
    const due = parts[0]!.part === 0 ? index : index + 1
    if (stored.part !== due) {
      walk.fault(`event ${id}/${due}`, 'is not there, and a later part of the change is')
      lose(walk)
    }
    const changed = checkPart(walk, stored, change, rows)
    compareHeads(walk, id, stored)
    // A seal by release 0.1.0 has a digest besides, of rows that are compared with the text already.
    if (stored.part !== 0 || change === undefined || changed === 'digest' || hasLoanInText(change)) continue
    const marks = readMarks(changed === 'marks' ? marksOf(change.trail, rows) : stored.marks)
    if (marks === undefined) continue
    for (const { of, message } of differencesOfRows(id, rows, { digest: stored.digest, marks, isChangedLater }))
      walk.fault(of, message)
  }
  if (walk.kept.get(id)?.length) rewritten(walk, `head ${id}`, id)
  walk.kept.delete(id)
}

/** Goes on after a part that is gone: the hash that the next one follows from is not known. */
function lose(walk: ChainWalk): void {
  settle(walk, 'unknown')
  walk.before = undefined
}

/** Compares what was kept of a part of the chain with what it is now. */
function compareHeads(walk: ChainWalk, id: bigint, stored: StoredPart): void {
  const hash = Buffer.from(stored.hash).toString('hex')
  const left = (walk.kept.get(id) ?? []).filter((head) => head.hash !== hash || head.sequence !== walk.sequence)
  walk.kept.set(id, left)
  if (stored.sequence === null) return
  if (id <= walk.openedAt)
    walk.fault('event_chain', `opened_at_change is ${walk.openedAt}, and change ${id} before it has an event`)
  const told = walk.told.get(stored.sequence) ?? []
  if (told.some((one) => one.hash !== hash)) rewritten(walk, `event ${stored.sequence}`, id)
  walk.told.delete(stored.sequence)
}

function rewritten({ before = new Uint8Array(0), sequence, organizationId, fault }: ChainWalk, of: string, id: bigint) {
  const hash = Buffer.from(before).toString('hex')
  fault(
    of,
    `the chain was rewritten up to change ${id} or before it: it is ${headText({ organizationId, changeId: id, sequence, hash })} now`,
  )
}

/** Names a row of the trail that has no right stamp. */
function checkStamp({ secret, organizationId, stampsAfter, fault }: ChainWalk, { id, trail }: TrailedChange): void {
  if (secret === undefined || id <= stampsAfter) return
  const [texts, stamp = null] = [trail.slice(0, STAMPED.length), trail[STAMPED.length]]
  if (!isStampRight(secret.stampMac, { organizationId, texts }, stamp))
    fault(`audit_entry ${id}`, 'was changed after it was written, or was not written by the service')
}

/** Checks the stamps of the changes that are not sealed yet. */
async function checkStampsAfter(snapshot: Snapshot, walk: ChainWalk, { changeId }: ChainHead): Promise<void> {
  const { organizationId } = walk
  for (let after = changeId; after < AFTER_ALL; ) {
    const { changes, end } = await readChain(snapshot, { organizationId, after, end: AFTER_ALL })
    for (const change of changes) checkStamp(walk, change)
    after = end
  }
}

/** Puts the decision that was sealed in place of one that is not found: its customer, kind or time was changed. */
async function withLostDecision(
  snapshot: Snapshot,
  organizationId: number,
  { change, rows }: { readonly change: TrailedChange; readonly rows: readonly SealedRow[] },
  first: StoredPart | undefined,
): Promise<readonly SealedRow[]> {
  const lost = rows.findIndex((row) => row.table === 'credit_decision' && isAbsent(row))
  const marks = lost === -1 ? undefined : first && readMarks(first.marks)?.rows[lost]
  if (marks === undefined) return rows
  const like = await readDecisionsLike(snapshot, organizationId, change)
  const found = like.find((one) => nameMarkOf(one) === marks.name)
  return found ? rows.with(lost, found) : rows
}
