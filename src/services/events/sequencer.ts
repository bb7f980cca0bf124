import { setImmediate as turn } from 'node:timers/promises'
import type { UnkeptChange } from '../../db/accounting/keeping.ts'
import { CLOSING } from '../../db/accounting/periods.ts'
import { isStampRight, STAMPED } from '../../db/audit/stamp.ts'
import {
  type ChainEnd,
  claimChain,
  type EventRow,
  extendChain,
  findUnsealed,
  hasHash,
  isTest,
  lastDrawn,
  readUnsealed,
  type UnsealedRow,
} from '../../db/events/chain.ts'
import { readHeads } from '../../db/events/eventList.ts'
import { readSealed } from '../../db/events/sealedRows.ts'
import { loanChangeIn, paymentChangeIn, type SealedRow } from '../../db/events/trailedChange.ts'
import { isUnavailable } from '../../db/postgres/errors.ts'
import { inTransaction, type Transaction } from '../../db/postgres/transaction.ts'
import { readMoment } from '../../db/queries/lists.ts'
import { moment } from '../../db/queries/rows.ts'
import { eventTypesOf, untoldTypeOf } from '../../domain/events/changeEvents.ts'
import { CHANGES_A_TURN, type Keeper } from '../accounting/keepChanges.ts'
import { postSealed } from '../accounting/keeper.ts'
import type { Deps } from '../deps.ts'
import { type Job, type Left, SERVICE } from '../jobs/job.ts'
import { type Head, headText } from './chainHeads.ts'
import type { KeptHeads } from './keptHeads.ts'
import { type ChainSecret, sealChange } from './seal.ts'

/**
 * Changes of an organization that are sealed in one transaction. Each step of a round waits for its turn among the requests, so a round
 * of few changes cannot keep up at the highest rate: with 500 it fell behind for minutes.
 */
export const CHANGES_A_ROUND = 1_000

/** The pause after a round that left nothing: changes that arrive meanwhile are sealed together. */
const EVERY_MS = 100
/** The longest pause while nothing is changed. */
const IDLE_MS = 500
/** The rest for each organization of a round: else each change of 64 lenders had nearly a transaction of the sequencer of its own. */
const GATHER_MS = 40
/** All of the time may go into a long queue: at the highest rate, what waits to be sealed must not grow. Requests get their turns. */
const SHARE = 1

type SequencerDeps = Pick<
  Deps,
  'db' | 'config' | 'machineNow' | 'chainSecret' | 'eventHeads' | 'keptHeads' | 'listener'
>

/** Writes lines of the log. */
interface Log {
  info(context: object, message: string): void
  error(context: object, message: string): void
}

const noLog: Log = { info: () => undefined, error: () => undefined }

/** A row of the trail up to which all is settled once every transaction below a number has ended. */
interface Settling {
  readonly changeId: bigint
  readonly before: bigint
}

/**
 * Creates the job that seals changes and numbers events: what is settled, that is rows of the trail up to which none can
 * appear any more. Any number of them may work on one book: a chain is claimed by its row. The heads that are due are
 * written to the file of heads, and the last ones when the job is stopped.
 * @param log nothing is logged when it is left out
 */
export function sequencerJob(deps: SequencerDeps, log: Log = noLog): Job {
  const { keptHeads, listener } = deps
  const settled = settledChanges(deps)
  const write = writerOfHeads(keptHeads, log)
  const news: SequencerNews = {
    headDue: (head) => log.info({ head: headText(head) }, 'head of a chain of changes'),
    notStamped(change) {
      listener.notStamped()
      log.error(change, 'a row of the audit trail was changed or added past the service; book check names it')
    },
  }
  let isKnown = false
  /** The organizations that were found to have changes to seal up to a settled one, and are not done. */
  let unsealed = new Set<number>()
  let foundTo = 0n

  return {
    name: 'sequencer',
    failure: 'changes could not be sealed, and no event is told of them',
    everyMs: EVERY_MS,
    idleMs: IDLE_MS,
    share: SHARE,
    gatherMs: GATHER_MS,
    async organizations() {
      if (!isKnown) await keptHeads.refresh()
      isKnown = true
      await write('due')
      await refreshHeads(deps)
      await settled.look()
      const upTo = settled.changeId()
      if (foundTo === upTo && unsealed.size === 0) return []
      unsealed = new Set(await findUnsealed(deps.db, upTo))
      foundTo = upTo
      return [...unsealed]
    },
    async work(organizationId): Promise<Left> {
      try {
        const sealed = await sealAndPost(deps, news, { organizationId, settled: foundTo })
        if (!sealed) return 'waits'
        listener.sealed(sealed.count)
        if (sealed.isPosted) listener.kept(sealed.count)
        if (!sealed.isDone) return 'more'
        unsealed.delete(organizationId)
        return 'done'
      } catch (error) {
        // An operator may have accepted an older state meanwhile.
        if (error instanceof ChainWentBackError) await keptHeads.refresh()
        await write('last')
        throw error
      }
    },
    isWaiting: settled.isWaiting,
    stopped: () => write('last'),
  }
}

