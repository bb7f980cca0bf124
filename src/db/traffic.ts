import type { Db } from './client.ts'
import { isConflict, isUniqueViolation } from './faults.ts'
import { insertLoans, type NewLoan } from './insertLoans.ts'
import { type CarriedKey, type LoanKey, readCarried, readLoans } from './loans.ts'
import { findParties, type Parties, type PartiesKey } from './parties.ts'
import { type Chain, saveLoans } from './saveLoans.ts'
import type { StoredLoan } from './storedLoan.ts'
import { type Settled, together } from './together.ts'

/** What travels together to the database and back, whoever asked for it. */
export interface Traffic {
  readonly readParties: (key: PartiesKey) => Promise<Parties>
  readonly readLoan: (key: LoanKey) => Promise<StoredLoan | undefined>
  /** A loan to post to, without its history, where that is enough; one at a time of each. */
  readonly readCarried: (key: CarriedKey) => Promise<StoredLoan | undefined>
  /** @returns false when someone was faster; @throws a unique violation of the chain's own */
  readonly saveLoan: (chain: Chain) => Promise<boolean>
  /** @returns false when the customer is no longer Active; @throws a unique violation of the loan's own */
  readonly insertLoan: (loan: NewLoan) => Promise<boolean>
}

/**
 * Items in a statement at most, and statements of a kind under way at once: whoever comes meanwhile goes with the next,
 * which is the larger for it.
 */
const TOGETHER = { most: 128, inFlight: 1 }
/** Each on its own, as many at once as there are connections: the plain way, to compare with. */
const ALONE = { most: 1, inFlight: Number.POSITIVE_INFINITY }

const traffic = new WeakMap<Db, Traffic>()

/** The traffic of a database, shared by all who use it. */
export function trafficOf(db: Db): Traffic {
  const known = traffic.get(db) ?? makeTraffic(db)
  traffic.set(db, known)
  return known
}

function makeTraffic(db: Db): Traffic {
  const way = db.together ? TOGETHER : ALONE
  return {
    readParties: together({ ...way, run: async (keys) => (await findParties(db, keys)).map(asResult) }),
    readLoan: together({ ...way, run: async (keys) => (await readLoans(db, keys)).map(asResult) }),
    readCarried: together({ ...way, run: async (keys) => (await readCarried(db, keys)).map(asResult) }),
    saveLoan: together({ ...way, run: (chains) => eachOnItsOwn(chains, (some) => saveLoans(db, some)) }),
    insertLoan: insertingLoan(db, way),
  }
}

/** Loans of customers whom somebody else has in hand that are waited for at once: they hold a connection each. */
const MOST_PATIENT = 4

/**
 * A loan that is not made with others, its customer being closed or in somebody's hand, waits for him by itself, so that
 * the others go on.
 */
function insertingLoan(db: Db, way: typeof TOGETHER): Traffic['insertLoan'] {
  const insert = together<NewLoan, boolean>({
    ...way,
    run: (loans) => eachOnItsOwn(loans, (some) => insertLoans(db, some, { isPatient: false })),
  })
  const wait = together<NewLoan, boolean>({
    most: 1,
    inFlight: MOST_PATIENT,
    run: (loans) => eachOnItsOwn(loans, (some) => insertLoans(db, some)),
  })
  return async (loan) => (await insert(loan)) || wait(loan)
}

const asResult = <Result>(result: Result) => ({ result })

/**
 * Runs items in one statement; where one of them breaks it, each in a statement of its own, so that the fault is that
 * item's alone. A conflict with another instance's statement is gone when it is tried again.
 */
async function eachOnItsOwn<Item, Result>(
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<Result[]>,
): Promise<Settled<Result>[]> {
  try {
    return (await run(items)).map(asResult)
  } catch (error) {
    if (!isUniqueViolation(error) && !isConflict(error)) throw error
    if (items.length === 1 && !isConflict(error)) return [{ error }]
  }
  const settled: Settled<Result>[] = []
  for (const item of items)
    settled.push(
      await run([item]).then(
        ([result]) => ({ result: result! }),
        (error: unknown) => ({ error }),
      ),
    )
  return settled
}
