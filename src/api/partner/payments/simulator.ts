import { z } from 'zod'
import { LONGEST_TOLD } from '../../../domain/payments/told.ts'
import type { Deps } from '../../../services/deps.ts'
import { type FAULTS, MOST_SIMULATED, simulatePayments } from '../../../services/payments/inbound/simulate.ts'
import type { StyleApp } from '../../style.ts'
import { amount, smallInt, text } from '../../wire.ts'
import { named } from '../registry.ts'
import * as examples from './messageExamples.ts'
import { channelNumber } from './payments.wire.ts'

const simulatedPayment = named(
  'SimulatedPaymentRequest',
  z.strictObject({
    reference: text({ max: LONGEST_TOLD.reference }).optional(),
    amount,
    payerPhone: text({ max: LONGEST_TOLD.payerPhone }).optional(),
    receipt: text({ max: LONGEST_TOLD.receipt - 1 })
      .optional()
      .describe('Default: one that no payment has.'),
  }),
  { example: examples.simulation.payments[0]! },
)

const times = smallInt({ min: 0, max: MOST_SIMULATED }).optional()

const faults = named(
  'SimulatedFaultsRequest',
  z.strictObject({
    drop: times.describe('Payments, the first ones, of which no message is sent. Those left have the other faults:'),
    repeat: times.describe('sent again at the end;'),
    delay: times.describe('sent only after all others;'),
    reorder: times.describe('pairs of which the second is sent first;'),
    reverse: times.describe('taken back by another message, before the payment where that is delayed.'),
  } satisfies Record<(typeof FAULTS)[number], typeof times>),
  { example: examples.simulation.faults },
)

const simulationRequest = named(
  'TestPaymentsRequest',
  z.strictObject({
    channelId: channelNumber,
    payments: z.array(simulatedPayment).min(1).max(MOST_SIMULATED),
    faults: faults.optional(),
  }),
  { example: examples.simulation },
)

const sentMessage = named(
  'SimulatedMessage',
  z.object({
    receipt: z.string(),
    reverses: z.string().nullable().describe('The receipt that a reversal takes back.'),
    message: z.string().describe('As the provider writes it.'),
    answer: z.string().describe('As the provider is answered.'),
  }),
  { example: examples.simulated.sent[0]! },
)

const simulationSchema = named(
  'SimulatedPayments',
  z.object({ sent: z.array(sentMessage).describe('In the order in which they were sent.') }),
  { example: examples.simulated },
)

/** Adds the simulator of the providers of a test organization. */
export function simulatorRoutes(app: StyleApp, deps: Deps): void {
  app.post(
    '/v1/test/payments',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'Your organization is a live one, or the channel is disabled.',
            'your organization is a live one, and only a test organization has a simulator of its providers',
          ],
        },
      },
      schema: {
        tags: ['test clock'],
        operationId: 'testPayments',
        summary: 'Simulate the messages of a provider',
        description:
          'Writes a message of each payment as the provider of the channel does, and takes it in as one that came from there. The payments are received within a second.',
        body: simulationRequest,
        response: { 200: simulationSchema },
      },
    },
    async ({ caller, body: { faults: asked = {}, ...body } }) => {
      const sent = await simulatePayments(deps, caller, { ...body, faults: asked })
      return {
        sent: sent.map(({ answer, reverses = null, ...one }) => ({ ...one, reverses, answer: answer.body })),
      }
    },
  )
}
