import type { Db } from './client.ts'
import { isConflict, isOfRows, isUnavailable } from './faults.ts'
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
    readParties: together({ ...way, run: (keys) => eachOnItsOwn(keys, (some) => findParties(db, some)) }),
    readLoan: together({ ...way, run: (keys) => eachOnItsOwn(keys, (some) => readLoans(db, some)) }),
    readCarried: together({ ...way, run: (keys) => eachOnItsOwn(keys, (some) => readCarried(db, some)) }),
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

/**
 * Runs items in one statement; where that breaks, each half of them in one of its own, down to the items that break it by
 * themselves: the fault is theirs alone. Where it is none of theirs, they fail together. A conflict with another
 * instance's statement is gone when it is tried again.
 */
async function eachOnItsOwn<Item, Result>(
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<Result[]>,
): Promise<Settled<Result>[]> {
  try {
    return (await run(items)).map((result) => ({ result }))
  } catch (error) {
    // Away, the database may have saved them all the same.
    if (isUnavailable(error) || !isOfRows(error)) throw error
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
      ...(await eachOnItsOwn(half, run).catch((error: unknown) => half.map((): Settled<Result> => ({ error })))),
    )
  return settled
}
