import type { LoanTerms } from '../loan/terms.ts'

/** A number or a text of a request as the JSON it was sent as: `5.250`, `"Flat Rate"`. */
export type Source = string

/** The terms of the extended loan body, each as it was sent (contract 5.3). */
export interface ExtendedBody {
  readonly loan_application_id?: Source | undefined
  readonly loan_disbursed_by_id?: Source | undefined
  readonly loan_principal_amount: Source
  readonly loan_released_date: Source
  readonly loan_interest_method: Source
  readonly loan_interest_type: Source
  readonly loan_interest_period: Source
  readonly loan_interest: Source
  readonly loan_duration_period: Source
  readonly loan_duration: Source
  readonly loan_payment_scheme_id: Source
  readonly loan_num_of_repayments: Source
  readonly loan_decimal_places?: Source | undefined
}

/** Goods that a loan paid for; the numbers as they were sent. */
export interface RecordProduct {
  readonly stockId: Source
  readonly quantity: Source
  readonly price: Source
}

/** What a record system told of a loan, besides what the book has columns for. Null: it told nothing of that. */
export interface LoanRecord {
  readonly loanType: string | null
  readonly description: string | null
  readonly duration: number | null
  /** As it was sent: "months", "Month". */
  readonly durationPeriod: string | null
  readonly products: readonly RecordProduct[]
  /** Null unless the loan was made with the extended body: its schedule is made from this. */
  readonly extended: ExtendedBody | null
}

/** What a record system told of a repayment, besides what every entry has. */
export interface RepaymentRecord {
  readonly method: string | null
  readonly collectedBy: string | null
}

/** A loan agreed anew: other terms, another borrower, or only other remarks. */
export interface ModifiedTerms {
  readonly terms: LoanTerms
  readonly borrowerId: bigint
  readonly record: LoanRecord
  /** Whether a borrower is lent more by it, who has to be Active. */
  readonly lends: boolean
}
