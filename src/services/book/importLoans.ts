import type { Author } from '../../db/audit/trail.ts'
import { findPresentLoans, type PresentLoan } from '../../db/book/bookImport.ts'
import { findApplicants } from '../../db/loans/applicants.ts'
import { insertLoans, type NewLoan } from '../../db/loans/insertLoans.ts'
import { reserveAccountNumbers } from '../../db/organizations/accountNumbers.ts'
import { reserveIds } from '../../db/queries/idBlocks.ts'
import type { Instant } from '../../domain/dates.ts'
import { invalidArgument, LendingError } from '../../domain/errors.ts'
import { replay } from '../../domain/loan/replay.ts'
import { termsOf } from '../../domain/loan/terms/terms.ts'
import { type Decimal, toMinor } from '../../domain/money.ts'
import type { Core, Writing } from '../deps.ts'
import { notActive, requireApplicants } from '../loans/loans.ts'
import { withChange } from '../loans/makeLoan.ts'
import { type Importer, type LineResult, lineResultOf, otherThere } from './bookImport.ts'

/** A line of an import of loans; every other term comes from the product. */
export interface LoanLine {
  readonly externalId: string
  readonly customerExternalId: string
  readonly productId: number
  readonly principal: Decimal
  /** The moment of disbursement, from which the schedule counts. */
  readonly disbursedAt: Instant
}

/** Imports loans as `createLoan` makes them, but with the moment of disbursement of each line. */
export function loanImporter(deps: Core & Writing, importedBy: Author): Importer<LoanLine> {
  const { db, now, config } = deps
  const author = { ...importedBy, isImport: true }
  const { organizationId } = author
  return {
    keyOf: ({ externalId }) => externalId,
    async decide(values) {
      const at = now(organizationId)
      const lines = values.filter((value): value is LoanLine => !(value instanceof LendingError))
      const [known, found] = await Promise.all([
        findPresentLoans(
          db,
          organizationId,
          lines.map(({ externalId }) => externalId),
        ),
        findApplicants(
          db,
          lines.map(({ customerExternalId, productId }) => ({ organizationId, customerExternalId, productId })),
        ),
      ])
      const applicants = new Map(lines.map((line, index) => [line, found[index]!]))
      const nextId = await reserveIds(deps, 'loan', lines.length)
      const made: { readonly index: number; readonly loan: Omit<NewLoan, 'accountNo' | 'changed'> }[] = []
      const results = values.map(
        (value, index): LineResult =>
          lineResultOf(() => {
            if (value instanceof LendingError) return value
            const { customer, product } = requireApplicants(applicants.get(value)!, value.customerExternalId)
            const present = known.get(value.externalId)
            const principal = toMinor(value.principal, product.currency, 'principal')
            if (present) return isSame(value, principal, present) ? 'present' : otherThere('the loan')
            if (customer.status !== 'Active') throw notActive(customer)
            if (value.disbursedAt > at) throw invalidArgument('disbursedAt', 'must not be in the future')
            const { externalId, customerExternalId, productId, disbursedAt } = value
            const terms = termsOf(product, value.principal, disbursedAt, config.zone)
            const state = replay(terms, [], at)
            made.push({
              index,
              loan: { author, id: nextId(), customerId: customer.id, productId, externalId, terms, state, at },
            })
            known.set(externalId, { externalId, customerExternalId, productId, principal, disbursedAt })
            return 'imported'
          }),
      )
      const nextNo = await reserveAccountNumbers(deps, organizationId, 'loan', made.length)
      const loans = made.map(({ loan }): NewLoan => ({ ...withChange(loan), accountNo: nextNo() }))
      return {
        async save(batch) {
          if (loans.length === 0) return results
          const inserted = await insertLoans(batch, loans)
          // Since the read, a customer was closed or an id taken: the lines are decided again on what is stored then.
          return inserted.every((outcome) => outcome === 'made') ? results : undefined
        },
      }
    },
  }
}

const isSame = (line: LoanLine, principal: bigint, present: PresentLoan): boolean =>
  line.customerExternalId === present.customerExternalId &&
  line.productId === present.productId &&
  principal === present.principal &&
  line.disbursedAt === present.disbursedAt
