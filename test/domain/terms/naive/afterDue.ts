import type { Day } from './calendar.ts'
import { type Debt, lesser, noteWhatIsClear, share, total } from './debt.ts'
import { type NaiveLoan, roomForCharges } from './loan.ts'
import { lastDueOf, lastRowOf } from './penalties.ts'

// Interest that runs on after the last due date (contract 10.13), with its tax (10.14).

/** Raises the interest of a day, at its beginning. */
export function runOn(loan: NaiveLoan, debt: Debt, day: Day): void {
  const { terms } = loan.product
  if (!terms || terms.daysAfterDue === null) return
  const late = day - lastDueOf(loan, debt)
  if (late < 1 || late > terms.daysAfterDue) return
  const of = (column: 'due' | 'paid' | 'waived' | 'writtenOff') => total(debt, 'principal', column)
  const interest = share(of('due') - of('paid') - of('waived') - of('writtenOff'), terms.interestRate)
  const asked = interest + share(interest, terms.interestTax?.rate ?? 0n)
  const cut = lesser(asked, roomForCharges(loan, debt) ?? asked)
  if (cut === 0n) return
  lastRowOf(loan, debt).cells.interest.due += cut
  debt.afterDue += cut
  noteWhatIsClear(debt, day)
}
