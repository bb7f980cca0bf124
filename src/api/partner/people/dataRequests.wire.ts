import { z } from 'zod'
import { toRfc3339 } from '../../../domain/dates.ts'
import {
  DATA_REQUEST_KINDS,
  DATA_REQUEST_STATES,
  type DataRequest,
  LONGEST_REASON,
} from '../../../services/customers/dataRequests.ts'
import { listQuery, queryId } from '../../lists/query.ts'
import { count, word } from '../../openapi/answers.ts'
import { idParam, instant, localDate, text } from '../../wire.ts'
import { named, pageOf } from '../registry.ts'
import * as examples from './examples.ts'

export const dataRequestParams = z
  .object({ id: idParam.meta({ examples: [examples.dataRequest.id] }) })
  .transform(({ id }) => ({ id: id ?? 0n }))

export const dataRequestQuery = listQuery.extend({
  customerId: queryId('no other filter').optional().describe("Only of the customer with this number of the service's."),
  kind: z.enum(DATA_REQUEST_KINDS).optional().describe('Only requests of this kind.'),
  state: z.enum(DATA_REQUEST_STATES).optional().describe('Only requests in this state.'),
  dueBefore: localDate.optional().describe('Only requests that are not decided, and due before this day.'),
})

const words = text({ max: LONGEST_REASON, lines: true })

export const createDataRequestRequest = named(
  'CreateDataRequestRequest',
  z.strictObject({
    kind: z.enum(DATA_REQUEST_KINDS),
    reason: words.optional().describe('In the words of the person. Encrypted with the key of the customer.'),
  }),
  { example: examples.newDataRequest },
)

export const completeDataRequestRequest = named(
  'CompleteDataRequestRequest',
  z.strictObject({ note: words.describe('What was done, and how the person was answered.') }),
  { example: examples.answer },
)

export const refuseDataRequestRequest = named(
  'RefuseDataRequestRequest',
  z.strictObject({ note: words.describe('Why, for the person.') }),
  { example: examples.refusal },
)

export const dataRequestSchema = named(
  'DataRequestRecord',
  z.object({
    id: z.string(),
    customerId: z.string().describe("The service's number of the customer."),
    kind: word('What the person asks for', DATA_REQUEST_KINDS),
    state: word('Whether it is decided; an erasure waits for another ADMIN', DATA_REQUEST_STATES),
    reason: z.string().optional().describe('In the words of the person; not there once it was erased.'),
    proposed: z
      .boolean()
      .describe('Whether the service proposes it, because the time is over for which you keep what you know.'),
    askedAt: instant,
    askedBy: count
      .nullable()
      .describe('The account that asked; null: the command line or, where proposed, the service.'),
    dueOn: z.iso.date().describe('The day until which the person has to be answered: 7 days after it asked.'),
    decidedAt: instant.optional(),
    decidedBy: count.nullable().optional().describe('The account that decided; null: the command line.'),
    note: z.string().optional().describe('The answer to the person; not there once it was erased.'),
    obstacles: z.array(z.string()).describe('What kept the person from being erased when it asked.'),
  }),
  { example: examples.dataRequest },
)

export const dataRequestPage = pageOf('DataRequestPage', dataRequestSchema)

/** Builds the view of a data request. */
export const toDataRequest = (request: DataRequest, zone: string): z.infer<typeof dataRequestSchema> => ({
  id: String(request.id),
  customerId: String(request.customerId),
  kind: request.kind,
  state: request.state,
  ...(request.reason !== null && { reason: request.reason }),
  proposed: request.proposed,
  askedAt: toRfc3339(request.askedAt, zone),
  askedBy: request.askedBy,
  dueOn: request.dueOn,
  ...(request.decidedAt !== null && {
    decidedAt: toRfc3339(request.decidedAt, zone),
    decidedBy: request.decidedBy,
  }),
  ...(request.note !== null && { note: request.note }),
  obstacles: [...request.obstacles],
})
