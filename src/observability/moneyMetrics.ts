import { Counter, type Registry } from 'prom-client'
import { isCustomerRepayment } from '../domain/loan/entry.ts'
import { currencyOf, minorToNumber } from '../domain/money.ts'
import type { Listener, Movement } from '../services/listener.ts'

/** Counts the money that moved, by currency. @param isTest whether an organization is a test one, whose money is none */
export function countMoney(registers: Registry[], isTest: (organizationId: number) => boolean) {
  const labelNames = ['currency'] as const
  const disbursed = new Counter({
    name: 'mkopo_loans_disbursed_total',
    help: 'Loans disbursed.',
    labelNames,
    registers,
  })
  const disbursedAmount = new Counter({
    name: 'mkopo_disbursed_amount_total',
    help: 'Principal disbursed, in units of the currency.',
    labelNames,
    registers,
  })
  const posted = new Counter({
    name: 'mkopo_transactions_posted_total',
    help: 'Transactions posted, by type.',
    labelNames: [...labelNames, 'type'] as const,
    registers,
  })
  const repaid = new Counter({
    name: 'mkopo_repayments_posted_total',
    help: 'Repayments posted.',
    labelNames,
    registers,
  })
  const repaidAmount = new Counter({
    name: 'mkopo_repaid_amount_total',
    help: 'Repayments posted, in units of the currency.',
    labelNames,
    registers,
  })
  const duplicates = new Counter({
    name: 'mkopo_duplicates_answered_total',
    help: 'Requests answered with an earlier result, and nothing posted twice.',
    labelNames: ['by'] as const,
    registers,
  })
  const mismatches = new Counter({
    name: 'mkopo_token_mismatches_total',
    help: 'Requests answered with an earlier transaction of another content, found by their dedupe token.',
    registers,
  })
  const retries = new Counter({
    name: 'mkopo_retries_total',
    help: 'Changes of a loan decided again, because another change was saved first.',
    registers,
  })
  for (const by of ['token', 'idempotency_key'] as const) duplicates.inc({ by }, 0)
  const of = ({ currency }: Movement) => ({ currency })
  const units = ({ amount, currency }: Movement) => minorToNumber(amount, currencyOf(currency))
  return {
    loanDisbursed: (loan) => {
      if (isTest(loan.organizationId)) return
      disbursed.inc(of(loan))
      disbursedAmount.inc(of(loan), units(loan))
    },
    transactionPosted: (transaction) => {
      if (isTest(transaction.organizationId)) return
      posted.inc({ ...of(transaction), type: transaction.type })
      if (!isCustomerRepayment(transaction.type)) return
      repaid.inc(of(transaction))
      repaidAmount.inc(of(transaction), units(transaction))
    },
    duplicateAnswered: (by) => duplicates.inc({ by }),
    tokenMismatched: () => mismatches.inc(),
    retried: () => retries.inc(),
  } satisfies Partial<Listener>
}
