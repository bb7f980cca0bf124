export const testClock = { now: '2026-03-17T09:30:00.000+03:00', frozen: true }

export const advanceTestClock = { by: { days: 45 } }

export const advancedTestClock = {
  from: '2026-01-31T09:30:00.000+03:00',
  to: '2026-03-17T09:30:00.000+03:00',
  loansChanged: 1,
  events: { 'loan.overdue': 1, 'loan.penalty_raised': 1, 'delinquency.changed': 1 },
}
