import type { Deps } from '../../app/deps.ts'
import type { Author } from '../../db/audit/trail.ts'
import { readLoans } from '../../db/loans/loans.ts'
import { type ChangeBatch, type LoanChange, saveLoans } from '../../db/loans/saveLoans.ts'
import { apply, type StoredLoan } from '../../db/loans/storedLoan.ts'
import { reserveIds } from '../../db/queries/idBlocks.ts'
import type { LocalDate } from '../../domain/dates.ts'
import { LendingError, notFound } from '../../domain/errors.ts'
import type { Balances } from '../../domain/loan/balances.ts'
import type { Entry, EntryType } from '../../domain/loan/entry.ts'
import { type Decision, findByToken, post } from '../../domain/loan/loan.ts'
import type { LoanState } from '../../domain/loan/replay.ts'
import { type Decimal, toMinor } from '../../domain/money.ts'
import { getOrganization } from '../lenders/organizations.ts'
import { timePassed } from '../loans/timePassed.ts'
import { type Importer, type LineResult, lineResultOf, otherThere } from './bookImport.ts'

/** A line of an import of transactions. */
export interface TransactionLine {
  readonly loanExternalId: string
  readonly type: EntryType
  /** Null for a charge-off or write-off. */
  readonly amount: Decimal | null
  readonly valueDate: LocalDate
  /** The dedupe token, by which a line that is imported again is recognised. */
  readonly token: string
  readonly note: string | null
  /** Undefined: the lender's. */
  readonly paymentMethod: string | undefined
}

/** A loan while the lines of a batch are posted on it, one after the other. */
interface Working {
  readonly before: StoredLoan
  after: StoredLoan
  readonly changes: LoanChange[]
}

/** Imports transactions as `postTransaction` posts them, in the order of the file. */
export function transactionImporter(deps: Deps, importedBy: Author): Importer<TransactionLine> {
  const { db, now, config } = deps
  const author = { ...importedBy, isImport: true }
  const { organizationId } = author
  return {
    keyOf: ({ loanExternalId }) => loanExternalId,
    async decide(values) {
      const at = now()
      const lines = values.filter((value): value is TransactionLine => !(value instanceof LendingError))
      const named = [...new Set(lines.map(({ loanExternalId }) => loanExternalId))]
      const read = await readLoans(
        db,
        named.map((externalId) => ({ organizationId, ref: { externalId }, zone: config.zone })),
      )
      const loans = new Map<string, Working>()
      for (const [index, loan] of read.entries())
        if (loan) loans.set(named[index]!, { before: loan, after: loan, changes: [] })
      const { paymentMethod } = await getOrganization(deps, author)
      const nextId = await reserveIds(deps, 'entry', lines.length)
      const results = values.map(
        (value): LineResult =>
          value instanceof LendingError
            ? value
            : lineResultOf(() => postLine(value, loans, { author, at, nextId, paymentMethod })),
      )
      const batches: ChangeBatch[] = [...loans.values()]
        .filter(({ changes }) => changes.length > 0)
        .map(({ before, changes }) => ({ loan: before, changes }))
      return {
        async save(batch) {
          if (batches.length === 0) return results
          return (await saveLoans(batch, batches)).every(Boolean) ? results : undefined
        },
      }
    },
  }
}

/** The values that all lines of a batch share. */
interface Posted {
  readonly author: Author
  readonly at: number
  readonly nextId: () => bigint
  /** The lender's. */
  readonly paymentMethod: string
}

function postLine(
  line: TransactionLine,
  loans: ReadonlyMap<string, Working>,
  { author, at, nextId, paymentMethod }: Posted,
): LineResult {
  const loan = loans.get(line.loanExternalId)
  if (!loan) throw notFound((nameOf) => `no loan has that externalId, given as ${nameOf('loanExternalId')}`)
  const { type, amount, valueDate, token, note } = line
  const present = findByToken(loan.after, token)
  if (present) return isSame(line, present, loan.after) ? 'present' : otherThere('the transaction')
  const method = line.paymentMethod ?? paymentMethod
  const decision = post(loan.after, { type, amount, valueDate, token, note, paymentMethod: method }, at)
  const posted = decision.posted && { ...decision.posted, id: nextId() }
  const passed = loan.changes.length > 0 ? undefined : timePassed(loan.after, at)
  if (passed) {
    loan.changes.push({ ...passed, decision: inBalances(passed.decision) })
    loan.after = apply(loan.after, passed.decision, null, at)
  }
  loan.changes.push({ author, decision: inBalances(decision), posted, at })
  loan.after = apply(loan.after, decision, posted, at)
  return 'imported'
}

/**
 * Returns a decision without outcomes and periods, which of thousands of entries are too much to keep for a whole
 * batch.
 */
function inBalances(decision: Decision): Decision {
  const balancesOf = (state: Balances): Balances => {
    const { periods: _, outcomes: __, ...balances } = state as LoanState
    return balances
  }
  return { ...decision, before: balancesOf(decision.before), state: balancesOf(decision.state) }
}

/**
 * Returns whether a line equals a posted entry; of a charge-off or write-off, the amount is not compared, because a
 * line has none.
 */
const isSame = ({ type, amount, valueDate }: TransactionLine, entry: Entry, { terms }: StoredLoan): boolean =>
  type === entry.type &&
  valueDate === entry.valueDate &&
  (amount === null || toMinor(amount, terms.currency, 'amount') === entry.amount)
