import { type Clock, systemClock } from './clock.ts'
import { type Followed, type FollowOptions, follow } from './follow.ts'
import { authOperations } from './generated/auth.ts'
import {
  type Event as PartnerEvent,
  type ListEventsParams as PartnerParams,
  partnerOperations,
} from './generated/partner.ts'
import {
  type Event as RecordEvent,
  type ListEventsParams as RecordParams,
  recordOperations,
} from './generated/record.ts'
import { list } from './list.ts'
import type { Call, Operation, Sender } from './operation.ts'
import { type Sending, send } from './send.ts'
import { type Hosts, requireOptions, targetOf } from './target.ts'
import { type Credentials, givenTokens, keepTokens } from './tokens.ts'

/** Where the service is, who calls, and how patient the client is. */
export interface MkopoOptions extends Hosts, Credentials {
  /** Sends the requests; the `fetch` of the platform when left out. */
  readonly fetch?: typeof fetch | undefined
  /** Attempts of a call after the first one; 5 when left out. */
  readonly retries?: number | undefined
  /** Milliseconds that one attempt may take; 30,000 when left out. */
  readonly timeoutMs?: number | undefined
  /** The time; that of the machine when left out. */
  readonly clock?: Clock | undefined
}

const RETRIES = 5
const TIMEOUT_MS = 30_000

/** The part of the options of following that says which events are wanted. */
type Filter<Params> = Omit<Params, 'after' | 'wait'>

/** The operations of a style that has a feed of events. */
type WithEvents<Operations, Event, Params> = Operations & {
  readonly events: {
    /** Follows the events from the cursor that was stored last, for ever. */
    follow(cursor?: string, options?: FollowOptions & Filter<Params>): AsyncGenerator<Followed<Event>, void, undefined>
  }
}

type Partner = WithEvents<ReturnType<typeof partnerOperations>, PartnerEvent, PartnerParams>
type Records = WithEvents<ReturnType<typeof recordOperations>, RecordEvent, RecordParams>

/** A client of the service: the operations of the partner style, and those of the other hosts. */
export type Mkopo = Partner & {
  /** The operations of the record style. */
  readonly records: Records
  /** The operations of the host that issues tokens. */
  readonly auth: ReturnType<typeof authOperations>
}

/**
 * Makes a client of the service. It signs in at the first call.
 * @throws TypeError for options that do not go together
 */
export function createMkopo(options: MkopoOptions): Mkopo {
  requireOptions(options)
  const { fetch: given, clock = systemClock, retries = RETRIES, timeoutMs = TIMEOUT_MS, token, email } = options
  // The fetch of a browser has to be called on its window.
  const sending: Sending = { fetch: given ?? ((...args) => fetch(...args)), clock, retries, timeoutMs }
  const signIn = async () => (await auth.getToken()).token
  const tokens = token !== undefined ? givenTokens(token) : email !== undefined ? keepTokens(signIn, clock) : undefined

  const senderOf = (host: keyof Hosts): Sender => {
    const ask = async (operation: Operation, call?: Call) =>
      send(sending, targetOf(host, options, tokens, operation), operation, call)
    return { send: ask as Sender['send'], list: (operation, call) => list(ask, operation, call) }
  }
  const auth = authOperations(senderOf('authUrl'))
  const partner = partnerOperations(senderOf('baseUrl'))
  const records = recordOperations(senderOf('recordsUrl'))
  return {
    ...partner,
    events: { follow: (cursor, options = {}) => follow(partner.listEvents, clock, cursor, options) },
    records: {
      ...records,
      events: { follow: (cursor, options = {}) => follow(records.listEvents, clock, cursor, options) },
    },
    auth,
  }
}
