import { agrees, CACHED, cached } from '../src/db/loans/loanColumns.ts'
import { readLoans } from '../src/db/loans/loans.ts'
import { CONNECT_PATIENTLY_MS, type Db, openDatabase } from '../src/db/postgres/client.ts'
import { stateOf } from '../src/domain/loan/loan.ts'
import { type Book, LANES, laneOf, type Target } from './scenarios.ts'
import type { Side } from './side.ts'
import type { Tally } from './window.ts'

/** How many of the service's loans are replayed, of those that it changed and of those that it made. */
const REPLAYED = 3_000
const AT_ONCE = 8

/** What was acknowledged to each target, over the whole run. */
export type Tallies = Readonly<Record<Target, Tally>>

/** What the check went over, and what is wrong; nothing wrong is an empty list. */
export interface Checked {
  readonly said: readonly string[]
  readonly wrong: readonly string[]
}

/**
 * Checks the books to the cent: what was acknowledged is there, once, with its audit row; every loan's columns agree
 * with its schedule and entries; and of the service's own loans, replay says what the columns say.
 * @param targets those that worked on this book. Of a book that another version of the service has, only what was
 *   acknowledged to it is checked: its columns are that version's
 */
export async function checkBooks(
  { databaseUrl, book, filledAt: since }: Pick<Side, 'databaseUrl' | 'book' | 'filledAt'>,
  tallies: Tallies,
  targets: readonly Target[],
): Promise<Checked> {
  const db = openDatabase(databaseUrl, { max: AT_ONCE, connectWithin: CONNECT_PATIENTLY_MS })
  const said: string[] = []
  const wrong: string[] = []
  try {
    // Whole tables are read, which takes longer than any statement of the service may.
    db.pool.on('connect', (client) => void client.query('SET statement_timeout = 0'))
    wrong.push(...(await compareAcknowledged(db, book, { tallies, targets, since, said })))
    if (!targets.includes('versus')) wrong.push(...(await compareColumns(db, said)))
    if (targets.includes('ours')) wrong.push(...(await compareReplay(db, book, since, said)))
  } finally {
    await db.close()
  }
  return { said, wrong }
}

async function all<Row extends object>(db: Db, text: string, values: unknown[] = []): Promise<Row[]> {
  const { rows } = await db.pool.query<Row>({ text, values, query_timeout: 3_600_000 } as { text: string })
  return rows
}

interface Found {
  lane: number
  count: bigint
  amount: string
}

interface Acknowledged {
  readonly tallies: Tallies
  readonly targets: readonly Target[]
  readonly since: Date
  readonly said: string[]
}

async function compareAcknowledged(db: Db, book: Book, { tallies, targets, since, said }: Acknowledged) {
  const repaid = await all<Found>(
    db,
    `SELECT ((loan_id - $2) % $3)::int AS lane, count(*), sum(amount) AS amount FROM loan_entry
     WHERE organization_id = $1 AND loan_id BETWEEN $2 AND $2 + $4 - 1 AND posted_at > $5 GROUP BY 1`,
    [book.organizationId, book.firstLoan, LANES, book.loans, since],
  )
  const lent = await all<Found>(
    db,
    `SELECT left(l.external_id, 1)::int AS lane, count(*), sum(l.principal) AS amount FROM loan l
     WHERE organization_id = $1 AND id > $2 GROUP BY 1`,
    [book.organizationId, book.firstLoan + book.loans - 1],
  )
  const wrong: string[] = []
  let changes = 0
  for (const target of targets)
    for (const [what, acknowledged, found] of [
      ['repayments', tallies[target].repaid, repaid],
      ['loans', tallies[target].lent, lent],
    ] as const) {
      const row = found.find(({ lane }) => lane === laneOf(target))
      const there = { count: Number(row?.count ?? 0), amount: Number(row?.amount ?? 0) }
      changes += acknowledged.count
      if (acknowledged.count > 0)
        said.push(`${target}: ${acknowledged.count} ${what} of ${inMain(acknowledged.amount)} acknowledged and there`)
      if (there.count !== acknowledged.count || there.amount !== acknowledged.amount)
        wrong.push(
          `${target}: ${acknowledged.count} ${what} of ${inMain(acknowledged.amount)} were acknowledged, ` +
            `but ${there.count} of ${inMain(there.amount)} are in the database`,
        )
    }
  const [audited] = await all<{ count: bigint }>(
    db,
    `SELECT count(*) FROM audit_entry WHERE organization_id = $1 AND entity = 'loan' AND at > $2 AND action <> 'time'`,
    [book.organizationId, since],
  )
  if (Number(audited?.count) !== changes)
    wrong.push(`${changes} changes were acknowledged, but ${audited?.count} are in the audit trail`)
  return wrong
}

