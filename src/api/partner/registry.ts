import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Range, Ranged } from '../../services/paging.ts'
import { listMembers, membersOf, writtenItems } from '../lists/envelope.ts'
import { externalIdParam, idParam } from '../wire.ts'
import { customer, newLoan } from './openapi/examples.ts'

/** The components of the partner style's document. */
export const registry = z.registry<{ id?: string | undefined; examples?: unknown[]; [key: string]: unknown }>()

/** Makes a schema that the document holds by name, with an example. */
export function named<T extends z.ZodType>(id: string, schema: T, { example }: { example: z.input<T> }): T {
  registry.add(schema, { id, examples: [example] })
  return schema
}

/** A cursor as the document shows it. */
const NEXT = 'bG9hbnMuMnI'

/** Makes the envelope of a list (contract 4.1, 15); its example has one example item, of `total`. */
export function pageOf<T extends z.ZodType>(id: string, item: T, { total = 1, rowsPerPage = 100 } = {}) {
  const page = z.object({ items: z.array(item), ...listMembers() })
  const [example] = registry.get(item)?.examples ?? []
  registry.add(page, { id, examples: [{ items: [example], total, page: 1, rowsPerPage, next: NEXT }] })
  return page
}

/** Builds a part of a list, each item in the partner style's view. */
export const toPage = <T, View>(part: Ranged<T>, range: Range, toView: (item: T) => View) => ({
  items: part.items.map(toView),
  ...membersOf(part, range),
})

/** Answers with a page whose items are bytes of JSON already. The answer is the same as that of `toPage`. */
export const writtenPage = async <View>(reply: FastifyReply, part: Ranged<Buffer>, range: Range) => ({
  items: await writtenItems<View>(reply, part.items),
  ...membersOf(part, range),
})

/** Reads an id in a path; a text that cannot be an id is read as an id that does not exist. */
const NOBODY = { id: 0n, externalId: '' }

const shownAs = <T extends z.ZodType>(schema: T, example: string): T => schema.meta({ examples: [example] })

const shownId = shownAs(idParam, customer.id)

/** The numbers in a path of what belongs to a customer or a loan. */
type PartName = 'consentId' | 'guarantorId' | 'collateralId' | 'promiseId' | 'holdId'

/**
 * Returns the two ways to address a loan or a customer, as path and params: by the service's number or by the partner's
 * own id. Every operation is registered under both, and answers identically.
 * @param shown the externalId that the document shows
 */
const addressesOf = (shown: string) => {
  const byId = z.object({ id: shownId })
  const byExternalId = z.object({ externalId: shownAs(externalIdParam, shown) })
  const transaction = { transactionId: shownId }
  const version = { version: shownAs(idParam, '1') }
  const part = (name: PartName): Readonly<Record<PartName, typeof idParam>> =>
    ({ [name]: shownAs(idParam, '1') }) as Record<PartName, typeof idParam>
  const partOf = (params: Readonly<Record<string, unknown>>, name: PartName) => (params[name] as bigint) ?? NOBODY.id
  return [
    {
      path: '/:id',
      /** Names an operation for the document. */
      named: (operation: string, _thing: 'Loan' | '' = '') => operation,
      params: byId.transform(({ id }) => ({ id: id ?? NOBODY.id })),
      withTransaction: byId.extend(transaction).transform(({ id, transactionId }) => ({
        ref: { id: id ?? NOBODY.id },
        transactionId: transactionId ?? NOBODY.id,
      })),
      withVersion: byId.extend(version).transform(({ id, version }) => ({
        ref: { id: id ?? NOBODY.id },
        version: Number(version ?? NOBODY.id),
      })),
      /** With the number of what belongs to a customer or a loan. */
      withPart: (name: PartName) =>
        byId.extend(part(name)).transform((params) => ({
          ref: { id: params.id ?? NOBODY.id },
          id: partOf(params, name),
        })),
    },
    {
      path: '/external/:externalId',
      named: (operation: string, thing: 'Loan' | '' = '') =>
        `${operation}By${operation.endsWith(thing) ? '' : thing}ExternalId`,
      params: byExternalId.transform(({ externalId }) => ({ externalId: externalId ?? NOBODY.externalId })),
      withTransaction: byExternalId.extend(transaction).transform(({ externalId, transactionId }) => ({
        ref: { externalId: externalId ?? NOBODY.externalId },
        transactionId: transactionId ?? NOBODY.id,
      })),
      withVersion: byExternalId.extend(version).transform(({ externalId, version }) => ({
        ref: { externalId: externalId ?? NOBODY.externalId },
        version: Number(version ?? NOBODY.id),
      })),
      withPart: (name: PartName) =>
        byExternalId.extend(part(name)).transform((params) => ({
          ref: { externalId: params.externalId ?? NOBODY.externalId },
          id: partOf(params, name),
        })),
    },
  ] as const
}

export const CUSTOMER_ADDRESSES = addressesOf(customer.externalId)
export const LOAN_ADDRESSES = addressesOf(newLoan.externalId)
