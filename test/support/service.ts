import type { FastifyInstance, InjectOptions } from 'fastify'
import { buildApp } from '../../src/app/app.ts'
import type { Config } from '../../src/app/config.ts'
import { readConfig } from '../../src/app/config.ts'
import { openService } from '../../src/app/service.ts'
import { findAccountByEmail } from '../../src/db/access/accounts.ts'
import type { DatabaseOptions, Db } from '../../src/db/postgres/client.ts'
import { createTokens } from '../../src/services/access/tokens.ts'
import type { Deps } from '../../src/services/deps.ts'
import { createPrinter, PATIENCE_MS } from '../../src/services/documents/pdf/printer.ts'
import { DEMO_OPERATOR, DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { openTestClocks } from '../../src/services/testClock/testClocks.ts'
import { follow, isAhead, machineClock, makeTest } from './ahead.ts'
import { COUNTS, sendByClient } from './byClient.ts'
import { type FreshDatabase, freshDatabase } from './database.ts'
import { PATIENT_LAG_MS, PATIENT_WITH_JOURNALS, within } from './patience.ts'
import { patientReader } from './patientReader.ts'
import { readJson, writeJson } from './recordIds.ts'
import { requireSoundBook } from './soundBook.ts'
import type { Wire } from './wire.ts'

/** The settings of a service under test; the template database was laid with the same secret. */
export const testConfig = (settings: Record<string, string> = {}): Config =>
  readConfig({
    KEY_ENCRYPTION_SECRET: 'a secret of the tests',
    SEED_DEMO: 'true',
    LOG_LEVEL: 'silent',
    // Tests send thousands at once, on machines that are busy: that is no overload here.
    MAX_IN_FLIGHT: '100000',
    MAX_LAG_MS: String(PATIENT_LAG_MS),
    ...settings,
  })

/**
 * The clocks that a test holds: of the business of live organizations, and of the machine. As real clocks do, they move on at
 * every look of the service, and they are never at the same millisecond.
 */
export interface Clock {
  /** Returns the moment of the business, without moving the clocks on. */
  readonly now: () => number
  /** Returns the moment of the machine, without moving the clocks on. */
  readonly machineNow: () => number
  /** Returns the latest moment of the business that the service has seen, or the test has set. */
  readonly latest: () => number
  /** Returns the moment of the business as the service sees it, and moves the clocks on. */
  readonly look: () => number
  /** Returns the moment of the machine as the service sees it, and moves the clocks on. */
  readonly lookAtMachine: () => number
  /**
   * Sets the clocks.
   * @param text RFC 3339, or a date, for noon of that day in Nairobi
   * @param of the clock that shows it; that of the business when left out
   */
  set(text: string, of?: 'business' | 'machine'): void
  /** Sets the clocks, as `set`, and stops them, for a test that asks for one instant; the next `set` lets them go again. */
  stand(text: string, of?: 'business' | 'machine'): void
}

/** How far the clock of the machine is behind that of the business: what takes one for the other is seen. An odd number. */
const BEHIND_MS = 1_001
/** How far the clocks move at a look: an even number, so that the two never show one millisecond. */
const TICK_MS = 2

function heldClock(text: string): Clock {
  const read = (moment: string) => Date.parse(moment.length === 10 ? `${moment}T12:00:00+03:00` : moment)
  let at = read(text)
  let tick = TICK_MS
  let latest = at
  const look = () => {
    at += tick
    latest = Math.max(latest, at)
    return at
  }
  return {
    now: () => at,
    machineNow: () => at - BEHIND_MS,
    latest: () => latest,
    look,
    lookAtMachine: () => look() - BEHIND_MS,
    set: (moment, of = 'business') => {
      at = read(moment) + (of === 'machine' ? BEHIND_MS : 0)
      latest = Math.max(latest, at)
      tick = TICK_MS
    },
    stand(moment, of) {
      this.set(moment, of)
      tick = 0
    },
  }
}

/** An answer as a caller sees it. */
export interface Answer<Body = Wire> {
  readonly status: number
  readonly body: Body
  readonly text: string
  readonly headers: Record<string, string | string[] | number | undefined>
}

/** What a call sends besides its path. */
export interface Call {
  readonly body?: unknown
  /** Sent as it is, instead of `body`. */
  readonly raw?: string | Buffer
  readonly token?: string
  readonly host?: string
  readonly headers?: Record<string, string>
}

/** The answer's body is read as `Body`, which is the test's word for it. */
type Send = <Body = Wire>(path: string, call?: Call) => Promise<Answer<Body>>

/** A service on a database of its own, and a clock that the test holds. */
export interface TestService {
  readonly deps: Deps
  readonly app: FastifyInstance
  readonly clock: Clock
  /** Of its database, by the role that the service works with. */
  readonly url: string
  /** The database by the owner of its tables, for what the service's role may not do; closed with the service. */
  readonly owner: Db
  /** Tokens of the demonstration's partner (USER) and operator (ADMIN). */
  readonly tokens: { readonly partner: string; readonly operator: string }
  /** As the partner, on the partner host, unless the call says otherwise. */
  readonly get: Send
  readonly post: Send
  readonly put: Send
  readonly patch: Send
  readonly delete: Send
  /** Another instance of the service, on the same database. */
  another(): Promise<TestService>
  /**
   * Says that the test damages its book on purpose: `close` does not check it then.
   * @param why for those who read the test
   */
  damages(why: string): void
  /** Closes the service, after a check of its book. @throws Error where `book check` finds a difference that no test damaged */
  close(): Promise<void>
}

/** The day on which the held clock of a test stands at first. */
export const FIRST_DAY = '2026-01-31T09:30:00+03:00'

export async function startService(
  settings: Record<string, string> = {},
  options: DatabaseOptions = {},
): Promise<TestService> {
  const database = await freshDatabase()
  const clock = heldClock(FIRST_DAY)
  if (isAhead) await makeTest(database.db)
  // A machine at load takes longer over a change that others wait for.
  const patient = { lockTimeout: within(5_000), ...options }
  return open(database, clock, { config: testConfig(settings), database: patient }, database.drop)
}

async function open(
  database: FreshDatabase,
  clock: Clock,
  options: { config: Config; database: DatabaseOptions },
  drop?: () => Promise<void>,
): Promise<TestService> {
  const { config } = options
  const { serviceUrl: url, db: owner } = database
  const clocks = { now: machineClock(clock), businessNow: clock.look }
  // On a machine at load, a process of tests looks at its sockets seconds later.
  const opened = await openService({ ...options, ...clocks, databaseUrl: url, patience: 'always' })
  const printer = createPrinter({ patienceMs: within(4 * PATIENCE_MS), nice: 0 })
  const deps = Object.assign(opened, { statements: patientReader(), printer, journalPatience: PATIENT_WITH_JOURNALS })
  if (isAhead) await follow(deps, owner, clock)
  const app = await buildApp(deps)
  const tokens = { partner: await tokenOf(deps, DEMO_PARTNER), operator: await tokenOf(deps, DEMO_OPERATOR) }
  const send =
    (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'): Send =>
    async <Body>(path: string, call: Call = {}) => {
      // By `service`, which lets go of its parts when it is closed.
      const { app } = service
      const token = call.token ?? tokens.partner
      const byClient = COUNTS && (await sendByClient<Body>({ app, config, method, path, call, token }))
      return byClient || answerOf<Body>(await app.inject(requestOf(method, path, call, token, config)))
    }
  const others: TestService[] = []
  let isDamaged = false
  const service: TestService = {
    deps,
    app,
    clock,
    url,
    owner,
    tokens,
    get: send('GET'),
    post: send('POST'),
    put: send('PUT'),
    patch: send('PATCH'),
    delete: send('DELETE'),
    another: async () => {
      const other = await open(database, clock, options)
      others.push(other)
      return other
    },
    damages: () => {
      isDamaged = true
    },
    close: async () => {
      for (const other of others.splice(0)) await other.close()
      await app.close()
      try {
        if (drop && !isDamaged) {
          // As of the latest moment that the book has seen: the test may have set the clock back.
          clock.set(new Date(clock.latest()).toISOString())
          // By the owner of the tables: a test may have cut the service off.
          const testClocks = await openTestClocks(owner, clock.now)
          const now = isAhead ? clock.now : testClocks.now
          await requireSoundBook({ ...deps, db: owner, testClocks, now })
        }
      } finally {
        deps.webhookPoster.close()
        await deps.db.close()
        await drop?.()
        // The process keeps the variables of each test file that it has run, and so what these refer to.
        Object.assign(service, { deps: undefined, app: undefined, owner: undefined })
      }
    },
  }
  return service
}

/** Issues a token as a sign-in does, without the sign-in: checking and counting a password takes three times as long. */
async function tokenOf(deps: Deps, { email }: typeof DEMO_PARTNER): Promise<string> {
  const account = await findAccountByEmail(deps.db, email)
  return createTokens({ ...deps, now: deps.machineNow, issuer: deps.config.authUrl }).issue(account!, deps.machineNow())
}

function requestOf(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  call: Call,
  token: string,
  config: Config,
): InjectOptions {
  const body = call.raw ?? (call.body === undefined ? undefined : writeJson(call.body))
  return {
    method,
    url: path,
    headers: {
      host: call.host ?? new URL(config.baseUrl).host,
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...call.headers,
    },
    ...(body === undefined ? {} : { payload: body }),
  }
}

const answerOf = <Body>(response: Awaited<ReturnType<FastifyInstance['inject']>>): Answer<Body> => ({
  status: response.statusCode,
  body: (response.body === '' ? undefined : asJson(response.body)) as Body,
  text: response.body,
  headers: response.headers,
})

function asJson(text: string): unknown {
  try {
    return readJson(text)
  } catch {
    return text
  }
}
