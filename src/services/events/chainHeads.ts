import { type ChainHead, countChangesAfter, readChainHeads } from '../../db/events/sealedChain.ts'
import { inSnapshot } from '../../db/postgres/transaction.ts'
import type { Base } from '../base.ts'

/** The head of a chain as it is kept elsewhere: how far the chain went at a moment, and the hash by which it is known. */
export interface Head {
  readonly organizationId: number
  readonly changeId: bigint
  readonly sequence: bigint
  /** Hexadecimal. */
  readonly hash: string
}

/** The hash of an event, as its receivers have it: `data.hash` of the event. */
export interface EventHash {
  readonly organizationId: number
  readonly sequence: bigint
  /** Hexadecimal. */
  readonly hash: string
}

/** The head of an organization now. */
export interface ListedHead extends Head {
  /** Null while nothing is sealed. */
  readonly text: string | null
  /** Changes that wait to be sealed; counting ends after 100,000. */
  readonly unsealed: number
}

/** Returns a head as the text that is kept: `mkopo-head-1:<organization>:<change>:<sequence>:<hash>`. */
export const headText = ({ organizationId, changeId, sequence, hash }: Head): string =>
  ['mkopo-head-1', organizationId, changeId, sequence, hash].join(':')

const HEAD = /^mkopo-head-1:(\d{1,9}):(\d{1,19}):(\d{1,19}):([0-9a-f]{64})$/

/** Reads a head from its text; undefined for a text that is none. */
export function parseHead(text: string): Head | undefined {
  const [, organizationId, changeId, sequence, hash] = HEAD.exec(text.trim()) ?? []
  if (changeId === undefined || sequence === undefined || hash === undefined) return undefined
  return { organizationId: Number(organizationId), changeId: BigInt(changeId), sequence: BigInt(sequence), hash }
}

const EVENT_HASH = /^evt_(\d{1,9})_([1-9]\d{0,18}):([0-9a-f]{64})$/

/** Reads the hash of an event from its text, `evt_1_97:<hash>`; undefined for a text that is none. */
export function parseEventHash(text: string): EventHash | undefined {
  const [, organizationId, sequence, hash] = EVENT_HASH.exec(text.trim()) ?? []
  if (sequence === undefined || hash === undefined) return undefined
  return { organizationId: Number(organizationId), sequence: BigInt(sequence), hash }
}

/** Returns a head without its bytes. */
const toHead = ({ organizationId, changeId, sequence, hash }: ChainHead): Head => ({
  organizationId,
  changeId,
  sequence,
  hash: hash.toString('hex'),
})

/** Counting of what waits ends after so many changes. */
export const MOST_COUNTED = 100_000

/** Reads the heads of all organizations, of which something is sealed. */
export const readHeads = async ({ db }: Pick<Base, 'db'>): Promise<Head[]> =>
  (await readChainHeads(db.pool, undefined)).filter(({ changeId }) => changeId > 0n).map(toHead)

/** Lists the heads of all organizations, or of one; organization 0 is the service's own. */
export const listHeads = ({ db }: Pick<Base, 'db'>, organizationId?: number): Promise<ListedHead[]> =>
  inSnapshot(db, async (snapshot) => {
    const heads: ListedHead[] = []
    for (const stored of await readChainHeads(snapshot, organizationId)) {
      const head = toHead(stored)
      const unsealed = await countChangesAfter(snapshot, head.organizationId, head.changeId, MOST_COUNTED + 1)
      heads.push({ ...head, text: head.changeId === 0n ? null : headText(head), unsealed })
    }
    return heads
  })
