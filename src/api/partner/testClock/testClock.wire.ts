import { z } from 'zod'
import { toRfc3339 } from '../../../domain/dates.ts'
import { invalidArgument } from '../../../domain/errors.ts'
import type { Advanced, AdvanceRequest, ClockNow } from '../../../services/testClock/advance.ts'
import { MOST_DAYS } from '../../../services/testClock/advance.ts'
import { queryInstant, startOfBound } from '../../lists/query.ts'
import { count } from '../../openapi/answers.ts'
import { instant, smallInt } from '../../wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'

export const testClockSchema = named(
  'TestClock',
  z.object({
    now: instant.describe('The moment of the business of your organization.'),
    frozen: z
      .boolean()
      .describe('Whether the clock stands: it runs with the real time at first, and stands once it was advanced.'),
  }),
  { example: examples.testClock },
)

const days = smallInt({ min: 1, max: MOST_DAYS })

const advanceBy = named('AdvanceByDaysRequest', z.strictObject({ days }), { example: examples.advanceTestClock.by })

export const advanceRequest = named(
  'AdvanceTestClockRequest',
  z.strictObject({
    to: queryInstant
      .optional()
      .describe('The moment at which the clock is to stand; a date stands for its first instant.'),
    by: advanceBy.optional().describe('Instead of `to`: so many days later, at the same time of the day.'),
  }),
  { example: examples.advanceTestClock },
)

/** Reads where a request wants the clock. @throws LendingError `invalid_argument` for none or two of the ways to say it */
export function toAdvance({ to, by }: z.output<typeof advanceRequest>, zone: string): AdvanceRequest {
  const moment = startOfBound(to, zone)
  if (moment !== undefined && by === undefined) return { to: moment }
  if (moment === undefined && by !== undefined) return { days: by.days }
  throw invalidArgument('to', 'must be given, or by.days instead: one of the two')
}

const eventCounts = named('EventCounts', z.record(z.string(), count), { example: examples.advancedTestClock.events })

export const advancedSchema = named(
  'AdvancedTestClock',
  z.object({
    from: instant,
    to: instant,
    loansChanged: count.describe('The loans that time changed.'),
    events: eventCounts.describe('The events of what time did, by type.'),
  }),
  { example: examples.advancedTestClock },
)

/** Views the moment of a test organization. */
export const toTestClock = ({ now, frozen }: ClockNow, zone: string) => ({ now: toRfc3339(now, zone), frozen })

/** Views how far a clock was advanced. */
export const toAdvanced = ({ from, to, loansChanged, events }: Advanced, zone: string) => ({
  from: toRfc3339(from, zone),
  to: toRfc3339(to, zone),
  loansChanged,
  events: Object.fromEntries(events),
})
