import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { TYPE_WORDS, typesOf } from '../../domain/events/eventTypes.ts'
import type { Deps } from '../../services/deps.ts'
import { type EventFilter, type EventsFound, listEvents } from '../../services/events/eventList.ts'
import type { ToldEvent } from '../../services/events/toldEvent.ts'
import { LONGEST_CURSOR } from '../../services/paging.ts'
import { whenClosed } from '../http/request.ts'
import { text } from '../wire.ts'
import { writtenItems } from './envelope.ts'
import { queryInt, queryWords } from './query.ts'

const MOST_ROWS = 1_000
const USUAL_ROWS = 100
const LONGEST_WAIT_S = 30
const SECOND_MS = 1_000

/** The query of the feed of events in both styles (contract 8); a style adds its filters. */
export const eventQuery = z.strictObject({
  after: text({ max: LONGEST_CURSOR }).optional().meta({
    pattern: '^[A-Za-z0-9_-]+$',
    description:
      'The `next` of an earlier answer: gives the events after it. `now`: the events to come. Left out: from the oldest event that is kept.',
  }),
  types: queryWords(TYPE_WORDS)
    .optional()
    .describe('Only events of these types, separated by commas; `loan.*` stands for all that begin with `loan.`.'),
  rows: queryInt(
    { min: 1, max: MOST_ROWS },
    { description: 'Events in the answer at most.', default: USUAL_ROWS },
  ).default(USUAL_ROWS),
  wait: queryInt(
    { min: 0, max: LONGEST_WAIT_S },
    { description: 'Seconds to wait for the next event where there is none yet.', default: 0 },
  ).default(0),
})

/** The members of the answer of the feed, after its items. */
export const feedMembers = {
  next: z.string().describe('The cursor after the last event, also of an answer without events: send it as `after`.'),
  hasMore: z.boolean().describe('Whether there are more events now.'),
}

type EventQuery = z.infer<typeof eventQuery>

/**
 * Reads the events that a request asks for, and waits where it asks to.
 * @param view builds the style's view of an event
 * @returns the answer, whose events are written one after the other
 */
export async function feedOf<View extends object>(
  deps: Deps,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  query: EventQuery & Omit<EventFilter, 'types'>,
  view: (event: ToldEvent) => View,
) {
  const toBytes = (event: ToldEvent) => Buffer.from(JSON.stringify(view(event)))
  const { events, next, hasMore } = await waitFor(deps, { request, reply }, query, toBytes)
  return { items: await writtenItems<View>(reply, events), next, hasMore }
}

async function waitFor<View>(
  deps: Deps,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { types, wait, ...query }: EventQuery & Omit<EventFilter, 'types'>,
  view: (event: ToldEvent) => View,
): Promise<EventsFound<View>> {
  const gone = new AbortController()
  whenClosed(request, reply, () => gone.abort())
  const asked = { ...query, types: types && typesOf(types), waitMs: wait * SECOND_MS, signal: gone.signal }
  if (wait === 0) return listEvents(deps, request.caller, asked, view)
  const began = performance.now()
  try {
    return await deps.longPolls.run(request.caller, () => listEvents(deps, request.caller, asked, view))
  } finally {
    request.waitedMs = performance.now() - began
  }
}
