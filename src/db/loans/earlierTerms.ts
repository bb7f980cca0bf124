import type { Instant } from '../../domain/dates.ts'
import { earlierTermsFromText } from '../../domain/loan/terms/earlierTermsText.ts'
import type { EarlierTerms } from '../../domain/loan/terms/versions.ts'
import type { Snapshot } from '../postgres/transaction.ts'
import { moment } from '../queries/rows.ts'
import type { Queries } from '../queries/statement.ts'
import { statement } from '../queries/statement.ts'

interface Asked {
  readonly organizationId: number
  readonly loanIds: readonly bigint[]
  readonly since: string | null
}

/**
 * The rows of `loan_earlier_terms`. Loans that were not changed since are passed without reading more.
 * In an order within each loan: the planner then looks up the rows of one loan after the other, also where it does not
 * know how few the loans are, and reads no other rows.
 */
const read = statement<Asked>(
  'read-earlier-terms',
  (p) => `
  WITH changed AS (
    SELECT id FROM loan WHERE organization_id = ${p('organizationId')} AND id = ANY (${p('loanIds')}::bigint[])
      AND updated_at > ${p('since')}::timestamptz
  )
  SELECT changed.id AS loan_id, t.version, t.until, t.terms FROM changed CROSS JOIN LATERAL (
    SELECT version, until, terms FROM loan_earlier_terms
    WHERE organization_id = ${p('organizationId')} AND loan_id = changed.id AND until > ${p('since')}::timestamptz
    ORDER BY version) AS t
  ORDER BY 1, 2`,
)

interface Row {
  readonly loan_id: bigint
  readonly version: number
  readonly until: Instant
  readonly terms: string
}

/**
 * Reads the terms that loans of an organization had before their terms changed, in one query for all of the loans.
 * The loans have to be read before it: a change between the two is then in the result, and no later one is missing.
 * @param since the earliest instant that is asked about: changes up to it are left out
 * @returns by the id of the loan; a loan is left out where its terms did not change since
 */
export async function readEarlierTerms(
  db: Queries,
  organizationId: number,
  loanIds: readonly bigint[],
  since: Instant,
): Promise<ReadonlyMap<bigint, readonly EarlierTerms[]>> {
  const { rows } = await db.pool.query<Row>(read({ organizationId, loanIds, since: moment(since) }))
  const ofLoans = Map.groupBy(rows, (row) => row.loan_id)
  return new Map(
    [...ofLoans].map(([id, some]) => [
      id,
      some.map(({ version, until, terms }) => ({ version, until, terms: earlierTermsFromText(terms) })),
    ]),
  )
}

/** Reads all terms that loans had before, as texts, by `organization id` and in the order of their versions; for the check of the book. */
export async function readEarlierTexts(
  snapshot: Snapshot,
  loans: readonly { readonly organizationId: number; readonly id: bigint }[],
): Promise<ReadonlyMap<string, readonly Omit<Row, 'loan_id'>[]>> {
  const { rows } = await snapshot.query<Row & { readonly organization_id: number }>({
    name: 'read-earlier-texts',
    text: `SELECT t.organization_id, t.loan_id, t.version, t.until, t.terms
      FROM unnest($1::int[], $2::bigint[]) AS k (organization_id, id)
      CROSS JOIN LATERAL (SELECT * FROM loan_earlier_terms
        WHERE organization_id = k.organization_id AND loan_id = k.id ORDER BY version) AS t`,
    values: [loans.map(({ organizationId }) => organizationId), loans.map(({ id }) => id)],
  })
  return Map.groupBy(rows, (row) => `${row.organization_id} ${row.loan_id}`)
}
