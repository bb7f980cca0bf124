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
  /** The hash of the phone number, as identities have it; null: unknown. */
  readonly phoneHash: bigint | null
}

/** The loans that one way of naming finds of a payment at most: two are enough to see that it does not name one. */
const MOST_OF_A_WAY = 5

const folded = (column: string): string => `translate(upper(${column}), 'OI -', '01')`

/** Returns whether a reference is not as it was typed, and only like it. */
const isLike = (of: 'l' | 'c'): string => `translate(upper(${of}.external_id), ' -', '') <> k.exact`

const isReference = (of: 'l' | 'c'): string =>
  `${of}.external_id IS NOT NULL AND ${folded(`${of}.external_id`)} = k.folded`

const wayOf = (of: 'l' | 'c', reference: MatchReason, like: MatchReason): string =>
  `CASE WHEN ${isLike(of)} THEN '${like}' ELSE '${reference}' END`

// No order of these is that of an index: by one, Postgres would walk through all loans, and look at the reference of each.

/** Finds the loans of customers `c` that are named in a way: open loans first, and those of customers that are named exactly. */
const loansOfCustomers = (why: string, isLess: string, condition: string): string => `
  (SELECT l.id, c.why, l.currency, l.status FROM (SELECT c.id, ${why} AS why, ${isLess} AS less FROM customer c
      WHERE c.organization_id = $1 AND ${condition} ORDER BY less, c.created_at, c.id LIMIT ${MOST_OF_A_WAY}) AS c
    JOIN loan l ON l.organization_id = $1 AND l.customer_id = c.id
    ORDER BY l.status <> 'Active', c.less, l.id DESC LIMIT ${MOST_OF_A_WAY})`

const CANDIDATES = [
  `(SELECT l.id, ${wayOf('l', 'loan_reference', 'loan_reference_folded')} AS why, l.currency, l.status FROM loan l
    WHERE l.organization_id = $1 AND ${isReference('l')} ORDER BY ${isLike('l')}, l.id LIMIT ${MOST_OF_A_WAY})`,
  `(SELECT l.id, 'account_number' AS why, l.currency, l.status FROM loan l
    WHERE l.organization_id = $1 AND l.account_no = k.account)`,
  loansOfCustomers(wayOf('c', 'customer_reference', 'customer_reference_folded'), isLike('c'), isReference('c')),
  loansOfCustomers(
    `'phone'`,
    'false',
    `c.phone IS NOT NULL AND right(regexp_replace(c.phone, '\\D', '', 'g'), 9) = k.phone`,
  ),
  loansOfCustomers(`'phone'`, 'false', `c.identity_hashes <> '{}' AND c.identity_hashes @> ARRAY[k.phone_hash]`),
]

const find = statement<{ organizationId: number; [column: string]: unknown }>('find-candidates', (p) => {
  p('organizationId')
  return `
  SELECT k.payment, m.id AS "loanId", m.why, m.currency, m.status = 'Active' AS "isOpen"
  FROM unnest((SELECT ${p('payments')}::bigint[]), ${p('exacts')}::text[], ${p('foldeds')}::text[], ${p('accounts')}::bigint[],
    ${p('phones')}::text[], ${p('phoneHashes')}::bigint[]) AS k (payment, exact, folded, account, phone, phone_hash)
  CROSS JOIN LATERAL (${CANDIDATES.join(' UNION ALL ')}) AS m`
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
      phoneHashes: arrayOf(wanted, ({ phoneHash }) => phoneHash),
    }),
  )
  const found = Map.groupBy(rows, ({ payment }) => payment)
  return new Map([...found].map(([payment, all]) => [payment, all.map(({ payment: _, ...candidate }) => candidate)]))
}
