import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { Db } from '../postgres/client.ts'
import type { Snapshot } from '../postgres/transaction.ts'
import { type Queries, statement } from '../queries/statement.ts'

/** A document as it was made: what it says, in short, and its code. Amounts in minor units. */
export interface StoredDocument {
  readonly organizationId: number
  readonly code: string
  readonly kind: 'statement' | 'receipt'
  readonly loanId: bigint
  /** Of a receipt. */
  readonly transactionId: bigint | null
  /** Of a statement. */
  readonly fromDate: LocalDate | null
  /** The last day of a statement, or the value date of a receipt. */
  readonly toDate: LocalDate
  readonly language: string
  readonly currency: string
  /** The closing balance of a statement, or the amount of a receipt: minor units. */
  readonly amount: bigint
  /** Whether a receipt is of a transaction that was reversed. */
  readonly reversed: boolean
  readonly lender: string
  readonly borrower: string
  /** SHA-256 over all that the document says. */
  readonly digest: Uint8Array<ArrayBuffer>
  readonly madeAt: Instant
}

/** The name of a document. */
export type DocumentName = Pick<StoredDocument, 'organizationId' | 'code'>

const dayOf = (date: Date): LocalDate => date.toISOString().slice(0, 10)
const dateOf = (day: LocalDate): Date => new Date(`${day}T00:00:00Z`)

/** Returns the document with a code; undefined where none of the organization has it. */
export async function findDocument(
  db: Db,
  { organizationId, code }: DocumentName,
): Promise<StoredDocument | undefined> {
  const row = await db.prisma.document.findUnique({ where: { organizationId_code: { organizationId, code } } })
  if (!row) return undefined
  const { kind, fromDate, toDate, madeAt, ...rest } = row
  return {
    ...rest,
    kind: kind === 'receipt' ? 'receipt' : 'statement',
    fromDate: fromDate && dayOf(fromDate),
    toDate: dayOf(toDate),
    madeAt: madeAt.getTime(),
  }
}

/** Inserts a document, unless it is there. */
export async function insertDocument(db: Db, { fromDate, toDate, madeAt, ...rest }: StoredDocument): Promise<void> {
  const dates = { fromDate: fromDate && dateOf(fromDate), toDate: dateOf(toDate), madeAt: new Date(madeAt) }
  await db.prisma.document.createMany({ data: [{ ...rest, ...dates }], skipDuplicates: true })
}

const COLUMNS = `d.organization_id AS "organizationId", d.code, d.kind, d.loan_id AS "loanId", d.transaction_id AS "transactionId",
  d.from_date AS "fromDate", d.to_date AS "toDate", d.language, d.currency, d.amount, d.reversed, d.lender, d.borrower,
  d.digest, d.made_at AS "madeAt"`

const ofCustomer = statement<{ organizationId: number; customerId: bigint; most: number }>(
  'documents-of-customer',
  (p) => `
  SELECT ${COLUMNS} FROM loan l JOIN document d ON d.organization_id = l.organization_id AND d.loan_id = l.id
  WHERE l.organization_id = ${p('organizationId')} AND l.customer_id = ${p('customerId')}
  ORDER BY d.made_at, d.code LIMIT ${p('most')}`,
)

/** Reads the documents of the loans of a customer, in the order in which they were made first; `most` of them. */
export const readDocumentsOf = async (
  { pool }: Queries,
  of: { readonly organizationId: number; readonly customerId: bigint; readonly most: number },
): Promise<StoredDocument[]> => (await pool.query<StoredDocument>(ofCustomer(of))).rows

/** The next documents of a walk. */
interface DocumentWalk {
  readonly after: DocumentName
  /** Undefined: all organizations. */
  readonly organizationId: number | undefined
  /** Names the secret of the service: the codes of an organization whose chain has another were made with another. */
  readonly keyId: string
  readonly most: number
}

const next = statement<{
  of: number | null
  afterOrganization: number
  afterCode: string
  keyId: string
  most: number
}>(
  'next-documents',
  (p) => `
  SELECT ${COLUMNS}
  FROM document d
  WHERE (d.organization_id, d.code) > (${p('afterOrganization')}, ${p('afterCode')})
    AND (${p('of')}::int IS NULL OR d.organization_id = ${p('of')})
    AND NOT EXISTS (SELECT FROM event_chain c WHERE c.organization_id = d.organization_id
      AND (c.stamps_after > 0 OR c.key_id NOT IN ('', ${p('keyId')})))
    AND NOT EXISTS (SELECT FROM loan l JOIN customer p ON p.organization_id = l.organization_id AND p.id = l.customer_id
      WHERE l.organization_id = d.organization_id AND l.id = d.loan_id AND p.erased_at IS NOT NULL AND d.borrower = p.external_id)
  ORDER BY d.organization_id, d.code LIMIT ${p('most')}`,
)

/**
 * Reads the next documents in the order of their keys, without those whose codes were made with another secret, and those of
 * a borrower who was erased: their names are other ones.
 */
export async function readDocuments(
  snapshot: Snapshot,
  { after, organizationId = undefined, keyId, most }: DocumentWalk,
): Promise<StoredDocument[]> {
  const values = { of: organizationId ?? null, afterOrganization: after.organizationId, afterCode: after.code }
  return (await snapshot.query<StoredDocument>(next({ ...values, keyId, most }))).rows
}
