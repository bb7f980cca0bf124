import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { Db } from '../postgres/client.ts'

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
