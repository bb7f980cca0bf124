import { toRfc3339 } from '../../../src/domain/dates.ts'
import { decimalOf, type Moved, type PlanOptions, type Wallet, ZONE } from './plan.ts'

/** A line of a provider's statement. Amount in cents, below 0 where money went out. */
interface Line {
  readonly receipt: string
  readonly at: number
  readonly amount: bigint
  readonly reverses?: string
}

/** A difference between a statement and the payments, as a reconciliation names it. */
type Difference = readonly [kind: string, receipt: string]

/** The statement of a wallet for a day, and what its comparison has to come to. Amounts in cents. */
export interface Statement {
  readonly wallet: Wallet
  readonly day: number
  readonly lines: Line[]
  readonly differences: Difference[]
  /** The lines of payments that agree. */
  matched: number
  /** The money of the statement, less that of the payments. */
  difference: bigint
}

/** The differences that are put in, by turns. */
const FAULTS = ['left out', 'added', 'changed'] as const
type Fault = (typeof FAULTS)[number]

/** A movement of money, and whether the service knows of it. */
export interface Known {
  readonly moved: Moved
  readonly isKnown: boolean
}

/**
 * Writes the statements of wallets, one for each day on which money moved: all that moved, also what the service was never told of, but
 * for differences that are put in: lines left out, lines added and amounts changed, of payments and of what was taken back.
 */
export function writeStatements(
  all: readonly Known[],
  { faults, below }: { readonly faults: number } & Pick<PlanOptions, 'below'>,
): Statement[] {
  const faulty = new Map<Known, Fault>()
  const isBack = ({ moved }: Known) => moved.reverses !== undefined
  const known = all.filter(({ isKnown }) => isKnown)
  const kinds = [known.filter((one) => !isBack(one)), known.filter(isBack)]
  for (let fault = 0; fault < faults; fault++) {
    const turn = Math.floor(fault / FAULTS.length) % kinds.length
    const free = [kinds[turn]!, kinds[0]!]
      .map((kind) => kind.filter((one) => !faulty.has(one)))
      .find((kind) => kind.length > 0)!
    faulty.set(free[below(free.length)]!, FAULTS[fault % FAULTS.length]!)
  }
  const statements = new Map<string, Statement>()
  for (const one of all) {
    const { wallet, day } = one.moved
    const key = `${wallet.channelId} ${day}`
    const empty = { wallet, day, lines: [], differences: [], matched: 0, difference: 0n }
    const statement = statements.get(key) ?? empty
    statements.set(key, statement)
    write(statement, one, faulty.get(one))
  }
  return [...statements.values()]
}

function write(statement: Statement, { moved, isKnown }: Known, fault: Fault | undefined): void {
  const { receipt, at, reverses } = moved
  const isBack = reverses !== undefined
  const amount = isBack ? -moved.amount : moved.amount
  const add = (line: Line) => statement.lines.push(isBack ? { ...line, reverses: reverses.receipt } : line)
  const name = (kind: string, named: string, difference: bigint) => {
    statement.differences.push([kind, named])
    statement.difference += difference
  }
  const missing = isBack ? 'reversal_missing' : 'missing_here'
  if (!isKnown) name(missing, receipt, amount)
  const changed = fault !== 'changed' ? amount : isBack ? amount - 100n : amount + 1n
  if (fault === 'left out') name('missing_there', receipt, -amount)
  else add({ receipt, at, amount: changed })
  if (fault === 'changed') name('amount_differs', receipt, changed - amount)
  if (fault === 'added') {
    add({ receipt: `${receipt}-MORE`, at, amount })
    name(missing, `${receipt}-MORE`, amount)
  }
  if (isKnown && !isBack && (fault === undefined || fault === 'added')) statement.matched++
}

/** Returns the body of a reconciliation: Daraja's statement as its portal writes it, and the lines of any other. */
export function bodyOf({ wallet, lines }: Statement): object {
  if (wallet.adapter !== 'daraja_c2b')
    return {
      lines: lines.map(({ amount, at, ...line }) => ({
        ...line,
        at: toRfc3339(at, ZONE),
        amount: Number(decimalOf(amount)),
      })),
    }
  const rows = lines.map(({ receipt, at, amount, reverses = '' }) => {
    const paid = amount > 0n ? `${decimalOf(amount)},` : `,${decimalOf(amount)}`
    return `${receipt},${toRfc3339(at, ZONE).slice(0, 19).replace('T', ' ')},Completed,${paid},${reverses}`
  })
  const head = 'Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn,Linked Transaction ID'
  return { layout: 'daraja_organization', statement: [head, ...rows].join('\n') }
}
