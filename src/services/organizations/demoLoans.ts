import { hasCustomers } from '../../db/customers/customers.ts'
import type { RestructureRequest } from '../../domain/loan/restructure/restructureLoan.ts'
import { operator } from '../access/caller.ts'
import { createCustomer } from '../customers/customers.ts'
import type { Caches, Core, Writing } from '../deps.ts'
import { createLoan } from '../loans/loans.ts'
import { restructure } from '../loans/restructures.ts'
import { postTransaction } from '../loans/transactions.ts'

/** The lender of the demonstration (contract 7). */
const LENDER = 1

/** The customer of the demonstration, with the loans. */
const NAMES = {
  customer: 'demo-neema',
  restructured: 'demo-restructured',
  paidOff: 'demo-paid-off',
  topUp: 'demo-top-up',
}

/** The demonstration products of the loans: one instalment, and six. */
const PRODUCTS = { single: 1, monthly: 3 }

const whole = (amount: number) => ({ units: BigInt(amount), scale: 0 })

/** A holiday of a month without interest, and then an extension with a fee. */
const RESTRUCTURES: readonly RestructureRequest[] = [
  {
    effectiveDate: undefined,
    change: { kind: 'postponeBy', periods: 1 },
    interest: 'none',
    fee: null,
    waive: {},
    reason: 'disaster',
    note: 'The harvest is late.',
  },
  {
    effectiveDate: undefined,
    change: { kind: 'numberOfRepayments', count: 9, every: null },
    interest: 'keep',
    fee: { name: 'Extension', amount: whole(1_000), treatment: 'added' },
    waive: {},
    reason: 'hardship',
    note: null,
  },
]

/**
 * Lends the loans of the demonstration, where its lender has no customer yet: one that is restructured twice, by a holiday and by
 * an extension, and one that a top-up pays off. All is of today.
 */
export async function layDemoLoans(deps: Core & Writing & Pick<Caches, 'heavyReads' | 'organizations'>): Promise<void> {
  if (await hasCustomers(deps.db, LENDER)) return
  const caller = operator(LENDER, 'demonstration data')
  await createCustomer(deps, caller, NAMES.customer)
  const lend = (externalId: string, productId: number, principal: number, settles?: readonly string[]) =>
    createLoan(deps, caller, {
      customerExternalId: NAMES.customer,
      productId,
      principal: whole(principal),
      externalId,
      settles,
    })
  const repay = (externalId: string, amount: number) => {
    const posting = { type: 'Repayment', amount: whole(amount), valueDate: undefined, token: null, note: null } as const
    return postTransaction(deps, caller, { externalId }, posting)
  }
  await lend(NAMES.restructured, PRODUCTS.monthly, 60_000)
  await repay(NAMES.restructured, 13_000)
  for (const request of RESTRUCTURES) await restructure(deps, caller, { externalId: NAMES.restructured }, request)
  await lend(NAMES.paidOff, PRODUCTS.single, 50_000)
  await repay(NAMES.paidOff, 20_000)
  await lend(NAMES.topUp, PRODUCTS.monthly, 120_000, [NAMES.paidOff])
}
