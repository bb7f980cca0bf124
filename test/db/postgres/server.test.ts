import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openService } from '../../../src/app/service.ts'
import { examineServer, requireVersion, settingWarnings, versionRefusal } from '../../../src/db/postgres/server.ts'
import { type FreshDatabase, freshDatabase, openPatiently } from '../../support/database.ts'
import { serveHere } from '../../support/served.ts'
import { testConfig } from '../../support/service.ts'

let fresh: FreshDatabase
beforeAll(async () => {
  fresh = await freshDatabase()
})
afterAll(() => fresh.drop())

const SAFE = { fsync: 'on', fullPageWrites: 'on', synchronousCommit: 'on', synchronousStandbys: '' }

describe('the version of the server', () => {
  it.each([150_000, 150_018, 160_004, 170_002, 180_001])('%i is served', (version) => {
    expect(versionRefusal({ version })).toBeUndefined()
  })

  it.each([
    [140_020, '14.20'],
    [190_000, '19.0'],
  ])('%i is refused, in a line that says which would do', (version, name) => {
    expect(versionRefusal({ version })).toBe(
      `the server is PostgreSQL ${name}, and the service runs on 15 to 18: set DATABASE_URL to such a server`,
    )
  })

  it('is looked at wherever a service is opened: that of the tests is served', async () => {
    await expect(requireVersion(fresh.db)).resolves.toBeUndefined()
  })
})

describe('settings that lose acknowledged money', () => {
  it('of a safe server nothing is said', () => {
    expect(settingWarnings(SAFE)).toEqual([])
    expect(settingWarnings({ ...SAFE, synchronousCommit: 'local' })).toEqual([])
    expect(settingWarnings({ ...SAFE, synchronousStandbys: '*' })).toEqual([])
    expect(settingWarnings({ ...SAFE, synchronousStandbys: '*', synchronousCommit: 'remote_apply' })).toEqual([])
  })

  it.each([
    [{ fsync: 'off' }, /^fsync is off: a power cut/],
    [{ fullPageWrites: 'off' }, /^full_page_writes is off: a power cut/],
    [{ synchronousCommit: 'off' }, /^synchronous_commit is off: a crash/],
    [{ synchronousCommit: 'off', synchronousStandbys: '*' }, /^synchronous_commit is off: a crash/],
    [{ synchronousCommit: 'local', synchronousStandbys: '*' }, /^synchronous_commit is local: a failover/],
    [
      { synchronousCommit: 'remote_write', synchronousStandbys: '*' },
      /^synchronous_commit is remote_write: a failover/,
    ],
  ])('%o: one line that names it and what is lost', (unsafe, line) => {
    expect(settingWarnings({ ...SAFE, ...unsafe })).toEqual([expect.stringMatching(line)])
  })

  it('are read from the server, each told once at the start', async () => {
    const said: string[] = []
    const note = (message: string) => void said.push(message)
    const db = openPatiently(`${fresh.url}?options=${encodeURIComponent('-c synchronous_commit=off')}`)
    await examineServer(db, { now: Date.now, log: { info: note, warn: note } })
    await db.close()
    expect(said[0]).toMatch(/^the database is PostgreSQL 1[5-8]\.\d+$/)
    expect(said.filter((line) => line.startsWith('synchronous_commit is off'))).toHaveLength(1)
  })

  it('are in the log of a service that listens', async () => {
    const DATABASE_URL = `${fresh.url}?options=${encodeURIComponent('-c synchronous_commit=off')}`
    const service = await serveHere(testConfig({ DATABASE_URL, PORT: '0', OPS_PORT: '0' }))
    expect(service.log()).toContain('synchronous_commit is off: a crash of the database loses')
    await service.stop()
  })
})

describe('the clock of the server', () => {
  /** Opens a service on a machine whose clock is behind the server's. @returns what is logged of the clock */
  async function openBehind(ms: number): Promise<string[]> {
    const said: string[] = []
    const log = { info: () => undefined, warn: (message: string) => void said.push(message) }
    const now = () => Date.now() - ms
    const deps = await openService({ config: testConfig(), databaseUrl: fresh.url, now, clock: now, log })
    deps.statements.close()
    await deps.db.close()
    return said.filter((line) => line.includes('clock'))
  }

  it('ours: nothing is said', async () => {
    expect(await openBehind(0)).toEqual([])
  })

  it('ahead or behind by seconds: a warning, in one line', async () => {
    expect(await openBehind(10_000)).toEqual([
      expect.stringMatching(
        /^the clock of the database is (9|10)\.\d s ahead of the clock of this machine: set both by NTP$/,
      ),
    ])
    expect(await openBehind(-10_000)).toEqual([
      expect.stringMatching(/^the clock of the database is (9|10)\.\d s behind /),
    ])
  })

  it('off by a minute: the start is refused, in one line', async () => {
    await expect(openBehind(62_000)).rejects.toThrow(
      /^the clock of the database is 6[12]\.\d s ahead of the clock of this machine, and may differ by less than 60 s: set both by NTP$/,
    )
    await expect(openBehind(-62_000)).rejects.toThrow(/6[12]\.\d s behind/)
  })
})
