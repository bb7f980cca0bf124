// What the document shows is one story, so that what is sent and what is answered belong together: a borrower and two
// loans, one of each body, booked on 31 January; a repayment of the first on 10 February; and on 20 February what
// became known of the borrower and of the first loan.

const BOOKED = '2026-01-31T09:30:00.000+03:00'
const REPAID = '2026-02-10T09:30:00.000+03:00'
const CHANGED = '2026-02-20T09:30:00.000+03:00'

const madeAt = (moment: string) => ({ created_at: moment, updated_at: moment })

export const newBorrower = {
  id: 1,
  business_name: 'Mama Asha Stores',
  phone: '255700000001',
  email: 'asha@example.com',
  address: 'Plot 12, Kariakoo',
  type: 'Retailer',
  region: 'Dar es Salaam',
  country: 'TZ',
}

export const verification = { by: 'NIDA', on: '2026-01-30', result: 'verified' as const, reference: 'NV-4711' }

export const identity = {
  first_name: 'Asha',
  last_name: 'Mushi',
  date_of_birth: '1990-05-17',
  gender: 'female' as const,
  nationality: 'TZ',
  id_type: 'national_id' as const,
  id_number: '19900517-12345-00001-23',
  phone: '+255 700 000 001',
  verification,
}

export const newConsent = {
  purpose: 'bureau' as const,
  channel: 'paper' as const,
  given_at: '2026-01-30T16:00:00.000+03:00',
}

export const consent = { id: 1, borrower_id: newBorrower.id, ...newConsent, ...madeAt(BOOKED) }

export const withdrawal = { channel: 'call' as const }

export const withdrawnConsent = { ...consent, withdrawn_at: BOOKED, withdrawn_by: withdrawal.channel }

export const borrower = { ...newBorrower, credit_score: 0, ...madeAt(BOOKED) }

export const borrowerChanges = { phone: '255700000002', region: 'Arusha' }

export const changedBorrower = { ...borrower, ...borrowerChanges, updated_at: CHANGED }

const guarantee = { relationship: 'Sister', amount: 50_000, until: '2026-12-31' }

export const newGuarantor = {
  identity: { first_name: 'Neema', last_name: 'Mushi', phone: '+255 700 000 009' },
  ...guarantee,
}

export const guarantor = { id: 1, loan_id: 1, ...guarantee, from: '2026-01-31', ...madeAt(BOOKED) }

const vehicle = { kind: 'vehicle' as const, value: 2_500_000, valued_on: '2026-01-30' }

export const newCollateral = { ...vehicle, description: 'Motorcycle, red, 2024', registration: 'MC 123 ABC' }

export const collateral = { id: 1, loan_id: 1, ...vehicle, ...madeAt(BOOKED) }

export const release = { reason: 'Half of the loan is repaid' }

const released = { released_on: '2026-01-31', release_reason: release.reason }

export const releasedGuarantor = { ...guarantor, ...released }

export const releasedCollateral = { ...collateral, ...released }

export const newLoan = {
  borrower_id: newBorrower.id,
  loan_id: 1,
  loan_type: 'Stock',
  principal_amount: 250_000,
  released_date: '2026-01-31',
  due_date: '2026-04-30',
  duration: 3,
  duration_period: 'Months',
  description: 'Maize for the season',
}

export const loan = { ...newLoan, ...madeAt(BOOKED) }

export const product = { stock_id: 1, quantity: 10, price: 30_000 }

export const loanChanges = {
  principal_amount: 300_000,
  products: [product],
  description: 'More maize',
}

export const changedLoan = { ...loan, ...loanChanges, updated_at: CHANGED }

const ids = { loan_id: 2, borrower_id: newBorrower.id }

const terms = {
  loan_application_id: 'LA-2026-001',
  loan_disbursed_by_id: 20693,
  loan_principal_amount: 1_200_000,
  loan_released_date: '2026-01-31',
  loan_interest_method: 'reducing_rate_equal_installments',
  loan_interest_type: 'percentage',
  loan_interest_period: 'Month',
  loan_interest: 2.5,
  loan_duration_period: 'Months',
  loan_duration: 12,
  loan_payment_scheme_id: 3,
  loan_num_of_repayments: 12,
  loan_decimal_places: 'round_off_to_two_decimal',
}

export const newExtendedLoan = { ...ids, ...terms }

/** The last of twelve monthly instalments is due a year on. */
export const extendedLoan = {
  ...ids,
  loan_type: '',
  principal_amount: terms.loan_principal_amount,
  released_date: terms.loan_released_date,
  due_date: '2027-01-31',
  duration: terms.loan_duration,
  duration_period: terms.loan_duration_period,
  description: '',
  ...terms,
  ...madeAt(BOOKED),
}

export const newRepayment = {
  repayment_id: 1,
  loan_id: newLoan.loan_id,
  amount: 50_000,
  collection_date: '2026-02-10',
  method: 'Mobile Money',
  collected_by: 'Neema',
  description: 'First of five',
}

export const repayment = { ...newRepayment, ...madeAt(REPAID) }
