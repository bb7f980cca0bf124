import { randomUUID } from 'node:crypto'
import {
  changeEndpoint as changeRow,
  deleteEndpoint as deleteRow,
  ENDPOINTS_ORDER,
  type Endpoint,
  type EndpointView,
  findEndpoint,
  findEndpoints,
  findSecrets,
  insertEndpoint,
  secretSha256,
} from '../../db/webhooks/endpoints.ts'
import type { EndpointState, EventStyle } from '../../db/webhooks/leases.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { toRfc3339 } from '../../domain/dates.ts'
import { failedPrecondition, invalidArgument, notFound } from '../../domain/errors.ts'
import { EVERY_TYPE, WANTED_WORDS } from '../../domain/webhooks/webhooks.ts'
import { type GateBounds, holderOf } from '../../toolbox/gate.ts'
import type { Caller } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Deps } from '../deps.ts'
import { decodeEventCursor } from '../events/eventCursor.ts'
import { beginningOf, headOf, positionOf } from '../events/eventList.ts'
import { positionOf as placeOf, type Range, type Ranged, rangedOf } from '../paging.ts'
import { NOT_PUBLIC, PrivateAddressError, publicAddresses, readEndpointUrl } from './address.ts'
import type { Posted } from './poster.ts'
import { ACTIVE } from './sending.ts'
import { canSign, makeWebhookSecret, secretsOf, signedHeaders, webhookBox } from './signing.ts'

export { type EndpointView, MOST_COUNTED } from '../../db/webhooks/endpoints.ts'
export { ENDPOINT_STATES, EVENT_STYLES, type EventStyle } from '../../db/webhooks/leases.ts'

/** The most endpoints of an organization. */
export const MOST_ENDPOINTS = 20
/** Characters of a description at most. */
export const LONGEST_DESCRIPTION = 200
/** The hours for which a secret that was replaced may sign, too. */
export const LONGEST_OVERLAP_HOURS = 72
/** The words of `from`, besides a cursor of the feed. */
export const FROM_NOW = 'now'
export const FROM_BEGINNING = 'beginning'

const HOUR_MS = 3_600_000
/** The longest time for which a look-up of a name is waited for where an endpoint is saved. */
const LOOK_UP_WITHIN_MS = 2_000

type EndpointDeps = Pick<Deps, 'db' | 'machineNow' | 'config' | 'webhookPoster'>

/** An endpoint, with a secret that is shown only now. */
export interface ShownEndpoint {
  readonly endpoint: EndpointView
  readonly secret: string
}

/** A request for a new endpoint. */
export interface NewEndpointRequest {
  readonly url: string
  readonly types?: readonly string[] | undefined
  readonly style?: EventStyle | undefined
  readonly description?: string | undefined
  /** `now`, `beginning` or a cursor of the feed; `now` when left out. */
  readonly from?: string | undefined
}

const noSuchEndpoint = () => notFound('no webhook endpoint has that id')

/**
 * Creates an endpoint, which is active at once.
 * @throws LendingError `permission_denied`, `invalid_argument`, `failed_precondition` where there are as many as there may
 *   be, or the cursor is older than the events that are kept
 */
export async function createEndpoint(
  deps: EndpointDeps,
  caller: Caller,
  request: NewEndpointRequest,
): Promise<ShownEndpoint> {
  requirePermission(caller, 'organization.manage')
  const { url, types = [EVERY_TYPE], style = 'partner', description = '', from = FROM_NOW } = request
  requireTypes(types)
  requireDescription(description)
  await requireUrl(deps, url)
  const position = await positionFrom(deps, caller.organizationId, from)
  const secret = makeWebhookSecret()
  const row = {
    url,
    style,
    description,
    position,
    types: toWords(types),
    secret: webhookBox(deps.config).encrypt(secret),
  }
  const made = await abortedWhereKeyTaken(
    insertEndpoint(deps.db, caller, row, { most: MOST_ENDPOINTS, now: deps.machineNow() }),
  )
  if (!made)
    throw failedPrecondition(`the organization has ${MOST_ENDPOINTS} webhook endpoints, the most that there may be`)
  return { endpoint: await endpointNamed(deps, caller, made.id), secret }
}

/** The command line gives any text; the wire has checked it before. */
function requireTypes(types: readonly string[]): void {
  if (types.length === 0) throw invalidArgument('types', `must not be empty; ${EVERY_TYPE} is every type`)
  const unknown = types.find((type) => !WANTED_WORDS.includes(type))
  if (unknown !== undefined) throw invalidArgument('types', `must be of ${WANTED_WORDS.join(', ')}`)
}

