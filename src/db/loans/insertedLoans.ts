import { statementOver } from '../queries/rows.ts'
import type { Queries } from '../queries/statement.ts'
import type { NewLoan } from './insertLoans.ts'

/**
 * The outcome of one loan of an insert. `idTaken`, `externalIdTaken`: another loan of the organization has it.
 * `leftOut`: its customer is no longer Active; or, where the insert was not patient, it has to be inserted alone.
 */
export type Inserted = 'made' | 'idTaken' | 'externalIdTaken' | 'leftOut'

/** A row that the insert answers: a loan that was made, or else a customer that could be locked and is Active. */
export interface InsertedRow {
  readonly organization_id: number
  readonly id: bigint
  readonly is_loan: boolean
}

const idOf = ({ author, id }: NewLoan) => `${author.organizationId} ${id}`
const externalIdOf = ({ author, externalId }: NewLoan) =>
  externalId === null ? undefined : `${author.organizationId} ${externalId}`

/**
 * The loans to send: of several with one id or one external id, the first.
 * @returns besides, for each loan that is not sent, the one that is sent in its place
 */
export function withoutRepeats(loans: readonly NewLoan[]): { sent: NewLoan[]; rivals: Map<NewLoan, NewLoan> } {
  const byId = new Map<string, NewLoan>()
  const byExternalId = new Map<string, NewLoan>()
  const rivals = new Map<NewLoan, NewLoan>()
  const sent = loans.filter((loan) => {
    const externalId = externalIdOf(loan)
    const rival = (externalId === undefined ? undefined : byExternalId.get(externalId)) ?? byId.get(idOf(loan))
    if (rival) {
      rivals.set(loan, rival)
      return false
    }
    byId.set(idOf(loan), loan)
    if (externalId !== undefined) byExternalId.set(externalId, loan)
    return true
  })
  return { sent, rivals }
}

const findTakenIds = statementOver(
  'find-taken-loan-ids',
  [{ organization_id: 'int', id: 'bigint' }],
  (keys) => `SELECT l.organization_id, l.id FROM ${keys('k')}
    JOIN loan l ON l.organization_id = k.organization_id AND l.id = k.id`,
)

/**
 * The outcomes of the loans that were sent. Which of its ids is taken is read afterwards: the insert itself may not see
 * the other loan, which was committed while it ran.
 */
export async function readOutcomes(
  db: Queries,
  sent: readonly NewLoan[],
  rows: readonly InsertedRow[],
): Promise<Map<NewLoan, Inserted>> {
  const idsOf = (some: readonly InsertedRow[]) => new Set(some.map((row) => `${row.organization_id} ${row.id}`))
  const made = idsOf(rows.filter((row) => row.is_loan))
  const lent = idsOf(rows.filter((row) => !row.is_loan))
  const isLent = ({ author, customerId }: NewLoan) => lent.has(`${author.organizationId} ${customerId}`)
  const refused = sent.filter((loan) => isLent(loan) && !made.has(idOf(loan)))
  const found =
    refused.length === 0
      ? []
      : (await db.pool.query<InsertedRow>(findTakenIds(refused.map(({ author, id }) => [author.organizationId, id]))))
          .rows
  const taken = idsOf(found)
  return new Map(
    sent.map((loan) => {
      if (made.has(idOf(loan))) return [loan, 'made']
      if (!isLent(loan)) return [loan, 'leftOut']
      return [loan, loan.externalId === null || taken.has(idOf(loan)) ? 'idTaken' : 'externalIdTaken']
    }),
  )
}

/** The outcome of a loan: its own, or what follows from that of the `rival` that was sent in its place. */
export function outcomeOf(
  loan: NewLoan,
  rival: NewLoan | undefined,
  outcomes: ReadonlyMap<NewLoan, Inserted>,
): Inserted {
  const outcome = outcomes.get(rival ?? loan) ?? 'leftOut'
  if (!rival) return outcome
  const isTaken = loan.externalId !== null && externalIdOf(loan) === externalIdOf(rival) ? 'externalIdTaken' : 'idTaken'
  // Not made for another reason, the rival has left free what the two share.
  return outcome === 'made' || outcome === isTaken ? isTaken : 'leftOut'
}
