/** Bodies of the record style that are accepted as they are; tests change a field or two. */

export const aBorrower = {
  id: 1,
  business_name: 'Mama Asha Stores',
  phone: '255700000001',
  email: 'asha@example.com',
  address: 'Plot 12\nKariakoo',
  type: 'Retailer',
  region: 'Dar es Salaam',
  country: 'TZ',
}

export const aBasicLoan = {
  borrower_id: 1,
  loan_id: 1,
  loan_type: 'Stock',
  principal_amount: 1000.5,
  released_date: '2026-01-15',
  due_date: '2026-04-15',
  duration: 3,
  duration_period: 'months',
  description: 'Maize\nfor the season',
}

export const anExtendedLoan = {
  loan_id: 2,
  borrower_id: 1,
  loan_application_id: 71,
  loan_disbursed_by_id: 20693,
  loan_principal_amount: 1200,
  loan_released_date: '2026-01-31',
  loan_interest_method: 'Reducing Rate Equal Installments',
  loan_interest_type: 'Percentage',
  loan_interest_period: 'monthly',
  loan_interest: 1,
  loan_duration_period: 'Months',
  loan_duration: 4,
  loan_payment_scheme_id: 3,
  loan_num_of_repayments: 4,
  loan_decimal_places: 'round_off_to_two_decimal',
}

export const aRepayment = {
  repayment_id: 1,
  loan_id: 1,
  amount: 100.25,
  collection_date: '2026-01-20',
  method: 'Mobile Money',
  collected_by: 'Neema',
  description: 'First of five',
}
