import { PRESETS } from '../../../domain/delinquency/presets.ts'
import { newLoan } from '../document/examples.ts'

/** The loan as it was disbursed. */
export const span = {
  from: '2026-01-31',
  bucket: 'current',
  daysPastDueFrom: 0,
  daysPastDueTo: 0,
  began: ['disbursement'],
  ended: [],
}

export const delinquency = {
  loanId: newLoan.id,
  asOf: '2026-01-31',
  policy: PRESETS[0].name,
  source: PRESETS[0].source,
  spans: [span],
}
