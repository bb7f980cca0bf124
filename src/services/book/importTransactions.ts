import type { Author } from '../../db/audit/trail.ts'
import { readLoans } from '../../db/loans/loans.ts'
import { type ChangeBatch, type LoanChange, saveLoans } from '../../db/loans/saveLoans.ts'
import type { StoredLoan } from '../../db/loans/storedLoan.ts'
import { reserveIds } from '../../db/queries/idBlocks.ts'
import type { LocalDate } from '../../domain/dates.ts'
import { failedPrecondition, LendingError, notFound } from '../../domain/errors.ts'
import type { Balances } from '../../domain/loan/balances.ts'
import { apply } from '../../domain/loan/change/apply.ts'
import { entriesChanged } from '../../domain/loan/change/change.ts'
import { type Entry, type EntryType, isCharge } from '../../domain/loan/entry.ts'
import { type Decision, findByToken, outcomeAt, post, reverse } from '../../domain/loan/loan.ts'
import type { LoanState } from '../../domain/loan/replay.ts'
import { type Decimal, toMinor } from '../../domain/money.ts'
import type { Deps } from '../deps.ts'
import { withWaiver } from '../loans/changes/settleEarly.ts'
import { timePassed } from '../loans/changes/timePassed.ts'
import { getOrganization } from '../organizations/organizations.ts'
import { type Importer, type LineResult, lineResultOf, otherThere } from './bookImport.ts'

/** A line of an import of transactions. */
export interface TransactionLine {
  readonly loanExternalId: string
  readonly type: EntryType
  /** Null for a charge-off, a write-off or a settlement waiver. */
  readonly amount: Decimal | null
  readonly valueDate: LocalDate
  /** The dedupe token, by which a line that is imported again is recognised. */
  readonly token: string
  readonly note: string | null
  /** True of a settlement waiver that an operator reversed: there is none for its day. */
  readonly isReversed: boolean
  /** True of a settlement waiver that waives nothing any more. */
  readonly waivesNothing: boolean
  /** The due date of a single charge; undefined: the value date. */
  readonly dueOn: LocalDate | undefined
  /** Undefined: the lender's. */
  readonly paymentMethod: string | undefined
}

/** A loan while the lines of a batch are posted on it, one after the other. */
interface Working {
  after: StoredLoan
  /** Saved one after the other: a statement cannot reverse an entry that it posts. */
  readonly steps: Step[]
}

interface Step {
  readonly loan: StoredLoan
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
      const at = now(organizationId)
      const lines = values.filter((value): value is TransactionLine => !(value instanceof LendingError))
      const named = [...new Set(lines.map(({ loanExternalId }) => loanExternalId))]
      const read = await readLoans(
        db,
        named.map((externalId) => ({ organizationId, ref: { externalId }, zone: config.zone })),
      )
      const loans = new Map<string, Working>()
      for (const [index, loan] of read.entries())
        if (loan) loans.set(named[index]!, { after: loan, steps: [{ loan, changes: [] }] })
      const { paymentMethod } = await getOrganization(deps, author)
      // Each line may settle its loan early, which posts a waiver, too.
      const nextId = await reserveIds(deps, 'entry', 2 * lines.length)
      const results = values.map(
        (value): LineResult =>
          value instanceof LendingError
            ? value
            : lineResultOf(() => postLine(value, loans, { author, at, nextId, paymentMethod })),
      )
      const rounds = roundsOf([...loans.values()])
      return {
        async save(batch) {
          for (const round of rounds) if (!(await saveLoans(batch, round)).every(Boolean)) return undefined
          return results
        },
      }
    },
  }
}

