import fc from 'fast-check'
import { anyHistory, type Step } from '../terms/anyHistory.ts'

/** A payment of a share of what is owed, some days later; now and then something else, that brings arrears back. */
const payment: fc.Arbitrary<Step> = fc.record({
  does: fc.constantFrom('post', 'post', 'post', 'post', 'post', 'reverse', 'adjust'),
  type: fc.constantFrom<Step['type'][]>('Repayment', 'Repayment', 'Repayment', 'Repayment', 'Fee', 'Refund'),
  share: fc.integer({ min: 20, max: 700 }),
  isExact: fc.integer({ min: 0, max: 5 }).map((one) => one === 0),
  clock: fc.record({ hours: fc.integer({ min: 0, max: 40 * 24 }) }),
  ago: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 30 })),
  target: fc.nat({ max: 50 }),
  dueIn: fc.integer({ min: -20, max: 20 }),
})

/** Any history of a loan; in half of them payments come too late, and are enough for a while. */
export const anyPaid: fc.Arbitrary<Step[]> = fc.oneof(anyHistory, fc.array(payment, { minLength: 4, maxLength: 12 }))
