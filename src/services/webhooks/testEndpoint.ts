import { randomUUID } from 'node:crypto'
import type { Deps } from '../../app/deps.ts'
import { findSecrets } from '../../db/webhooks/endpoints.ts'
import { toRfc3339 } from '../../domain/dates.ts'
import { notFound } from '../../domain/errors.ts'
import { type Caller, requireAdmin } from '../access/caller.ts'
import { holderOf, type PlaceBounds } from '../places.ts'
import { getEndpoint } from './endpoints.ts'
import type { Posted } from './poster.ts'
import { secretsOf, signedHeaders } from './signing.ts'

/** The places of tests in a process: an account has one. Each test may take as long as a receiver may. */
export const TEST_PLACES: PlaceBounds = {
  atOnce: 8,
  ofGroup: 4,
  ofMember: 1,
  waiting: { all: 16, ofGroup: 4, ofMember: 2 },
  waitMs: 5_000,
  refusal: 'too many tests are under way; try again',
  againSeconds: 5,
}

/** The type of the event of a test; no change of the book has it. */
export const TEST_TYPE = 'webhook.test'

/** What came of the delivery of a test. */
export type Tested = Pick<Posted, 'status' | 'ms' | 'text' | 'error'> & { readonly eventId: string }

/**
 * Sends an event of a test to an endpoint now, whatever the state of the endpoint is. It is no event of the book: it has no
 * number, and is not sent again.
 * @throws LendingError `permission_denied`, `not_found`; `resource_exhausted` where too many tests are under way
 */
export async function testEndpoint(
  deps: Pick<Deps, 'db' | 'machineNow' | 'config' | 'webhookPoster' | 'testClocks' | 'places'>,
  caller: Caller,
  id: bigint,
): Promise<Tested> {
  requireAdmin(caller)
  const { url } = await getEndpoint(deps, caller, id)
  const stored = await findSecrets(deps.db, caller.organizationId, id)
  if (!stored) throw notFound('no webhook endpoint has that id')
  return deps.places.webhookTests.run(holderOf(caller), async () => {
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
