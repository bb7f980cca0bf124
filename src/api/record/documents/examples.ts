import { borrower, newLoan, repayment } from '../openapi/examples.ts'

/** A code as it is printed. */
export const CODE = '7KD2-M9QX-4TZA-1B6C'

const head = {
  code: CODE,
  language: 'en',
  lender: { name: 'Demo Lender', licence_number: null },
  borrower: { id: borrower.id, name: borrower.business_name },
  loan: {
    loan_id: newLoan.loan_id,
    currency_code: 'TZS',
    principal_amount: newLoan.principal_amount,
    fees_deducted: 0,
    settled: 0,
    released_date: newLoan.released_date,
    due_date: newLoan.due_date,
    number_of_repayments: 1,
  },
}

const none = { principal: 0, interest: 0, fees: 0, penalty: 0, overpayment: 0 }
const owed = newLoan.principal_amount - repayment.amount

const repaid = {
  date: repayment.collection_date,
  type: 'Repayment',
  repayment_id: repayment.repayment_id,
  method: repayment.method,
  reversed: false,
  amount: repayment.amount,
  ...none,
  principal: repayment.amount,
  change: -repayment.amount,
  balance: owed,
}

/** Of the first loan of the story, after its repayment. */
export const statement = {
  ...head,
  from: newLoan.released_date,
  to: repayment.collection_date,
  status: 'Active',
  opening_balance: 0,
  charged: newLoan.principal_amount,
  credited: repayment.amount,
  closing_balance: owed,
  lines: [
    {
      date: newLoan.released_date,
      type: 'Disbursement',
      reversed: false,
      amount: newLoan.principal_amount,
      ...none,
      principal: newLoan.principal_amount,
      change: newLoan.principal_amount,
      balance: newLoan.principal_amount,
    },
    repaid,
  ],
  total_outstanding: owed,
  total_overdue: 0,
  total_overpaid: 0,
  instalments: [
    {
      number: 1,
      due_date: newLoan.due_date,
      due: newLoan.principal_amount,
      paid: repayment.amount,
      given_up: 0,
      owed,
    },
  ],
}

export const receipt = { ...head, ...repaid, posted_at: repayment.created_at }

export const verified = {
  code: CODE,
  kind: 'statement',
  current: true,
  loan_id: newLoan.loan_id,
  from: statement.from,
  to: statement.to,
  language: 'en',
  currency_code: head.loan.currency_code,
  amount: statement.closing_balance,
  reversed: false,
  lender_name: head.lender.name,
  borrower_name: head.borrower.name,
  made_at: repayment.created_at,
}
