import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../../src/db/embedded.ts'
import { openService } from '../../src/service.ts'
import { asAdmin, databaseUrl } from './database.ts'
import { FIRST_DAY, testConfig } from './service.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The test server's own database; tests make theirs with `freshDatabase()`. */
    serverUrl: string
    /** The migrated database that they are copied from. */
    template: string
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

/** One Postgres for the whole run, with a migrated template that every test file copies. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer()
  // A name of its own, for a server that several runs share.
  const template = `template_mkopo_${randomBytes(4).toString('hex')}`
  const stop = async () => {
    await asAdmin(server.url, (admin) => admin.query(`DROP DATABASE IF EXISTS ${template} WITH (FORCE)`))
    await server.stop()
  }
  try {
    await asAdmin(server.url, (admin) => admin.query(`CREATE DATABASE ${template}`))
    // With the demonstration data and a signing key: hashing passwords and making keys takes longer than most tests.
    const service = await openService({
      config: testConfig(),
      databaseUrl: databaseUrl(server.url, template),
      now: () => Date.parse(FIRST_DAY),
    })
    await service.db.close()
  } catch (error) {
    await stop()
    throw error
  }
  project.provide('serverUrl', server.url)
  project.provide('template', template)
  return stop
}
