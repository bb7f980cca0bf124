import type { Inserted, NewLoan } from '../../db/loans/insertLoans.ts'
import { reserveAccountNumbers, returnAccountNumber } from '../../db/organizations/accountNumbers.ts'
import { reserveIds, retryOnTakenId } from '../../db/queries/idBlocks.ts'
import { loanMade } from '../../domain/loan/change/change.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Core, Writing } from '../deps.ts'

type MakeDeps = Pick<Core & Writing, 'db' | 'idBlocks' | 'loanBatches'>

/** The result of making a loan under an id that the service chose. */
export type MadeLoan =
  | { readonly id: bigint; readonly accountNo: bigint }
  | { readonly refused: Exclude<Inserted, 'made' | 'idTaken'> | 'stale' }

/**
 * Makes a loan with its schedule, under an id that the service chooses: where a client has taken the id, under the
 * next.
 * @param insert inserts the loan; left out, the loan is inserted together with other new ones
 * @returns its id and account number; or `leftOut` when the customer is no longer Active, `externalIdTaken` when
 *   another loan has the external id, `stale` when `insert` says so
 * @throws LendingError `aborted` when its Idempotency-Key was taken meanwhile
 */
export function makeLoan(
  deps: MakeDeps,
  loan: Omit<NewLoan, 'id' | 'accountNo' | 'changed'>,
  insert: (loan: NewLoan) => Promise<Inserted | 'stale'> = deps.loanBatches.insertLoan,
): Promise<MadeLoan> {
  const make = (accountNo: bigint) =>
    retryOnTakenId<MadeLoan>(async () => {
      const id = (await reserveIds(deps, 'loan', 1))()
      const inserted = await insert({ ...withChange(loan), id, accountNo })
      if (inserted === 'idTaken') return undefined
      return inserted === 'made' ? { id, accountNo } : { refused: inserted }
    })
  return abortedWhereKeyTaken(withAccountNumber(deps, loan, make, (made) => 'refused' in made))
}

/**
 * Makes a loan with its schedule, under an id that a client chose.
 * @returns the outcome; `leftOut` when the customer is no longer Active
 * @throws LendingError `aborted` when its Idempotency-Key was taken meanwhile
 */
export function makeLoanAs(deps: MakeDeps, loan: Omit<NewLoan, 'accountNo' | 'changed'>): Promise<Inserted> {
  const make = (accountNo: bigint) => deps.loanBatches.insertLoan({ ...withChange(loan), accountNo })
  return abortedWhereKeyTaken(withAccountNumber(deps, loan, make, (inserted) => inserted !== 'made'))
}

/** Returns a new loan with the change that makes it. */
export const withChange = <Loan extends Omit<NewLoan, 'id' | 'accountNo' | 'changed'>>(loan: Loan) => ({
  ...loan,
  changed: loanMade(loan, loan.state, loan.author.isImport === true),
})

/**
 * Makes a loan under the next account number of its organization.
 * @param isRefused whether the result is no loan, so that the next loan takes its number
 */
async function withAccountNumber<Made>(
  deps: MakeDeps,
  { author: { organizationId } }: Pick<NewLoan, 'author'>,
  make: (accountNo: bigint) => Promise<Made>,
  isRefused: (made: Made) => boolean,
): Promise<Made> {
  const accountNo = (await reserveAccountNumbers(deps, organizationId, 'loan', 1))()
  const made = await make(accountNo)
  if (isRefused(made)) returnAccountNumber(deps, organizationId, 'loan', accountNo)
  return made
}
