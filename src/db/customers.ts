import type { LocalDate } from '../domain/dates.ts'
import type { Db } from './client.ts'
import { isUniqueViolation } from './client.ts'
import type { Customer as CustomerRow } from './generated/client.ts'
import type { Listed, Page } from './loans.ts'

/** How a customer is named: by the service's number or by the partner's own id. */
export type CustomerRef = { readonly id: bigint } | { readonly externalId: string }

/** The states of a customer (contract 4.1). */
export const CUSTOMER_STATUSES = ['Pending', 'Active', 'Closed'] as const
export type CustomerStatus = (typeof CUSTOMER_STATUSES)[number]

/** A customer as stored; a record system's borrower is one too. */
export interface Customer {
  readonly id: bigint
  readonly externalId: string | null
  readonly status: CustomerStatus
  readonly activationDate: LocalDate | null
  readonly businessName: string | null
}

const by = (organizationId: number, ref: CustomerRef) =>
  'id' in ref
    ? { organizationId_id: { organizationId, id: ref.id } }
    : { organizationId_externalId: { organizationId, externalId: ref.externalId } }

export async function findCustomer(db: Db, organizationId: number, ref: CustomerRef): Promise<Customer | undefined> {
  const row = await db.prisma.customer.findUnique({ where: by(organizationId, ref) })
  return row ? toCustomer(row) : undefined
}

/** A page of customers in the order in which they came, so that a walk through the pages meets each once. */
export async function listCustomers(
  db: Db,
  organizationId: number,
  filter: { externalId?: string | undefined },
  { page, rows }: Page,
): Promise<Listed<Customer>> {
  const where = { organizationId, ...(filter.externalId === undefined ? {} : { externalId: filter.externalId }) }
  const [total, items] = await Promise.all([
    db.prisma.customer.count({ where }),
    db.prisma.customer.findMany({
      where,
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      skip: (page - 1) * rows,
      take: rows,
    }),
  ])
  return { items: items.map(toCustomer), total }
}

/** @returns undefined when the external id is taken */
export async function insertCustomer(
  db: Db,
  organizationId: number,
  customer: { externalId: string; activationDate: LocalDate },
  now: number,
): Promise<Customer | undefined> {
  const at = new Date(now)
  try {
    const row = await db.prisma.customer.create({
      data: {
        organizationId,
        externalId: customer.externalId,
        status: 'Active',
        activationDate: new Date(customer.activationDate),
        createdAt: at,
        updatedAt: at,
      },
    })
    return toCustomer(row)
  } catch (error) {
    if (isUniqueViolation(error)) return undefined
    throw error
  }
}

const toCustomer = (row: CustomerRow): Customer => ({
  id: row.id,
  externalId: row.externalId,
  status: row.status as CustomerStatus,
  activationDate: row.activationDate ? toLocalDate(row.activationDate) : null,
  businessName: row.businessName,
})

/** Prisma gives a date as midnight UTC of that day. */
const toLocalDate = (date: Date): LocalDate => date.toISOString().slice(0, 10)
