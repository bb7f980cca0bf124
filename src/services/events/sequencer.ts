import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import type { Deps } from '../../app/deps.ts'
import {
  type ChainEnd,
  claimChain,
  type EventRow,
  extendChain,
  findUnsealed,
  lastDrawn,
  readUnsealed,
  type UnsealedRow,
} from '../../db/events/chain.ts'
import { readHeads } from '../../db/events/eventList.ts'
import { readSealed, type SealedRow } from '../../db/events/sealedRows.ts'
import { isUnavailable } from '../../db/postgres/errors.ts'
import { inTransaction } from '../../db/postgres/transaction.ts'
import { readMoment } from '../../db/queries/moment.ts'
import { moment } from '../../db/queries/rows.ts'
import { eventTypesOf, untoldTypeOf } from '../../domain/events/changeEvents.ts'
import { type ChainSecret, sealChange } from './seal.ts'

/** Changes of an organization that are sealed in one transaction: few enough that requests are not delayed. */
export const CHANGES_A_ROUND = 200

/** The pause after a round that left nothing: changes that arrive meanwhile are sealed together. */
const EVERY_MS = 100
/** The least pause after a round that left something. */
const AGAIN_MS = 10
/** One part in so many of the time may go into a long queue of changes, so that the sequencer never crowds out the book. */
const SHARE = 4
/** The pause after a failure, for the database to recover. */
const AFTER_FAILURE_MS = 2_000
/** The pause after an organization's changes could not be sealed. */
const LEFT_ALONE_MS = 10_000
/** Changes that are sealed before requests get their turn. */
const SLICE = 50

type SequencerDeps = Pick<Deps, 'db' | 'now' | 'chainSecret' | 'eventHeads'>

/** The changes of an organization that could not be sealed, and why. */
export interface Unsealed {
  readonly organizationId: number
  readonly error: unknown
}

/** The result of a round. */
export interface Round {
  /** The number of changes that were sealed. */
  readonly sealed: number
  /** Whether all changes that are settled are sealed. */
  readonly isDone: boolean
  /** The organizations that failed; they keep no other from its turn. */
  readonly failed: readonly Unsealed[]
}

/** Seals changes and numbers events, round by round. */
export interface Sequencer {
  /** Seals what is settled: rows of the trail up to which none can appear any more. */
  round(): Promise<Round>
}

/** A row of the trail up to which all is settled once every transaction below a number has ended. */
interface Settling {
  readonly changeId: bigint
  readonly before: bigint
}

/** Creates a sequencer. Any number of them may work on one book: a chain is claimed by its row. */
export function createSequencer(deps: SequencerDeps): Sequencer {
  let settled = 0n
  let done = 0n
  let next: Settling | undefined

  /** Finds how far the trail is settled; a change that is drawn now is settled at a later look. */
  async function look(): Promise<void> {
    // The number comes first: each transaction that has drawn one up to it has begun by the moment.
    const changeId = next ? 0n : await lastDrawn(deps.db)
    if (!next && changeId === settled) return
    const now = await readMoment(deps.db)
    next ??= { changeId, before: now.nextId }
    if (next.before > now.endedBelow) return
    settled = next.changeId
    next = undefined
  }

  /** Organizations that failed, and until when they are left alone. */
  const leftAlone = new Map<number, number>()

  return {
    async round() {
      await look()
      const failed: Unsealed[] = []
      if (done === settled) return { sealed: 0, isDone: next === undefined, failed }
      const upTo = settled
      let sealed = 0
      let isDone = true
      for (const organizationId of await findUnsealed(deps.db, upTo)) {
        if ((leftAlone.get(organizationId) ?? 0) > performance.now()) {
          isDone = false
          continue
        }
        leftAlone.delete(organizationId)
        try {
          const found = await sealNext(deps, organizationId, upTo)
          if (!found?.isDone) isDone = false
          sealed += found?.count ?? 0
        } catch (error) {
          if (isUnavailable(error)) throw error
          failed.push({ organizationId, error })
          leftAlone.set(organizationId, performance.now() + LEFT_ALONE_MS)
          isDone = false
        }
      }
      if (isDone) done = upTo
      return { sealed, isDone: isDone && next === undefined, failed }
    },
  }
}

/**
 * Seals the next changes of an organization, in one transaction.
 * @returns how many, and whether all of them; undefined while another instance seals them
 * @throws WrongChainSecretError when the chain was begun with another secret
 */
