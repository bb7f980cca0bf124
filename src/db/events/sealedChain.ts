import { createLru, type Lru } from '../../toolbox/lru.ts'
import { CHANGES_OF_CUSTOMER } from '../audit/changes.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { statement } from '../queries/statement.ts'
import { SEALED, SEALED_TRAIL, textsOf } from './sealedColumns.ts'
import { type SealedRow, type TrailedChange, toTrailedChange } from './trailedChange.ts'

/** The head of a chain: the last change that was sealed. */
export interface ChainHead {
  readonly organizationId: number
  /** 0: nothing is sealed yet. */
  readonly changeId: bigint
  /** The last number of an event. */
  readonly sequence: bigint
  readonly hash: Buffer
  /** The number after which the events of the chain begin: 0, but of a test organization that was emptied. */
  readonly beginsAfter: bigint
  readonly isTest: boolean
  /** Changes up to this one are sealed, and nobody is told. */
  readonly openedAt: bigint
  /** The stamps of the changes up to this one cannot be checked: 0, but where the chain began again with another secret. */
  readonly stampsAfter: bigint
  /** Names the secret of the chain; empty while nothing is sealed. */
  readonly keyId: string
}

const HEADS = `
  SELECT o.id AS "organizationId", coalesce(c.change_id, 0) AS "changeId", coalesce(c.sequence, 0) AS sequence,
    coalesce(c.hash, '') AS hash, coalesce(c.key_id, '') AS "keyId", coalesce(c.begins_after, 0) AS "beginsAfter",
    EXISTS (SELECT FROM organization t WHERE t.id = o.id AND t.mode = 'test') AS "isTest",
    coalesce(c.opened_at_change, 0) AS "openedAt", coalesce(c.stamps_after, 0) AS "stampsAfter"
  FROM (SELECT id FROM organization UNION SELECT organization_id FROM event_chain UNION SELECT 0) AS o
  LEFT JOIN event_chain c ON c.organization_id = o.id
  WHERE $1::int IS NULL OR o.id = $1 ORDER BY o.id`

/** Reads the head of each organization, or of one; of an organization without a chain, a head with nothing sealed. */
export async function readChainHeads(
  transaction: Transaction,
  organizationId: number | undefined,
): Promise<ChainHead[]> {
  return (await transaction.query<ChainHead>(HEADS, [organizationId ?? null])).rows
}

/** The heads, of those that are given, which the chain of an organization has. */
const findHashes = statement<{ organizationId: number; changeIds: readonly bigint[]; hashes: readonly string[] }>(
  'find-hashes',
  (p) => `SELECT DISTINCT k.change_id AS "changeId"
    FROM unnest((SELECT ${p('changeIds')}::bigint[]), ${p('hashes')}::text[]) AS k (change_id, hash)
    JOIN event e ON e.organization_id = ${p('organizationId')} AND e.change_id = k.change_id AND e.hash = decode(k.hash, 'hex')`,
)

/** Returns those of some changes at which the chain of an organization has the hash that is given. */
export async function findChangesWithHash(
  transaction: Transaction,
  organizationId: number,
  heads: readonly { readonly changeId: bigint; readonly hash: string }[],
): Promise<ReadonlySet<bigint>> {
  const { rows } = await transaction.query<{ changeId: bigint }>(
    findHashes({
      organizationId,
      changeIds: heads.map(({ changeId }) => changeId),
      hashes: heads.map(({ hash }) => hash),
    }),
  )
  return new Set(rows.map(({ changeId }) => changeId))
}

const countAfter = statement<{ organizationId: number; changeId: bigint; most: number | null }>(
  'count-unsealed',
  (p) => `SELECT count(*) AS changes FROM (SELECT FROM audit_entry
    WHERE organization_id = ${p('organizationId')} AND id > ${p('changeId')} LIMIT ${p('most')}) AS later`,
)

/**
 * Counts the rows of the trail after a change.
 * @param most where counting ends; null: at the last row
 */
export async function countChangesAfter(
  transaction: Transaction,
  organizationId: number,
  changeId: bigint,
  most: number | null = null,
): Promise<number> {
  const { rows } = await transaction.query<{ changes: bigint }>(countAfter({ organizationId, changeId, most }))
  return Number(rows[0]!.changes)
}

/** A row of `event`. */
export interface StoredPart {
  readonly changeId: bigint
  readonly part: number
  readonly sequence: bigint | null
  readonly type: string
  readonly digest: Buffer | null
  readonly marks: Buffer
  readonly hash: Buffer
}

/** The next rows of the trail, and the events up to the last of them. */
export interface ChainBatch {
  readonly changes: readonly TrailedChange[]
  readonly parts: readonly StoredPart[]
  /** Up to which change the batch goes. */
  readonly end: bigint
}

/** Before every change. */
export const BEFORE_ALL = -(2n ** 63n)
/** After every change. */
export const AFTER_ALL = 2n ** 63n - 1n
/** The rows of the trail that are read at once. */
const CHANGES = 1_000
/** The events that are read at once: some changes have several. A thousand changes with more are not of the service. */
const PARTS = 50_000

interface Span {
  readonly organizationId: number
  readonly after: bigint
  readonly end: bigint
}

const readTrail = statement<Span>(
  'read-sealed-trail',
  (p) => `
  SELECT a.id, ${textsOf(SEALED_TRAIL, 'a')} AS trail
  FROM audit_entry a WHERE a.organization_id = ${p('organizationId')} AND a.id > ${p('after')} AND a.id <= ${p('end')}
  ORDER BY a.id LIMIT ${CHANGES}`,
)

