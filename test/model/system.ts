import { expect } from 'vitest'
import type { Answer, TestService } from '../support/service.ts'
import { loanAnswer, transactionAnswer } from './answers.ts'
import { type Kind, outcomeOf } from './history.ts'
import type { ModelLoan, Verdict } from './rules.ts'

/** The service under test: its instances, with one database and one clock, and the loan of the run. */
export interface System {
  readonly instances: TestService[]
  /** The number of the instance that gets the next request. */
  turn: number
  readonly loanId: string
  readonly externalId: string
}

/** The loan of the model, and the model's time. */
export interface Model {
  readonly loan: ModelLoan
  now: number
}

export const ROUTES: Readonly<Record<Kind, string>> = {
  Repayment: '/repayments',
  'Recovery Repayment': '/repayments/recover',
  'Waive Interest': '/repayments/waive-interest',
  Refund: '/repayments/refund',
  'Credit Balance Refund': '/repayments/credit-balance-refund',
  'Charge-off': '/repayments/charge-off',
  'Write-off': '/write-off',
}

const STATUSES = { invalid_argument: 400, failed_precondition: 409 } as const

export const instanceOf = ({ instances, turn }: System): TestService => instances[turn % instances.length]!

/** Returns the path of the loan in either form. */
export const addressOf = ({ loanId, externalId }: System, byExternalId: boolean): string =>
  byExternalId ? `/v1/loans/external/${externalId}` : `/v1/loans/${loanId}`

/** The number of answers of each kind, because a run tests only what it reached. */
export const reached = new Map<string, number>()

export const reach = (what: string) => reached.set(what, (reached.get(what) ?? 0) + 1)

/** Compares an answer with the verdict, then the loan with the model, then the loan's row with the answer. */
export async function agree(
  what: string,
  model: Model,
  system: System,
  verdict: Verdict,
  { status, body, text }: Answer,
): Promise<void> {
  if ('refused' in verdict) {
    reach(`${what}: ${verdict.refused}`)
    expect({ what, status, code: body.code }, text).toEqual({
      what,
      status: STATUSES[verdict.refused],
      code: verdict.refused,
    })
    expect(body.message).toMatch(/\S/)
  } else {
    reach(`${what}: done`)
    expect({ what, status }, text).toEqual({ what, status: 200 })
    const { answered } = verdict
    if (answered.id === '') answered.id = body.id
    const outcome = outcomeOf(model.loan.debt, model.loan.history, model.now)
    expect(body).toEqual(transactionAnswer(system.loanId, answered, outcome))
  }
  const loan = await agreeOnLoan(model, system)
  if ('answered' in verdict && !what.endsWith('again')) await agreeOnRow(system, loan, model)
}

/** Fields that no command changes, or that the model does not know. */
const FIXED = [
  ...['accountNo', 'externalId', 'customerId', 'customerExternalId', 'customerName', 'loanProductId'],
  ...['loanProductName', 'currencyCode', 'numberOfRepayments', 'interestRatePerPeriod', 'createdAt'],
  // Says when a change was stored: time's own changes are stored when the sweep comes.
  'updatedAt',
]

/** Reads the loan, and compares it with the model and its totals with each other. */
export async function agreeOnLoan(model: Model, system: System): Promise<Answer['body']> {
  const { status, body } = await instanceOf(system).get(addressOf(system, false))
  expect(status).toBe(200)
  const expected = loanAnswer(system.loanId, model.loan, model.now)
  const seen = Object.entries(body).filter(([key]) => !FIXED.includes(key))
  expect(Object.fromEntries(seen)).toEqual(expected)
  addsUp(body)
  return body
}

/** Returns the cents of an amount in an answer, or 0 where the answer leaves it out. */
const cents = (amount: unknown): number => Math.round(Number(amount ?? 0) * 100)

/** Checks the laws that need no model. */
function addsUp(loan: Answer['body']): void {
  const parts = ['principal', 'interest', 'fees', 'penalty']
  const sum = (suffix: string) => parts.reduce((total, part) => total + cents(loan[`${part}${suffix}`]), 0)
  const lines = (field: string): number => loan.repaymentSchedule.reduce((total, line) => total + cents(line[field]), 0)
  expect(sum('Outstanding')).toBe(cents(loan.totalOutstanding))
  expect(sum('Paid')).toBe(cents(loan.totalPaid))
  expect(lines('totalOutstanding')).toBe(cents(loan.totalOutstanding))
  expect(lines('totalPaid')).toBe(cents(loan.totalPaid))
  const accountedFor = ['totalPaid', 'interestWaived', 'totalWrittenOff', 'totalOutstanding']
  expect(accountedFor.reduce((total, field) => total + cents(loan[field]), 0)).toBe(lines('totalDue'))
  expect(loan.totalOutstanding === 0 || loan.totalOverpaid === 0).toBe(true)
  for (const one of loan.repaymentHistory) {
    const portions = cents(one.overpayment) + parts.reduce((total, part) => total + cents(one[part]), 0)
    expect(portions).toBe(one.status === 'reversed' ? 0 : cents(one.amount))
  }
}

/** Compares the cached columns of the loan with the model, right after a change. */
async function agreeOnRow(system: System, loan: Answer['body'], model: Model): Promise<void> {
  const { rows } = await system.instances[0]!.deps.db.pool.query(
    `SELECT status, total_paid, total_overpaid, total_overdue, total_written_off, total_recovered, entry_count,
       principal_outstanding, interest_outstanding, fees_outstanding, penalty_outstanding,
       charged_off_on::text, closed_on::text, next_due_on::text, overdue_since::text
     FROM loan WHERE id = $1`,
    [system.loanId],
  )
  const asText = Object.fromEntries(
    Object.entries(rows[0] as Record<string, unknown>).map(([column, value]) => [column, String(value)]),
  )
  const minor = (amount: number) => String(cents(amount))
  expect(asText).toEqual({
    status: loan.status,
    total_paid: minor(loan.totalPaid),
    total_overpaid: minor(loan.totalOverpaid),
    total_overdue: minor(loan.totalOverdue),
    total_written_off: minor(loan.totalWrittenOff),
    total_recovered: minor(loan.totalRecovered),
    entry_count: String(model.loan.history.length),
    principal_outstanding: minor(loan.principalOutstanding),
    interest_outstanding: minor(loan.interestOutstanding),
    fees_outstanding: minor(loan.feesOutstanding),
    penalty_outstanding: minor(loan.penaltyOutstanding),
    charged_off_on: String(loan.chargedOffOn ?? null),
    closed_on: String(loan.closedOn ?? null),
    next_due_on: String(loan.nextDueDate ?? null),
    overdue_since: String(loan.overdueSince ?? null),
  })
}
