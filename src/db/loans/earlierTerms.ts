import type { Instant } from '../../domain/dates.ts'
import { earlierTermsFromText, type TermsHistory } from '../../domain/recordStyle/earlierTerms.ts'
import type { Queries } from '../queries/queries.ts'
import { moment } from '../queries/rows.ts'
import { statement } from '../queries/statement.ts'

interface Asked {
  readonly organizationId: number
  readonly loanIds: readonly bigint[]
  readonly since: string | null
}

/**
 * The rows of `loan_earlier_terms`, and the updates that say nothing of earlier terms: those of a version of the service
 * that did not keep them. Loans of a product, and loans that were not changed since, are passed without reading more.
 * In an order within each loan: the planner then looks up the rows of one loan after the other, also where it does not
 * know how few the loans are, and reads no other rows.
 */
const read = statement<Asked>(
  'read-earlier-terms',
  (p) => `
  WITH changed AS (
    SELECT id FROM loan WHERE organization_id = ${p('organizationId')} AND id = ANY (${p('loanIds')}::bigint[])
      AND product_id IS NULL AND updated_at > ${p('since')}::timestamptz
  )
  SELECT changed.id AS loan_id, t.version, t.until AS at, t.terms FROM changed CROSS JOIN LATERAL (
    SELECT version, until, terms FROM loan_earlier_terms
    WHERE organization_id = ${p('organizationId')} AND loan_id = changed.id AND until > ${p('since')}::timestamptz
    ORDER BY version) AS t
  UNION ALL
  SELECT changed.id, NULL, a.at, NULL FROM changed CROSS JOIN LATERAL (
    SELECT at FROM audit_entry
    WHERE organization_id = ${p('organizationId')} AND entity = 'loan' AND entity_id = changed.id::text
      AND action = 'update' AND at > ${p('since')}::timestamptz AND NOT after ? 'earlierTerms'
    ORDER BY id) AS a
  ORDER BY 1, 2`,
)

/** A row of the table; without a version and terms, an update that did not keep them. */
interface Row {
  readonly loan_id: bigint
  readonly version: number | null
  readonly at: Instant
  readonly terms: string | null
}

/**
 * Reads the terms that loans of an organization had before record systems changed them, in one query for all of the loans.
 * The loans have to be read before it: a change between the two is then in the history, and no later one is missing.
 * @param since the earliest instant that is asked about: changes up to it are left out
 * @returns by the id of the loan; a loan is left out where no update since could have changed its terms
 */
export async function readEarlierTerms(
  db: Queries,
  organizationId: number,
  loanIds: readonly bigint[],
  since: Instant,
): Promise<ReadonlyMap<bigint, TermsHistory>> {
  const { rows } = await db.pool.query<Row>(read({ organizationId, loanIds, since: moment(since) }))
  const histories = new Map<bigint, { earlier: TermsHistory['earlier'][number][]; unkept: Instant[] }>()
  for (const { loan_id: id, version, at, terms } of rows) {
    const history = histories.get(id) ?? { earlier: [], unkept: [] }
    histories.set(id, history)
    if (version === null || terms === null) history.unkept.push(at)
    else history.earlier.push({ version, until: at, terms: earlierTermsFromText(terms) })
  }
  return histories
}