const readParts = statement<Span>(
  'read-sealed-parts',
  (p) => `
  SELECT e.change_id AS "changeId", e.part, e.sequence, e.type, e.digest, e.marks, e.hash
  FROM event e WHERE e.organization_id = ${p('organizationId')} AND e.change_id > ${p('after')} AND e.change_id <= ${p('end')}
  ORDER BY e.change_id, e.part LIMIT ${PARTS}`,
)

/** Reads the changes after one and up to another, some at a time, with their events. */
export async function readChain(transaction: Transaction, span: Span): Promise<ChainBatch> {
  const { rows } = await transaction.query<Pick<TrailedChange, 'id' | 'trail'>>(readTrail(span))
  const changes = rows.map(toTrailedChange)
  const end = changes.length < CHANGES ? span.end : changes.at(-1)!.id
  return { changes, parts: (await transaction.query<StoredPart>(readParts({ ...span, end }))).rows, end }
}

const readLater = statement<{ organizationId: number; changeId: bigint }>(
  'read-parts-after-head',
  (p) => `SELECT e.change_id AS "changeId", e.part FROM event e
    WHERE e.organization_id = ${p('organizationId')} AND e.change_id > ${p('changeId')}
    ORDER BY e.change_id, e.part LIMIT ${CHANGES}`,
)

/** Reads events after the last change that was sealed, of which there should be none; 1,000 at most. */
export async function readPartsAfter(
  transaction: Transaction,
  organizationId: number,
  changeId: bigint,
): Promise<Pick<StoredPart, 'changeId' | 'part'>[]> {
  return (await transaction.query<StoredPart>(readLater({ organizationId, changeId }))).rows
}

/** Actions of a customer that change the customer's own row. */
const OF_CUSTOMER = `(${CHANGES_OF_CUSTOMER.map((action) => `'${action}'`).join(', ')})`

/** Whether `e` changes the row again that the change `k` made true, where the row can be changed. */
const CHANGES_AGAIN = `CASE k.entity
    WHEN 'loan' THEN e.action IN ('update', 'hold')
    WHEN 'organization' THEN e.action = 'update'
    WHEN 'customer' THEN CASE WHEN k.action = 'boost' THEN e.action = 'boost' AND e.after ->> 'boostStatus' = 'raised'
      ELSE e.action IN ${OF_CUSTOMER} END
    ELSE true END`

const findLast = statement<{
  organizationId: number
  entities: readonly string[]
  entityIds: readonly string[]
  actions: readonly string[]
}>(
  'find-last-changes',
  (p) => `
  SELECT k.place::int AS place, (
    SELECT e.id FROM audit_entry e WHERE e.organization_id = ${p('organizationId')} AND e.entity = k.entity
      AND e.entity_id = k.entity_id AND ${CHANGES_AGAIN} ORDER BY e.id DESC LIMIT 1) AS last
  FROM unnest((SELECT ${p('entities')}::text[]), ${p('entityIds')}::text[], ${p('actions')}::text[])
    WITH ORDINALITY AS k (entity, entity_id, action, place)`,
)

/** The rows of the book whose last change a walk remembers. A loan with thousands of changes comes in every batch. */
const REMEMBERED = 50_000

/** The last change of each row of the book that a walk has asked for; before all where there is none. */
export type LastChanges = Pick<Lru<string, bigint>, 'get' | 'set'>

/** Returns the memory of a walk, empty. */
export const rememberLastChanges = (): LastChanges => createLru<string, bigint>(REMEMBERED)

/** Returns what names the row that a change made true: a limit that was raised is a part of a customer by itself. */
const subjectOf = ({ entity, entityId, action }: TrailedChange): string =>
  `${entity} ${entityId}${entity === 'customer' && action === 'boost' ? ' boost' : ''}`

/**
 * Returns those of the changes after which another change of the same row is in the trail.
 * @param known is read, and gets what is read of the trail
 */
export async function findChangedLater(
  transaction: Transaction,
  organizationId: number,
  changes: readonly TrailedChange[],
  known: LastChanges,
): Promise<ReadonlySet<bigint>> {
  const asked = [...new Map(changes.map((change) => [subjectOf(change), change]))].filter(
    ([subject]) => known.get(subject) === undefined,
  )
  if (asked.length > 0) {
    const { rows } = await transaction.query<{ place: number; last: bigint | null }>(
      findLast({
        organizationId,
        entities: asked.map(([, { entity }]) => entity),
        entityIds: asked.map(([, { entityId }]) => entityId),
        actions: asked.map(([, { action }]) => action),
      }),
    )
    for (const { place, last } of rows) known.set(asked[place - 1]![0], last ?? BEFORE_ALL)
  }
  const later = changes.filter((change) => (known.get(subjectOf(change)) ?? BEFORE_ALL) > change.id)
  return new Set(later.map(({ id }) => id))
}

const findDecisions = statement<{ organizationId: number; customerId: string; at: string | null }>(
  'find-decisions-like',
  (p) => `
  SELECT d.id::text AS key, ${textsOf(SEALED.credit_decision.columns, 'd')} AS values FROM credit_decision d
  WHERE d.organization_id = ${p('organizationId')}
    AND (d.customer_id::text = ${p('customerId')} OR d.at = ${p('at')}::timestamptz) ORDER BY d.id LIMIT 1000`,
)

/** Reads decisions that a change may have made, where none is the customer's and of that time: 1,000 at most. */
export async function readDecisionsLike(
  transaction: Transaction,
  organizationId: number,
  { entityId, trail }: TrailedChange,
): Promise<SealedRow[]> {
  const { rows } = await transaction.query<Omit<SealedRow, 'table'>>(
    findDecisions({ organizationId, customerId: entityId, at: trail[0] ?? null }),
  )
  return rows.map((row) => ({ table: 'credit_decision', ...row }))
}
