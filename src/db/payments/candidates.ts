import type { Candidate, MatchReason, Typed } from '../../domain/payments/matching.ts'
import { arrayOf } from '../queries/rows.ts'
import type { Queries } from '../queries/statement.ts'
import { statement } from '../queries/statement.ts'

/** What a payment says of the one who paid, made comparable. */
export interface Wanted {
  readonly id: bigint
  readonly typed: Typed | null
  /** The last digits of the phone number; null: unknown. */
  readonly phone: string | null
}

/** The loans that one way of naming finds of a payment at most: two are enough to see that it does not name one. */
const MOST_OF_A_WAY = 5

const folded = (column: string): string => `translate(upper(${column}), 'OI -', '01')`
const exact = (column: string): string => `translate(upper(${column}), ' -', '')`

/** Finds loans by a way of naming them, of `l`. */
const loansBy = (why: MatchReason, condition: string): string => `
  (SELECT l.id, '${why}' AS why, l.currency, l.status FROM loan l WHERE l.organization_id = $1 AND ${condition}
    ORDER BY l.id LIMIT ${MOST_OF_A_WAY})`

/** Finds the loans of customers `c` by a way of naming these, open loans first. */
const loansOfCustomersBy = (why: MatchReason, condition: string): string => `
  (SELECT l.id, '${why}' AS why, l.currency, l.status FROM (SELECT c.id FROM customer c WHERE c.organization_id = $1 AND ${condition}
      ORDER BY c.id LIMIT ${MOST_OF_A_WAY}) AS c
    JOIN loan l ON l.organization_id = $1 AND l.customer_id = c.id
    ORDER BY l.status <> 'Active', l.id DESC LIMIT ${MOST_OF_A_WAY})`

const LOAN_FOLDED = `l.external_id IS NOT NULL AND ${folded('l.external_id')} = k.folded`
const CUSTOMER_FOLDED = `c.external_id IS NOT NULL AND ${folded('c.external_id')} = k.folded`

const find = statement<{ organizationId: number; [column: string]: unknown }>('find-candidates', (p) => {
  p('organizationId')
  return `
  SELECT k.payment, m.id AS "loanId", m.why, m.currency, m.status = 'Active' AS "isOpen"
  FROM unnest((SELECT ${p('payments')}::bigint[]), ${p('exacts')}::text[], ${p('foldeds')}::text[], ${p('accounts')}::bigint[],
    ${p('phones')}::text[]) AS k (payment, exact, folded, account, phone)
  CROSS JOIN LATERAL (
    ${[
      loansBy('loan_reference', `${LOAN_FOLDED} AND ${exact('l.external_id')} = k.exact`),
      loansBy('account_number', 'l.account_no = k.account'),
      loansBy('loan_reference_folded', `${LOAN_FOLDED} AND ${exact('l.external_id')} <> k.exact`),
      loansOfCustomersBy('customer_reference', `${CUSTOMER_FOLDED} AND ${exact('c.external_id')} = k.exact`),
      loansOfCustomersBy('customer_reference_folded', `${CUSTOMER_FOLDED} AND ${exact('c.external_id')} <> k.exact`),
      loansOfCustomersBy(
        'phone',
        `c.phone IS NOT NULL AND right(regexp_replace(c.phone, '\\D', '', 'g'), 9) = k.phone`,
      ),
    ].join(' UNION ALL ')}
  ) AS m`
})

/** Finds the loans that payments of an organization may be for, with the way in which each names the loan, by payment. */
export async function findCandidates(
  { pool }: Queries,
  organizationId: number,
  wanted: readonly Wanted[],
): Promise<ReadonlyMap<bigint, readonly Candidate[]>> {
  if (wanted.length === 0) return new Map()
  const { rows } = await pool.query<Candidate & { readonly payment: bigint }>(
    find({
      organizationId,
      payments: arrayOf(wanted, ({ id }) => id),
      exacts: arrayOf(wanted, ({ typed }) => typed?.exact ?? null),
      foldeds: arrayOf(wanted, ({ typed }) => typed?.folded ?? null),
      accounts: arrayOf(wanted, ({ typed }) => typed?.accountNo ?? null),
      phones: arrayOf(wanted, ({ phone }) => phone),
    }),
  )
  const found = Map.groupBy(rows, ({ payment }) => payment)
  return new Map([...found].map(([payment, all]) => [payment, all.map(({ payment: _, ...candidate }) => candidate)]))
}
