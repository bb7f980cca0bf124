import { createReadStream } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { findChangesWithHash } from '../../db/events/sealedChain.ts'
import { inSnapshot } from '../../db/postgres/transaction.ts'
import type { Base } from '../base.ts'
import { type Head, headText, parseHead } from './chainHeads.ts'

/** The heads of chains that are known outside of the database: in the memory of this process, and in a file. */
export interface KeptHeads {
  /** Returns the last head of an organization that is known; undefined where none is. */
  latest(organizationId: number): Head | undefined
  /**
   * Notes the head that a chain has come to. It is due to be written where the last one was written an hour ago, or at once.
   * @returns whether it is due
   */
  note(head: Head, isDueAtOnce?: boolean): boolean
  /** Forgets the heads of an organization: a test organization was emptied. */
  forget(organizationId: number): void
  /**
   * Reads the file: at first all of it, and later whether an operator has accepted an older state of a chain, whose later heads
   * are then forgotten.
   * @throws the error of a file that cannot be read
   */
  refresh(): Promise<void>
  /**
   * Writes the heads that are due, or the last head of each organization.
   * @throws the error of a file that cannot be written; the heads are written the next time
   */
  write(which: 'due' | 'last'): Promise<void>
}

/** A head of each organization is written this often, where there is a new one. */
const EVERY_MS = 3_600_000

/**
 * Creates the heads of a process; none is known until the file is read.
 * @param file to which lines are added; empty: heads are known in memory alone
 * @param now the time of the machine, which is written before each head
 */
export function createKeptHeads(file: string, now: () => number): KeptHeads {
  const latest = new Map<number, Head>()
  const written = new Map<number, { readonly text: string; readonly at: number }>()
  const due = new Map<number, Head>()
  let accepted: ReadonlyMap<number, number> | undefined
  let writing: Promise<void> = Promise.resolve()

  async function add(): Promise<void> {
    const heads = [...due.values()].filter((head) => written.get(head.organizationId)?.text !== headText(head))
    if (file !== '' && heads.length > 0)
      await appendFile(file, heads.map((head) => lineOf(now(), headText(head))).join(''), { mode: 0o600 })
    for (const head of heads) written.set(head.organizationId, { text: headText(head), at: now() })
    due.clear()
  }

  return {
    latest: (organizationId) => latest.get(organizationId),
    note(head, isDueAtOnce = false) {
      const { organizationId } = head
      latest.set(organizationId, head)
      const before = written.get(organizationId)
      const isDue = isDueAtOnce || before === undefined || Math.abs(now() - before.at) >= EVERY_MS
      if (isDue) due.set(organizationId, head)
      return isDue
    },
    forget(organizationId) {
      for (const known of [latest, written, due]) known.delete(organizationId)
    },
    async refresh() {
      const kept = await readKeptHeads(file)
      for (const organizationId of new Set([...kept.heads.keys(), ...kept.accepted.keys()])) {
        const isNews = kept.accepted.get(organizationId) !== accepted?.get(organizationId)
        if (accepted !== undefined && !isNews) continue
        const last = kept.heads.get(organizationId)?.at(-1)
        if (last) latest.set(organizationId, last)
        else latest.delete(organizationId)
        due.delete(organizationId)
      }
      accepted = kept.accepted
    },
    async write(which) {
      if (which === 'last') for (const head of latest.values()) due.set(head.organizationId, head)
      // One after the other, so that the lines stay in their order.
      writing = writing.catch(() => undefined).then(add)
      await writing
    },
  }
}

const lineOf = (at: number, text: string): string => `${new Date(at).toISOString()} ${text}\n`

/** The heads of a file. */
export interface HeadsOfFile {
  /** By organization, in the order of the changes; without those that came after an older state which an operator accepted. */
  readonly heads: ReadonlyMap<number, readonly Head[]>
  /** How often an operator has accepted an older state, by organization. */
  readonly accepted: ReadonlyMap<number, number>
}

/** Heads of an organization that are read from a file: so many at most, the last ones. */
const MOST_HEADS = 10_000
const HEAD = /mkopo-head-1:\d{1,9}:\d{1,19}:\d{1,19}:[0-9a-f]{64}/
const ACCEPTED = /mkopo-restored-1:(\d{1,9}):(\d{1,19})(?!\d)/

/**
 * Reads the heads of a file, one a line, with anything around it: a log of the service will do as well.
 * @returns nothing where there is no such file
 * @throws the error of a file that cannot be read
 */
export async function readKeptHeads(file: string): Promise<HeadsOfFile> {
  const heads = new Map<number, Map<bigint, Head>>()
  const accepted = new Map<number, number>()
  for await (const line of linesOf(file)) {
    const head = parseHead(HEAD.exec(line)?.[0] ?? '')
    if (head) {
      const own = heads.get(head.organizationId) ?? new Map<bigint, Head>()
      heads.set(head.organizationId, own.set(head.changeId, head))
      if (own.size > MOST_HEADS) own.delete(own.keys().next().value!)
    }
    const [, organization, change] = ACCEPTED.exec(line) ?? []
    if (organization === undefined || change === undefined) continue
    const organizationId = Number(organization)
    accepted.set(organizationId, (accepted.get(organizationId) ?? 0) + 1)
    for (const changeId of heads.get(organizationId)?.keys() ?? [])
      if (changeId > BigInt(change)) heads.get(organizationId)?.delete(changeId)
  }
  const inOrder = [...heads].map(([organizationId, own]): [number, Head[]] => [
    organizationId,
    [...own.values()].sort((one, other) => Number(one.changeId - other.changeId)),
  ])
  return { heads: new Map(inOrder.filter(([, own]) => own.length > 0)), accepted }
}

async function* linesOf(file: string): AsyncGenerator<string> {
  if (file === '') return
  try {
    yield* createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** A chain that does not have the last head of it which the file of heads has. */
export interface LeftChain {
  /** The last head in the file. */
  readonly last: Head
  /** The change of the last head in the file that the chain has; 0: it has none of them. */
  readonly changeId: bigint
}

/**
 * Finds the chains that do not have the last head which the file of heads has of them: an older state of the book was
 * restored, or seals were taken off.
 * @throws the error of a file that cannot be read
 */
export async function findLeft({ db, config }: Pick<Base, 'db' | 'config'>): Promise<LeftChain[]> {
  const { heads } = await readKeptHeads(config.headsFile)
  return inSnapshot(db, async (snapshot) => {
    const left: LeftChain[] = []
    for (const [organizationId, own] of heads) {
      const there = await findChangesWithHash(snapshot, organizationId, own)
      const last = own.at(-1)!
      const changeId = own.findLast((head) => there.has(head.changeId))?.changeId ?? 0n
      if (changeId !== last.changeId) left.push({ last, changeId })
    }
    return left
  })
}

/** Adds to the file of heads that the chains are older than it says. @throws the error of a file that cannot be written */
export async function acceptRestored(
  { config, machineNow }: Pick<Base, 'config' | 'machineNow'>,
  left: readonly LeftChain[],
): Promise<void> {
  const lines = left.map(({ last: { organizationId }, changeId }) =>
    lineOf(machineNow(), `mkopo-restored-1:${organizationId}:${changeId}`),
  )
  if (lines.length > 0) await appendFile(config.headsFile, lines.join(''), { mode: 0o600 })
}
