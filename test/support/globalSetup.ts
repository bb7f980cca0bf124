import { randomBytes, scryptSync } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openService } from '../../src/app/service.ts'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import type { Db } from '../../src/db/postgres/client.ts'
import { DEMO_AUDITOR, DEMO_OPERATOR, DEMO_PARTNER, DEMO_SANDBOX } from '../../src/services/organizations/seedDemo.ts'
import { asAdmin, asRole, databaseUrl } from './database.ts'
import { FIRST_DAY, testConfig } from './service.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The test server's own database; tests make theirs with `freshDatabase()`. */
    serverUrl: string
    /** The migrated database that they are copied from. */
    template: string
    /** The role that a service works with: it may do what the tables' owner has granted it in the template. */
    serviceRole: { name: string; password: string }
  }
}

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined }

/** A Postgres for the tests to use, and how to leave it. */
interface TestServer {
  readonly url: string
  stop(): Promise<void>
}

/** The server of `TEST_DATABASE_URL`, whose user may make databases and is a superuser; else an embedded one. */
async function startServer(): Promise<TestServer> {
  const { TEST_DATABASE_URL: url = '' } = process.env
  if (url !== '') return { url, stop: async () => undefined }
  const directory = await mkdtemp(join(tmpdir(), 'mkopo-test-'))
  // As root, Postgres runs as another user, who has to get in.
  await chmod(directory, 0o755)
  const server = await startEmbedded({ directory, durable: false, log: silent })
  return {
    url: server.url,
    stop: async () => {
      await server.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/**
 * Hashes the passwords of the demonstration accounts again, at a low cost. A stored hash says its own
 * cost, so signing in takes the same steps as ever; at the cost of production it takes a third of a second of a core, and
 * every service under test signs in twice.
 */
async function hashCheaply({ prisma }: Db): Promise<void> {
  const cost = { N: 16, r: 8, p: 1 }
  for (const { email, password } of [DEMO_PARTNER, DEMO_OPERATOR, DEMO_AUDITOR, DEMO_SANDBOX]) {
    const salt = randomBytes(16)
    const key = scryptSync(password, salt, 32, cost)
    const parts = ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')]
    await prisma.account.update({ where: { email }, data: { passwordHash: parts.join('$') } })
  }
}

/** What a run of the tests shares: a migrated template on one Postgres, which every test file copies. */
interface Shared {
  readonly serverUrl: string
  readonly template: string
  readonly serviceRole: { name: string; password: string }
  stop(): Promise<void>
}

async function prepare(): Promise<Shared> {
  const server = await startServer()
  // A name of its own, for a server that several runs share.
  const run = randomBytes(4).toString('hex')
  const template = `template_mkopo_${run}`
  const serviceRole = { name: `service_mkopo_${run}`, password: randomBytes(8).toString('hex') }
  let stopped: Promise<void> | undefined
  const stop = async () => {
    await asAdmin(server.url, async (admin) => {
      await admin.query(`DROP DATABASE IF EXISTS ${template} WITH (FORCE)`)
      // It stays where a database of a test does, in which it has its rights.
      await admin.query(`DROP ROLE IF EXISTS ${serviceRole.name}`).catch(() => undefined)
    })
    await server.stop()
  }
  try {
    await asAdmin(server.url, async (admin) => {
      await admin.query(`CREATE DATABASE ${template}`)
      await admin.query(`CREATE ROLE ${serviceRole.name} LOGIN PASSWORD '${serviceRole.password}'`)
    })
    const ownerUrl = databaseUrl(server.url, template)
    // With the demonstration data and a signing key: hashing passwords and making keys takes longer than most tests.
    const service = await openService({
      config: testConfig(),
      databaseUrl: asRole(ownerUrl, serviceRole),
      ownerUrl,
      now: () => Date.parse(FIRST_DAY),
    })
    await hashCheaply(service.db)
    await service.db.close()
  } catch (error) {
    await stop()
    throw error
  }
  return {
    serverUrl: server.url,
    template,
    serviceRole,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

/** The projects of a run load this module once each, and share what is prepared. */
const run = globalThis as { preparedForTests?: Promise<Shared> }

/** Prepares, once for the whole run, what the tests of a project need. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  run.preparedForTests ??= prepare()
  const { serverUrl, template, serviceRole, stop } = await run.preparedForTests
  project.provide('serverUrl', serverUrl)
  project.provide('template', template)
  project.provide('serviceRole', serviceRole)
  return stop
}
