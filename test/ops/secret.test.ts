import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../src/app/app.ts'
import { openService } from '../../src/app/service.ts'
import { checkBook } from '../../src/services/book/bookCheck.ts'
import type { Deps } from '../../src/services/deps.ts'
import { WrongSecretError } from '../../src/services/secretBox.ts'
import { keepJournal } from '../support/journal.ts'
import { opsOn } from '../support/ops.ts'
import { startService, type TestService, testConfig } from '../support/service.ts'

const NEW = 'another secret, of this test'

let service: TestService
let folder: string
beforeAll(async () => {
  service = await startService()
  folder = await mkdtemp(join(tmpdir(), 'mkopo-secret-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
  await service.close()
})

/** Opens the service on the same database with a secret, and closes it after the work. */
async function under<T>(secret: string, work: (deps: Deps) => Promise<T>): Promise<T> {
  const config = testConfig({ KEY_ENCRYPTION_SECRET: secret, SEED_DEMO: 'false' })
  const now = service.clock.look
  const deps = await openService({ config, databaseUrl: service.url, now, skipMigrations: true, patience: 'always' })
  try {
    return await work(deps)
  } finally {
    deps.webhookPoster.close()
    deps.statements.close()
    await deps.db.close()
  }
}

async function rotateTo(secret: string) {
  const file = join(folder, 'new')
  await writeFile(file, `${secret}\n`)
  return opsOn(service)(['secret', 'rotate', file, '--yes', '--json'])
}

describe('secret rotate', () => {
  it('lets the service start with the new secret alone, and nothing that it encrypted, hashed or sealed is another', async () => {
    const body = { externalId: 'asha', identity: { firstName: 'Asha', lastName: 'Mushi', phone: '255700123456' } }
    const { body: customer } = await service.post('/v1/customers', { body })
    await keepJournal(service.deps)
    expect(await rotateTo(NEW)).toMatchObject({ code: 0, json: { rotated: true } })
    await under(NEW, async (deps) => {
      const app = await buildApp(deps)
      const { host } = new URL(deps.config.baseUrl)
      const headers = { host, authorization: `Bearer ${service.tokens.operator}` }
      const read = await app.inject({ url: `/v1/customers/${customer.id}/identity`, headers })
      expect(read.json()).toEqual(body.identity)
      const found = await app.inject({ url: '/v1/customers?person=mushi', headers })
      expect(found.json().items).toHaveLength(1)
      await app.inject({ method: 'POST', url: '/v1/customers', headers, payload: { externalId: 'juma' } })
      await keepJournal(deps)
      expect(await checkBook(deps)).toMatchObject({ differences: [], begunAgain: [], unsealed: 0 })
      await app.close()
    })
    await expect(under('a secret of the tests', async () => undefined)).rejects.toThrow(WrongSecretError)
    await expect(under('a secret of the tests', async () => undefined)).rejects.toThrow(
      'KEY_ENCRYPTION_SECRET: is not the one that the stored keys of the service were encrypted with',
    )
  })

  it('can be replaced again, and a short one or none is refused', async () => {
    expect((await rotateTo('short')).code).toBe(2)
    expect((await opsOn(service)(['secret', 'rotate', join(folder, 'none'), '--yes'])).code).toBe(2)
    expect((await rotateTo('a third secret of this test')).code).toBe(0)
    await under('a third secret of this test', async (deps) => {
      expect((await checkBook(deps)).differences).toEqual([])
    })
    expect((await rotateTo('a secret of the tests')).code).toBe(0)
  })
})
