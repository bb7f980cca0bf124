import type { Db } from '../../src/db/postgres/client.ts'
import { type Chart, DEFAULT_CHART } from '../../src/domain/accounting/chart.ts'
import { giveChart, givePosting, journalIsUpToDate } from './postings.ts'

/**
 * From February on, cash is on an account of its own, of a name that a spreadsheet would run, and the loans have another
 * name.
 */
export const SECOND_CHART: Chart = {
  ...DEFAULT_CHART,
  accounts: [
    ...DEFAULT_CHART.accounts.map((one) => (one.code === '1100' ? { ...one, name: 'Loans; to: people' } : one)),
    { code: '1001', name: '=M-PESA', type: 'asset' },
  ],
  slots: { ...DEFAULT_CHART.slots, cash: '1001' },
}

/** Two months of postings of a lender whose own currency is KES, with a second currency, and a late one in February. */
export async function giveLedger(db: Pick<Db, 'pool'>, organizationId: number): Promise<void> {
  const give = (posting: Omit<Parameters<typeof givePosting>[1], 'organizationId'>) =>
    givePosting(db, { organizationId, ...posting })
  await give({
    ...{ id: 1, bookedOn: '2026-01-10', kind: 'disbursement' },
    amounts: { cash: -100_000n, loan_portfolio: 100_000n },
  })
  await give({
    ...{ id: 2, bookedOn: '2026-01-31', valueDate: '2026-01-20', transactionId: 70n },
    amounts: { cash: 60_050n, loan_portfolio: -50_000n, interest_income: -10_050n },
  })
  await give({
    ...{ id: 3, bookedOn: '2026-01-31', currency: 'UGX', productId: 0, loanId: 8n, kind: 'disbursement' },
    amounts: { cash: -7n, loan_portfolio: 7n },
  })
  await give({ id: 4, bookedOn: '2026-02-01', kind: 'chart_changed', moved: [1, 2], amounts: { cash: -39_950n } })
  await give({
    ...{ id: 5, bookedOn: '2026-02-01', kind: 'chart_changed', currency: 'UGX', productId: 0, moved: [1, 2] },
    amounts: { cash: -7n },
  })
  await give({
    ...{ id: 6, bookedOn: '2026-02-01', valueDate: '2026-01-02', transactionId: 71n },
    amounts: { cash: 1n, overpayments: -1n },
  })
  await give({
    ...{ id: 7, bookedOn: '2026-02-03', transactionId: 72n },
    amounts: { cash: 50_000n, loan_portfolio: -50_000n },
  })
  await giveChart(db, { organizationId, version: 2, chart: SECOND_CHART, countsFrom: '2026-02-01' })
  await journalIsUpToDate(db, organizationId, 7)
}
