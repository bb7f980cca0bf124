import type pg from 'pg'
import { type PolicyRow, readNewestPolicies } from '../delinquency/policies.ts'
import type { Db, Patience } from '../postgres/client.ts'
import { isConflict, isUnavailable, mayBeCausedByRow } from '../postgres/errors.ts'
import { createBatcher, type Settled } from '../queries/batcher.ts'
import type { Queries } from '../queries/statement.ts'
import { type Applicants, type ApplicationKey, findApplicants } from './applicants.ts'
import { type EntryKey, findEntryIds } from './entryIds.ts'
import { type Inserted, insertLoans, type NewLoan } from './insertLoans.ts'
import { type HeadKey, type LoanKey, readHeads, readLoans } from './loans.ts'
import { type ChangeBatch, saveLoans } from './saveLoans.ts'
import type { StoredHead, StoredLoan } from './storedLoan.ts'

/**
 * The statements of the money path. Calls of the same kind that arrive together share one statement and one commit;
 * each call succeeds or fails alone.
 */
export interface LoanBatches {
  /** False sends each call in a statement of its own, to compare with. */
  readonly together: boolean
  readonly findApplicants: (key: ApplicationKey) => Promise<Applicants>
  readonly readLoan: (key: LoanKey) => Promise<StoredLoan | undefined>
  /** The delinquency policy that an organization set last, as it is when the call is made; undefined: none. */
  readonly readNewestPolicy: (organizationId: number) => Promise<PolicyRow | undefined>
  /** The head of a loan, see `readHeads`; at most one call at a time for each loan. */
  readonly readHead: (key: HeadKey) => Promise<StoredHead | undefined>
  /** The id, where an entry of the organization has it. */
  readonly readEntryId: (key: EntryKey) => Promise<bigint | undefined>
  /** @returns false when another change of the loan was saved first; @throws a unique violation of the batch's own */
  readonly saveLoan: (batch: ChangeBatch) => Promise<boolean>
  /** `leftOut` says that the customer is no longer Active; @throws a unique violation of the loan's Idempotency-Key */
  readonly insertLoan: (loan: NewLoan) => Promise<Inserted>
}

/**
 * Items in a statement at most, and statements of a kind under way at once: what comes meanwhile goes with the next,
 * which is the larger for it. Where the answer of one is late, the next begins without it, so that a connection that
 * fell silent holds up its own requests only.
 */
const TOGETHER = { most: 128, inFlight: 1, mostLate: 4, lateMs: 300 }
/** Each on its own, as many at once as there are connections: the plain way, to compare with. */
const ALONE = { most: 1, inFlight: Number.POSITIVE_INFINITY, mostLate: 0, lateMs: 0 }
/** Milliseconds within which a statement is answered that waits for no lock; for servers that cannot be asked about it. */
const ANSWER_WITHIN_MS = 5_000

/** Creates the batches of a database; there is one set of them in a process. */
export function createLoanBatches(db: Db): LoanBatches {
  const way = db.together ? TOGETHER : ALONE
  const prompt = promptly(db)
  return {
    together: db.together,
    findApplicants: createBatcher({ ...way, run: (keys) => eachAlone(keys, (some) => findApplicants(prompt, some)) }),
    readLoan: createBatcher({ ...way, run: (keys) => eachAlone(keys, (some) => readLoans(prompt, some)) }),
    readNewestPolicy: createBatcher({
      ...way,
      run: (ids) => eachAlone(ids, (some) => readNewestPolicies(prompt, some)),
    }),
    readHead: createBatcher({ ...way, run: (keys) => eachAlone(keys, (some) => readHeads(prompt, some)) }),
    readEntryId: createBatcher({ ...way, run: (keys) => eachAlone(keys, (some) => findEntryIds(prompt, some)) }),
    saveLoan: createBatcher({ ...way, run: (batches) => eachAlone(batches, (some) => saveLoans(prompt, some)) }),
    insertLoan: insertingLoan(db, way),
  }
}

/** The pool, for statements that are given up where they are not answered in good time. */
function promptly({ pool }: Db): Queries {
  const { stampMac, people } = pool
  const query = (config: pg.QueryConfig & Patience) =>
    pool.query({ ...config, answerWithin: ANSWER_WITHIN_MS } as pg.QueryConfig)
  return { pool: { query: query as unknown as Queries['pool']['query'], stampMac, people } }
}

/** Loans at once that wait for a customer that another transaction has locked: each holds a connection. */
const MOST_PATIENT = 4

/**
 * Inserts loans together. One that was left out, because its customer is closed or locked by another transaction, is
 * inserted alone and waits for the lock, so that the others need not wait.
 */
function insertingLoan(db: Db, way: typeof TOGETHER): LoanBatches['insertLoan'] {
  const insert = createBatcher<NewLoan, Inserted>({
    ...way,
    run: (loans) => eachAlone(loans, (some) => insertLoans(promptly(db), some, { isPatient: false })),
  })
  const wait = createBatcher<NewLoan, Inserted>({
    most: 1,
    inFlight: MOST_PATIENT,
    run: (loans) => eachAlone(loans, (some) => insertLoans(db, some)),
  })
  return async (loan) => {
    const inserted = await insert(loan)
    return inserted === 'leftOut' ? wait(loan) : inserted
  }
}

/**
 * Runs items in one statement; where that breaks, each half of them in one of its own, down to the items that break it by
 * themselves: the fault is theirs alone. Where it is none of theirs, they fail together. A conflict with another
 * instance's statement is gone when it is tried again.
 */
async function eachAlone<Item, Result>(
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<Result[]>,
): Promise<Settled<Result>[]> {
  try {
    return (await run(items)).map((result) => ({ result }))
  } catch (error) {
    // Away, the database may have saved them all the same.
    if (isUnavailable(error) || !mayBeCausedByRow(error)) throw error
    if (items.length > 1) return halves(items, run)
    if (!isConflict(error)) return [{ error }]
  }
  return [{ result: (await run(items))[0]! }]
}

async function halves<Item, Result>(items: readonly Item[], run: (items: readonly Item[]) => Promise<Result[]>) {
  const middle = items.length >> 1
  const settled: Settled<Result>[] = []
  for (const half of [items.slice(0, middle), items.slice(middle)])
    settled.push(
      ...(await eachAlone(half, run).catch((error: unknown) => half.map((): Settled<Result> => ({ error })))),
    )
  return settled
}
