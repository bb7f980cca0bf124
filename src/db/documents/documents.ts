import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { Db } from '../postgres/client.ts'

/** A document as it was made: what it says, in short, and its code. Amounts in minor units. */
export interface StoredDocument {
  readonly organizationId: number
  readonly code: string
  readonly kind: 'statement' | 'receipt'
  readonly loanId: bigint
  readonly transactionId: bigint | null
  readonly fromDate: LocalDate | null
  readonly toDate: LocalDate
  readonly language: string
  readonly currency: string
  readonly amount: bigint
  readonly reversed: boolean
  readonly lender: string
  readonly borrower: string
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
