import { statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { trustOf } from '../../src/app/trust.ts'
import { holdDirectory } from '../../src/db/embedded/embedded.ts'
import { networkOf } from '../../src/services/access/caller.ts'
import { opsOn } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

/** Characters that are neither a letter nor a line break of the output. */
const OBEYED = /[\p{Cf}]|(?!\n)\p{Cc}/u
const EVIL = 'Lender\u202e\u200b\u001b[31m'

describe('a text that a terminal would obey', () => {
  it('is shown escaped by the command line, in tables and in JSON', async () => {
    await service.deps.db.pool.query('UPDATE organization SET name = $1 WHERE id = 1', [EVIL])
    const ops = opsOn(service)
    const table = await ops('organizations list')
    expect(table.out).toContain('Lender\\u{202e}\\u{200b}\\u{1b}[31m')
    const json = await ops('organizations list --json')
    expect(json.out).not.toMatch(OBEYED)
    expect((json.json as unknown as { name: string }[])[0]!.name).toBe(EVIL)
    const audit = await ops(['audit', '--entity', 'customer', '--entity-id', EVIL])
    expect(audit.out + audit.err).not.toMatch(OBEYED)
  })

  it.each(['a\u202eb', 'a\u200bb', 'a\u2066b', 'a\ufeffb', 'a\u00adb', 'a\u2028b', 'a\u001bb'])(
    '400 invalid_argument: %j in a new externalId',
    async (externalId) => {
      expect(await service.post('/v1/customers', { body: { externalId } })).toMatchObject({
        status: 400,
        body: { details: [{ field: 'externalId' }] },
      })
    },
  )
})

describe('an address with a port behind it, as some proxies forward it', () => {
  it.each([
    ['10.1.2.3:4567', '10.1.2.3'],
    ['[2001:db8::1]:4567', '2001:db8:0:0::/64'],
    ['[2001:db8::1]', '2001:db8:0:0::/64'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['10.1.2.3', '10.1.2.3'],
  ])('%s is counted as %s', (given, network) => expect(networkOf(given)).toBe(network))

  it('is trusted as the address alone', () => {
    expect(trustOf('10.0.0.0/8')('10.1.2.3:4567', 1)).toBe(true)
    expect(trustOf('10.0.0.0/8')('11.1.2.3:4567', 1)).toBe(false)
  })
})

describe('the lock of a data directory', () => {
  it("is the owner's alone: another user can neither read nor hold it", async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mkopo-lock-'))
    const release = holdDirectory(directory)
    expect(statSync(join(directory, 'mkopo.lock')).mode & 0o777).toBe(0o600)
    release()
    await rm(directory, { recursive: true })
  })
})
