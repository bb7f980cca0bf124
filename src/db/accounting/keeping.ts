import type { LocalDate } from '../../domain/dates.ts'
import { changeFromText } from '../../domain/loan/change/changeFromText.ts'
import type { StoredChange } from '../../domain/loan/change/changeText.ts'
import type { PaymentChange } from '../../domain/payments/paymentChange.ts'
import { PAYMENT, paymentFromText } from '../../domain/payments/paymentText.ts'
import type { Db } from '../postgres/client.ts'
import { isAlone, type Transaction } from '../postgres/transaction.ts'
import { arrayOf } from '../queries/rows.ts'
import { statement } from '../queries/statement.ts'
import { HEAD_COLUMNS, type JournalHead } from './journalHead.ts'

/** Finds the organizations whose journal has not come to the end of their sealed changes, or whose walk is not over. */
export async function findUnkept({ pool }: Pick<Db, 'pool'>): Promise<number[]> {
  const { rows } = await pool.query<{ id: number }>({
    name: 'find-unkept',
    text: `SELECT c.organization_id AS id FROM event_chain c LEFT JOIN journal j ON j.organization_id = c.organization_id
      WHERE c.organization_id <> 0 AND (c.change_id > coalesce(j.change_id, 0) OR c.change_id = j.change_id AND j.walked_to IS NOT NULL)`,
  })
  return rows.map(({ id }) => id)
}

/** The journal of an organization, claimed, and how far its changes are sealed. */
export interface ClaimedJournal extends JournalHead {
  readonly sealedTo: bigint
}

/** Lets the commit of a transaction of the journal alone not wait for the disk: what a crash takes is posted again, the same. */
export const commitWithoutWaiting = (transaction: Transaction) =>
  transaction.query({ name: 'commit-without-waiting', text: 'SET LOCAL synchronous_commit = off' })

/**
 * Claims the journal of an organization until the end of the transaction, and makes one where there is none.
 * @returns undefined while another instance has claimed it
 */
export async function claimJournal(
  transaction: Transaction,
  organizationId: number,
): Promise<ClaimedJournal | undefined> {
  const claimed = () =>
    transaction.query<ClaimedJournal>({
      name: 'claim-journal',
      text: `SELECT ${HEAD_COLUMNS}, (SELECT c.change_id FROM event_chain c WHERE c.organization_id = $1) AS "sealedTo"
        FROM journal WHERE organization_id = $1 FOR UPDATE SKIP LOCKED`,
      values: [organizationId],
    })
  const { rows } = await claimed()
  if (rows[0]) return rows[0]
  // The insert would wait until another instance that makes the same journal has posted its first changes.
  if (!(await isAlone(transaction, 'journal', organizationId))) return undefined
  const made = await transaction.query({
    name: 'open-journal',
    text: `INSERT INTO journal (organization_id, change_id, sequence, posting_id, chart_version)
      VALUES ($1, 0, 0, 0, 1) ON CONFLICT DO NOTHING`,
    values: [organizationId],
  })
  return made.rowCount === 1 ? (await claimed()).rows[0] : undefined
}

/** A sealed change that the journal has not come to. */
export interface UnkeptChange {
  readonly id: bigint
  readonly at: number
  readonly entity: string
  readonly entityId: string
  readonly action: string
  /** The change of a loan; undefined for a change of something else, and for a damaged row. */
  readonly loanChange: StoredChange | undefined
  /** The payment after a change of one; undefined for a change of something else, and for a damaged row. */
  readonly paymentChange: PaymentChange | undefined
  /** The numbers of the first and the last event of the change; null where no receiver is told. */
  readonly first: bigint | null
  readonly last: bigint | null
}

/** The texts in which a row of the trail has its change. */
interface TextsOfChange {
  readonly change: string | null
  readonly payment: string | null
}

const readUnkeptRows = statement<{ organizationId: number; above: bigint; sealedTo: bigint; most: number }>(
  'read-unkept',
  (p) => `
  SELECT a.id, a.at, a.entity, a.entity_id AS "entityId", a.action, a.change::text AS change,
    CASE a.entity WHEN '${PAYMENT}' THEN a.after::text END AS payment, e.first, e.last
  FROM audit_entry a CROSS JOIN LATERAL (SELECT min(sequence) AS first, max(sequence) AS last FROM event
    WHERE organization_id = a.organization_id AND change_id = a.id) AS e
  WHERE a.organization_id = ${p('organizationId')} AND a.id > ${p('above')} AND a.id <= ${p('sealedTo')}
  ORDER BY a.id LIMIT ${p('most')}`,
)

/** Reads the next sealed changes of an organization, in their order. */
export async function readUnkept(
  transaction: Transaction,
  organizationId: number,
  { above, sealedTo, most }: { readonly above: bigint; readonly sealedTo: bigint; readonly most: number },
): Promise<UnkeptChange[]> {
  const { rows } = await transaction.query<Omit<UnkeptChange, 'loanChange' | 'paymentChange'> & TextsOfChange>(
    readUnkeptRows({ organizationId, above, sealedTo, most }),
  )
  return rows.map(({ change, payment, ...row }) => ({
    ...row,
    loanChange: toChange(change),
    paymentChange: paymentFromText(payment),
  }))
}

