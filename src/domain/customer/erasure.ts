import { addPeriods, type LocalDate } from '../dates.ts'

/** The years for which a lender keeps what it knows of people, by their kind. */
export interface Retention {
  /** Of customers who borrowed: after their last loan was closed. */
  readonly borrowers: number
  /** Of customers who never did: after they were told of last. */
  readonly others: number
}

/** The retention of a lender who has set none: the longest that a law of the region asks of lenders for borrowers. */
export const LONGEST_DUTY: Retention = { borrowers: 10, others: 0 }

/** The facts of a customer that decide whether the person may be erased. */
export interface ErasureFacts {
  readonly isErased: boolean
  /** Loans that are Active or Overpaid: the customer or the lender still owes money. */
  readonly openLoans: readonly bigint[]
  readonly hasLoans: boolean
  /** The latest day on which one of the loans was closed; null: none was. */
  readonly lastLoanClosedOn: LocalDate | null
  /** The day on which something was told of the customer last. */
  readonly lastToldOn: LocalDate
  /** Whether an action on one of the loans waits for a second ADMIN. */
  readonly hasPendingAction: boolean
  /** Whether the customer answers for the open loan of somebody else. */
  readonly answersForLoan: boolean
  /** Whether money in suspense came with the externalId of the customer as its reference. */
  readonly hasMoneyInSuspense: boolean
}

/** What keeps a person from being erased. */
export type Obstacle =
  | { readonly because: 'erased' | 'pending_action' | 'money_in_suspense' | 'guarantee' }
  | { readonly because: 'open_loan'; readonly loanIds: readonly bigint[] }
  | { readonly because: 'retention'; readonly until: LocalDate }

/** Returns what keeps a person from being erased; nothing where the person may be. */
export function obstaclesOf(facts: ErasureFacts, retention: Retention, today: LocalDate): Obstacle[] {
  if (facts.isErased) return [{ because: 'erased' }]
  const { openLoans, hasPendingAction, hasMoneyInSuspense, answersForLoan } = facts
  const until = keptUntil(facts, retention)
  return [
    ...(openLoans.length > 0 ? [{ because: 'open_loan', loanIds: openLoans } as const] : []),
    ...(openLoans.length === 0 && until > today ? [{ because: 'retention', until } as const] : []),
    ...(answersForLoan ? [{ because: 'guarantee' } as const] : []),
    ...(hasPendingAction ? [{ because: 'pending_action' } as const] : []),
    ...(hasMoneyInSuspense ? [{ because: 'money_in_suspense' } as const] : []),
  ]
}

/** Returns the day until which a lender keeps what it knows of a customer without an open loan. */
export const keptUntil = (
  { hasLoans, lastLoanClosedOn, lastToldOn }: Pick<ErasureFacts, 'hasLoans' | 'lastLoanClosedOn' | 'lastToldOn'>,
  { borrowers, others }: Retention,
): LocalDate =>
  hasLoans ? addPeriods(lastLoanClosedOn ?? lastToldOn, borrowers, 'years') : addPeriods(lastToldOn, others, 'years')

/** Says in words what keeps a person from being erased. */
export function obstacleText(obstacle: Obstacle): string {
  switch (obstacle.because) {
    case 'erased':
      return 'the person was erased already'
    case 'open_loan':
      return `${obstacle.loanIds.length === 1 ? 'a loan is' : 'loans are'} open: ${obstacle.loanIds.join(', ')}`
    case 'retention':
      return `what is known has to be kept until ${obstacle.until}`
    case 'guarantee':
      return 'the person answers for the open loan of somebody else'
    case 'pending_action':
      return 'an action on a loan waits for a second ADMIN'
    case 'money_in_suspense':
      return 'money in suspense came with the externalId as its reference'
  }
}