function requireDescription(description: string): void {
  if (description.length > LONGEST_DESCRIPTION)
    throw invalidArgument('description', `must be at most ${LONGEST_DESCRIPTION} characters long`)
}

const toWords = (types: readonly string[]): readonly string[] => [...new Set(types)]

/** Requires a URL to which events may be sent. A name of which nothing is known now is accepted: it is checked again at each delivery. */
async function requireUrl({ config, webhookPoster }: EndpointDeps, text: string): Promise<void> {
  const url = readEndpointUrl(text, config.webhooksToPrivate)
  if (config.webhooksToPrivate) return
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, LOOK_UP_WITHIN_MS)
  const looked = publicAddresses(webhookPoster.resolve, url.hostname).catch((error: unknown) => {
    if (error instanceof PrivateAddressError) throw invalidArgument('url', NOT_PUBLIC)
  })
  await Promise.race([looked, late]).finally(() => clearTimeout(timer))
}

async function positionFrom(deps: EndpointDeps, organizationId: number, from: string): Promise<bigint> {
  const head = await headOf(deps, organizationId)
  if (from === FROM_NOW) return head
  if (from === FROM_BEGINNING) return beginningOf(deps, organizationId)
  if (decodeEventCursor(from) === undefined)
    throw invalidArgument('from', `must be ${FROM_NOW}, ${FROM_BEGINNING} or a cursor of the list of events`)
  return positionOf(deps, organizationId, from, 'from')
}

/** Returns an endpoint. @throws LendingError `permission_denied`, `not_found` */
export async function getEndpoint({ db }: Pick<Deps, 'db'>, caller: Caller, id: bigint): Promise<EndpointView> {
  requirePermission(caller, 'reports.read')
  return endpointNamed({ db }, caller, id)
}

async function endpointNamed({ db }: Pick<Deps, 'db'>, caller: Caller, id: bigint): Promise<EndpointView> {
  const endpoint = await findEndpoint(db, caller.organizationId, id)
  if (!endpoint) throw noSuchEndpoint()
  return endpoint
}

/** Returns a part of the endpoints of the organization, oldest first. @throws LendingError `permission_denied`, `invalid_argument` */
export async function listEndpoints(
  { db }: Pick<Deps, 'db'>,
  caller: Caller,
  range: Range,
): Promise<Ranged<EndpointView>> {
  requirePermission(caller, 'reports.read')
  const position = placeOf(range, { arrival: ENDPOINTS_ORDER })
  return rangedOf(await findEndpoints(db, caller.organizationId, position))
}

/** The changes of an endpoint; a property that is left out stays. */
export interface EndpointRequest {
  readonly url?: string | undefined
  readonly types?: readonly string[] | undefined
  readonly state?: Exclude<EndpointState, 'backing_off'> | undefined
  readonly description?: string | undefined
}

const DISABLED_BY_CALLER = 'disabled by an operator'

/**
 * Changes an endpoint. `active` also ends a back-off and every pause, so that what waits is sent at once. New types count from the events that were not looked at yet.
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument`
 */
export async function updateEndpoint(
  deps: EndpointDeps,
  caller: Caller,
  id: bigint,
  request: EndpointRequest,
): Promise<EndpointView> {
  requirePermission(caller, 'organization.manage')
  if (request.url !== undefined) await requireUrl(deps, request.url)
  const changed = await changeRow(deps.db, caller, { id, now: deps.machineNow() }, async (current) => {
    const { url = current.url, description = current.description, state } = request
    const types = request.types ? toWords(request.types) : current.types
    const change = { url, description, types, ...(state && stateChange(current, state)) }
    const [before, after] = [shownOf(current), shownOf({ ...current, ...change })]
    const wakes = state === 'active' && (current.nextAttemptAt !== null || current.failures > 0)
    if (!wakes && JSON.stringify(before) === JSON.stringify(after)) return undefined
    return { change, trace: { action: 'update', before, after }, wakesParked: state === 'active' }
  })
  if (!changed) throw noSuchEndpoint()
  return endpointNamed(deps, caller, id)
}

function stateChange(current: Endpoint, state: 'active' | 'disabled'): Partial<Endpoint> {
  if (state === 'active') return ACTIVE
  if (current.state === 'disabled') return {}
  return { state, stateReason: DISABLED_BY_CALLER, step: 0, nextAttemptAt: null }
}

/** What the trail keeps of an endpoint. */
const shownOf = ({ url, types, style, description, state }: Endpoint) => ({ url, types, style, description, state })

