import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../../src/db/embedded.ts'
import { openService } from '../../src/service.ts'
import { databaseUrl } from './database.ts'
import { FIRST_DAY, testConfig } from './service.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The test server's own database; tests make theirs with `freshDatabase()`. */
    serverUrl: string
  }
}

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined }

/** One Postgres for the whole run, with a migrated template that every test file copies. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'mkopo-test-'))
  // As root, Postgres runs as another user, who has to get in.
  await chmod(directory, 0o755)
  const server = await startEmbedded({ directory, durable: false, log: silent })
  const stop = async () => {
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  }
  try {
    const admin = new pg.Client(server.url)
    await admin.connect()
    await admin.query('CREATE DATABASE template_mkopo')
    await admin.end()
    // With the demonstration data and a signing key: hashing passwords and making keys takes longer than most tests.
    const template = await openService({
      config: testConfig(),
      databaseUrl: databaseUrl(server.url, 'template_mkopo'),
      now: () => Date.parse(FIRST_DAY),
    })
    await template.db.close()
  } catch (error) {
    await stop()
    throw error
  }
  project.provide('serverUrl', server.url)
  return stop
}
