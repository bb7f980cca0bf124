import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { EVENT_TYPES, TYPE_WORDS, typesOf } from '../../domain/events/eventTypes.ts'
import { type Currency, minorToNumber } from '../../domain/money.ts'
import type { Deps } from '../../services/deps.ts'
import { type EventFilter, type EventsFound, listEvents } from '../../services/events/eventList.ts'
import type { ToldEvent } from '../../services/events/toldEvent.ts'
import { LONGEST_CURSOR } from '../../services/paging.ts'
import { whenClosed } from '../http/request.ts'
import { word } from '../openapi/answers.ts'
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

/** The members that an event has in both styles. */
export const eventMembers = {
  id: z.string().describe('The name of the event, and the `webhook-id` of its deliveries.'),
  type: word('What happened', EVENT_TYPES),
}

/** The member that says whether an event is of a live organization, or of a test one (contract 12). */
export const liveMode = z.boolean().describe('False for an event of a test organization.')

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
  return { items: writtenItems<View>(reply, events), next, hasMore }
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

// What the row of the trail says of a change, for the events of both styles.

/** What the trail keeps of a thing, by name, whatever it is. */
export type Kept = Readonly<Record<string, unknown>>

/** A row of the trail, before and after the change. */
interface Change {
  readonly before: unknown
  readonly after: unknown
}

/** How late a loan is, as the trail keeps it. */
interface ToldBucket {
  readonly bucket: string
  readonly class?: string
  readonly stage?: number
  readonly daysPastDue: number
  readonly since: string
  readonly policyVersion: string
  readonly previousBucket: string
}

/** Returns an object of the trail; an empty one where there is none. */
export const keptOf = (json: unknown): Kept => (typeof json === 'object' && json !== null ? (json as Kept) : {})

/** Returns what a change changed, as it was before. */
export function changedBefore(change: Change): Kept {
  const after = keptOf(change.after)
  return Object.fromEntries(
    Object.entries(keptOf(change.before)).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(after[name]),
    ),
  )
}

/** Returns the transaction that an adjustment has replaced; undefined for any other change. */
export function replacedBy({ after }: Change): Kept | undefined {
  const { posted, reversed } = keptOf(after)
  return posted === undefined || reversed === undefined ? undefined : keptOf(reversed)
}

/** Returns the members of `kept` that `names` has, by their new names. */
export const renamed = (
  kept: Kept,
  names: Readonly<Record<string, string>>,
  toValue = (value: unknown): unknown => value,
): Kept =>
  Object.fromEntries(
    Object.entries(names).flatMap(([name, wire]) => (kept[name] === undefined ? [] : [[wire, toValue(kept[name])]])),
  )

/** Returns the digits of a number of the trail, exact to the last one. */
export const digitsOf = (number: unknown): string => JSON.stringify(number)

/** Returns a function that writes minor units of the trail as an amount. */
export const toMoney = (currency: Currency) => (minor: unknown) => minorToNumber(BigInt(digitsOf(minor)), currency)

/** Returns the bucket that a change of the trail tells; undefined where its row is damaged. */
export function bucketOf({ before, after }: Change): ToldBucket | undefined {
  const [previous, told] = [keptOf(before).bucket, keptOf(after)]
  const { bucket, class: name, stage, daysPastDue, since, policyVersion } = told
  if (typeof bucket !== 'string' || typeof previous !== 'string' || typeof since !== 'string') return undefined
  return {
    bucket,
    ...(typeof name === 'string' && { class: name }),
    ...(typeof stage === 'number' && { stage }),
    daysPastDue: Number(daysPastDue),
    since,
    policyVersion: String(policyVersion),
    previousBucket: previous,
  }
}
