import type { Json } from '../../domain/credit/stored.ts'
import type { Db } from '../postgres/client.ts'
import { type Listed, type Page, sliceOf } from '../queries/paging.ts'

/** A decision as it is kept. */
export interface KeptDecision {
  readonly id: bigint
  readonly customerId: bigint
  readonly at: number
  readonly kind: 'score' | 'boost'
  readonly policyVersion: string
  readonly inputs: Json
  readonly result: Json
}

export async function findDecision(db: Db, organizationId: number, id: bigint): Promise<KeptDecision | undefined> {
  const row = await db.prisma.creditDecision.findUnique({ where: { organizationId_id: { organizationId, id } } })
  return row ? toKept(row) : undefined
}

/** A page of what was decided of a customer, newest first. */
export async function listDecisions(
  db: Db,
  organizationId: number,
  customerId: bigint,
  page: Page,
): Promise<Listed<KeptDecision>> {
  const where = { organizationId, customerId }
  const [total, items] = await Promise.all([
    db.prisma.creditDecision.count({ where }),
    db.prisma.creditDecision.findMany({ where, orderBy: { id: 'desc' }, ...sliceOf(page) }),
  ])
  return { items: items.map(toKept), total }
}

const toKept = (row: { id: bigint; customerId: bigint; at: Date; kind: string; policyVersion: string } & Told) => ({
  id: row.id,
  customerId: row.customerId,
  at: row.at.getTime(),
  kind: row.kind as KeptDecision['kind'],
  policyVersion: row.policyVersion,
  inputs: row.inputs as Json,
  result: row.result as Json,
})

interface Told {
  readonly inputs: unknown
  readonly result: unknown
}
