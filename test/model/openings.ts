import fc from 'fast-check'
import { DAY_MS, type LoanCommand, postingOf, reversalOf, waitOf } from './commands.ts'
import type { Kind } from './history.ts'
import type { When } from './requests.ts'

// Histories that random commands rarely reach; the random commands of a run start after them.

/** Returns a posting. @param percent of the most that the loan has @param and cents to add */
const some = (kind: Kind, percent: bigint, and = 0n, when: When = { is: 'left out' }): LoanCommand =>
  postingOf(kind, { amount: { percent, and }, when, byExternalId: false, insist: true })

/** Returns a reversal. @param nth of the unreversed transactions, from 0 */
const undo = (nth: number): LoanCommand => reversalOf({ nth, insist: false })

const wait = (days: number): LoanCommand => waitOf(days * DAY_MS)

const OPENINGS: Readonly<Record<string, readonly LoanCommand[]>> = {
  nothing: [],
  'paid out, and the payment undone': [some('Repayment', 130n), some('Credit Balance Refund', 100n), undo(0)],
  'given back, and the payment undone': [some('Repayment', 60n), some('Refund', 50n), undo(0)],
  'written off, and recovered in part': [
    some('Repayment', 30n),
    some('Write-off', 100n),
    some('Recovery Repayment', 40n),
  ],
  'recovered in full, and less written off then': [
    ...[some('Repayment', 50n), some('Refund', 40n), some('Write-off', 100n), some('Recovery Repayment', 100n)],
    undo(1),
  ],
  'recovered, paid out, and the recovery undone: a written-off loan that is owed again': [
    ...[some('Repayment', 50n), some('Refund', 40n), some('Write-off', 100n), some('Recovery Repayment', 100n)],
    ...[undo(1), some('Credit Balance Refund', 100n), undo(2)],
  ],
  'interest paid, and given back days later': [some('Repayment', 5n), wait(3), some('Refund', 100n), wait(1)],
  'charged off, paid off on paper before, and charged off again': [
    ...[wait(9), some('Charge-off', 100n), some('Repayment', 100n, 0n, { is: 'back', days: 5 })],
    ...[some('Repayment', 0n, 500_00n), some('Credit Balance Refund', 100n), undo(2), some('Charge-off', 100n)],
  ],
  'charged off and overpaid': [some('Charge-off', 100n), some('Recovery Repayment', 120n)],
}

export const anyOpening = fc
  .oneof(
    { weight: 3, arbitrary: fc.constant('nothing') },
    { weight: 3, arbitrary: fc.constantFrom(...Object.keys(OPENINGS)) },
  )
  .map((name) => ({ name, commands: OPENINGS[name]! }))