/** Deletes an endpoint, and all that waits for it. @throws LendingError `permission_denied`, `not_found` */
export async function deleteEndpoint({ db, machineNow }: EndpointDeps, caller: Caller, id: bigint): Promise<void> {
  requirePermission(caller, 'organization.manage')
  const endpoint = await endpointNamed({ db }, caller, id)
  if (!(await deleteRow(db, caller, endpoint, machineNow()))) throw noSuchEndpoint()
}

/**
 * Gives an endpoint a new secret. The one before signs, too, until the overlap has ended.
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument`
 */
export async function rotateSecret(
  deps: EndpointDeps,
  caller: Caller,
  id: bigint,
  overlapHours: number,
): Promise<ShownEndpoint> {
  requirePermission(caller, 'organization.manage')
  if (overlapHours > LONGEST_OVERLAP_HOURS)
    throw invalidArgument('overlapHours', `must be 0 to ${LONGEST_OVERLAP_HOURS}`)
  const secret = makeWebhookSecret()
  const previousUntil = deps.machineNow() + overlapHours * HOUR_MS
  const rotating = changeRow(deps.db, caller, { id, now: deps.machineNow() }, async (current) => {
    const encrypted = webhookBox(deps.config).encrypt(secret)
    // A secret that was encrypted with another KEY_ENCRYPTION_SECRET cannot sign any more.
    const signs = overlapHours > 0 && canSign(deps.config, current.secret)
    const previous = signs ? { previousSecret: current.secret, previousUntil } : NO_PREVIOUS
    const until = overlapHours > 0 ? new Date(previousUntil).toISOString() : null
    return {
      change: { secret: encrypted, ...previous },
      trace: { action: 'rotate', before: null, after: { previousUntil: until, secretSha256: secretSha256(encrypted) } },
    }
  })
  if (!(await abortedWhereKeyTaken(rotating))) throw noSuchEndpoint()
  return { endpoint: await endpointNamed(deps, caller, id), secret }
}

const NO_PREVIOUS = { previousSecret: null, previousUntil: null }

/**
 * Returns an endpoint with its secret, for a request that is repeated because its answer was lost.
 * @throws LendingError `permission_denied`, `not_found`
 */
export async function getShownEndpoint(deps: EndpointDeps, caller: Caller, id: bigint): Promise<ShownEndpoint> {
  requirePermission(caller, 'organization.manage')
  const endpoint = await endpointNamed(deps, caller, id)
  const stored = await findSecrets(deps.db, caller.organizationId, id)
  if (!stored) throw noSuchEndpoint()
  return { endpoint, secret: webhookBox(deps.config).decrypt(stored.secret) }
}

/** The places of tests in a process: an account has one. Each test may take as long as a receiver may. */
export const TEST_PLACES: GateBounds = {
  atOnce: 8,
  ofGroup: 4,
  ofMember: 1,
  waiting: { all: 16, ofGroup: 4, ofMember: 2 },
  waitMs: 5_000,
  refusal: 'too many tests are under way; try again',
  againSeconds: 5,
}

/** The type of the event of a test; no change of the book has it. */
const TEST_TYPE = 'webhook.test'

/** What came of the delivery of a test. */
export type Tested = Pick<Posted, 'status' | 'ms' | 'text' | 'error'> & { readonly eventId: string }

/**
 * Sends an event of a test to an endpoint now, whatever the state of the endpoint is. It is no event of the book: it has no
 * number, and is not sent again.
 * @throws LendingError `permission_denied`, `not_found`; `resource_exhausted` where too many tests are under way
 */
export async function testEndpoint(
  deps: Pick<Deps, 'db' | 'machineNow' | 'config' | 'webhookPoster' | 'testClocks' | 'gates'>,
  caller: Caller,
  id: bigint,
): Promise<Tested> {
  requirePermission(caller, 'organization.manage')
  const { url } = await endpointNamed(deps, caller, id)
  const stored = await findSecrets(deps.db, caller.organizationId, id)
  if (!stored) throw notFound('no webhook endpoint has that id')
  return deps.gates.webhookTests.run(holderOf(caller), async () => {
    const at = deps.machineNow()
    const eventId = `evt_${caller.organizationId}_test_${randomUUID()}`
    const liveMode = deps.testClocks.find(caller.organizationId) === undefined
    const event = { id: eventId, type: TEST_TYPE, liveMode, timestamp: toRfc3339(at, deps.config.zone), data: {} }
    const body = JSON.stringify(event)
    const headers = signedHeaders(secretsOf(deps.config, stored)(at), { id: eventId, at, body })
    const { status, ms, text, error } = await deps.webhookPoster.post({ url, headers, body })
    return { eventId, status, ms, text, error }
  })
}