/** Returns how far the trail is settled; a change that is drawn at a look is settled at a later one. */
function settledChanges({ db }: Pick<Deps, 'db'>) {
  let settled = 0n
  let next: Settling | undefined
  return {
    changeId: () => settled,
    isWaiting: () => next !== undefined,
    async look(): Promise<void> {
      // The number comes first: each transaction that has drawn one up to it has begun by the moment.
      const changeId = next ? 0n : await lastDrawn(db)
      if (!next && changeId === settled) return
      const now = await readMoment(db)
      next ??= { changeId, before: now.nextId }
      if (next.before > now.endedBelow) return
      settled = next.changeId
      next = undefined
    },
  }
}

/** Returns a function that writes to the file of heads. A file that cannot be written keeps nothing from being sealed. */
function writerOfHeads(keptHeads: KeptHeads, log: Log): (which: 'due' | 'last') => Promise<void> {
  let isFailed = false
  return async (which) => {
    try {
      await keptHeads.write(which)
      isFailed = false
    } catch (error) {
      if (!isFailed) log.error({ err: error }, 'HEADS_FILE: heads cannot be written to it; it will be tried again')
      isFailed = true
    }
  }
}

/** Reads the last events of the organizations for which somebody waits: another instance may have numbered them. */
async function refreshHeads({ db, eventHeads }: SequencerDeps): Promise<void> {
  const awaited = eventHeads.awaited()
  if (awaited.length === 0) return
  for (const [organizationId, sequence] of await readHeads(db, awaited)) eventHeads.note(organizationId, sequence)
}

/** What the sequencer tells of what it seals. */
interface SequencerNews {
  /** The head of a chain is to be kept outside of the database. */
  headDue(head: Head): void
  /** A row of the trail has no right stamp: it was changed or added past the service. It is sealed, and book check names it. */
  notStamped(change: { readonly organizationId: number; readonly changeId: bigint }): void
}

/** Changes cannot be posted. The journal has a job of its own, which says why and tries again: they are sealed without it. */
class NotPostedError extends Error {
  override readonly name = 'NotPostedError'
}

/** The next changes of an organization. */
interface ToSealNext {
  readonly organizationId: number
  /** Every row of the trail up to this one is committed, or will never be there. */
  readonly settled: bigint
  /** Posts the changes in the transaction that seals them; left out: the job of the journal posts them. */
  readonly post?: typeof postSealed
}

/** Seals the next changes of an organization as `sealNext` does; without their postings where these fail. */
const sealAndPost = (deps: SequencerDeps, news: SequencerNews, next: ToSealNext) =>
  sealNext(deps, news, { ...next, post: postSealed }).catch((error: unknown) => {
    if (error instanceof NotPostedError) return sealNext(deps, news, next)
    throw error
  })

/**
 * Seals the next changes of an organization, in one transaction.
 * @returns how many, whether all of them, and whether they are posted; undefined while another instance seals them
 * @throws WrongChainSecretError when the chain was begun with another secret; ChainWentBackError; NotPostedError
 */
async function sealNext(deps: SequencerDeps, news: SequencerNews, { organizationId, settled, post }: ToSealNext) {
  const { db, chainSecret, machineNow, keptHeads } = deps
  const sealed = await inTransaction(db, async (transaction) => {
    const end = await claimChain(transaction, organizationId)
    if (!end) return undefined
    if (end.keyId !== '' && end.keyId !== chainSecret.keyId) throw new WrongChainSecretError(organizationId)
    await requireForward(keptHeads, transaction, organizationId, end)
    const most = { above: end.changeId, settled, most: CHANGES_A_ROUND }
    const found = await readUnsealed(transaction, organizationId, most)
    const subjects = await readSealed(transaction, organizationId, found)
    // The last of them are left for the next round where their schedules have very many lines.
    const changes = found.filter(({ id }) => subjects.has(id))
    const posting = post && organizationId !== SERVICE ? post : undefined
    const keeper = await orNotPosted(() =>
      posting?.(deps, { transaction, organizationId }, { after: end.changeId, changes }),
    )
    const { events, notStamped, after } = await sealAll(chainSecret, organizationId, { end, changes, subjects, keeper })
    await extendChain(transaction, organizationId, events, { end: after, sealedAt: moment(machineNow()) })
    await orNotPosted(() => keeper?.end())
    return {
      isPosted: keeper !== undefined,
      count: changes.length,
      isDone: found.length < CHANGES_A_ROUND && changes.length === found.length,
      isClosing: changes.some(({ entity }) => entity === CLOSING),
      notStamped,
      ...after,
    }
  })
  if (!sealed) return undefined
  deps.eventHeads.note(organizationId, sealed.sequence)
  const { changeId, sequence, hash } = sealed
  const head = { organizationId, changeId, sequence, hash: Buffer.from(hash).toString('hex') }
  if (sealed.count > 0 && keptHeads.note(head, sealed.isClosing)) news.headDue(head)
  for (const changeId of sealed.notStamped) news.notStamped({ organizationId, changeId })
  return sealed
}

