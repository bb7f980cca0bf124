import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { explain } from '../../src/app/explain.ts'
import { findDatabase } from '../../src/process/database.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { within } from '../support/patience.ts'
import { spawnProcess } from '../support/process.ts'
import { serveHere } from '../support/served.ts'
import { testConfig } from '../support/service.ts'

let directory: string
let database: FreshDatabase
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mkopo-main-'))
  database = await freshDatabase()
})
afterAll(async () => {
  await database.drop()
  await rm(directory, { recursive: true, force: true })
})

/** Returns why a start in this process is refused. */
async function refusal(settings: Record<string, string>): Promise<string | undefined> {
  const config = testConfig({ DATABASE_URL: database.serviceUrl, PORT: '0', OPS_PORT: '0', ...settings })
  try {
    await findDatabase(config, pino({ level: 'silent' }, { write: () => undefined }))
    await (await serveHere(config)).stop()
    return undefined
  } catch (error) {
    return explain(error)
  }
}

describe('npm start that is refused, with exit code 1', { timeout: within(90_000) }, () => {
  it('a bad setting: one line that names it', async () => {
    const refused = spawnProcess({ TENANT_ZONE: 'Nowhere', DATA_DIR: directory })
    expect(await refused.ended).toBe(1)
    expect(refused.output().trim()).toMatch(/^mkopo could not start: TENANT_ZONE: must be .* \(it is "Nowhere"\)$/)
  })

  // `test/programs/ops.test.ts` has the other ways in which it cannot be reached.
  it('a database that cannot be reached: one line that names the setting', async () => {
    const DATABASE_URL = 'postgres://nobody:hidden@localhost:1/none'
    const refused = spawnProcess({ DATABASE_URL, KEY_ENCRYPTION_SECRET: 'a secret of the tests' })
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toMatch(/^mkopo could not start: DATABASE_URL: the database cannot be reached: .+\n$/)
    expect(refused.output()).toMatch(/ECONNREFUSED/)
    expect(refused.output()).not.toContain('hidden')
  })
})

describe('why a start is refused, in one line', () => {
  // `test/programs/ends.test.ts` has those of several processes.
  it.each(['PORT', 'OPS_PORT'])('%s that is taken', async (setting) => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    expect(await refusal({ [setting]: String(port) })).toBe(
      `${setting}: ${port} on 127.0.0.1 is taken by another program; stop it, or set ${setting} to a free one`,
    )
    taken.close()
  })

  it('a wrong KEY_ENCRYPTION_SECRET', async () => {
    const why = await refusal({ KEY_ENCRYPTION_SECRET: 'not the one of before' })
    expect(why).toMatch(/^KEY_ENCRYPTION_SECRET: is not the one[^\n]+$/)
  })

  it.each(['', 'a secret of the tests'])(
    'DATA_DIR that is a file, or below one, with the secret "%s"',
    async (KEY_ENCRYPTION_SECRET) => {
      const file = join(directory, 'a-file')
      await writeFile(file, '')
      for (const path of [file, join(file, 'below')])
        expect(await refusal({ DATABASE_URL: '', KEY_ENCRYPTION_SECRET, DATA_DIR: path })).toBe(
          `DATA_DIR: cannot be made, and the embedded database needs it (or set DATABASE_URL): a file is there (it is "${path}")`,
        )
    },
  )

  it.runIf(process.platform === 'linux')('DATA_DIR that cannot be made', async () => {
    const why = await refusal({ DATABASE_URL: '', DATA_DIR: '/proc/x' })
    expect(why).toMatch(/^DATA_DIR: cannot be made, [^\n]+$/)
  })
})