/** Returns the first steps of all loans, then the second ones, and so on; without loans that do not change. */
function roundsOf(loans: readonly Working[]): ChangeBatch[][] {
  const most = Math.max(0, ...loans.map(({ steps }) => steps.length))
  return Array.from({ length: most }, (_, index) =>
    loans.flatMap(({ steps }) => steps[index] ?? []).filter(({ changes }) => changes.length > 0),
  ).filter((round) => round.length > 0)
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
  const { type, amount, valueDate, token, note, dueOn } = line
  const present = findByToken(loan.after, token)
  if (present) return isSame(line, present, loan.after) ? 'present' : otherThere('the transaction')
  if (type === 'Settlement Waiver') return postWaiver(line, loan, { author, at })
  const method = line.paymentMethod ?? paymentMethod
  const decision = post(loan.after, { type, amount, valueDate, token, note, dueOn, paymentMethod: method }, at)
  const posted = decision.posted && { ...decision.posted, id: nextId() }
  const isFirst = loan.steps.every(({ changes }) => changes.length === 0)
  for (const passed of isFirst ? timePassed(loan.after, at) : [])
    add(loan, passed, apply(loan.after, passed.decision, passed.posted, at))
  const { changes, after } = withWaiver(loan.after, { author, decision, posted, at }, nextId)
  for (const change of changes) add(loan, change, after)
  return 'imported'
}

/** Adds a change to the last step of a loan. @param after the loan after it */
function add(loan: Working, change: LoanChange, after: StoredLoan): void {
  const { decision, changed } = change
  const lean = {
    ...changed,
    before: changed.before && withoutEntries(changed.before),
    after: withoutEntries(changed.after),
  }
  loan.steps.at(-1)!.changes.push({ ...change, decision: inBalances(decision), changed: lean })
  loan.after = after
}

/**
 * Takes a line of a settlement waiver. The lines before it have posted the waiver where they settle the loan on its day;
 * one that an operator reversed is reversed again, so that none is posted for the day later.
 */
function postWaiver(
  { valueDate, isReversed, waivesNothing }: TransactionLine,
  loan: Working,
  { author, at }: Pick<Posted, 'author' | 'at'>,
): LineResult {
  const ofDay = loan.after.entries.filter(
    (entry) => entry.type === 'Settlement Waiver' && entry.valueDate === valueDate,
  )
  if (!isReversed) {
    if (ofDay.length > 0 || waivesNothing) return 'present'
    throw failedPrecondition(
      `no transaction before this line settles the loan early on ${valueDate}: put the repayment that does before it`,
    )
  }
  const waiver = ofDay.find(({ reversedAt }) => reversedAt === null)
  // No waiver, or one that waives nothing: there is nothing to reverse.
  if (!waiver || outcomeAt(loan.after, waiver, at)?.amount === 0n) return 'present'
  if (loan.steps.at(-1)!.changes.length > 0) loan.steps.push({ loan: loan.after, changes: [] })
  const decision = reverse(loan.after, waiver.id, at, null)
  const { version } = loan.after
  const changed = entriesChanged(loan.after, decision, { version: version + 1, posted: null, isImported: true })
  add(loan, { author, decision, posted: null, at, changed }, apply(loan.after, decision, null, at))
  return 'imported'
}

/** Returns a decision without what is too much to keep for a whole batch. */
const inBalances = (decision: Decision): Decision => ({
  ...decision,
  before: withoutEntries(decision.before),
  state: withoutEntries(decision.state),
})

/** Returns balances without outcomes and periods, which of thousands of entries are too much to keep for a whole batch. */
function withoutEntries(state: Balances): Balances {
  const { periods: _, outcomes: __, ...balances } = state as LoanState
  return balances
}

/**
 * Returns whether a line equals a posted entry: type, value date, amount and, of a single charge, due date and name.
 * Amounts that follow from the loan (null) are not compared.
 */
const isSame = (
  { type, amount, valueDate, dueOn, note }: TransactionLine,
  entry: Entry,
  { terms }: StoredLoan,
): boolean =>
  type === entry.type &&
  valueDate === entry.valueDate &&
  (!isCharge(type) || ((dueOn ?? valueDate) === entry.dueOn && note === entry.note)) &&
  (amount === null || toMinor(amount, terms.currency, 'amount') === entry.amount)