/** @throws NotPostedError where the changes cannot be posted, and the error of a database that is away */
async function orNotPosted<T>(post: () => Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await post()
  } catch (error) {
    if (isUnavailable(error)) throw error
    throw new NotPostedError('changes could not be posted', { cause: error })
  }
}

/**
 * Requires that a chain still has the last head that this process knows of it.
 * @throws ChainWentBackError where it has not, unless it is that of a test organization, which can be emptied
 */
async function requireForward(
  keptHeads: KeptHeads,
  transaction: Transaction,
  organizationId: number,
  end: ChainEnd,
): Promise<void> {
  const known = keptHeads.latest(organizationId)
  if (!known) return
  const hash = Buffer.from(known.hash, 'hex')
  if (end.changeId === known.changeId && hash.equals(end.hash)) return
  if (end.changeId > known.changeId && (await hasHash(transaction, { ...known, hash }))) return
  if (!(await isTest(transaction, organizationId))) throw new ChainWentBackError(known, end)
  keptHeads.forget(organizationId)
}

/** Returns whether a row of the trail has the stamp of the statement that wrote it. */
const isStamped = ({ stampMac }: ChainSecret, organizationId: number, { trail }: UnsealedRow): boolean =>
  isStampRight(stampMac, { organizationId, texts: trail.slice(0, STAMPED.length) }, trail[STAMPED.length] ?? null)

/** A chain does not have a head that it had: seals were taken off, or an older state of the book was restored. */
export class ChainWentBackError extends Error {
  override readonly name = 'ChainWentBackError'

  constructor(known: Head, end: ChainEnd) {
    const { organizationId, changeId } = known
    super(
      `the chain of organization ${organizationId} had the head ${headText(known)}, and has not: it ends at change ${end.changeId}${end.changeId > changeId ? '' : `, and had come to change ${changeId}`}. Seals were taken off, or an older state of the book was restored. No event of the organization is numbered until the seals are back, or "mkopo book seal --restored" accepts the older state`,
    )
  }
}

/** The secret of the settings is not the one that a chain was begun with. */
export class WrongChainSecretError extends Error {
  override readonly name = 'WrongChainSecretError'

  constructor(organizationId: number) {
    super(
      `KEY_ENCRYPTION_SECRET: is not the one with which the chain of organization ${organizationId} was sealed; no event is numbered until the service has that secret again`,
    )
  }
}

interface ToSeal {
  readonly end: ChainEnd
  readonly changes: readonly UnsealedRow[]
  readonly subjects: ReadonlyMap<bigint, readonly SealedRow[]>
  /** Posts the changes; undefined: the job of the journal does. */
  readonly keeper: Keeper | undefined
}

/**
 * Numbers the events of changes, seals each change onto the one before, and posts it. A part of the changes at a time is read from
 * its text, and forgotten: objects of a whole round would outlive the young generation of the heap, and cost the service more
 * than all that is done with them.
 * @throws NotPostedError
 */
async function sealAll(secret: ChainSecret, organizationId: number, { end, changes, subjects, keeper }: ToSeal) {
  let { sequence, hash } = end
  const events: EventRow[] = []
  const notStamped: bigint[] = []

  function sealOne(row: UnsealedRow): UnkeptChange {
    const change = {
      ...row,
      loanChange: loanChangeIn(row),
      paymentChange: paymentChangeIn(row),
      first: null,
      last: null,
    }
    const types = eventTypesOf(change)
    const isTold = types !== undefined && !row.isUnannounced && row.id > end.openedAtChange
    const before = sequence
    const sealed = sealChange(secret, hash, {
      organizationId,
      changeId: row.id,
      trail: row.trail,
      subjects: subjects.get(row.id) ?? [],
      events: (types ?? [untoldTypeOf(row)]).map((type) => ({ type, sequence: isTold ? ++sequence : null })),
    })
    for (const { digest, marks, hash, ...part } of sealed.parts)
      events.push({ changeId: row.id, ...part, digest: digest && hex(digest), marks: hex(marks), hash: hex(hash) })
    hash = sealed.hash
    if (row.id > end.stampsAfter && !isStamped(secret, organizationId, row)) notStamped.push(row.id)
    return sequence > before ? { ...change, first: before + 1n, last: sequence } : change
  }

  for (let from = 0; from < changes.length; from += CHANGES_A_TURN) {
    if (from > 0) await turn()
    const sealed = changes.slice(from, from + CHANGES_A_TURN).map(sealOne)
    await orNotPosted(() => keeper?.take(sealed))
  }
  const after = { changeId: changes.at(-1)?.id ?? end.changeId, sequence, hash, keyId: secret.keyId }
  return { events, notStamped, after }
}

const hex = (bytes: Buffer): string => bytes.toString('hex')
