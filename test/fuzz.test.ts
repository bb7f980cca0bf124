import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '../src/services/access/accounts.ts'
import { operator } from '../src/services/access/caller.ts'
import { DEMO_AUDITOR, DEMO_OPERATOR, DEMO_PARTNER } from '../src/services/organizations/seedDemo.ts'
import { crawl, type OfficePort, officeRequest } from './support/fuzz/officePort.ts'
import { type PublicPort, publicRequest, targetsOf } from './support/fuzz/publicPort.ts'
import { connections, type Got, type Sent, send } from './support/fuzz/request.ts'
import { startKeeper, startSequencer } from './support/jobs.ts'
import { type Office, openOffice } from './support/office.ts'
import { within } from './support/patience.ts'
import { prefilledOf, sendPrefilled } from './support/prefilled.ts'
import { silent } from './support/quiet.ts'
import { randomFrom } from './support/random.ts'
import { startService, type TestService } from './support/service.ts'
import type { Document } from './support/wire.ts'

// Mutated requests at both ports: every path, query, header, body and form, of the OpenAPI documents and of the pages of the
// office. None may be answered by a fault of the service: a 5xx other than 503, or no answer. `npm run try -- fuzz` sends 200,000.

const REQUESTS = Number(process.env.MKOPO_REQUESTS ?? 2_000)
/** MKOPO_SEED makes other requests. */
const SEED = Number(process.env.MKOPO_SEED ?? 1)
const AT_ONCE = 24
const MS_A_REQUEST = 20

const HOSTS = ['auth.localhost:3000', 'api.localhost:3000', 'records.localhost:3000']

let service: TestService
let office: Office
let jobs: readonly { stop(): Promise<void> }[]
const agent = connections()

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ACCOUNT: '', RATE_LIMIT_ADDRESS: '' })
  service.clock.set('2026-03-10T09:30:00+03:00')
  // A busy machine may make a job wait for a connection: it says so, and goes on.
  jobs = [startSequencer(service.deps, silent), startKeeper(service.deps, silent)]
  office = openOffice(service.deps)
})
afterAll(async () => {
  agent.destroy()
  for (const job of jobs) await job.stop()
  await office.monitor.close()
  await service.close()
})

/** Plays the documents once, so that the book has something of everything. @returns the operations and the ids */
async function playDocuments() {
  const targets = []
  const ids = new Set<string>()
  for (const host of HOSTS) {
    const document = (await service.get<Document>('/openapi.json', { host })).body
    targets.push(...targetsOf(document, host))
    for (const one of prefilledOf(document)) {
      if (one.isUpload) continue
      const { text } = await sendPrefilled(service, one, { host })
      for (const [, , id] of text.matchAll(/"(id|\w*_id|\w*Id)":"?([\w-]{1,40})/g)) ids.add(id!)
    }
  }
  return { targets, ids: [...ids] }
}

/** Returns what is wrong with an answer; undefined where nothing is. */
function faultOf({ status, text }: Got): string | undefined {
  if (status >= 500 && status !== 503) return `${status} ${text}`
  return status === 0 ? text : undefined
}

const shownOf = ({ name, method, path, headers, body }: Sent) =>
  `${name}: ${method} ${path} ${JSON.stringify(headers)} ${JSON.stringify(body?.toString('latin1').slice(0, 2_000))}`

/** Sends requests, some at once. @returns how often each status was answered */
async function fuzz(name: string, count: number, next: (index: number) => Sent, seen?: (got: Got) => Promise<void>) {
  const statuses = new Map<number, number>()
  const faults = new Map<string, string>()
  let index = 0
  const work = async () => {
    while (index < count) {
      const sent = next(index++)
      const got = await send(agent, sent)
      statuses.set(got.status, (statuses.get(got.status) ?? 0) + 1)
      const fault = faultOf(got)
      if (fault !== undefined && !faults.has(sent.name + fault.slice(0, 100))) {
        faults.set(sent.name + fault.slice(0, 100), `${fault}\n  ${shownOf(sent)}`)
      }
      await seen?.(got)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  if (process.env.MKOPO_REQUESTS !== undefined)
    process.stdout.write(
      `${name}: ${[...statuses]
        .toSorted(([a], [b]) => a - b)
        .map(([status, times]) => `${status}: ${times}`)
        .join(', ')}\n`,
    )
  return { statuses, faults: [...faults.values()] }
}

describe('mutated requests', { timeout: within(120_000) + REQUESTS * MS_A_REQUEST }, () => {
  it('at the public port are answered or refused, and never by a fault', async () => {
    const { targets, ids } = await playDocuments()
    const { app, tokens, deps } = service
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    const { key } = await createApiKey(deps, operator(1, 'test'), { name: 'fuzz', roles: ['ADMIN'] })
    const auditor = await deps.signIn.issueToken(DEMO_AUDITOR.email, DEMO_AUDITOR.password, '127.0.0.1')
    const credentials = [
      ...[tokens.operator, tokens.operator, tokens.partner, auditor].map((token) => `Bearer ${token}`),
      key,
    ]
    const port = { port: Number(new URL(address).port), targets, ids, credentials } satisfies PublicPort
    const { statuses, faults } = await fuzz('public port', Math.ceil(REQUESTS * 0.6), (index) =>
      publicRequest(randomFrom(SEED * 1_000_003 + index), port),
    )
    expect(faults).toEqual([])
    for (const status of [200, 400, 401, 404, 409])
      expect([status, (statuses.get(status) ?? 0) > 10]).toEqual([status, true])
  })

  it('at the port of the office are answered or refused, and never by a fault', async () => {
    const { monitor } = office
    const address = await monitor.listen({ port: 0, host: '127.0.0.1' })
    const people = [DEMO_OPERATOR, DEMO_PARTNER]
    let cookies = await Promise.all(people.map((person) => office.signIn(person)))
    const targets = await crawl(monitor, cookies[0]!, ['/sign-in', '/style.css', '/icon.svg', '/metrics'])
    const ids = targets.flatMap(({ path }) => path.match(/\d+/g) ?? [])
    const port: OfficePort = {
      port: Number(new URL(address).port),
      targets,
      ids,
      cookies: () => [cookies[0]!, cookies[0]!, cookies[0]!, cookies[1]!],
    }
    let signedOut = 0
    const { statuses, faults } = await fuzz(
      'office port',
      Math.ceil(REQUESTS * 0.4),
      (index) => officeRequest(randomFrom(SEED * 2_000_003 + index), port),
      async ({ location }) => {
        // A mutated request has ended the session, or went to the sign-in for another reason.
        if (!location.startsWith('/sign-in') || ++signedOut % 40 > 0) return
        // Sign-ins are limited by the minute.
        service.clock.set(new Date(service.clock.now() + 60_000).toISOString())
        cookies = await Promise.all(people.map((person) => office.signIn(person)))
      },
    )
    expect(faults).toEqual([])
    for (const status of [200, 303, 400, 404])
      expect([status, (statuses.get(status) ?? 0) > 10]).toEqual([status, true])
  })
})
