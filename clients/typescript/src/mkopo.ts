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
import { type Sending, send, type Target } from './send.ts'
import { type Credentials, givenTokens, keepTokens, type Tokens } from './tokens.ts'

/** Where the service is, who calls, and how patient the client is. */
export interface MkopoOptions extends Credentials {
  /** The URL of the partner style, `BASE_URL` of the service. */
  readonly baseUrl?: string
  /** The URL of the record style, `RECORDS_URL` of the service. */
  readonly recordsUrl?: string
  /** The URL that issues tokens, `AUTH_URL` of the service; that of the partner style when left out. */
  readonly authUrl?: string
  /** Sends the requests; the `fetch` of the platform when left out. */
  readonly fetch?: typeof fetch
  /** Attempts of a call after the first one; 5 when left out. */
  readonly retries?: number
  /** Milliseconds that one attempt may take; 30,000 when left out. */
  readonly timeoutMs?: number
  /** The time; that of the machine when left out. */
  readonly clock?: Clock
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
  const { fetch: given, clock = systemClock, retries = RETRIES, timeoutMs = TIMEOUT_MS } = options
  // The fetch of a browser has to be called on its window.
  const sending: Sending = { fetch: given ?? ((...args) => fetch(...args)), clock, retries, timeoutMs }
  const { email, password, token, apiKey } = options
  if ((email === undefined) !== (password === undefined)) throw new TypeError('give email and password together')
  const authUrl = options.authUrl ?? options.baseUrl ?? options.recordsUrl

  const signIn = async () => (await auth.getToken()).token
  const tokens: Tokens | undefined =
    token !== undefined ? givenTokens(token) : email !== undefined ? keepTokens(signIn, clock) : undefined
  const targetOf = (name: keyof MkopoOptions, url: string | undefined, { signed }: Operation): Target => {
    if (url === undefined) throw new TypeError(`createMkopo needs ${name} for this call`)
    if (signed === 'none') return { url }
    if (signed === 'basic') return { url, authorization: basicOf(email, password) }
    if (name === 'recordsUrl' && apiKey !== undefined) return { url, authorization: `Bearer ${apiKey}` }
    if (tokens !== undefined) return { url, tokens }
    throw new TypeError(`createMkopo needs email and password, or a token${name === 'recordsUrl' ? ', or apiKey' : ''}`)
  }
  const senderOf = (name: keyof MkopoOptions, url: string | undefined): Sender => {
    const ask = async (operation: Operation, call?: Call) =>
      send(sending, targetOf(name, url, operation), operation, call)
    return { send: ask as Sender['send'], list: (operation, call) => list(ask, operation, call) }
  }
  const auth = authOperations(senderOf('authUrl', authUrl))
  const partner = partnerOperations(senderOf('baseUrl', options.baseUrl))
  const records = recordOperations(senderOf('recordsUrl', options.recordsUrl))
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

function basicOf(email = '', password = ''): string {
  const bytes = new TextEncoder().encode(`${email}:${password}`)
  return `Basic ${btoa(String.fromCharCode(...bytes))}`
}