const inMain = (minor: number) => (minor / 100).toFixed(2)

/** Checks every loan, of every service that wrote one: set by set. */
async function compareColumns(db: Db, said: string[]): Promise<string[]> {
  const [found] = await all<{ loans: bigint; wrong: bigint; example: bigint | null }>(
    db,
    `WITH entries AS (
       SELECT organization_id, loan_id, count(*) AS count, max(ordinal) AS last, sum(amount) AS amount
       FROM loan_entry GROUP BY 1, 2
     ), periods AS (
       SELECT organization_id, loan_id, count(*) AS count, sum(principal) AS principal, sum(interest) AS interest
       FROM loan_period GROUP BY 1, 2
     ), checked AS (
       SELECT l.id, l.entry_count = coalesce(e.count, 0) AND l.entry_count = coalesce(e.last, 0)
         AND l.total_paid + l.total_overpaid = coalesce(e.amount, 0)
         AND p.count = l.number_of_repayments AND p.principal = l.principal
         AND p.principal + p.interest = l.principal_outstanding + l.interest_outstanding + l.total_paid AS right
       FROM loan l
       LEFT JOIN entries e ON e.organization_id = l.organization_id AND e.loan_id = l.id
       LEFT JOIN periods p ON p.organization_id = l.organization_id AND p.loan_id = l.id
     )
     SELECT count(*) AS loans, count(*) FILTER (WHERE "right" IS NOT TRUE) AS wrong,
       min(id) FILTER (WHERE "right" IS NOT TRUE) AS example FROM checked`,
  )
  if (!found) return ['the loans could not be counted']
  said.push(`${found.loans} loans: columns, schedule and entries agree`)
  return found.wrong === 0n ? [] : [`${found.wrong} loans disagree with their entries, for example ${found.example}`]
}

/** The service's own loans: each column is what replay says, as of the moment of its last change. */
async function compareReplay(db: Db, book: Book, since: Date, said: string[]): Promise<string[]> {
  const { organizationId, firstLoan, loans, zone } = book
  const columns = CACHED.map((column) => `"${column}"`).join(', ')
  const rows = await all<Record<string, unknown> & { id: bigint; updated_at: number }>(
    db,
    `(SELECT id, updated_at, ${columns} FROM loan WHERE organization_id = $1 AND id BETWEEN $2 AND $2 + $3 - 1
        AND (id - $2) % $4 = $5 AND updated_at > $6 ORDER BY entry_count DESC LIMIT $7)
     UNION ALL
     (SELECT id, updated_at, ${columns} FROM loan WHERE organization_id = $1 AND id > $2 + $3 - 1
        AND left(external_id, 1) = $5::text LIMIT $7)
     UNION ALL
     (SELECT id, updated_at, ${columns} FROM loan WHERE organization_id = $1 AND id BETWEEN $2 AND $2 + $3 - 1
        AND updated_at <= $6 LIMIT $7)`,
    [organizationId, firstLoan, loans, LANES, laneOf('ours'), since, REPLAYED],
  )
  const wrong: string[] = []
  const left = rows.values()
  const replayThem = async () => {
    for (const row of left) {
      const [loan] = await readLoans(db, [{ organizationId, ref: { id: row.id }, zone }])
      if (!loan) continue
      const expected = cached(stateOf(loan, row.updated_at))
      CACHED.forEach((column, index) => {
        if (!agrees(column, row[column], expected[index]))
          wrong.push(`loan ${row.id}: ${column} is ${row[column]}, replay says ${expected[index]}`)
      })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, replayThem))
  said.push(`${rows.length} loans: replay says what their columns say`)
  return wrong.slice(0, 20)
}
