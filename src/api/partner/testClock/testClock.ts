import type { Core, Writing } from '../../../services/deps.ts'
import { advanceTestClock, getTestClock, resetTestOrganization } from '../../../services/testClock/advance.ts'
import type { StyleApp } from '../../style.ts'
import {
  advancedSchema,
  advanceRequest,
  testClockSchema,
  toAdvance,
  toAdvanced,
  toTestClock,
} from './testClock.wire.ts'

const tags = ['test clock']
const refusals = ['failed_precondition'] as const
const explained = {
  failed_precondition: [
    'Your organization is a live one.',
    'your organization is a live one, and only a test organization has a test clock',
  ],
} as const

/** Adds the clock of a test organization (contract 12). */
export function testClockRoutes(app: StyleApp, deps: Core & Writing): void {
  const { zone } = deps.config
  app.get(
    '/v1/test-clock',
    {
      config: { refusals, explained },
      schema: {
        tags,
        operationId: 'getTestClock',
        summary: 'Read the test clock',
        description: 'The moment at which your test organization is.',
        response: { 200: testClockSchema },
      },
    },
    async ({ caller }) => toTestClock(getTestClock(deps, caller), zone),
  )

  app.post(
    '/v1/test-clock/advance',
    {
      config: { refusals, explained },
      schema: {
        tags,
        operationId: 'advanceTestClock',
        summary: 'Advance the test clock',
        description:
          'Goes forward day by day, at most ten years, and does on each day what time does: loans become overdue, penalties are raised, events are told. Answers when all of that is done. Tokens, keys, limits and signatures stay on the real time.',
        body: advanceRequest,
        response: { 200: advancedSchema },
      },
    },
    async ({ caller, body }) => toAdvanced(await advanceTestClock(deps, caller, toAdvance(body, zone)), zone),
  )

  app.post(
    '/v1/test-clock/reset',
    {
      config: { refusals, explained },
      schema: {
        tags,
        operationId: 'resetTestOrganization',
        summary: 'Empty the test organization',
        description:
          'Deletes everything but the accounts, API keys, products and webhook endpoints, and lets the clock run with the real time again. The numbers of events go on.',
        response: { 200: testClockSchema },
      },
    },
    async ({ caller }) => toTestClock(await resetTestOrganization(deps, caller), zone),
  )
}