/** A loan as the journal has it. */
export interface KeptLoan {
  readonly id: bigint
  readonly productId: number | null
  readonly currency: string
  readonly disbursedOn: LocalDate
  /** The method and the contribution of its last posting; null where there is none. */
  readonly method: string | null
  readonly contribution: string | null
}

const LAST_POSTING = `LEFT JOIN LATERAL (SELECT method, contribution FROM posting
    WHERE organization_id = l.organization_id AND loan_id = l.id ORDER BY id DESC LIMIT 1) AS p ON true`
const LOAN = `l.id, l.product_id AS "productId", l.currency, l.disbursed_on AS "disbursedOn", p.method, p.contribution`

/** Reads what loans contribute by their last postings, by their ids; loans without a posting are left out. */
export async function readContributions(
  transaction: Transaction,
  organizationId: number,
  ids: readonly bigint[],
): Promise<{ readonly id: bigint; readonly contribution: string | null }[]> {
  const { rows } = await transaction.query<{ id: bigint; contribution: string | null }>({
    name: 'read-contributions',
    text: `SELECT k.id, p.contribution FROM unnest((SELECT $2::bigint[])) AS k (id) CROSS JOIN LATERAL (SELECT contribution
      FROM posting WHERE organization_id = $1 AND loan_id = k.id ORDER BY id DESC LIMIT 1) AS p`,
    values: [organizationId, arrayOf(ids)],
  })
  return rows
}

/** Finds those of some loans that were opened: their first posting was an opening. */
export async function findOpened(
  transaction: Transaction,
  organizationId: number,
  ids: readonly bigint[],
): Promise<bigint[]> {
  const { rows } = await transaction.query<{ id: bigint }>({
    name: 'find-opened',
    text: `SELECT k.id FROM unnest($2::bigint[]) AS k (id) CROSS JOIN LATERAL (SELECT kind FROM posting
      WHERE organization_id = $1 AND loan_id = k.id ORDER BY id LIMIT 1) AS p WHERE p.kind = 'opening'`,
    values: [organizationId, ids],
  })
  return rows.map(({ id }) => id)
}

/** A loan of a walk, with its last change up to the one that the journal has come to. */
export interface WalkedLoan extends KeptLoan {
  /** That change; undefined for a loan that was made later, and for a damaged row. */
  readonly last: StoredChange | undefined
  /** The value date of its first posting; null where there is none. */
  readonly firstOn: LocalDate | null
  /** The change by which the loan was opened; undefined for a loan that was made in this book. */
  readonly opened: StoredChange | undefined
}

type WalkedRow = Omit<WalkedLoan, 'last' | 'opened'> & { readonly last: string | null; readonly opened: string | null }

const toChange = (text: string | null): StoredChange | undefined => (text === null ? undefined : changeFromText(text))

const readWalkedRows = statement<{ organizationId: number; walkedTo: bigint; changeId: bigint; most: number }>(
  'read-walked',
  (p) => `
  SELECT ${LOAN}, a.change::text AS last, f.value_date AS "firstOn", o.change::text AS opened
  FROM (SELECT * FROM loan WHERE organization_id = ${p('organizationId')} AND id > ${p('walkedTo')}
    ORDER BY id LIMIT ${p('most')}) AS l ${LAST_POSTING}
  LEFT JOIN LATERAL (SELECT change FROM audit_entry WHERE organization_id = l.organization_id
    AND entity = 'loan' AND entity_id = l.id::text AND id <= ${p('changeId')} ORDER BY id DESC LIMIT 1) AS a ON true
  LEFT JOIN LATERAL (SELECT value_date, kind FROM posting
    WHERE organization_id = l.organization_id AND loan_id = l.id ORDER BY id LIMIT 1) AS f ON true
  LEFT JOIN LATERAL (SELECT c.change FROM posting o
    JOIN audit_entry c ON c.organization_id = o.organization_id AND c.id = o.change_id
    WHERE o.organization_id = l.organization_id AND o.loan_id = l.id AND o.kind = 'opening' AND f.kind = 'opening'
    ORDER BY o.id DESC LIMIT 1) AS o ON true
  ORDER BY l.id`,
)

/** Reads the next loans of a walk, by their ids. */
export async function readWalked(
  transaction: Transaction,
  organizationId: number,
  { walkedTo, changeId, most }: { readonly walkedTo: bigint; readonly changeId: bigint; readonly most: number },
): Promise<WalkedLoan[]> {
  const { rows } = await transaction.query<WalkedRow>(readWalkedRows({ organizationId, walkedTo, changeId, most }))
  return rows.map(({ last, opened, ...row }) => ({ ...row, last: toChange(last), opened: toChange(opened) }))
}

const move = statement<JournalHead & { organizationId: number }>(
  'move-journal',
  (p) => `
  UPDATE journal SET change_id = ${p('changeId')}, sequence = ${p('sequence')}, posting_id = ${p('postingId')},
    open_from = ${p('openFrom')}::date, chart_version = ${p('chartVersion')}, walked_to = ${p('walkedTo')}
  WHERE organization_id = ${p('organizationId')}`,
)

/** Moves a claimed journal on. */
export async function moveJournal(
  transaction: Transaction,
  organizationId: number,
  { changeId, sequence, postingId, openFrom, chartVersion, walkedTo }: JournalHead,
): Promise<void> {
  const head = { changeId, sequence, postingId, openFrom, chartVersion, walkedTo }
  await transaction.query(move({ organizationId, ...head }))
}
