/** What can be true of a loan on the day of a file. */
export const CONDITIONS = [
  'always',
  'open',
  'ended',
  'paid_off',
  'written_off',
  'charged_off',
  'overdue',
  'paid',
  'restructured',
  'not_restructured',
  'disputed',
] as const
export type Condition = (typeof CONDITIONS)[number]