async function sealNext(deps: SequencerDeps, organizationId: number, settled: bigint) {
  const { db, chainSecret, now } = deps
  const sealed = await inTransaction(db, async (transaction) => {
    const end = await claimChain(transaction, organizationId)
    if (!end) return undefined
    if (end.keyId !== '' && end.keyId !== chainSecret.keyId) throw new WrongChainSecretError(organizationId)
    const most = { above: end.changeId, settled, most: CHANGES_A_ROUND }
    const found = await readUnsealed(transaction, organizationId, most)
    const subjects = await readSealed(transaction, organizationId, found)
    // The last of them are left for the next round where their schedules have very many lines.
    const changes = found.filter(({ id }) => subjects.has(id))
    const { events, after } = await sealAll(chainSecret, organizationId, { end, changes, subjects })
    await extendChain(transaction, organizationId, events, { end: after, sealedAt: moment(now()) })
    return {
      count: changes.length,
      isDone: found.length < CHANGES_A_ROUND && changes.length === found.length,
      ...after,
    }
  })
  if (sealed) deps.eventHeads.note(organizationId, sealed.sequence)
  return sealed
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
}

/** Numbers the events of changes, and seals each change onto the one before. */
async function sealAll(secret: ChainSecret, organizationId: number, { end, changes, subjects }: ToSeal) {
  let { sequence, hash } = end
  const events: EventRow[] = []
  for (const [index, change] of changes.entries()) {
    if (index % SLICE === SLICE - 1) await turn()
    const types = eventTypesOf(change)
    const isTold = types !== undefined && !change.isUnannounced && change.id > end.openedAtChange
    const sealed = sealChange(secret, hash, {
      organizationId,
      changeId: change.id,
      trail: change.trail,
      subjects: subjects.get(change.id) ?? [],
      events: (types ?? [untoldTypeOf(change)]).map((type) => ({ type, sequence: isTold ? ++sequence : null })),
    })
    for (const part of sealed.parts) events.push({ changeId: change.id, ...part })
    hash = sealed.hash
  }
  return { events, after: { changeId: changes.at(-1)?.id ?? end.changeId, sequence, hash, keyId: secret.keyId } }
}

/**
 * Seals all changes that are committed by now.
 * @throws the error of an organization whose changes cannot be sealed, once those of the others are
 */
export async function sequenceAll(deps: SequencerDeps): Promise<void> {
  const sequencer = createSequencer(deps)
  let failure: Unsealed | undefined
  for (;;) {
    const { sealed, isDone, failed } = await sequencer.round()
    failure ??= failed[0]
    if (isDone || (failure && sealed === 0 && failed.length === 0)) break
    await pause(1)
  }
  if (failure) throw failure.error
}

/** Reads the last events of the organizations for which somebody waits: another instance may have numbered them. */
async function refreshHeads({ db, eventHeads }: SequencerDeps): Promise<void> {
  const awaited = eventHeads.awaited()
  if (awaited.length === 0) return
  for (const [organizationId, sequence] of await readHeads(db, awaited)) eventHeads.note(organizationId, sequence)
}

/** The background job that seals changes. */
export interface SequencerJob {
  stop(): Promise<void>
}

/** Starts to seal changes and to number events, until it is stopped. */
export function startSequencer(
  deps: SequencerDeps & Pick<Deps, 'listener'>,
  log: { error(context: object, message: string): void },
): SequencerJob {
  const sequencer = createSequencer(deps)
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let round: Promise<void> = Promise.resolve()
  /** The failures that were logged last, by organization: the same failure again is one line in the log. */
  const logged = new Map<number | 'all', string>()

  const next = (delay: number) => {
    if (!isStopped) timer = setTimeout(() => (round = run()), delay)
  }

  function logFailure(of: number | 'all', error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    deps.listener.sealFailed()
    if (logged.get(of) === message) return
    logged.set(of, message)
    const whose = of === 'all' ? 'changes' : `changes of organization ${of}`
    log.error({ err: error }, `${whose} could not be sealed, and no event is told of them; it will be tried again`)
  }

  async function run(): Promise<void> {
    const began = performance.now()
    try {
      const { sealed, isDone, failed } = await sequencer.round()
      for (const { organizationId, error } of failed) logFailure(organizationId, error)
      if (isDone) logged.clear()
      await refreshHeads(deps)
      if (isDone || sealed > 0) deps.listener.sealed(sealed)
      next(Math.max(isDone || sealed === 0 ? EVERY_MS : AGAIN_MS, (performance.now() - began) * (SHARE - 1)))
    } catch (error) {
      logFailure('all', error)
      next(AFTER_FAILURE_MS)
    }
  }

  next(0)
  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await round
    },
  }
}
