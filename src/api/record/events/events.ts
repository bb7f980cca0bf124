import { z } from 'zod'
import type { Deps } from '../../../services/deps.ts'
import { getEvent } from '../../../services/events/eventList.ts'
import type { ToldEvent } from '../../../services/events/toldEvent.ts'
import { getOrganization } from '../../../services/organizations/organizations.ts'
import { feedOf } from '../../lists/eventFeed.ts'
import type { StyleApp } from '../../style.ts'
import { externalIdParam } from '../../wire.ts'
import { toItem } from '../registry.ts'
import { eventFeed, eventItem, recordEventQuery, toEvent } from './events.wire.ts'
import * as examples from './examples.ts'

const tags = ['events']

/** The name in a path is never malformed: a text that cannot be one is the name of no event. */
const byId = z.object({
  id: externalIdParam.meta({ description: 'The name of the event.', examples: [examples.borrowerCreated.id] }),
})

const envelope = (item: object) => ({ item, success: true })

/** Adds the feed of events. */
export function eventRoutes(app: StyleApp, deps: Deps): void {
  app.get(
    '/v1/events',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'The cursor is older than the events that are kept.',
            'after: is older than the events that are kept, 90 days; the oldest cursor is ZXZlbnRzLjIuYzA1MzVlNGJlMmI3',
          ],
        },
      },
      schema: {
        tags,
        operationId: 'listEvents',
        summary: 'Follow the events',
        description:
          'Every change of the book, in order, each once, whichever style made it. Send `next` as `after`, again and again; with `wait`, an answer comes as soon as there is an event.',
        querystring: recordEventQuery,
        response: { 200: eventFeed },
      },
    },
    async (request, reply) => {
      const { loan_id: loanId, borrower_id: customerId, ...query } = request.query
      const organization = await getOrganization(deps, request.caller)
      const view = (event: ToldEvent) => toEvent(event, organization, deps.config.zone)
      const feed = await feedOf(deps, { request, reply }, { ...query, loanId, customerId }, view)
      return { ...feed, success: true as const }
    },
  )

  app.get(
    '/v1/events/:id',
    {
      config: {
        refusals: ['not_found'],
        examples: Object.fromEntries(Object.entries(examples.BY_TYPE).map(([type, event]) => [type, envelope(event)])),
      },
      schema: {
        tags,
        operationId: 'getEvent',
        summary: 'Read an event',
        description: 'Here is an example of each type.',
        params: byId,
        response: { 200: eventItem },
      },
    },
    async ({ caller, params: { id } }) => {
      const organization = await getOrganization(deps, caller)
      return toItem(toEvent(await getEvent(deps, caller, id ?? ''), organization, deps.config.zone))
    },
  )
}
