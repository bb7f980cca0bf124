import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openService } from '../../src/app/service.ts'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded/embedded.ts'
import { asAdmin, asRole, databaseUrl } from './database.ts'
import { writePrograms } from './programs.ts'
import { FIRST_DAY, testConfig } from './service.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The own database of the test server of each worker; tests make theirs with `freshDatabase()`. */
    serverUrls: readonly string[]
    /** The migrated database that they are copied from. */
    template: string
    /** The role that a service works with: it may do what the tables' owner has granted it in the template. */
    serviceRole: { name: string; password: string }
  }
}

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined }

/** The Postgres of the tests: one for each worker, so that no file waits for the transactions of another one's database. */
interface TestServers {
  readonly urls: readonly string[]
  stop(): Promise<void>
}

/**
 * Starts a Postgres for each worker, once the first has been prepared: the others are copies of it. The server of
 * `TEST_DATABASE_URL`, whose user may make databases and is a superuser, is that of all workers.
 */
async function startServers(workers: number, prepare: (url: string) => Promise<void>): Promise<TestServers> {
  const { TEST_DATABASE_URL: url = '' } = process.env
  if (url !== '') {
    await prepare(url)
    return { urls: Array.from({ length: workers }, () => url), stop: async () => undefined }
  }
  const whole = await mkdtemp(join(tmpdir(), 'mkopo-test-'))
  // As root, Postgres runs as another user, who has to get in.
  await chmod(whole, 0o755)
  const directories = Array.from({ length: workers }, (_, index) => join(whole, String(index + 1)))
  const start = (directory: string) => startEmbedded({ directory, durable: false, log: silent })
  const running: EmbeddedServer[] = []
  const stop = async () => {
    await Promise.all(running.map((server) => server.stop()))
    await rm(whole, { recursive: true, force: true })
  }
  try {
    const first = await start(directories[0]!)
    running.push(first)
    await prepare(first.url)
    // A database lives for seconds: what vacuum does in it by itself is work for nothing, and at another moment in each run.
    await asAdmin(first.url, async (admin) => {
      await admin.query('ALTER SYSTEM SET autovacuum = off')
      // The files of a server may be in memory.
      await admin.query("ALTER SYSTEM SET max_wal_size = '128MB'")
      // Organizations are moved between books by logical replication.
      await admin.query('ALTER SYSTEM SET wal_level = logical')
    })
    await first.stop()
    // By `cp`, which leaves the files to the user as whom Postgres runs.
    for (const directory of directories.slice(1)) execFileSync('cp', ['-a', directories[0]!, directory])
    const starting = await Promise.allSettled(directories.map(start))
    running.splice(0, 1, ...starting.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])))
    for (const one of starting) if (one.status === 'rejected') throw one.reason
    return { urls: running.map((server) => server.url), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** What a run of the tests shares: a migrated template on the Postgres of each worker, which every test file copies. */
interface Shared {
  readonly serverUrls: readonly string[]
  readonly template: string
  readonly serviceRole: { name: string; password: string }
  readonly programs: Readonly<Record<string, string>>
  stop(): Promise<void>
}

async function prepare(workers: number): Promise<Shared> {
  // A name of its own, for a server that several runs share.
  const run = randomBytes(4).toString('hex')
  const template = `template_mkopo_${run}`
  const serviceRole = { name: `service_mkopo_${run}`, password: randomBytes(8).toString('hex') }
  const tidy = (url: string) =>
    asAdmin(url, async (admin) => {
      await admin.query(`DROP DATABASE IF EXISTS ${template} WITH (FORCE)`)
      // It stays where a database of a test does, in which it has its rights.
      await admin.query(`DROP ROLE IF EXISTS ${serviceRole.name}`).catch(() => undefined)
    })
  const programs = await writePrograms()
  const servers = await startServers(workers, async (url) => {
    try {
      await layTemplate(url, template, serviceRole)
    } catch (error) {
      await tidy(url)
      throw error
    }
  })
  const stop = async () => {
    // A server that was there before is given back as it was.
    for (const url of new Set(servers.urls)) await tidy(url)
    await servers.stop()
  }
  let stopped: Promise<void> | undefined
  return {
    serverUrls: servers.urls,
    template,
    serviceRole,
    programs,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

/** Makes the template: with the demonstration data and a signing key, for making keys takes longer than most tests. */
async function layTemplate(url: string, template: string, serviceRole: Shared['serviceRole']): Promise<void> {
  await asAdmin(url, async (admin) => {
    await admin.query(`CREATE DATABASE ${template}`)
    await admin.query(`CREATE ROLE ${serviceRole.name} LOGIN PASSWORD '${serviceRole.password}'`)
  })
  const ownerUrl = databaseUrl(url, template)
  const service = await openService({
    config: testConfig(),
    databaseUrl: asRole(ownerUrl, serviceRole),
    ownerUrl,
    now: () => Date.parse(FIRST_DAY),
  })
  await service.db.close()
}

/** The projects of a run load this module once each, and share what is prepared. */
const run = globalThis as { preparedForTests?: Promise<Shared> }

/** Prepares, once for the whole run, what the tests of a project need. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  run.preparedForTests ??= prepare(project.config.maxWorkers)
  const { serverUrls, template, serviceRole, programs, stop } = await run.preparedForTests
  project.provide('serverUrls', serverUrls)
  project.provide('template', template)
  project.provide('serviceRole', serviceRole)
  project.provide('programs', programs)
  return stop
}
